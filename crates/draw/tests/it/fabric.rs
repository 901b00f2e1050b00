//! Fabrics drawn by the library alone: as planned, damaged, and found in other numbers.

use laneway_core::Phases;
use laneway_draw::fabric::{self, Heat, MOST_PANELS, Subject};
use laneway_topo::traffic::order::Random;
use laneway_topo::{Counter, Fabric, Part, Port, Table, Topology, recognise, topology};

fn planned(spec: &str) -> Box<dyn Topology> {
    topology(spec).unwrap_or_else(|_| panic!("{spec}"))
}

/// The widths of all lines between switches.
fn widths(drawing: &str) -> Vec<f64> {
    let lines = drawing.lines().filter(|line| line.starts_with("<path d=\"M"));
    let widths = lines.filter_map(|line| line.split("fill=\"none\"").nth(1)?.split('"').nth(3));
    widths.map(|width| width.parse().expect("a width")).collect()
}

#[test]
fn a_found_fabric_is_drawn_as_its_plan_with_what_it_lacks() {
    let plan = planned("mlfm:d=3");
    let mut found = Fabric::of(&*plan);
    let up = (plan.ports(0) - 1) as Port;
    found.fail(Part::Link(0, up));
    let recognised = recognise(&found).expect("a mesh");
    let table = recognised.native(&found);
    let subject = Subject::recognised("file:x".into(), &found, &table, &recognised);
    let drawing = fabric::draw(&subject, None);
    assert!(drawing.contains("recognised as mlfm:d=3"), "{drawing}");
    assert!(drawing.contains("planned and not found (cables between switches: 1"), "{drawing}");
    assert_eq!(drawing.matches("stroke=\"#d40000\"").count(), 1);
    // Layers differ, so that each is drawn; and its messages follow the found table.
    assert!(drawing.contains(">layer 2<"));
    let counter = Counter::new(&found, &table).expect("small");
    let order = Random { hosts: found.hosts(), phases: 2, seed: 1, fixed_points: false };
    let phases = fabric::draw_phases(&subject, &counter, &order, 0..2, false);
    assert_eq!(phases.matches("<g transform").count(), 2);
    assert!(phases.contains(">phase 1<") && phases.contains("<polyline"), "{phases}");
}

#[test]
fn nothing_that_is_there_is_crossed_out() {
    let plan = planned("fat-tree-3:d=8");
    let whole = fabric::draw(&Subject::planned(&*plan), None);
    assert!(!whole.contains("#d40000"));
    let mut left = Fabric::of(&*plan);
    left.fail(Part::Switch(60));
    let table = Table::of(&left, &*plan);
    let damaged = fabric::draw(&Subject::planned(&*plan).with_left(&left, &table), None);
    // One of a pile, and not the pile.
    assert!(damaged.contains(">1 of 8<") && damaged.contains("switches: 1"), "{damaged}");
}

fn heat_of(plan: &dyn Topology, order: &dyn Phases) -> Heat {
    let counter = Counter::new(plan, plan).expect("small");
    Heat::of_phase(&counter, plan.hosts(), order, 1)
}

#[test]
fn many_lines_are_thin() {
    let widest = |spec: &str| {
        let plan = planned(spec);
        let heat = heat_of(&*plan, &*plan.order());
        let drawing = fabric::draw(&Subject::planned(&*plan), Some(&heat));
        widths(&drawing).into_iter().fold(0.0, f64::max)
    };
    let (few, many) = (widest("fat-tree-2:d=4"), widest("fat-tree-2:d=7"));
    assert!(few >= 1.0 && many < few * 0.8, "{few} and {many}");
}

#[test]
fn lines_too_dense_to_follow_are_bundles() {
    let bundles = |drawing: &str| {
        ["bundle", "stub"].map(|class| drawing.matches(&format!("class=\"{class}\"")).count())
    };
    let small = planned("fat-tree-2:d=7");
    assert_eq!(bundles(&fabric::draw(&Subject::planned(&*small), None)), [0, 0]);
    // 36 leaves and 18 tops, each with each.
    let large = planned("fat-tree-2:d=18");
    let drawing = fabric::draw(&Subject::planned(&*large), None);
    assert_eq!(bundles(&drawing), [1, 54]);
    assert!(drawing.contains(">648 cables, each below with each above<"), "{drawing}");
    assert!(
        drawing.contains("a bar between two levels is a bundle") && widths(&drawing).is_empty()
    );
    // Of a load that differs the fullest cables are seen.
    let order = Random { hosts: large.hosts(), phases: 2, seed: 1, fixed_points: false };
    let hot = fabric::draw(&Subject::planned(&*large), Some(&heat_of(&*large, &order)));
    assert_eq!(bundles(&hot), [1, 54]);
    assert!(!widths(&hot).is_empty() && hot.contains("#1b0c41"), "{hot}");
    // A failed cable is crossed out where it was.
    let mut left = Fabric::of(&*large);
    left.fail(Part::Link(0, (large.ports(0) - 1) as Port));
    let table = Table::of(&left, &*large);
    let damaged = fabric::draw(&Subject::planned(&*large).with_left(&left, &table), None);
    assert_eq!(bundles(&damaged), [1, 54]);
    assert_eq!((widths(&damaged).len(), damaged.matches("stroke=\"#d40000\"").count()), (1, 1));
}

#[test]
fn a_large_tree_shows_its_pods() {
    let plan = planned("fat-tree-3:d=16");
    let drawing = fabric::draw(&Subject::planned(&*plan), None);
    // The first pod's leaves with its middle switches, and the other pods with all tops.
    assert!(drawing.contains(">256 cables, each below with each above<"), "{drawing}");
    assert!(drawing.contains(">3840 cables, each below with each above<"), "{drawing}");
}

#[test]
fn a_page_has_room_for_a_limited_number_of_phases() {
    let plan = planned("mlfm:d=3");
    let subject = Subject::planned(&*plan);
    let counter = Counter::new(&*plan, &*plan).expect("small");
    let order = Random { hosts: plan.hosts(), phases: 99, seed: 1, fixed_points: false };
    let page = fabric::draw_phases(&subject, &counter, &order, 0..99, false);
    assert_eq!(page.matches("<g transform").count() as u64, MOST_PANELS);
}
