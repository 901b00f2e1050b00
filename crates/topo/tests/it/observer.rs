//! The observer gets the progress of long work on a machine, stage by stage, and the answers are
//! the same.

use std::sync::{Arc, Mutex};

use laneway_core::Observer;
use laneway_topo::cost::budget::{Figures, budget};
use laneway_topo::files::addresses::Addressed;
use laneway_topo::files::export;
use laneway_topo::operations::install;
use laneway_topo::traffic::permutations;
use laneway_topo::traffic::schedule::Named;
use laneway_topo::{Machine, check, count};

/// Every stage, with the steps that it has and those that were done.
#[derive(Default)]
struct Seen(Mutex<Vec<(String, u64, u64)>>);

impl Observer for Seen {
    fn progress(&self, done: u64, all: u64, what: &str) {
        let mut stages = self.0.lock().expect("the lock is not poisoned");
        match stages.last_mut() {
            Some(last) if done > 0 => {
                assert_eq!((last.0.as_str(), last.1), (what, all), "a stage begins with 0");
                last.2 = last.2.max(done);
            }
            _ => stages.push((what.to_string(), all, done)),
        }
    }
}

/// The names of the stages of some work on a machine.
fn stages(spec: &str, work: impl Fn(Machine)) -> Vec<String> {
    let seen = Arc::new(Seen::default());
    work(Machine::observed(spec, seen.clone()).expect("a machine"));
    let stages = seen.0.lock().expect("the lock is not poisoned");
    assert!(!stages.is_empty(), "{spec}: nothing was reported");
    for (what, all, done) in stages.iter() {
        assert!(done <= all, "{spec}: {what}: {done} of {all}");
    }
    stages.iter().map(|stage| stage.0.clone()).collect()
}

#[test]
fn proofs_report_progress() {
    for spec in ["mlfm:d=4", "fat-tree-3:d=4"] {
        let all = stages(spec, |machine| assert!(check(&machine).holds()));
        for what in ["switches tabulated", "paths proven, by host", "paths of switches proven"] {
            assert!(all.iter().any(|stage| stage == what), "{spec}: {what} is not in {all:?}");
        }
    }
}

#[test]
fn counting_routing_and_costs_report_progress() {
    let counted = stages("mlfm:d=4", |machine| {
        let order = Named::new(&machine, "shift", 1).expect("an order");
        count(&machine, &order).expect("small");
    });
    assert!(counted.iter().any(|stage| stage == "phases counted"), "{counted:?}");
    let drawn = stages("mlfm:d=4", |machine| _ = permutations::draw(&machine, 10, 1, false));
    assert!(drawn.iter().any(|stage| stage == "phases followed"), "{drawn:?}");
    for engine in ["minimal", "up-down", "balanced"] {
        let routed = stages("fat-tree-3:d=3", |machine| {
            let machine = machine.route(Some(engine)).expect("an engine");
            let addressed = Addressed::new(&machine, None, Some(2)).expect("addresses");
            assert!(install::tables(&machine, &addressed).is_ok());
        });
        for what in ["hosts routed to", "hosts given paths", "paths proven, by host"] {
            assert!(routed.iter().any(|stage| stage == what), "{engine}: {what}: {routed:?}");
        }
    }
    let costs = stages("mlfm:d=4", |machine| _ = budget(&machine, &Figures::default()));
    assert!(costs.iter().any(|stage| stage == "disjoint paths to switches"), "{costs:?}");
}

#[test]
fn repairs_report_progress() {
    let all = stages("mlfm:d=4", |machine| {
        let machine =
            machine.fail(&["link:vertex-0-0/5"], 1).and_then(|machine| machine.route(None));
        assert!(machine.expect("a route").repaired().is_ok());
    });
    for what in ["detours chosen, by host", "phases repaired", "messages put into phases"] {
        assert!(all.iter().any(|stage| stage == what), "{what} is not in {all:?}");
    }
}

/// A fabric from a file is routed when its forwarding is needed, and then once.
#[test]
fn loading_does_not_route() {
    let folder = std::env::temp_dir().join(format!("topo-loading-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("fabric.toml");
    // Not a topology that is known: it is routed by an engine.
    let machine = Machine::named("fat-tree-3:d=3").and_then(|m| m.fail(&["link:leaf-0-0/5"], 1));
    let text = export::plan(&machine.expect("a fabric")).expect("names that are unique");
    std::fs::write(&file, text).expect("a file");

    let seen = Arc::new(Seen::default());
    let count_stages = || seen.0.lock().expect("the lock is not poisoned").len();
    let machine = Machine::observed(&format!("file:{}", file.display()), seen.clone());
    let machine = machine.expect("a fabric");
    assert_eq!(count_stages(), 0, "nothing is routed yet");
    machine.routing();
    let routed = count_stages();
    assert!(routed > 0, "its forwarding is made");
    machine.routing();
    assert_eq!(count_stages(), routed, "once");
    std::fs::remove_dir_all(&folder).expect("the folder is ours");
}
