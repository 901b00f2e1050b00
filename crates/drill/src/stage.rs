//! Two hosts of a lab with two paths and a third one beside, traffic between them, and faults.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use laneway_connections::drill::{Client, Load, Outcome, Served, State, serve};
use laneway_connections::{Endpoint, LocalPath, Options, Secret, Setup};
use laneway_lab::{
    Guard, LabName, Options as LabOptions, Plan, address, carry_out, management_address, monotonic,
    open, parse_fault, up, within,
};
use laneway_path::FailBack;
use laneway_sim::platform::{Platform, parse_rate};
use laneway_stats::SplitMix64;

use crate::disturb::{fill_queue, keep_busy};
use crate::error::DrillError;
use crate::kinds::{FaultStep, Kind};

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
/// All are nanoseconds of the monotonic clock.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Struck {
    /// The fault begins.
    pub begun: u64,
    /// All its steps are over.
    pub repaired: u64,
    /// `None` if that did not happen within 10 s.
    pub armed: Option<u64>,
}

/// One round of a drill: traffic of one size, faults of one kind.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    /// What is broken.
    pub kind: Kind,
    /// What is sent meanwhile.
    pub load: Load,
    /// Whether the connections are spread over both paths.
    pub spread: bool,
    /// How many faults there are.
    pub faults: usize,
    /// Seconds of the longest outage; the shortest lasts 0.1 s.
    pub outage: f64,
}

impl Default for Round {
    /// Ten times all packets of the path in use are dropped, under messages of 64 bytes.
    fn default() -> Round {
        let load = Load { bytes: 64, connections: 1, computes: Duration::ZERO };
        Round { kind: Kind::Drop, load, spread: false, faults: 10, outage: 0.4 }
    }
}

/// What a round has seen.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Seen {
    /// The end that sends.
    pub client: Outcome,
    /// The end that sends back.
    pub served: Served,
    /// The faults, in their order.
    pub struck: Vec<Struck>,
}

/// How the two hosts are joined, and who guards their lab.
#[derive(Clone, Debug)]
pub struct StageOptions {
    /// The rate of each path, with its unit.
    pub rate: String,
    /// Both paths on one switch, instead of a switch for each.
    pub one_switch: bool,
    /// A program that calls [`laneway_lab::serve`], a process of which removes the lab when its
    /// owner is gone.
    pub program: PathBuf,
}

impl Default for StageOptions {
    /// Paths of 1 Gbit/s over two switches; this program guards the lab.
    fn default() -> StageOptions {
        StageOptions { rate: "1Gbit".into(), one_switch: false, program: "/proc/self/exe".into() }
    }
}

/// The two hosts in a lab of their own, which is removed with this value.
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
    /// Builds the lab.
    pub fn build(options: &StageOptions) -> Result<Stage, DrillError> {
        let StageOptions { rate, one_switch, program } = options;
        let refused = |why: String| DrillError::Rate { rate: rate.clone(), why };
        let bytes = parse_rate(rate).map_err(refused)?;
        let platform = Platform::read(&format!("cluster:2,latency=0us,rate={rate}"));
        let platform = platform.map_err(|error| refused(error.to_string()))?;
        let one_switch = *one_switch;
        let options = LabOptions { cards: 2, one_switch, management: true, ..Default::default() };
        let plan = Plan::new(&platform, options).map_err(refused)?;
        let lab = LabName::new(&format!("drill-{}", std::process::id()))?;
        let guard = Guard::start(&lab, program)?;
        up(&lab, &plan, program)?;
        open(&lab)?;
        let drawn = SplitMix64::new(u64::from(std::process::id())).next_u64();
        let words = format!("a drill in a lab of its own {drawn:016x}");
        let secret = Secret::from_bytes(words.as_bytes())?;
        Ok(Stage { lab, plan, guard, secret, rate: 8e-6 * bytes })
    }

    /// Removes the lab, and waits for it.
    pub fn remove(self) -> Result<(), DrillError> {
        Ok(self.guard.remove()?)
    }

    fn endpoint(
        &self,
        host: usize,
        paths: &[(IpAddr, &str)],
        setup: Setup,
    ) -> Result<Endpoint, DrillError> {
        let path = |(ip, device): &(IpAddr, &str)| {
            let address = SocketAddr::new(*ip, 0);
            LocalPath { device: Some((*device).to_string()), ..LocalPath::at(address) }
        };
        let paths = paths.iter().map(path).collect();
        let (secret, accepts) = (self.secret, host == 1);
        let options = Options { paths, secret, accepts, setup };
        let namespace = self.lab.host(&self.plan.hosts[host].name);
        Ok(within(&namespace, || Endpoint::open(options))??)
    }

    /// An endpoint of the two paths; the second host's accepts connections.
    pub fn on_both_paths(&self, host: usize, setup: Setup) -> Result<Endpoint, DrillError> {
        let card = |path: usize| IpAddr::from(address(path, &self.plan.hosts[host]));
        self.endpoint(host, &[(card(0), "eth0"), (card(1), "eth1")], setup)
    }

    /// The endpoint of the two paths, and the one beside.
    fn endpoints(&self, host: usize, spread: bool) -> Result<[Endpoint; 2], DrillError> {
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
    pub fn fault(&self, words: &str, begins: bool) -> Result<(), DrillError> {
        let fault = parse_fault(words, &self.lab, &self.plan)?;
        carry_out(&self.lab, &fault, begins, monotonic())?;
        Ok(())
    }

    /// Has traffic between the hosts, and breaks the path in use again and again. `tell` is called
    /// with the number of faults that are over.
    pub fn run(
        &self,
        round: &Round,
        random: &mut SplitMix64,
        mut tell: impl FnMut(usize),
    ) -> Result<Seen, DrillError> {
        let [own, own_control] = self.endpoints(0, round.spread)?;
        let [peer, peer_control] = self.endpoints(1, false)?;
        let (peers, control_peer) = (peer.addresses(), peer_control.addresses()[0]);
        let (here, there) = (State::default(), State::default());
        let Load { bytes, computes, .. } = round.load;
        thread::scope(|scope| {
            let server = scope.spawn(|| serve(peer, Some(peer_control), bytes, computes, &there));
            let control = Some((own_control, control_peer));
            let client = Client::open(own, &peers, control, round.load);
            let client = client.inspect_err(|_| there.stop())?;
            let client = scope.spawn(|| client.run(&here));
            let struck = self.strike(round, random, &here, &there, &mut tell);
            here.stop();
            let client = client.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            there.stop();
            let server = server.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            Ok(Seen { client: client?, served: server?, struck: struck? })
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
    ) -> Result<Vec<Struck>, DrillError> {
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
            for (at, FaultStep { fault, lasts }) in steps.iter().enumerate() {
                if at > 0 {
                    sleep(round.kind.between());
                }
                self.fault(fault, true)?;
                sleep(*lasts);
                self.fault(fault, false)?;
            }
            self.disturb(round.kind, usize::from(path))?;
            let repaired = nanos(monotonic());
            let armed = whole.wait(here, there);
            struck.push(Struck { begun: nanos(begun), repaired, armed });
            tell(number + 1);
            if armed.is_none() {
                // It does not come back: more faults would show nothing, and take for ever.
                break;
            }
        }
        sleep(PAUSE[1]);
        Ok(struck)
    }

    /// Disturbs the path in use without breaking it, if that is what the kind does.
    fn disturb(&self, kind: Kind, path: usize) -> Result<(), DrillError> {
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
                filled?.map_err(DrillError::Queue)?;
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
