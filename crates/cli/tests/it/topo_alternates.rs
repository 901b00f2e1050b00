//! `laneway topo alternates`: which two paths a connection should have.

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

fn topo(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_laneway"));
    command.arg("topo").args(args).output().expect("the command starts")
}

fn chosen(args: &str, code: i32) -> Value {
    let args: Vec<&str> = args.split(' ').chain(["--format", "json"]).collect();
    let output = topo(&args);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn refused(args: &str, part: &str) {
    let output = topo(&args.split(' ').collect::<Vec<_>>());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{args}: {said}");
    assert!(said.contains("try:") && said.contains(part), "{args}: {said}");
}

/// A file that goes with this value.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let name = format!("laneway-alternates-{}-{name}", std::process::id());
        Scratch(std::env::temp_dir().join(name))
    }

    fn name(&self) -> String {
        self.0.display().to_string()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn planned_fabrics_have_two_paths_that_share_nothing() {
    for (spec, far) in [("mlfm:d=4", "node79"), ("fat-tree-3:d=4", "node63")] {
        let document = chosen(&format!("alternates -t {spec} node0 {far}"), 0);
        assert_eq!(document["schema"], "laneway.topo/1");
        assert_eq!(document["summary"]["candidates"], 16, "{document}");
        for name in ["shared_cables", "shared_switches"] {
            assert_eq!(document["summary"][name], 0, "{document}");
        }
        let rows = document["rows"].as_array().expect("rows");
        let number = |row: usize, name: &str| rows[row][name].as_u64().expect("a number");
        assert_eq!((&rows[0]["path"], &rows[1]["path"]), (&"primary".into(), &"alternate".into()));
        for end in ["from", "to"] {
            let [bits, lids] = ["path_bits", "lid"].map(|name| {
                let name = format!("{end}_{name}");
                [number(0, &name), number(1, &name)]
            });
            assert_ne!(bits[0], bits[1], "an address is used once");
            assert_eq!(lids[0] - bits[0], lids[1] - bits[1], "one port, many addresses");
            assert_eq!((lids[0] - bits[0]) % 4, 0, "{document}");
        }
        // The ways begin and end at the same switches and have no other in common.
        let way = |row: usize, name: &str| -> Vec<String> {
            let text = rows[row][name].as_str().expect("a way");
            text.split(' ').map(str::to_string).collect()
        };
        let (one, other) = (way(0, "out"), way(1, "out"));
        assert_eq!((one.first(), one.last()), (other.first(), other.last()));
        let middle = &one[1..one.len() - 1];
        assert!(!middle.is_empty() && middle.iter().all(|switch| !other.contains(switch)));
    }
}

#[test]
fn installed_tables_are_what_is_chosen_from() {
    let tables = Scratch::new("tables.lft");
    let fabric = "-t fat-tree-2:d=4";
    let written = format!("route {fabric} --paths 2 -o {}", tables.name());
    assert_eq!(topo(&written.split(' ').collect::<Vec<_>>()).status.code(), Some(0));
    let from_file =
        chosen(&format!("alternates {fabric} --routing {} node0 node24", tables.name()), 0);
    let planned = chosen(&format!("alternates {fabric} --paths 2 node0 node24"), 0);
    assert_eq!(from_file["rows"], planned["rows"]);
    assert_eq!(from_file["params"]["paths"], 2);
}

#[test]
fn ports_of_an_adapter_are_one_machine() {
    let graph = Scratch::new("graph.dot");
    let text = "graph { node [kind=switch]; s1 -- s2; s1 -- t1; s2 -- t1; s1 -- t2; s2 -- t2;\n\
                node [kind=host]; s1 -- \"a/1\"; s2 -- \"a/2\"; t1 -- \"b/1\"; t2 -- \"b/2\"; }";
    std::fs::write(&graph.0, text).expect("a file");
    let file = format!("alternates -t file:{}", graph.name());
    let document = chosen(&format!("{file} --paths 1 a b"), 0);
    assert_eq!(document["params"]["from"], "a/1 a/2");
    let summary = &document["summary"];
    assert_eq!((&summary["shared_cables"], &summary["shared_switches"]), (&0.into(), &0.into()));
    // With the switch of one port gone, both paths begin at the other.
    let document = chosen(&format!("{file} --paths 2 a b --fail switch:s2"), 0);
    for row in document["rows"].as_array().expect("rows") {
        assert_eq!(row["from"], "a/1", "{document}");
    }
    assert_eq!(document["summary"]["shared"], "s1/4 s1", "its cable and its switch: {document}");
    // A port alone has one path by one address, and none without its cable.
    let document = chosen(&format!("{file} --paths 1 a/1 b/1"), 1);
    assert_eq!(document["rows"].as_array().map(Vec::len), Some(1));
    let document = chosen(&format!("{file} a/1 b/1 --fail host:b/1"), 1);
    assert_eq!(document["rows"].as_array().map(Vec::len), Some(0));
}

#[test]
fn an_unknown_machine_is_refused() {
    let tree = "alternates -t fat-tree-2:d=4";
    refused(&format!("{tree} node0 node99"), "no host `node99`");
    refused(&format!("{tree} node0,node0 node9"), "named twice");
    refused(&format!("{tree} node0 node0"), "a port of both machines");
    refused(&format!("{tree} node0"), "TO");
    refused(&format!("{tree} --paths 3 node0 node9"), "3");
}
