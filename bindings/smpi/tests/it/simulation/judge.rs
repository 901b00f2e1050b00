//! Our virtual time against SimGrid's: every algorithm of the registry, and messages at random.
//!
//! Both sides have the same platform (what `laneway sim --export-simgrid` writes), the same eager
//! size and the same 16 bytes of header; ours is set to let the messages of a pair flow beside
//! each other, and SimGrid to compute with the model CM02, all factors one.
//! No algorithm is an exception; sizes at which SimGrid itself deadlocks are left out, named in
//! [`DEADLOCKS`], and tested to be so still.

use laneway_coll::messages::{Message, Messages};
use laneway_coll::{algorithms, find};
use laneway_core::units::parse_size;
use laneway_core::{Collective, Shape};
use laneway_needs::amount;
use laneway_sim::platform::Platform;
use laneway_sim::{Fairness, Simulation};
use laneway_stats::SplitMix64;

use super::{Cluster, Outcome};

/// The least that the two must agree to, as a part of the time.
const PART: f64 = 0.001;
/// What one message must agree to, in seconds.
const EXACTLY: f64 = 0.01e-6;

/// SimGrid 3.32 keeps messages below and above the eager size in two mailboxes, and deadlocks where
/// one of these receives both at once; over real MPIs, and with either kind alone, they run.
const DEADLOCKS: [(&str, &str, &str); 4] = [
    ("bcast", "scatter-doubling", "200K"),
    ("allgather", "bruck", "64K"),
    ("allgather", "k-bruck", "64K"),
    ("allgather", "neighbour", "64K"),
];

/// What a platform of ours must say to be SimGrid's too: its MPI's header, and messages of a pair
/// that flow beside each other and share by latency.
pub const SIMGRIDS_WAY: &str = "header=16,in-order=false,sharing=by-latency";

/// A platform on both sides.
pub struct Judged {
    pub platform: Platform,
    cluster: Cluster,
    arguments: Vec<String>,
}

impl Judged {
    /// `None` if SimGrid is not installed.
    pub fn new(name: &str, spec: &str) -> Option<Judged> {
        let cluster = Cluster::new(name)?;
        let platform = Platform::read(&format!("{spec},{SIMGRIDS_WAY}")).expect(spec);
        let export = platform.export_simgrid().expect("an export");
        assert_eq!(export.lost, [""; 0], "{spec}");
        std::fs::write(cluster.0.join("platform.xml"), &export.platform_xml).expect("a file");
        std::fs::write(cluster.0.join("hosts"), &export.hostfile).expect("a file");
        Some(Judged { platform, cluster, arguments: export.arguments })
    }

    fn run(&self, args: &[&str]) -> Outcome {
        let settings: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        let all = [&["virtual-time"], args].concat();
        self.cluster.run(self.platform.hosts(), &settings, &all)
    }

    /// The lines of numbers that SimGrid's ranks print, without their heads.
    pub fn theirs(&self, args: &[&str]) -> Vec<String> {
        let outcome = self.run(args);
        assert_eq!(outcome.code, Some(0), "{args:?}: {outcome:?}");
        let lines = outcome.out.lines().skip(1).map(|line| {
            let (line, skew) = line.rsplit_once(',').expect("a skew");
            assert_eq!(skew.parse(), Ok(0.0), "{args:?}: {line}");
            line.to_string()
        });
        lines.collect()
    }

    /// When each rank was done with a list of messages, by us and by SimGrid.
    fn messages(&self, list: &[Message], fairness: Fairness) -> Vec<(f64, f64)> {
        let ranks = self.platform.hosts();
        let schedule = Messages::new(ranks, list).expect("a schedule");
        let ours = Simulation::new(&self.platform).fairness(fairness).run(&schedule);
        let ours = ours.expect("a run that ends").per_rank;
        let words: Vec<String> =
            list.iter().map(|m| format!("{}:{}:{}", m.from, m.to, m.bytes)).collect();
        let theirs = self.theirs(&["messages", &words.join(",")]);
        assert_eq!(theirs.len(), ours.len());
        let number = |line: &String| line.rsplit_once(',').and_then(|(_, text)| text.parse().ok());
        let theirs = theirs.iter().map(|line| number(line).expect("a number"));
        ours.into_iter().zip(theirs).collect()
    }
}

#[track_caller]
fn agree(what: &str, ours: f64, theirs: f64, most: f64) {
    let apart = (ours - theirs).abs();
    assert!(apart <= most, "{what}: ours {ours} s, SimGrid {theirs} s");
}

/// Compares every algorithm at these sizes; how many runs, and the largest difference as a part.
fn every_algorithm(judged: &Judged, sizes: &[&str]) -> (u32, f64) {
    let (mut compared, mut worst) = (0, 0.0f64);
    for collective in Collective::ALL {
        let op = collective.name();
        let sizes = if collective == Collective::Barrier { &["0"][..] } else { sizes };
        for size in sizes {
            let names: Vec<&str> = algorithms(collective).map(|a| a.name).collect();
            let theirs = judged.theirs(&[op, &names.join(","), size]);
            assert_eq!(theirs.len(), names.len(), "{theirs:?}");
            for (name, line) in names.iter().zip(&theirs) {
                let bytes = parse_size(size).expect("a size");
                let (algorithm, params) = find(collective, name).expect("an algorithm");
                let shape = Shape::new(collective, 16, bytes).with_element(1, true);
                let schedule = algorithm.schedule(&shape, &params).expect("a schedule");
                let ours = Simulation::new(&judged.platform).run(&*schedule).expect("a run");
                let start = format!("{op},{name},16,{bytes},");
                let seconds = line.strip_prefix(&start).and_then(|text| text.parse().ok());
                let seconds: f64 = seconds.unwrap_or_else(|| panic!("{line} is not of {start}"));
                agree(&start, ours.finish, seconds, PART * seconds);
                worst = worst.max((ours.finish - seconds).abs() / seconds);
                compared += 1;
            }
        }
    }
    println!("{compared} runs; the largest difference is {:.5} %", worst * 100.0);
    (compared, worst)
}

#[test]
fn every_algorithm_takes_the_time_that_simgrid_says() {
    let Some(judged) = Judged::new("algorithms", "cluster:16") else { return };
    // Just above the limit, eager until blocks are put together, long, and eager.
    let sizes = &["65537", "8K", "128K", "1", "1K"][..amount(3, 5)];
    let (compared, worst) = every_algorithm(&judged, sizes);
    assert!(compared > 66 * sizes.len() as u32, "{compared}");
    assert!(worst < 1e-5, "{worst}");
}

#[test]
fn every_algorithm_agrees_with_all_messages_eager_and_with_none() {
    for (name, spec) in [("eager", "cluster:16,eager=1G"), ("late", "cluster:16,eager=0")] {
        let Some(judged) = Judged::new(name, spec) else { return };
        every_algorithm(&judged, &["200K", "64K"][..amount(1, 2)]);
    }
}

#[test]
fn what_simgrid_cannot_run_is_that_still() {
    let Some(judged) = Judged::new("deadlocks", "cluster:16") else { return };
    for (op, algorithm, size) in DEADLOCKS {
        // Its launcher says 0 now and then, so that the code tells nothing.
        let outcome = judged.run(&[op, algorithm, size]);
        let stuck = outcome.err.contains("Deadlock detected");
        assert!(stuck, "{op} {algorithm} {size} runs now, and can be compared: {outcome:?}");
    }
}

#[test]
fn one_message_agrees_to_a_hundredth_of_a_microsecond() {
    let Some(judged) = Judged::new("one", "two-sites:2x2") else { return };
    for (to, way) in [(1, "LAN"), (3, "WAN")] {
        for bytes in [1, 1_000_000] {
            let list = [Message { from: 0, to, bytes }];
            let (ours, theirs) = judged.messages(&list, Fairness::Equal)[to as usize];
            println!("{way} {bytes} B: ours {ours:.9} s, SimGrid {theirs:.9} s");
            agree(&format!("{way} {bytes} B"), ours, theirs, EXACTLY);
        }
    }
}

/// A permutation without fixed points.
fn derangement(random: &mut SplitMix64, ranks: u32) -> Vec<u32> {
    loop {
        let mut all: Vec<u32> = (0..ranks).collect();
        for i in (1..all.len()).rev() {
            all.swap(i, random.index(i + 1));
        }
        if all.iter().enumerate().all(|(from, to)| from as u32 != *to) {
            return all;
        }
    }
}

/// From 1 byte to `most`.
fn bytes(random: &mut SplitMix64, most: usize) -> u64 {
    1 + random.index(most) as u64
}

/// Random messages on a platform; every rank that has any must agree.
fn random_messages(
    name: &str,
    spec: &str,
    fairness: Fairness,
    draw: fn(&mut SplitMix64) -> Vec<Message>,
) {
    let Some(judged) = Judged::new(name, spec) else { return };
    let mut worst = 0.0f64;
    for seed in 1..=6 {
        let list = draw(&mut SplitMix64::new(seed));
        for (rank, (ours, theirs)) in judged.messages(&list, fairness).into_iter().enumerate() {
            agree(&format!("{spec}, seed {seed}, rank {rank}"), ours, theirs, PART * theirs);
            worst = worst.max(if theirs > 0.0 { (ours - theirs).abs() / theirs } else { 0.0 });
        }
    }
    println!("{spec}: the largest difference is {:.5} %", worst * 100.0);
}

/// Each rank sends to another, messages of any length.
fn permutation(random: &mut SplitMix64) -> Vec<Message> {
    let partners = derangement(random, 16);
    let message = |(from, to): (usize, u32)| {
        let bytes = bytes(random, 2_000_000);
        Message { from: from as u32, to, bytes }
    };
    partners.into_iter().enumerate().map(message).collect()
}

/// Many send to few; all messages eager, or all of them long, because SimGrid deadlocks with both.
fn fan_in(random: &mut SplitMix64) -> Vec<Message> {
    let mut list = Vec::new();
    let (above, most) = if random.index(2) == 0 { (0, 60_000) } else { (70_000, 1_500_000) };
    for from in 0..16 {
        for _ in 0..=random.index(3) {
            let to = random.index(3) as u32;
            if to != from {
                list.push(Message { from, to, bytes: above + bytes(random, most) });
            }
        }
    }
    list
}

/// All of the first site send to the second, through one uplink.
fn uphill(random: &mut SplitMix64) -> Vec<Message> {
    let message = |from: u32| {
        let to = 8 + random.index(8) as u32;
        Message { from, to, bytes: bytes(random, 3_000_000) }
    };
    (0..8).map(message).collect()
}

#[test]
fn random_permutations_agree() {
    random_messages("permutation", "cluster:16", Fairness::Equal, permutation);
}

#[test]
fn random_fan_in_agrees() {
    random_messages("fan-in", "cluster:16", Fairness::Equal, fan_in);
}

#[test]
fn a_shared_uplink_agrees() {
    let spec = "sites:8,8,uplink=200Mbit,connection=1Gbit";
    random_messages("uplink", spec, Fairness::Equal, uphill);
}

#[test]
fn ways_of_different_latency_agree_where_we_share_as_simgrid_does() {
    let spec = "two-sites:8x8,latency=2ms,connection=1Gbit,wan=300Mbit";
    random_messages("latency", spec, Fairness::ByLatency, permutation);
    random_messages("latency-in", spec, Fairness::ByLatency, fan_in);
}
