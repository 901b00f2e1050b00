//! Two hosts of a lab with two paths and a third one beside, traffic between them, and faults.

use std::net::{IpAddr, SocketAddr};
use std::thread;
use std::time::{Duration, Instant};

use laneway_core::Failure;
use laneway_lab::{
    Guard, LabName, Options as LabOptions, Plan, address, carry_out, management_address, monotonic,
    open, parse_fault, up, within,
};
use laneway_net::drill::{Client, Load, Outcome, Served, State, serve};
use laneway_net::{Endpoint, LocalPath, Options, Secret, Setup};
use laneway_path::FailBack;
use laneway_sim::platform::{Platform, parse_rate};
use laneway_stats::SplitMix64;

use super::disturb::{fill_queue, keep_busy};
use super::kinds::Kind;
use crate::lab::failure as lab_failure;
use crate::lab::program;
use crate::path::reach::failure;

/// The card of the network that nothing touches.
const CONTROL_CARD: &str = "mgmt";
/// How long both ends may take to have an alternate path.
const ARMS: Duration = Duration::from_secs(10);
/// Paths between the two hosts.
const PATHS: usize = 2;
/// Between two faults, in seconds: from, to.
const PAUSE: [f64; 2] = [0.05, 0.3];

/// How long a disturbance lasts that breaks nothing.
const DISTURBED: Duration = Duration::from_secs(2);
/// A card whose queue is filled has this part of its rate: what waits for 20 ms waits for 120 then.
const SLOWER: f64 = 1.0 / 6.0;
/// Seconds that its queue is filled to; there is room for a little more.
const QUEUED: f64 = 0.1;

/// When a fault began and was repaired, and when both ends had two paths again.
#[derive(Clone, Copy, Debug)]
pub struct Struck {
    pub begun: u64,
    pub repaired: u64,
    pub armed: Option<u64>,
}

/// One round of a drill: traffic of one size, faults of one kind.
pub struct Round {
    pub kind: Kind,
    pub load: Load,
    /// Whether the connections are spread over both paths.
    pub spread: bool,
    pub faults: usize,
    /// Seconds of the longest outage.
    pub outage: f64,
}

/// What a round has seen.
pub struct Seen {
    pub client: Outcome,
    pub served: Served,
    pub struck: Vec<Struck>,
}

pub struct Stage {
    lab: LabName,
    plan: Plan,
    guard: Guard,
    secret: Secret,
    /// Megabits a second of a path.
    rate: f64,
}

fn nanos(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}

impl Stage {
    pub fn build(rate: &str, one_switch: bool) -> Result<Stage, Failure> {
        let bytes = parse_rate(rate)
            .map_err(|what| Failure::usage(what, "rates have a unit", "--rate 1Gbit"))?;
        let spec = format!("cluster:2,latency=0us,rate={rate}");
        let platform = Platform::read(&spec).map_err(|error| error.into_failure())?;
        let options = LabOptions { cards: 2, one_switch, management: true, ..Default::default() };
        let plan = Plan::new(&platform, options)
            .map_err(|what| Failure::usage(what, "the two hosts of a drill", "--rate 1Gbit"))?;
        let name = format!("drill-{}", std::process::id());
        let lab = LabName::new(&name).map_err(lab_failure)?;
        let program = program()?;
        let guard = Guard::start(&lab, &program, &["lab", "guard", "--lab", lab.as_str()]);
        let guard = guard.map_err(lab_failure)?;
        up(&lab, &plan, &program).map_err(lab_failure)?;
        open(&lab).map_err(lab_failure)?;
        let drawn = SplitMix64::new(u64::from(std::process::id())).next_u64();
        let words = format!("a drill in a lab of its own {drawn:016x}");
        let secret = Secret::from_bytes(words.as_bytes()).map_err(failure)?;
        Ok(Stage { lab, plan, guard, secret, rate: 8e-6 * bytes })
    }

    pub fn remove(self) -> Result<(), Failure> {
        self.guard.remove().map_err(lab_failure)
    }

    fn endpoint(
        &self,
        host: usize,
        paths: &[(IpAddr, &str)],
        setup: Setup,
    ) -> Result<Endpoint, Failure> {
        let path = |(ip, device): &(IpAddr, &str)| {
            let address = SocketAddr::new(*ip, 0);
            LocalPath { device: Some((*device).to_string()), ..LocalPath::at(address) }
        };
        let paths = paths.iter().map(path).collect();
        let (secret, accepts) = (self.secret, host == 1);
        let options = Options { paths, secret, accepts, setup };
        let namespace = self.lab.host(&self.plan.hosts[host].name);
        within(&namespace, || Endpoint::open(options)).map_err(lab_failure)?.map_err(failure)
    }

    /// An endpoint of the two paths; the second host's accepts connections.
    pub fn on_both_paths(&self, host: usize, setup: Setup) -> Result<Endpoint, Failure> {
        let card = |path: usize| IpAddr::from(address(path, &self.plan.hosts[host]));
        self.endpoint(host, &[(card(0), "eth0"), (card(1), "eth1")], setup)
    }

    /// The endpoint of the two paths, and the one beside.
    fn endpoints(&self, host: usize, spread: bool) -> Result<[Endpoint; 2], Failure> {
        let beside = (management_address(&self.plan.hosts[host]).into(), CONTROL_CARD);
        let mut setup = Setup { spread, ..Setup::usual() };
        // Paths die again and again here, which would make connections wait longer and longer.
        let back = FailBack::to(setup.primary);
        setup.policy.fail_back = spread.then_some(FailBack { most_hold: back.hold, ..back });
        let main = self.on_both_paths(host, setup)?;
        Ok([main, self.endpoint(host, &[beside], Setup::usual())?])
    }

    /// The host that sends.
    pub fn sender(&self) -> &str {
        &self.plan.hosts[0].name
    }

    /// Begins or ends a fault, in the lab's words.
    pub fn fault(&self, words: &str, begins: bool) -> Result<(), Failure> {
        let fault = parse_fault(words, &self.lab, &self.plan).map_err(lab_failure)?;
        carry_out(&self.lab, &fault, begins, monotonic()).map_err(lab_failure)?;
        Ok(())
    }

    pub fn run(
        &self,
        round: &Round,
        random: &mut SplitMix64,
        mut tell: impl FnMut(usize),
    ) -> Result<Seen, Failure> {
        let [own, own_control] = self.endpoints(0, round.spread)?;
        let [peer, peer_control] = self.endpoints(1, false)?;
        let (peers, control_peer) = (peer.addresses(), peer_control.addresses()[0]);
        let (here, there) = (State::default(), State::default());
        let Load { bytes, computes, .. } = round.load;
        thread::scope(|scope| {
            let server = scope.spawn(|| serve(peer, Some(peer_control), bytes, computes, &there));
            let control = Some((own_control, control_peer));
            let client = Client::open(own, &peers, control, round.load);
            let client = client.inspect_err(|_| there.stop()).map_err(failure)?;
            let client = scope.spawn(|| client.run(&here));
            let struck = self.strike(round, random, &here, &there, &mut tell);
            here.stop();
            let client = client.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            there.stop();
            let server = server.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            Ok(Seen {
                client: client.map_err(failure)?,
                served: server.map_err(failure)?,
                struck: struck?,
            })
        })
    }

    /// Breaks the path in use, again and again; where both are, one that is drawn.
    fn strike(
        &self,
        round: &Round,
        random: &mut SplitMix64,
        here: &State,
        there: &State,
        tell: &mut impl FnMut(usize),
    ) -> Result<Vec<Struck>, Failure> {
        let [sender, receiver] = [0, 1].map(|host| self.plan.hosts[host].name.as_str());
        let mut struck = Vec::new();
        let sleep = |seconds: f64| thread::sleep(Duration::from_secs_f64(seconds));
        let whole = Whole::new(round);
        whole.wait(here, there);
        for number in 0..round.faults {
            sleep(PAUSE[0] + (PAUSE[1] - PAUSE[0]) * random.uniform());
            let begun = monotonic();
            let path = match round.spread {
                true => random.index(PATHS) as u8,
                false => here.primary().0,
            };
            let steps = round.kind.steps(sender, receiver, path, round.outage, random);
            for (at, (words, lasts)) in steps.iter().enumerate() {
                if at > 0 {
                    sleep(round.kind.between());
                }
                self.fault(words, true)?;
                sleep(*lasts);
                self.fault(words, false)?;
            }
            self.disturb(round.kind, usize::from(path))?;
            let repaired = nanos(monotonic());
            let armed = whole.wait(here, there);
            struck.push(Struck { begun: nanos(begun), repaired, armed });
            tell(number + 1);
            if armed.is_none() {
                // It does not come back: more faults would tell nothing, and take for ever.
                break;
            }
        }
        sleep(PAUSE[1]);
        Ok(struck)
    }
}

impl Stage {
    /// Disturbs the path in use without breaking it, if that is what the kind does.
    fn disturb(&self, kind: Kind, path: usize) -> Result<(), Failure> {
        match kind {
            Kind::Busy => keep_busy(DISTURBED),
            Kind::Queue => {
                let (sender, rate) = (self.sender(), SLOWER * self.rate);
                let slow = format!("slow {sender}:eth{path} {rate:.6}Mbit out");
                self.fault(&slow, true)?;
                let card = |host: usize| IpAddr::from(address(path, &self.plan.hosts[host]));
                let namespace = self.lab.host(self.sender());
                let bytes = (QUEUED * rate * 1e6 / 8.0) as usize;
                let filled = within(&namespace, || fill_queue(card(0), card(1), bytes, DISTURBED));
                self.fault(&slow, false)?;
                filled.map_err(lab_failure)?.map_err(|error| {
                    Failure::environment(
                        "the queue of a path could not be filled",
                        error.to_string(),
                        "--kinds busy",
                    )
                })?;
            }
            _ => {}
        }
        Ok(())
    }
}

/// When all is as it was before a fault.
struct Whole {
    /// How many connections each path carries where they are spread.
    each: Option<u8>,
}

impl Whole {
    fn new(round: &Round) -> Whole {
        Whole { each: round.spread.then_some((round.load.connections / PATHS) as u8) }
    }

    fn is_so(&self, here: &State, there: &State) -> bool {
        let carried = here.carried();
        here.is_armed()
            && there.is_armed()
            && carried == there.carried()
            && self.each.is_none_or(|each| carried[..PATHS].iter().all(|count| *count >= each))
    }

    /// Waits until both ends have an alternate path for every connection, and connections that are
    /// spread are back: when that was.
    fn wait(&self, here: &State, there: &State) -> Option<u64> {
        let begun = Instant::now();
        while begun.elapsed() < ARMS {
            if self.is_so(here, there) {
                return Some(nanos(monotonic()));
            }
            thread::sleep(Duration::from_micros(500));
        }
        None
    }
}
