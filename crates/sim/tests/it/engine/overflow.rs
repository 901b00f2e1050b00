//! Connections of TCP: what is lost waits, and the cluster of the MPIBlib paper loses what its
//! figure 1 and its table 1 show.

use laneway_coll::find;
use laneway_coll::messages::{Message, Messages};
use laneway_core::{Buffers, Collective, Comm, Exec, Rank, Shape};
use laneway_sim::platform::Platform;
use laneway_sim::{Network, Program, simulate};

use super::support::assert_close;

const RANKS: u32 = 16;

fn cluster() -> Platform {
    Platform::read("mpiblib16").expect("a platform")
}

fn single(collective: Collective, size: u64) -> f64 {
    let (algorithm, params) = find(collective, "linear").expect("an algorithm");
    let shape = Shape::new(collective, RANKS, size);
    let schedule = algorithm.schedule(&shape, &params).expect("a schedule");
    simulate(&cluster(), &*schedule, None).expect("a run that ends").finish
}

/// The mean of a series without isolation, on the rank that took longest: what IMB tells.
fn series(collective: Collective, size: u64, repetitions: u32) -> f64 {
    let (algorithm, params) = find(collective, "linear").expect("an algorithm");
    let shape = Shape::new(collective, RANKS, size);
    let schedule = algorithm.schedule(&shape, &params).expect("a schedule");
    let program = |comm: &dyn Comm| {
        let rank = comm.rank();
        let input = vec![1; shape.in_len(rank) as usize];
        let mut output = vec![0; shape.out_len(rank) as usize];
        let mut tmp = vec![0; schedule.tmp_len(rank) as usize];
        let buffers = Buffers::new(&input, &mut output, &mut tmp);
        let mut exec = Exec::new(comm, &*schedule, buffers, None, 0).expect("an executor");
        for _ in 0..repetitions {
            exec.run().expect("a run that ends");
        }
    };
    let ended = Program::new(&cluster(), RANKS).run(program).expect("a program that ends");
    ended.finish / f64::from(repetitions)
}

#[test]
fn the_cluster_is_that_of_the_paper() {
    let platform = cluster();
    let kinds = ["xeon", "p4", "celeron", "opteron"];
    let count = |kind: &&str| platform.host_names().iter().filter(|n| n.starts_with(*kind)).count();
    assert_eq!(kinds.iter().map(count).collect::<Vec<_>>(), [11, 2, 1, 2]);
    assert!(platform.overflow().is_some() && platform.in_order());
}

#[test]
fn single_gathers_of_medium_messages_escalate_and_scatters_do_not() {
    for kib in [1, 2, 4] {
        assert!(single(Collective::Gather, kib << 10) < 0.01, "{kib} KiB");
    }
    for kib in [8, 16, 32, 64] {
        let time = single(Collective::Gather, kib << 10);
        assert!((0.1..0.3).contains(&time), "{kib} KiB: {time}");
    }
    for kib in [65, 100] {
        assert!(single(Collective::Gather, kib << 10) < 0.05, "{kib} KiB");
    }
    for kib in [1, 8, 16, 32, 64, 65, 100] {
        assert!(single(Collective::Scatter, kib << 10) < 0.05, "{kib} KiB");
    }
}

#[test]
fn the_sums_over_all_sizes_are_near_those_of_table_1() {
    // paper: mpiblib table 1: 0 to 100 KB in steps of 1 KB, one repetition, maximum method: 0.8 s
    // for scatter, 15.6 s for gather.
    let sum = |collective| (0..=100u64).map(|kib| single(collective, kib << 10)).sum::<f64>();
    let (scatter, gather) = (sum(Collective::Scatter), sum(Collective::Gather));
    println!("scatter {scatter:.2} s (0.8 in the paper), gather {gather:.2} s (15.6)");
    assert!((0.5..1.5).contains(&scatter), "{scatter}");
    assert!((11.0..19.0).contains(&gather), "{gather}");
}

#[test]
fn a_series_hides_the_escalations_of_gather_and_makes_those_of_scatter() {
    let size = 16 << 10;
    let (gather, scatter) = (single(Collective::Gather, size), single(Collective::Scatter, size));
    let gathers = [10, 50, 200].map(|n| series(Collective::Gather, size, n));
    println!("gather: {gather} alone, {gathers:?} in series");
    assert!(gathers[0] < gather / 5.0 && gathers[2] < gather / 40.0);
    assert!(gathers[0] > gathers[1] && gathers[1] > gathers[2]);
    let scatters = series(Collective::Scatter, size, 20);
    println!("scatter: {scatter} alone, {scatters} in series");
    assert!(scatters > 3.0 * scatter);
    // Small and large messages: the pipeline makes a repetition no longer than a single one.
    for size in [512, 200 << 10] {
        let (alone, in_series) =
            (single(Collective::Scatter, size), { series(Collective::Scatter, size, 20) });
        assert!(in_series <= alone * 1.001, "{size}: {alone} alone, {in_series} in series");
    }
}

/// Two messages of 1,000 bytes to one host, each over a connection of its own, or both over one.
fn two_messages(spec: &str, from: [Rank; 2]) -> f64 {
    let platform = Platform::read(spec).expect("a platform");
    let list = from.map(|from| Message { from, to: 0, bytes: 1000 });
    let schedule = Messages::new(3, &list).expect("a schedule");
    simulate(&platform, &schedule, None).expect("a run that ends").finish
}

#[test]
fn what_is_lost_waits_also_where_the_way_takes_no_time() {
    for (latency, us) in [("0", 0.0), ("50us", 50.0)] {
        let spec = format!("cluster:3,latency={latency},receive-buffer=1500,retransmit=10ms");
        // 1,000 bytes at 1 Gbit/s, once the timeout is over.
        assert_close(two_messages(&spec, [1, 2]), 10e-3 + us * 1e-6 + 8e-6);
    }
}

#[test]
fn messages_go_one_after_the_other_also_where_the_way_takes_no_time() {
    for (latency, us) in [("0", 0.0), ("50us", 50.0)] {
        let spec = format!("cluster:3,latency={latency},in-order=true");
        assert_close(two_messages(&spec, [1, 1]), us * 1e-6 + 16e-6);
    }
}

/// Of many platforms that differ by their seeds alone, a part lose the second message.
#[test]
fn a_full_buffer_loses_in_a_part_of_the_bursts() {
    let lost = |part: f64| {
        let time = |seed: u32| {
            let settings = format!("receive-buffer=1500,retransmit=10ms,loss={part},seed={seed}");
            two_messages(&format!("cluster:3,latency=50us,{settings}"), [1, 2])
        };
        (1..=200).filter(|seed| time(*seed) > 5e-3).count()
    };
    assert_eq!([lost(0.0), lost(1.0)], [0, 200]);
    // Three standard deviations of a binomial are 19.
    assert!(lost(0.3).abs_diff(60) <= 19, "{}", lost(0.3));
}
