//! From installed tables to others: no step loses a pair or lets links form a credit loop.

use laneway_stats::SplitMix64;
use laneway_topo::files::formats::read;
use laneway_topo::operations::change::{Ends, apply, differing, steps};
use laneway_topo::routing::engines::engine;
use laneway_topo::{End, Fabric, Part, Table, Wiring, prove, reroute, topology};

/// Up to nine switches with a host each, joined at random: a tree and up to five cables more.
fn drawn(draws: &mut SplitMix64) -> Fabric {
    let switches = 4 + draws.index(6);
    let mut graph = String::from("graph {\n");
    for at in 0..switches {
        graph += &format!("s{at} [kind=switch ports=24]; h{at} [kind=host]; s{at} -- h{at};\n");
    }
    for at in 1..switches {
        graph += &format!("s{} -- s{at};\n", draws.index(at));
    }
    for _ in 0..1 + draws.index(5) {
        let one = draws.index(switches);
        graph += &format!("s{one} -- s{};\n", (one + 1 + draws.index(switches - 1)) % switches);
    }
    read(&(graph + "}\n")).expect("a fabric").fabric
}

/// A cable between switches that fails, now and then.
fn damaged(whole: &Fabric, draws: &mut SplitMix64) -> Fabric {
    let mut left = whole.clone();
    if draws.index(2) == 0 {
        let switch = draws.index(whole.switches() as usize) as u32;
        let is_cable = |&port: &u8| matches!(whole.end(switch, port), End::Switch(..));
        if let Some(port) = (0..whole.ports(switch) as u8).find(is_cable) {
            left.fail(Part::Link(switch, port));
        }
    }
    left
}

/// Takes the steps: how many of the tables have a credit loop, where neither end has one.
fn credit_loops(fabric: &Fabric, old: &Table, new: &Table, what: &str) -> usize {
    let served = |table: &Table| prove(fabric, table).unreached;
    let (one, other) = (served(old), served(new));
    let mut now = old.clone();
    let mut credit_loops = 0;
    for step in steps(fabric, Ends::Hosts, old, new) {
        apply(&mut now, &step);
        let proof = prove(fabric, &now);
        for pair in &proof.unreached {
            assert!(one.contains(pair) || other.contains(pair), "{what}: {pair:?} is lost");
        }
        credit_loops += usize::from(!proof.credit_loop.is_empty());
    }
    assert_eq!(differing(&now, new), 0, "{what}");
    credit_loops
}

/// In those that it prints no order without a credit loop was found.
#[test]
fn hardly_any_step_has_a_credit_loop() {
    let names = ["up-down", "balanced", "minimal"];
    let (mut changes, mut with_credit_loop) = (0, 0);
    for seed in 0..4_000 {
        let mut draws = SplitMix64::new(seed);
        let whole = drawn(&mut draws);
        let [old, new] = [names[draws.index(3)], names[draws.index(3)]];
        let what = format!("seed {seed}, {old} to {new}");
        let left = damaged(&whole, &mut draws);
        let [old, new] = [old, new].map(|name| engine(name).expect("an engine").route);
        let old = old(&whole, &());
        let new = if draws.index(2) == 0 { new(&left, &()) } else { reroute(&whole, &old, &left) };
        let holds = |table: &Table| prove(&left, table).credit_loop.is_empty();
        if differing(&old, &new) > 0 && holds(&old) && holds(&new) {
            changes += 1;
            with_credit_loop += usize::from(credit_loops(&left, &old, &new, &what) > 0);
        }
    }
    println!("{with_credit_loop} of {changes} changes have a step with a credit loop");
    assert!(changes > 2_000 && with_credit_loop * 100 < changes, "{with_credit_loop} of {changes}");
}

/// Where all can change together they do: a step for each switch of the longest new way at most.
#[test]
fn a_mesh_changes_in_few_steps() {
    let mesh = Fabric::of(&*topology("mlfm:d=4").expect("a mesh"));
    let [old, new] =
        ["minimal", "balanced"].map(|name| (engine(name).expect("an engine").route)(&mesh, &()));
    assert!(differing(&old, &new) > 0);
    assert!(steps(&mesh, Ends::Hosts, &old, &new).len() <= 3);
    assert_eq!(credit_loops(&mesh, &old, &new, "a mesh"), 0);
}
