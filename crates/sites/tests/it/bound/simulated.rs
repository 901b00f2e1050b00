//! Nothing that the simulator runs is quicker than the bound.

use laneway_coll::algorithms;
use laneway_core::schedule::{Buf, Rank, Round, Schedule, Step, span};
use laneway_core::{Blocks, Collective, Shape};
use laneway_sim::platform::Platform;
use laneway_sim::simulate;
use laneway_sites::bound::{gather, scatter};

use super::support::{Case, Drawn, draw};

#[test]
fn no_algorithm_beats_the_bound() {
    let (mut runs, mut nearest) = (0, f64::INFINITY);
    for seed in 5_000..5_150 {
        let case = draw(seed, Drawn { most_hosts: 16, aggregate: seed % 3 == 0 });
        let Case { platform, hosts, root, blocks } = &case;
        let layout = platform.layout().expect("a layout");
        let cut = Blocks::of_lengths(blocks).expect("blocks");
        for collective in [Collective::Scatterv, Collective::Gatherv] {
            let bound = if collective == Collective::Scatterv { scatter } else { gather };
            let bound = bound(&layout, hosts, *root, blocks).expect("a bound");
            for algorithm in algorithms(collective) {
                let shape = Shape::new(collective, hosts.len() as u32, 0);
                let shape = shape.with_root(*root).with_blocks(cut.clone());
                let schedule = algorithm.schedule(&shape, &algorithm.defaults());
                let schedule = schedule.expect("a schedule");
                let run = simulate(platform, &*schedule, Some(hosts)).expect("a run that ends");
                let enough = run.finish >= bound.time * (1.0 - 1e-9);
                assert!(enough, "seed {seed}, {algorithm:?}: {} s, bound {bound:?}", run.finish);
                runs += 1;
                nearest = nearest.min(run.finish / bound.time.max(1e-12));
            }
        }
    }
    println!("{runs} runs, the nearest {nearest} times the bound");
    assert!(runs >= 900 && nearest < 1.01, "{runs} runs, {nearest}");
}

/// The steps of each rank, in one lane and one round.
struct Script(Vec<Vec<Step>>);

impl Schedule for Script {
    fn ranks(&self) -> u32 {
        self.0.len() as u32
    }

    fn rounds(&self, _rank: Rank, _lane: u32) -> u64 {
        1
    }

    fn round(&self, rank: Rank, _lane: u32, _k: u64, out: &mut Round) {
        out.steps.extend(&self.0[rank as usize]);
    }
}

/// A simulated message waits for its latency before its bytes move. So a sender fills its card with
/// what goes to a near relay while a message to the far root still waits, and a gather ends before
/// the time of its card and the latency of the shortest way together.
#[test]
fn a_gather_may_hide_latency_behind_a_near_relay() {
    let text = r#"
        [[site]]
        name = "root"
        latency = "0us"
        [[site]]
        name = "relay"
        latency = "0us"
        [[site]]
        name = "far"
        latency = "0us"
        [[host]]
        name = "r"
        site = "root"
        rate = "100MB/s"
        [[host]]
        name = "s"
        site = "relay"
        rate = "100MB/s"
        [[host]]
        name = "f"
        site = "far"
        rate = "10MB/s"
        [wan]
        latency = "50ms"
        [[between]]
        sites = ["relay", "far"]
        latency = "1ms"
    "#;
    let platform = Platform::parse("three", text).expect("a platform");
    let layout = platform.layout().expect("a layout");
    const WHOLE: u64 = 2_000_000;
    // What the card carries from the first to the fiftieth millisecond.
    const RELAYED: u64 = 490_000;
    let send = |to: Rank, buf: Buf, len: u64| Step::Send { to, chan: 0, span: span(buf, 0, len) };
    let recv = |from: Rank, len: u64| Step::Recv { from, chan: 0, span: span(Buf::Out, 0, len) };
    let all = Step::AtMost { sends: 0, recvs: 0 };
    let script = Script(vec![
        vec![recv(2, WHOLE - RELAYED), recv(1, RELAYED), all],
        vec![recv(2, RELAYED), all, send(0, Buf::Out, RELAYED), all],
        vec![send(1, Buf::In, RELAYED), send(0, Buf::In, WHOLE - RELAYED), all],
    ]);
    let time = simulate(&platform, &script, None).expect("a run that ends").finish;
    let hosts = [0, 1, 2];
    let there = scatter(&layout, &hosts, 0, &[0, 0, WHOLE]).expect("a bound");
    let back = gather(&layout, &hosts, 0, &[0, 0, WHOLE]).expect("a bound");
    assert_eq!((there.latency, back.latency), (50e-3, 1e-3));
    assert!((time - back.time).abs() < 1e-9 && time < there.time - 0.04, "{time}, {back:?}");
}
