//! A sweep of patterns as a library has it: on simulated clusters, whose figures are known.

use std::cell::RefCell;

use laneway_core::{Comm, Value};
use laneway_measure::SaveError;
use laneway_measure::p2p::Pattern;
use laneway_measure::p2p::sweep::{
    Done, Experiment, Figures, Next, Observer, PatternError, PatternSweep, Ranks, Refusal, copies,
};
use laneway_sim::{Program, platform::Platform};

fn run<T: Send>(platform: &str, ranks: u32, part: impl Fn(&dyn Comm) -> T + Sync) -> Vec<T> {
    let platform = Platform::read(platform).expect("a platform");
    Program::new(&platform, ranks).run(part).expect("it ends").results
}

fn figures(platform: &str, ranks: u32, sweep: &PatternSweep) -> Figures {
    let ended = run(platform, ranks, |comm| sweep.run(comm, &()).expect("it is measured"));
    assert!(ended[1..].iter().all(Option::is_none), "rank 0 alone has figures");
    ended.into_iter().next().flatten().expect("rank 0 knows")
}

#[test]
fn figures_stand_in_the_order_in_which_they_were_asked_for() {
    let experiments = vec![Pattern::Rate.into(), Experiment::LogP, Pattern::Latency.into()];
    let mut sweep = PatternSweep::new(experiments, vec![8, 1000]);
    sweep.ranks = Ranks::All;
    sweep.parallel = true;
    let spec = "cluster:3,send=7us,receive=4us,in-order=true";
    let found = figures(spec, 3, &sweep);
    let one = [vec!["rate"; 3], vec!["rate"; 3]].concat();
    let logp = ["o_s", "o_r", "o_s", "o_r", "gap", "latency", "L"].repeat(6);
    let names: Vec<&str> = found.iter().map(|figure| figure.name()).collect();
    assert_eq!(names, [one, logp, vec!["latency"; 6]].concat());
    assert!(!found.is_missed() && !found.is_imprecise() && !found.refined);
    let rows = found.rows();
    let sizes: Vec<&Value> = rows.iter().rev().filter_map(|row| row.get("size_bytes")).collect();
    let (short, long) = (Value::from(8u64), Value::from(1000u64));
    assert_eq!(sizes[..6], [&long, &long, &long, &short, &short, &short]);
    // The same seed gives the same figures, in whatever order they were measured.
    assert_eq!(figures(spec, 3, &sweep), found);
}

#[test]
fn sizes_are_added_where_a_curve_bends() {
    let mut sweep = PatternSweep::new(vec![Pattern::Latency.into()], vec![1 << 10, 1 << 20]);
    sweep.refine = 4;
    let found = figures("mpiblib16", 2, &sweep);
    let sizes: Vec<u64> = found.iter().map(|figure| figure.size()).collect();
    assert!(found.refined && sizes.len() > 2, "{sizes:?}");
    assert!(sizes.is_sorted(), "{sizes:?}");
}

#[derive(Default)]
struct Heard(RefCell<Vec<String>>);

impl Observer for Heard {
    fn progress(&self, next: Next) {
        let Next { done, all, experiment, size, .. } = next;
        self.0.borrow_mut().push(format!("{done} of {all}: {} {size}", experiment.name()));
    }

    fn save(&self, done: &Done) -> Result<(), SaveError> {
        assert_eq!(done.added().len(), 1);
        self.0.borrow_mut().push(format!("{} rows of {}", done.figures.rows().len(), done.all));
        Ok(())
    }
}

#[test]
fn an_observer_gets_every_point() {
    let sweep = PatternSweep::new(vec![Pattern::Latency.into()], vec![8, 16]);
    let heard = run("cluster:2", 2, |comm| {
        let heard = Heard::default();
        sweep.run(comm, &heard).expect("it is measured");
        heard.0.into_inner()
    });
    let mut points: Vec<&String> = heard[0].iter().step_by(2).collect();
    assert_eq!(points, heard[1].iter().collect::<Vec<_>>());
    points.sort_by_key(|line| line.split(' ').next_back().map(str::to_string));
    assert!(points[0].ends_with("latency 16") && points[1].ends_with("latency 8"), "{points:?}");
    let rows: Vec<&String> = heard[0].iter().skip(1).step_by(2).collect();
    assert_eq!(rows, ["1 rows of 2", "2 rows of 2"]);
}

#[test]
fn what_ranks_cannot_do_all_refuse() {
    let refused = |sweep: &PatternSweep, ranks: u32| {
        let ended = run("cluster:4", ranks, |comm| match sweep.run(comm, &()) {
            Err(PatternError::Refused(refusal)) => refusal,
            other => panic!("{other:?}"),
        });
        assert!(ended.iter().all(|refusal| *refusal == ended[0]), "{ended:?}");
        ended[0].clone()
    };
    let mut sweep = PatternSweep::new(vec![Pattern::Latency.into()], vec![8]);
    assert_eq!(refused(&sweep, 1), Refusal::TooFewRanks { ranks: 1, least: 2 });
    sweep.cache = "cold".parse().expect("a cache");
    assert_eq!(refused(&sweep, 2), Refusal::NoCaches);
    sweep.cache = "warm".parse().expect("a cache");
    sweep.sizes = vec![1 << 50];
    assert!(matches!(refused(&sweep, 2), Refusal::Memory(_)));
}

#[test]
fn copies_have_a_time_and_nothing_else() {
    let mut sweep = PatternSweep::new(vec![Pattern::Bandwidth.into()], vec![0, 64, 1 << 20]);
    sweep.rule.budget = 0.1;
    let found = copies(&sweep).expect("figures");
    let times: Vec<f64> = found.iter().filter_map(|figure| figure.time()).collect();
    assert!(times.len() == 2 && times[0] < times[1], "{times:?}");
    sweep.experiments.push(Experiment::LogP);
    assert_eq!(copies(&sweep), Err(Refusal::NoCopyOf { name: "logp" }));
}
