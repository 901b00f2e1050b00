//! The simulator's speed against SimGrid's: an all-to-all of a thousand ranks run by events, and
//! random permutations over two fabrics as bare flows. Each is one thread, so that seconds of the
//! processor are meant, and a machine with other work gives nearly the same figures.

mod simgrid;

use std::process::ExitCode;

use laneway_benches::{Spread, ratio};
use laneway_coll::find;
use laneway_core::{Collective, Shape};
use laneway_sim::{
    Carrier, Flows, HostId, MessageId, Network, Resource, ResourceId, Route, simulate,
};
use laneway_stats::SplitMix64;
use simgrid::Simgrid;

const PASSES: usize = 7;
const RANKS: [u32; 3] = [256, 512, 1024];
const PERMUTATIONS: usize = 300;
/// Every link, in bytes a second.
const RATE: f64 = 12.5e9;
/// Every flow of a permutation.
const FLOW_BYTES: u64 = 1 << 20;
const BLOCK_BYTES: u64 = 1024;
/// From host to host in the flat cluster.
const LATENCY_S: f64 = 1e-6;
/// Ports of a switch towards hosts; half of all its ports.
const D: u32 = 8;
/// Seconds that the all-to-all of 1,024 ranks may take, and MiB.
const MOST_S: f64 = 5.0;
const MOST_MIB: f64 = 1024.0;
/// Our seconds of the processor over SimGrid's: of the flows by S4U, of the all-to-all by SMPI.
const MOST_OF_S4U: f64 = 0.111;
const MOST_OF_SMPI: f64 = 0.05;
/// Relative difference of virtual times.
const MOST_APART: f64 = 1e-6;
/// How much dearer a message may be with twice the ranks; its logarithm grows by 1.11.
const MOST_GROWTH: f64 = 1.3;

/// How much dearer an all-to-all may be where the messages of a pair go in order, as they do by
/// default, than where they flow beside each other, as in SimGrid.
const MOST_OF_BESIDE: f64 = 1.5;

/// Every host has a link up and a link down.
struct Flat {
    links: Vec<Resource>,
    in_order: bool,
}

fn links(count: u32) -> Vec<Resource> {
    let link = |number| Resource {
        name: format!("link {number}"),
        rate: RATE,
        shared: true,
        congestion: Default::default(),
    };
    (0..count).map(link).collect()
}

impl Network for Flat {
    fn hosts(&self) -> u32 {
        self.links.len() as u32 / 2
    }

    fn resources(&self) -> &[Resource] {
        &self.links
    }

    fn route(&self, from: HostId, to: HostId, route: &mut Route) {
        route.resources.extend([2 * from, 2 * to + 1]);
        (route.latency, route.most) = (LATENCY_S, f64::INFINITY);
    }

    fn eager_bytes(&self) -> u64 {
        4096
    }

    /// As SMPI has it, so that both simulate the same.
    fn header_bytes(&self) -> u64 {
        16
    }

    fn in_order(&self) -> bool {
        self.in_order
    }
}

/// Seconds that this process has had a processor.
fn processor_s() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call fills in the structure that it is given, which lives until it returns.
    match unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) } {
        0 => time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9,
        _ => f64::NAN,
    }
}

/// A pairwise all-to-all.
struct Run {
    /// Of the processor.
    seconds: f64,
    messages: f64,
    /// Virtual.
    finish: f64,
}

fn all_to_all(ranks: u32, in_order: bool) -> Result<Run, String> {
    let network = Flat { links: links(2 * ranks), in_order };
    let (algorithm, params) =
        find(Collective::Alltoall, "pairwise").map_err(|refusal| refusal.to_string())?;
    let shape = Shape::new(Collective::Alltoall, ranks, BLOCK_BYTES);
    let schedule = algorithm.schedule(&shape, &params).map_err(|refusal| refusal.to_string())?;
    let begun = processor_s();
    let outcome = simulate(&network, &*schedule, None).map_err(|error| error.to_string())?;
    let (messages, finish) = (outcome.messages as f64, outcome.finish);
    Ok(Run { seconds: processor_s() - begun, messages, finish })
}

/// The most memory that this process has had, in MiB, where the system says so.
fn peak_mib() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib / 1024.0)
}

/// The way between two hosts, as a list of links.
type Way = fn(HostId, HostId, &mut Vec<ResourceId>);

/// Two links for each host, then two for each uplink of each edge switch, then the higher ones.
fn host_up(host: HostId) -> ResourceId {
    2 * host
}

fn uplink(hosts: u32, switch: u32, port: u32) -> ResourceId {
    2 * hosts + 2 * (switch * D + port)
}

/// Multi-layer full mesh: D layers of D + 1 switches with D hosts each; every two columns of
/// switches share one switch above them.
const MESH_HOSTS: u32 = D * D * (D + 1);

fn mesh(from: HostId, to: HostId, way: &mut Vec<ResourceId>) {
    let (a, b) = (from / D, to / D);
    way.push(host_up(from));
    if a != b {
        let (column, other) = (a % (D + 1), b % (D + 1));
        // Within a column any switch above serves; the host's number spreads them.
        let (up, down) = if column == other {
            (to % D, to % D)
        } else {
            (other - u32::from(other > column), column - u32::from(column > other))
        };
        way.extend([uplink(MESH_HOSTS, a, up), uplink(MESH_HOSTS, b, down) + 1]);
    }
    way.push(host_up(to) + 1);
}

/// Fat tree of three levels and full bisection, up by the destination's digits.
const TREE_HOSTS: u32 = D * D * D;

fn tree(from: HostId, to: HostId, way: &mut Vec<ResourceId>) {
    let (a, b) = (from / D, to / D);
    way.push(host_up(from));
    if a != b {
        let (low, high) = (to % D, to / D % D);
        way.push(uplink(TREE_HOSTS, a, low));
        if a / D != b / D {
            let middle = |edge: u32| D * D + edge / D * D + low;
            way.push(uplink(TREE_HOSTS, middle(a), high));
            way.push(uplink(TREE_HOSTS, middle(b), high) + 1);
        }
        way.push(uplink(TREE_HOSTS, b, low) + 1);
    }
    way.push(host_up(to) + 1);
}

/// A permutation without fixed points.
fn derangement(hosts: u32, random: &mut SplitMix64) -> Vec<HostId> {
    loop {
        let mut all: Vec<HostId> = (0..hosts).collect();
        for i in (1..all.len()).rev() {
            all.swap(i, random.index(i + 1));
        }
        if all.iter().enumerate().all(|(i, to)| i as u32 != *to) {
            return all;
        }
    }
}

/// Permutations over a fabric.
struct Work {
    hosts: u32,
    links: u32,
    way: Way,
    permutations: Vec<Vec<HostId>>,
}

/// What a simulator says of them.
struct Pass {
    /// Of the processor, for all.
    seconds: f64,
    /// For each permutation the time of its last flow, and the mean of all.
    times: Vec<[f64; 2]>,
}

impl Work {
    fn new(hosts: u32, way: Way) -> Work {
        let switches = 2 * D * D + D;
        let mut random = SplitMix64::new(1);
        let permutations = (0..PERMUTATIONS).map(|_| derangement(hosts, &mut random)).collect();
        Work { hosts, links: 2 * hosts + 2 * switches * D, way, permutations }
    }

    fn flows(&self) -> f64 {
        PERMUTATIONS as f64 * f64::from(self.hosts)
    }

    /// All permutations, one after the other, as bare flows.
    fn pass(&self) -> Pass {
        let mut flows = Flows::new(&links(self.links));
        let mut route = Route { resources: Vec::new(), latency: 0.0, most: f64::INFINITY };
        let (mut now, mut arrived, mut times) = (0.0, Vec::new(), Vec::new());
        let begun = processor_s();
        for partners in &self.permutations {
            let (start, mut sum) = (now, 0.0);
            for (from, to) in partners.iter().enumerate() {
                route.resources.clear();
                (self.way)(from as HostId, *to, &mut route.resources);
                flows.start(now, now, from as MessageId, FLOW_BYTES, &route);
            }
            while let Some(next) = flows.next(now) {
                now = next;
                flows.arrived(now, &mut arrived);
                sum += arrived.len() as f64 * (now - start);
                arrived.clear();
            }
            times.push([now - start, sum / f64::from(self.hosts)]);
        }
        Pass { seconds: processor_s() - begun, times }
    }
}

/// The largest relative difference between the two simulators' times, which must agree: a faster
/// answer to another question is none.
fn difference(ours: &[f64], theirs: &[f64]) -> Result<f64, String> {
    let apart = ours.iter().zip(theirs).map(|(ours, theirs)| (ours / theirs - 1.0).abs());
    match apart.max_by(f64::total_cmp) {
        Some(most) if most <= MOST_APART && ours.len() == theirs.len() => Ok(most),
        most => Err(format!("our virtual times and SimGrid's differ: by {most:?} of a time")),
    }
}

/// The all-to-all by events: what it costs, how that grows, and what SMPI takes for the same.
fn events(simgrid: Option<&Simgrid>) -> Result<(), String> {
    let mut passes = Vec::new();
    for _ in 0..PASSES {
        let beside = |place: usize| all_to_all(RANKS[place], false);
        passes.push([beside(0)?, beside(1)?, beside(2)?, all_to_all(RANKS[2], true)?]);
    }
    let spread = |figure: &dyn Fn(&[Run; 4]) -> f64| {
        Spread::of(&passes.iter().map(figure).collect::<Vec<f64>>())
    };
    for (i, ranks) in RANKS.iter().enumerate() {
        let seconds = spread(&|pass| pass[i].seconds);
        let rate = spread(&|pass| pass[i].messages / pass[i].seconds / 1e6).median;
        println!("all-to-all pairwise, {ranks} ranks, 1 KiB: {seconds} s, {rate:.2} M messages/s");
    }
    let seconds = spread(&|pass| pass[2].seconds).median;
    ratio("1,024 ranks, seconds", seconds, MOST_S);
    let in_order = spread(&|pass| pass[3].seconds / pass[2].seconds).median;
    ratio("1,024 ranks, in order / beside each other", in_order, MOST_OF_BESIDE);
    for (i, ranks) in RANKS.windows(2).enumerate() {
        let cost = |run: &Run| run.seconds / run.messages;
        let growth = spread(&|pass| cost(&pass[i + 1]) / cost(&pass[i])).median;
        let what = format!("cost of a message, {} ranks / {}", ranks[1], ranks[0]);
        ratio(&what, growth, MOST_GROWTH);
    }
    match peak_mib() {
        Some(mib) => ratio("memory, MiB", mib, MOST_MIB),
        None => println!("this system does not say how much memory was used"),
    }
    let Some(simgrid) = simgrid else { return Ok(()) };
    let smpi = simgrid.all_to_all(RANKS[2])?;
    let apart = difference(&[passes[0][2].finish], &[smpi.finish])?;
    println!(
        "all-to-all pairwise, 1024 ranks, 1 KiB, SMPI, run once: {:.3} s; virtual times differ by \
         {apart:.1e}",
        smpi.seconds
    );
    ratio("1,024 ranks, ours / SMPI, seconds", seconds / smpi.seconds, MOST_OF_SMPI);
    Ok(())
}

/// The permutations as bare flows, ours and S4U's in turn.
fn flows(name: &str, work: &Work, simgrid: Option<&Simgrid>) -> Result<(), String> {
    let file = simgrid.map(|simgrid| simgrid.write(work)).transpose()?;
    let (mut ours, mut theirs, mut parts, mut most) = (Vec::new(), Vec::new(), Vec::new(), 0.0);
    for _ in 0..PASSES {
        let pass = work.pass();
        if let (Some(simgrid), Some(file)) = (simgrid, &file) {
            let peer = simgrid.flows(file)?;
            let apart = difference(pass.times.as_flattened(), peer.times.as_flattened())?;
            most = apart.max(most);
            theirs.push(work.flows() / peer.seconds / 1e6);
            parts.push(pass.seconds / peer.seconds);
        }
        ours.push(work.flows() / pass.seconds / 1e6);
    }
    let what = format!("random permutations, {name} of {} hosts", work.hosts);
    println!("{what}: {} M flows/s", Spread::of(&ours));
    if simgrid.is_some() {
        let (theirs, parts) = (Spread::of(&theirs), Spread::of(&parts));
        println!("{what}, S4U: {theirs} M flows/s; finish and mean times differ by {most:.1e}");
        println!("{what}, ours / S4U, seconds: {parts}");
        ratio(&format!("{name}, ours / S4U, seconds"), parts.median, MOST_OF_S4U);
    }
    Ok(())
}

fn run() -> Result<(), String> {
    let simgrid = Simgrid::new().inspect_err(|why| {
        println!("without SimGrid's ratios (apt-get install g++ libsimgrid-dev): {why}");
    });
    let simgrid = simgrid.ok();
    events(simgrid.as_ref())?;
    flows("full mesh", &Work::new(MESH_HOSTS, mesh), simgrid.as_ref())?;
    flows("fat tree", &Work::new(TREE_HOSTS, tree), simgrid.as_ref())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
    }
}
