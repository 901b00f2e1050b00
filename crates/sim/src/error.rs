//! Why a schedule or a program cannot be run on a simulated cluster.

use std::fmt;

use laneway_core::{Chan, Rank, Step};

use crate::network::HostId;

/// How many stuck lanes an error names on screen.
const SHOWN: usize = 8;

/// A lane that cannot continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// The rank of the lane.
    pub rank: Rank,
    /// The number of the lane within its rank, from 0.
    pub lane: u32,
    /// The round that it has come to, from 0; the number of its rounds where all is issued.
    pub round: u64,
    /// The gate it stands at; `None` if all is issued and transfers do not end.
    pub gate: Option<Step>,
}

/// An error of a simulation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SimError {
    /// The placement does not name one host for each rank.
    Placement {
        /// Ranks of the schedule.
        ranks: u32,
        /// Hosts that the placement names.
        placed: u32,
    },
    /// A rank is placed on a host that the network does not have.
    Host {
        /// Who is placed there.
        rank: Rank,
        /// The host that is not there.
        host: HostId,
        /// How many hosts the network has.
        hosts: u32,
    },
    /// An invalid resource, route or cost.
    Network {
        /// Which one, and what is wrong with it, in words.
        what: String,
    },
    /// A step names a rank that does not exist.
    Peer {
        /// Whose step it is.
        rank: Rank,
        /// The rank that it names.
        peer: Rank,
        /// How many ranks the schedule has.
        ranks: u32,
    },
    /// A send and its receive differ in length.
    Length {
        /// The sender.
        from: Rank,
        /// The receiver.
        to: Rank,
        /// The stream that both name.
        chan: Chan,
        /// Bytes of the send.
        sent: u64,
        /// Bytes of the receive.
        received: u64,
    },
    /// A message that is never received.
    Unreceived {
        /// The sender.
        from: Rank,
        /// Who ought to receive it.
        to: Rank,
        /// The stream that it was sent on.
        chan: Chan,
        /// Bytes of the message.
        bytes: u64,
    },
    /// A deadlock: no transfer is outstanding, and these lanes wait.
    Deadlock {
        /// Seconds of virtual time when the last thing happened.
        at: f64,
        /// Every lane that is not done, by rank.
        stuck: Vec<Stuck>,
    },
    /// A deadlock of a program: no transfer is outstanding, and these ranks wait.
    Waiting {
        /// Seconds of virtual time when the last thing happened.
        at: f64,
        /// Each rank that waits, and what for, in words.
        waiting: Vec<(Rank, String)>,
    },
    /// The limit of virtual time was reached.
    Limit {
        /// The limit that was set, in virtual time.
        seconds: f64,
    },
    /// A schedule was not done after so much work of the simulator.
    Effort {
        /// The limit that was set; see [`Simulation::effort`](crate::Simulation::effort).
        most: u64,
    },
    /// A rank of a program panicked.
    Died {
        /// Who panicked first.
        rank: Rank,
        /// What the panic said.
        how: String,
    },
    /// A rank ended the run.
    Aborted {
        /// The exit code that it asked for.
        code: i32,
    },
    /// A rank has no stack.
    Stack {
        /// Whose stack could not be made.
        rank: Rank,
        /// What the operating system said.
        error: String,
    },
    /// What is dead does not return, messages between these ranks stand, and these ranks cannot go
    /// on.
    Partition {
        /// Seconds of virtual time when the last thing happened.
        at: f64,
        /// Names of the dead resources on the ways of these messages.
        dead: Vec<String>,
        /// Sender and receiver of each message that stands, each pair once.
        cut: Vec<(Rank, Rank)>,
        /// The ranks that cannot go on.
        ranks: Vec<Rank>,
    },
}

impl fmt::Display for SimError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SimError::Placement { ranks, placed } => {
                write!(f, "the schedule has {ranks} ranks, and hosts are given for {placed}")
            }
            SimError::Host { rank, host, hosts } => {
                write!(f, "rank {rank} is placed on host {host}, and there are {hosts} hosts")
            }
            SimError::Network { what } => write!(f, "invalid network: {what}"),
            SimError::Peer { rank, peer, ranks } => {
                write!(f, "rank {rank} communicates with rank {peer}, but there are {ranks} ranks")
            }
            SimError::Length { from, to, chan, sent, received } => write!(
                f,
                "on channel {chan}, rank {from} sends {sent} bytes to rank {to}, which receives \
                 {received}"
            ),
            SimError::Unreceived { from, to, chan, bytes } => write!(
                f,
                "rank {to} never receives the {bytes} bytes that rank {from} sends it on channel \
                 {chan}"
            ),
            SimError::Deadlock { at, stuck } => deadlock(f, *at, stuck),
            SimError::Waiting { at, waiting } => {
                let one = |(rank, what): &(Rank, String)| format!("rank {rank} waits for {what}");
                let waiting: Vec<String> = waiting.iter().map(one).collect();
                write!(f, "deadlock after {at:.9} s: {}", listed(&waiting))
            }
            SimError::Limit { seconds } => {
                write!(f, "not done after {seconds} s of virtual time, its limit")
            }
            SimError::Effort { most } => {
                write!(f, "not done after {most} units of the simulator's work, its limit")
            }
            SimError::Died { rank, how } => write!(f, "rank {rank} died: {how}"),
            SimError::Aborted { code } => write!(f, "a rank ended the run with code {code}"),
            SimError::Stack { rank, error } => {
                write!(f, "no stack for rank {rank}: {error}")
            }
            SimError::Partition { at, dead, cut, ranks } => {
                let dead: Vec<String> = dead.iter().map(|name| format!("`{name}`")).collect();
                let cut: Vec<String> = cut.iter().map(|(a, b)| format!("{a} to {b}")).collect();
                let ranks: Vec<String> = ranks.iter().map(|rank| rank.to_string()).collect();
                write!(
                    f,
                    "partitioned since {at:.9} s: {} down; stalled messages: rank {}; blocked: \
                     rank {}",
                    listed(&dead),
                    listed(&cut),
                    listed(&ranks)
                )
            }
        }
    }
}

/// The first few, and how many more.
fn listed(all: &[String]) -> String {
    let shown = all.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    match all.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn deadlock(f: &mut fmt::Formatter<'_>, at: f64, stuck: &[Stuck]) -> fmt::Result {
    write!(f, "deadlock after {at:.9} s; blocked:")?;
    for Stuck { rank, lane, round, gate } in stuck.iter().take(SHOWN) {
        write!(f, " rank {rank} lane {lane} round {round} ")?;
        match gate {
            Some(gate) => write!(f, "at {gate:?};")?,
            None => write!(f, "with transfers outstanding;")?,
        }
    }
    match stuck.len().saturating_sub(SHOWN) {
        0 => Ok(()),
        more => write!(f, " and {more} more"),
    }
}

impl std::error::Error for SimError {}
