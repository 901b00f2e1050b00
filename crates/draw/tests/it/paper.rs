//! What is written on a drawing stays on its paper, and no label lies over another: every kind of
//! drawing, small and large, with long names.

use laneway_coll::pace::Flight;
use laneway_core::{Document, Row};
use laneway_draw::fabric::{self, Heat, Subject};
use laneway_draw::links::{self, LinkRecord};
use laneway_draw::map::Map;
use laneway_draw::predicted::{Curve, Drawing, Mark};
use laneway_draw::timeline::{Recording, Timeline};
use laneway_draw::{schedule, svg};
use laneway_report::Run;
use laneway_report::links::{Interval, LinkUse};
use laneway_sim::{Delivery, Observer, Resource};
use laneway_topo::traffic::order::Random;
use laneway_topo::{Counter, topology};

/// A text and the room that it takes.
#[derive(Debug)]
struct Label {
    text: String,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

/// Moves, scales and quarter turns: all that drawings use.
#[derive(Clone, Copy)]
struct Placed {
    x: f64,
    y: f64,
    scale: f64,
    is_turned: bool,
}

impl Placed {
    fn within(self, transform: &str) -> Placed {
        let mut placed = self;
        for part in transform.split(')').filter(|part| !part.trim().is_empty()) {
            let (what, numbers) = part.trim().split_once('(').expect("a transform");
            let numbers: Vec<f64> =
                numbers.split([' ', ',']).map(|number| number.parse().expect("number")).collect();
            match what {
                "translate" => {
                    placed.x += placed.scale * numbers[0];
                    placed.y += placed.scale * numbers[1];
                }
                "scale" => placed.scale *= numbers[0],
                "rotate" => {
                    assert_eq!(numbers, [-90.0]);
                    placed.is_turned = true;
                }
                _ => panic!("{transform}"),
            }
        }
        placed
    }
}

fn gather(node: roxmltree::Node, placed: Placed, size: f64, labels: &mut Vec<Label>) {
    let number = |name: &str| node.attribute(name).map(|text| text.parse::<f64>().expect(name));
    let placed = node.attribute("transform").map_or(placed, |text| placed.within(text));
    let size = number("font-size").unwrap_or(size);
    if node.has_tag_name("text") {
        let text = node.text().unwrap_or_default().to_owned();
        let wide = svg::width_of(&text, size) * placed.scale;
        let before = match node.attribute("text-anchor") {
            Some("middle") => wide / 2.0,
            Some("end") => wide,
            _ => 0.0,
        };
        let x = placed.x + placed.scale * number("x").unwrap_or(0.0);
        let y = placed.y + placed.scale * number("y").unwrap_or(0.0);
        let high = size * placed.scale * 0.75;
        labels.push(match placed.is_turned {
            false => {
                let left = x - before;
                Label { text, left, right: left + wide, top: y - high, bottom: y }
            }
            true => {
                let bottom = y + before;
                Label { text, left: x - high, right: x, top: bottom - wide, bottom }
            }
        });
    }
    node.children().for_each(|child| gather(child, placed, size, labels));
}

/// All labels of a drawing, which lie on its paper and not over each other.
fn check(name: &str, drawing: &str) -> Vec<Label> {
    assert!(!drawing.contains("NaN") && !drawing.contains("inf\""), "{name}");
    let tree = roxmltree::Document::parse(drawing).unwrap_or_else(|e| panic!("{name}: {e}"));
    let root = tree.root_element();
    let paper: Vec<f64> = root
        .attribute("viewBox")
        .expect("a view box")
        .split(' ')
        .map(|number| number.parse().expect("a number"))
        .collect();
    let mut labels = Vec::new();
    let start = Placed { x: 0.0, y: 0.0, scale: 1.0, is_turned: false };
    gather(root, start, 11.0, &mut labels);
    labels.retain(|label| !label.text.is_empty());
    for label in &labels {
        let is_inside = label.left >= -1.0
            && label.top >= -1.0
            && label.right <= paper[2] + 1.0
            && label.bottom <= paper[3] + 1.0;
        assert!(is_inside, "{name}: {label:?} leaves the paper {paper:?}");
    }
    labels.sort_by(|a, b| a.top.total_cmp(&b.top));
    for (number, label) in labels.iter().enumerate() {
        let near = labels[number + 1..].iter().take_while(|other| other.top < label.bottom);
        for other in near {
            let across = label.right.min(other.right) - label.left.max(other.left);
            let down = label.bottom.min(other.bottom) - label.top.max(other.top);
            assert!(across < 2.0 || down < 2.0, "{name}: {label:?} lies over {other:?}");
        }
    }
    labels
}

const LONG: &str = "a-host-with-a-very-long-name.rack-17.cluster.example.org";

fn timeline(ranks: u32, link: &str, seen: impl IntoIterator<Item = Delivery>) -> String {
    let mut recording = Recording::default();
    seen.into_iter().for_each(|delivery| recording.delivered(&delivery));
    let resources: Vec<Resource> = (0..20)
        .map(|number| Resource {
            name: format!("{link}{number}:out"),
            rate: 1.0,
            shared: true,
            congestion: Default::default(),
        })
        .collect();
    (0..20).for_each(|link| recording.loaded(0.0, link, 0.5));
    let title = format!("alltoall linear, 64K, {ranks} ranks on {link}");
    let site_names = ["site0".to_owned(), LONG.to_owned()];
    Timeline {
        title,
        ranks,
        resources: &resources,
        site_names: &site_names,
        sites: (0..ranks).map(|rank| rank % 2).collect(),
    }
    .draw(&recording)
}

#[test]
fn timelines() {
    let sent = |from, to, start, end| Delivery { from, to, bytes: 65536, start, end };
    for ranks in [1, 2, 8, 24, 64, 200] {
        let all = (0..ranks).flat_map(|from| (0..ranks).map(move |to| (from, to)));
        let all = || all.clone().filter(|(from, to)| from != to);
        for link in ["node", LONG] {
            let at_once = all().map(|(from, to)| sent(from, to, 1e-6 * f64::from(to), 0.012));
            check("at once", &timeline(ranks, link, at_once));
            let in_turn = all().map(|(from, to)| {
                let turn = f64::from((to + ranks - from) % ranks);
                sent(from, to, turn - 1.0, turn)
            });
            check("in turn", &timeline(ranks, link, in_turn));
            let scattered = (1..ranks).map(|to| sent(0, to, 1e-3, 1e-3 * f64::from(to + 1)));
            check("scatter", &timeline(ranks, link, scattered));
        }
    }
}

#[test]
fn maps() {
    for (ranks, host) in [(2u32, "a"), (16, "node"), (64, LONG), (300, "n")] {
        let rows = (0..ranks).flat_map(|from| (from + 1..ranks).map(move |to| (from, to)));
        let rows = rows.map(|(from, to)| {
            Row::new()
                .with("from", from)
                .with("to", to)
                .with("from_host", format!("{host}{from}"))
                .with("to_host", format!("{host}{to}"))
                .with("there_mb_s", 900.0)
                .with("there_percent", 100.0)
                .with("back_mb_s", 300.0)
                .with("back_percent", 33.0)
        });
        let run = Run::from(&Document {
            verb: "measure-pairs",
            env: Row::new(),
            params: Row::new(),
            rows: rows.collect(),
            summary: None,
        });
        let drawing = Map::of(&run).expect("a map").draw();
        check("map", &drawing);
    }
    check("no map", &Map::default().draw());
}

#[test]
fn fabrics() {
    for spec in [
        "mlfm:d=2",
        "mlfm:d=4",
        "mlfm:d=8",
        "fat-tree-2:d=1",
        "fat-tree-2:d=4",
        "fat-tree-2:d=18",
        "fat-tree-2:d=48",
        "fat-tree-3:d=2",
        "fat-tree-3:d=4",
        "fat-tree-3:d=8",
        "fat-tree-3:d=12",
        "fat-tree-3-half:d=8",
        "fat-tree-3-max:d=6",
    ] {
        let plan = topology(spec).unwrap_or_else(|_| panic!("{spec}"));
        let subject = Subject::planned(&*plan);
        check(spec, &fabric::draw(&subject, None));
        let counter = Counter::new(&*plan, &*plan).expect("small");
        let order = Random { hosts: plan.hosts(), phases: 4, seed: 1, fixed_points: false };
        let heat = Heat::of_phase(&counter, plan.hosts(), &order, 0);
        check(spec, &fabric::draw(&subject, Some(&heat)));
        let heat = Heat::over(&counter, plan.hosts(), &order, 0..4, "means".into(), &());
        check(spec, &fabric::draw(&subject, Some(&heat)));
        for phases in [0..1, 0..4] {
            check(spec, &fabric::draw_phases(&subject, &counter, &order, phases, false));
        }
    }
}

#[test]
fn links_over_time() {
    let carried = |link: String, direction: &str| LinkUse {
        link,
        direction: direction.into(),
        capacity_mbit: Some(123_456.789),
        intervals: (0..9)
            .map(|i| Interval { at_us: 1e5 * f64::from(i), length_us: 1e5, bytes: 1e9 })
            .collect(),
    };
    for (name, many) in [("lab", 1), (LONG, 3), (LONG, 40)] {
        let uses = (0..many).flat_map(|number| {
            ["there", "back"].map(|way| carried(format!("{LONG}:to:{LONG}:{number}"), way))
        });
        let record = LinkRecord { name: format!("{name}.json"), uses: uses.collect() };
        check(name, &links::draw("the WAN", std::slice::from_ref(&record)));
        check(name, &links::draw(&format!("{LONG} and {LONG}"), &[record.clone(), record]));
    }
}

#[test]
fn predictions() {
    for many in [1u32, 10, 40] {
        let curve = |number: u32| Curve {
            label: format!("{LONG}:segment={number}"),
            predicted: (0..10)
                .map(|power| {
                    let us = f64::from(1 + number) * f64::from(1 << power);
                    Mark { bytes: 1 << power, us, low: 0.9 * us, high: 1.1 * us }
                })
                .collect(),
            measured: vec![],
        };
        let drawing = Drawing {
            title: format!("bcast on {many} ranks of {LONG}, as lmo predicts"),
            curves: (0..many).map(curve).collect(),
            crossovers: vec![(2, "linear".into()), (3, LONG.into()), (500, "chain".into())],
            escalates: Some((8, 64)),
        };
        check("predicted", &drawing.draw());
    }
}

#[test]
fn schedules() {
    for ranks in [1u32, 2, 8, 64] {
        let flights = |step: u32| -> Vec<Flight> {
            let ahead = |tick: u32| Flight { tick, from: tick, to: tick + step };
            (0..ranks.saturating_sub(step)).map(ahead).collect()
        };
        check("one", &schedule::draw(&[("one", flights(1))], ranks));
        let several = [("a long name of an algorithm:segment=128K", flights(1)), ("b", flights(2))];
        check("several", &schedule::draw(&several, ranks));
    }
}
