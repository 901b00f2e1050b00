//! What a method says that a sample can be at least and at most: the truth lies between, also where
//! ways are not alike.

use laneway_coll::find;
use laneway_core::{Collective as Kind, Comm, Shape};
use laneway_measure::operation::Answerer;
use laneway_measure::timing::{Confirmation, Root, Stage, Tasks, Timing};
use laneway_measure::{Batch, Collective, GlobalClock, Pace, Procedure, truth};
use laneway_sim::Program;
use laneway_sim::platform::Platform;
use laneway_stats::SplitMix64;

/// Eight hosts of different costs by seed, some with a slow way to rank 0 or from it.
fn uneven(seed: u64) -> Platform {
    let mut random = SplitMix64::new(seed);
    let mut draw = |most: f64| 1.0 + (random.uniform() * most).floor();
    let mut text = format!("[[site]]\nname = \"s\"\nlatency = \"{}us\"\n", draw(80.0));
    for host in 0..8 {
        let (send, receive) = (draw(30.0), draw(30.0));
        text += &format!(
            "[[host]]\nname = \"h{host}\"\nsite = \"s\"\nrate = \"1Gbit\"\nsend = \"{send}us\"\n\
             receive = \"{receive}us\"\nclock-offset = \"+-500ms\"\n"
        );
    }
    let slow = 100.0 + draw(900.0);
    text += &format!("[[link]]\nname = \"slow\"\nrate = \"10Gbit\"\nlatency = \"{slow}us\"\n");
    for host in 1..8 {
        let (from, to) = match draw(3.0) as u32 {
            1 => (host, 0),
            2 => (0, host),
            _ => continue,
        };
        text += &format!(
            "[[route]]\nfrom = \"h{from}\"\nto = \"h{to}\"\nlinks = [\"slow\"]\nboth-ways = false\n"
        );
    }
    let name = format!("laneway-uneven-{}-{seed}.toml", std::process::id());
    let file = std::env::temp_dir().join(name);
    std::fs::write(&file, text).expect("a file");
    let platform = Platform::read(file.to_str().expect("a readable name")).expect("a platform");
    std::fs::remove_file(file).expect("removed");
    platform
}

/// One batch and the true time.
fn batch(
    platform: &Platform,
    (kind, algorithm, size): (Kind, &str, u64),
    method: impl Fn() -> Box<dyn Timing> + Sync,
) -> (Batch, f64) {
    let ranks = platform.hosts();
    let (algorithm, params) = find(kind, algorithm).expect("an algorithm");
    let ended = Program::new(platform, ranks).run(|comm: &dyn Comm| {
        let own = comm.dup().expect("a communicator");
        let shape = Shape::new(kind, ranks, size);
        let made = Collective::new(comm, &shape, Answerer::Ours(algorithm, params));
        let mut collective = made.expect("a shape that is served");
        let mut ready = collective.ready().expect("buffers");
        let mut stage = Stage::new(&*own, GlobalClock::new(&*own, Procedure::Tree));
        let mut timing = method();
        timing.prepare(&mut stage, &mut ready).expect("ready");
        let batch = timing.batch(&mut stage, &mut ready, Pace::dense(4)).expect("a batch");
        (batch, truth(&*own, &mut ready).expect("the truth"))
    });
    let results = ended.expect("a program that ends").results;
    let (batch, truth) = results.into_iter().next().expect("rank 0");
    (batch, truth.expect("rank 0 knows"))
}

fn ensure_between(what: &str, batch: &Batch, truth: f64) {
    assert_eq!(batch.samples.len(), 4, "{what}");
    // What is added up in another order differs in its last digits.
    let slack = 1e-9;
    for sample in &batch.samples {
        let (sample, low, high) = (sample.time, sample.bound.low, sample.bound.high);
        let what = format!("{what}: {low} {sample} {high}, truth {truth}");
        assert!(low - slack <= truth && truth <= high + slack, "{what}");
        assert!(low - slack <= sample && sample <= high + slack, "{what}");
    }
}

const CALLS: [(Kind, &str); 4] = [
    (Kind::Bcast, "linear"),
    (Kind::Bcast, "binomial"),
    (Kind::Scatter, "linear"),
    (Kind::Scatter, "binomial"),
];

#[test]
fn the_truth_of_tasks_lies_between_no_acknowledgement_and_a_whole_round_trip() {
    let mut missed = 0;
    for seed in 1..=12 {
        let platform = uneven(seed);
        for (kind, algorithm) in CALLS {
            for size in [8, 1 << 10, 16 << 10] {
                let cell = (kind, algorithm, size);
                let (batch, truth) = batch(&platform, cell, || Box::new(Tasks::new(0)));
                let what = format!("seed {seed}, {} {algorithm} {size}", kind.name());
                ensure_between(&what, &batch, truth);
                missed += u32::from((batch.samples[3].time / truth - 1.0).abs() > 0.1);
            }
        }
    }
    // Else half a round trip were good enough.
    assert!(missed > 10, "{missed}");
}

#[test]
fn the_truth_of_the_root_lies_between_all_of_a_confirmation_and_none() {
    for seed in 1..=12 {
        let platform = uneven(seed);
        for (kind, algorithm) in CALLS.into_iter().chain([(Kind::Allreduce, "ring")]) {
            for confirmation in Confirmation::ALL {
                let cell = (kind, algorithm, 1 << 10);
                let method = || Box::new(Root::new(0, confirmation)) as Box<dyn Timing>;
                let (batch, truth) = batch(&platform, cell, method);
                let name = confirmation.name();
                let what = format!("seed {seed}, {} {algorithm}, {name}", kind.name());
                ensure_between(&what, &batch, truth);
            }
        }
    }
}
