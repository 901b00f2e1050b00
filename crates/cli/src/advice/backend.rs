//! Advice on backends and how they start ranks.

use laneway_backend::BackendError;
use laneway_local::LocalError;
use laneway_net::RanksError;

use super::{Advised, platform};
use crate::failure::Exit;

impl Advised for BackendError {
    fn exit(&self) -> Exit {
        match self {
            BackendError::Unknown { .. }
            | BackendError::Launched(_)
            | BackendError::Simulated(_)
            | BackendError::TooManyRanks { .. }
            | BackendError::TooFewRanks { .. } => Exit::Usage,
            BackendError::Local(error) => error.exit(),
            BackendError::Ranks(error) => error.exit(),
            BackendError::Mpi(error) => error.exit(),
            BackendError::Platform(error) => platform::exit(error),
            _ => Exit::Environment,
        }
    }

    fn what(&self) -> String {
        self.to_string()
    }

    fn cause(&self) -> String {
        BackendError::cause(self)
    }

    fn advice(&self) -> String {
        match self {
            BackendError::Unknown { similar: Some(similar), .. } => format!("--backend {similar}"),
            BackendError::Unknown { .. } => "--backend local:shm, mpi, or sim:cluster:16".into(),
            BackendError::Local(error) => error.advice(),
            BackendError::Ranks(error) => error.advice(),
            BackendError::Mpi(error) => error.advice(),
            BackendError::Platform(error) => platform::advice("--backend sim:", error),
            BackendError::Launched(_) => "the same command without the launcher".into(),
            BackendError::Simulated(_) => {
                "the backend mpi, or the same program without smpirun".into()
            }
            BackendError::TooManyRanks { hosts, .. } => {
                let most = hosts.min(&laneway_local::MOST_RANKS);
                format!("--ranks {most}; laneway sim simulates schedules on more")
            }
            BackendError::TooFewRanks { asked, .. } => format!("mpirun -n {asked} …"),
            BackendError::NoAllocation => "the same command in a job, or under salloc".into(),
            BackendError::Versions { .. } => "install the same binary on every node".into(),
            BackendError::Simulation(_) => "another backend, or report it".into(),
            BackendError::Stalled { .. } => "a longer LANEWAY_WAIT_LIMIT (seconds)".into(),
            _ => "run it again; if it fails again, report it with all that was printed".into(),
        }
    }
}

impl Advised for LocalError {
    fn exit(&self) -> Exit {
        match self {
            LocalError::Ranks { .. }
            | LocalError::Transport { .. }
            | LocalError::Variable { .. } => Exit::Usage,
            _ => Exit::Environment,
        }
    }

    fn what(&self) -> String {
        self.to_string()
    }

    fn cause(&self) -> String {
        LocalError::cause(self)
    }

    fn advice(&self) -> String {
        match self {
            LocalError::Ranks { .. } => {
                format!("1 to {} ranks; for more, a cluster with an MPI", laneway_local::MOST_RANKS)
            }
            LocalError::Transport { .. } => "--backend local:shm, local:unix, or local:tcp".into(),
            LocalError::Variable { name, .. } => format!("unset {name}"),
            LocalError::RankDied { how: laneway_local::Death::Signal(libc::SIGKILL), .. } => {
                "fewer ranks or smaller messages; `dmesg` shows out-of-memory kills".into()
            }
            LocalError::RankDied { .. } => {
                "the same command on one rank, to see whether the others matter".into()
            }
            LocalError::RankLeft { .. } => {
                "let every rank come to the end of the run; look for an early exit".into()
            }
            LocalError::Spawn { .. } => "fewer ranks, or a higher limit (ulimit -u)".into(),
            _ => "the limits of this shell (ulimit -a)".into(),
        }
    }
}

impl Advised for RanksError {
    fn exit(&self) -> Exit {
        match self {
            RanksError::Ranks { .. }
            | RanksError::Connections { .. }
            | RanksError::Spread { .. }
            | RanksError::Hosts { .. }
            | RanksError::Hostfile { .. }
            | RanksError::Slots { .. } => Exit::Usage,
            RanksError::Refused { error, .. } => error.exit(),
            _ => Exit::Environment,
        }
    }

    fn what(&self) -> String {
        self.to_string()
    }

    fn cause(&self) -> String {
        RanksError::cause(self)
    }

    fn advice(&self) -> String {
        match self {
            RanksError::Ranks { .. } => format!("1 to {} ranks", laneway_net::MOST_RANKS),
            RanksError::Connections { .. } => "1 to 4 connections".into(),
            RanksError::Spread { .. } => {
                "two connections or more, and two paths such as eth0,eth1".into()
            }
            RanksError::Hosts { .. } => "hosts such as node1,node2:4".into(),
            RanksError::Hostfile { .. } | RanksError::HostfileUnread { .. } => {
                "a file with a line `node1 slots=4` for each host".into()
            }
            RanksError::Slots { slots, .. } => {
                format!("{slots} ranks, or more slots: hosts such as node1:4,node2:4")
            }
            RanksError::Spawn { .. } => {
                "the program that starts ranks: LANEWAY_SSH, or ulimit -u".into()
            }
            RanksError::NotStarted { host, .. } => {
                format!("ssh {host} true, or another program in LANEWAY_SSH")
            }
            RanksError::Refused { error, .. } => error.advice(),
            RanksError::Late { .. } => {
                "ssh to it by hand, or a longer LANEWAY_WAIT_LIMIT (seconds)".into()
            }
            RanksError::Networks { .. } => {
                "paths such as eth0,eth1: devices in the same networks on every host".into()
            }
            RanksError::SameAddress { .. } => {
                "paths such as eth0,eth1: devices that reach the other hosts".into()
            }
            RanksError::RankDied { how: laneway_net::Death::Signal(libc::SIGKILL), .. } => {
                "fewer ranks or smaller messages; `dmesg` shows out-of-memory kills".into()
            }
            RanksError::RankDied { .. } => {
                "the same command again with all ranks on this host shows whether it is the host"
                    .into()
            }
            RanksError::Launcher { .. } => "install the same binary on every host".into(),
            RanksError::Device { .. } => {
                "ip -brief address, which lists the devices of a host".into()
            }
            RanksError::NoAnswer { .. } => {
                "let UDP pass between the hosts; ip route get ADDRESS shows the route".into()
            }
            _ => "the limits of this shell (ulimit -a)".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_and_environment_have_their_exit_codes() {
        assert_eq!(LocalError::Ranks { asked: 0 }.exit(), Exit::Usage);
        let how = laneway_local::Death::Signal(9);
        assert_eq!(LocalError::RankDied { rank: 3, how }.exit(), Exit::Environment);
        let spread = Box::new(RanksError::Spread { what: "one path".into() });
        let refused = RanksError::Refused { rank: 1, host: "node1".into(), error: spread };
        assert_eq!(refused.exit(), Exit::Usage);
        assert!(refused.advice().starts_with("two connections"), "{}", refused.advice());
    }

    #[test]
    fn advice_on_a_name_is_a_backend() {
        for (typed, advised) in [
            ("lcoal", "--backend local:shm"),
            ("two-sites:4x4", "--backend sim:two-sites:4x4"),
            ("nothing-like-it", "--backend local:shm, mpi, or sim:cluster:16"),
            ("local:avian", "--backend local:shm, local:unix, or local:tcp"),
        ] {
            let error = laneway_backend::open(typed).map(|_| ()).expect_err(typed);
            assert_eq!(error.advice(), advised, "{typed}");
        }
    }
}
