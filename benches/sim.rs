//! The simulator's speed: an all-to-all of a thousand ranks run by events, and random permutations
//! over two fabrics as bare flows. It is one thread, so that seconds of the processor are meant,
//! and a machine with other work gives the same figures.

use laneway_benches::{Spread, ratio};
use laneway_coll::find;
use laneway_core::{Collective, Shape};
use laneway_sim::{
    Carrier, Flows, HostId, MessageId, Network, Resource, ResourceId, Route, simulate,
};

const PASSES: usize = 5;
const PERMUTATIONS: usize = 300;
/// Ports of a switch towards hosts; half of all its ports.
const D: u32 = 8;
/// Seconds that the all-to-all of 1,024 ranks may take, and MiB.
const MOST_S: f64 = 5.0;
const MOST_MIB: f64 = 1024.0;
/// How much dearer a message may be with twice the ranks; its logarithm grows by 1.11.
const MOST_GROWTH: f64 = 1.3;

/// Every host has a link up and a link down.
struct Flat(Vec<Resource>);

fn links(count: u32) -> Vec<Resource> {
    let link = |number| Resource { name: format!("link {number}"), rate: 12.5e9, shared: true };
    (0..count).map(link).collect()
}

impl Network for Flat {
    fn hosts(&self) -> u32 {
        self.0.len() as u32 / 2
    }

    fn resources(&self) -> &[Resource] {
        &self.0
    }

    fn route(&self, from: HostId, to: HostId, route: &mut Route) {
        route.resources.extend([2 * from, 2 * to + 1]);
        (route.latency, route.most) = (1e-6, f64::INFINITY);
    }

    fn eager_bytes(&self) -> u64 {
        4096
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

/// Seconds and messages of a pairwise all-to-all of 1 KiB blocks.
fn all_to_all(ranks: u32) -> Result<(f64, u64), String> {
    let network = Flat(links(2 * ranks));
    let (algorithm, params) =
        find(Collective::Alltoall, "pairwise").map_err(|refusal| refusal.to_string())?;
    let shape = Shape::new(Collective::Alltoall, ranks, 1024);
    let schedule = algorithm.schedule(&shape, &params).map_err(|refusal| refusal.to_string())?;
    let begun = processor_s();
    let outcome = simulate(&network, &*schedule, None).map_err(|error| error.to_string())?;
    Ok((processor_s() - begun, outcome.messages))
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

/// A permutation in which nobody keeps its place, from splitmix64.
fn derangement(hosts: u32, state: &mut u64) -> Vec<HostId> {
    let mut random = || {
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    loop {
        let mut all: Vec<HostId> = (0..hosts).collect();
        for i in (1..all.len()).rev() {
            all.swap(i, (random() % (i as u64 + 1)) as usize);
        }
        if all.iter().enumerate().all(|(i, to)| i as u32 != *to) {
            return all;
        }
    }
}

/// Flows a second over random permutations, and the mean of rate alone over mean rate had.
fn permutations(hosts: u32, way: Way) -> (f64, f64) {
    let switches = 2 * D * D + D;
    let resources = links(2 * hosts + 2 * switches * D);
    let (rate, bytes) = (resources[0].rate, 1u64 << 20);
    let mut flows = Flows::new(&resources);
    let (mut state, mut now, mut arrived) = (1u64, 0.0, Vec::new());
    let mut route = Route { resources: Vec::new(), latency: 0.0, most: f64::INFINITY };
    let (mut seconds, mut parts) = (0.0, 0.0);
    for _ in 0..PERMUTATIONS {
        let partners = derangement(hosts, &mut state);
        let (begun, start) = (processor_s(), now);
        for (from, to) in partners.iter().enumerate() {
            route.resources.clear();
            way(from as HostId, *to, &mut route.resources);
            flows.start(now, from as MessageId, bytes, &route);
        }
        while let Some(next) = flows.next(now) {
            now = next;
            flows.arrived(now, &mut arrived);
            parts += arrived.len() as f64 * (bytes as f64 / rate) / (now - start);
            arrived.clear();
        }
        seconds += processor_s() - begun;
    }
    let count = PERMUTATIONS as f64 * f64::from(hosts);
    (count / seconds, parts / count)
}

fn main() {
    let mut per_message = Vec::new();
    for ranks in [256, 512, 1024] {
        let passes: Result<Vec<(f64, u64)>, String> =
            (0..PASSES).map(|_| all_to_all(ranks)).collect();
        let passes = match passes {
            Ok(passes) => passes,
            Err(why) => return eprintln!("error: {why}"),
        };
        let messages = passes[0].1 as f64;
        let seconds = Spread::of(&passes.iter().map(|pass| pass.0).collect::<Vec<_>>());
        println!(
            "all-to-all pairwise, {ranks} ranks, 1 KiB: {seconds} s, {:.2} M messages/s",
            messages / seconds.median / 1e6
        );
        per_message.push(seconds.median / messages);
        if ranks == 1024 {
            ratio("1,024 ranks, seconds", seconds.median, MOST_S);
        }
    }
    for (pair, ranks) in per_message.windows(2).zip([256, 512]) {
        let what = format!("cost of a message, {} ranks / {ranks}", 2 * ranks);
        ratio(&what, pair[1] / pair[0], MOST_GROWTH);
    }
    match peak_mib() {
        Some(mib) => ratio("memory, MiB", mib, MOST_MIB),
        None => println!("this system does not say how much memory was used"),
    }
    let fabrics: [(&str, u32, Way); 2] =
        [("full mesh", MESH_HOSTS, mesh), ("fat tree", TREE_HOSTS, tree)];
    for (name, hosts, way) in fabrics {
        let passes: Vec<(f64, f64)> = (0..PASSES).map(|_| permutations(hosts, way)).collect();
        let rates: Vec<f64> = passes.iter().map(|pass| pass.0 / 1e6).collect();
        println!(
            "random permutations, {name} of {hosts} hosts: {} M flows/s, mean rate {:.3} of a link",
            Spread::of(&rates),
            passes[0].1
        );
    }
}
