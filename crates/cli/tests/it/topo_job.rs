//! `laneway topo job` as a person or a script meets it.

use std::process::{Command, Output};

use serde_json::Value;

fn laneway(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_laneway"));
    command.args(args).output().expect("the command starts")
}

fn job(args: &[&str]) -> Output {
    laneway(&[&["topo", "job", "--topology", "mlfm:d=8"], args].concat())
}

fn json(args: &[&str]) -> Value {
    let output = job(&[args, &["--format", "json"]].concat());
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn row(args: &[&str]) -> Value {
    let json = json(args);
    assert_eq!(json["schema"], "laneway.topo/1");
    assert_eq!(json["rows"].as_array().expect("rows").len(), 1);
    json["rows"][0].clone()
}

#[test]
fn a_shape_takes_a_phase_for_each_node() {
    let found = row(&["--shape", "2x4x3"]);
    assert_eq!(found["nodes"], "node[0-2,8-10,16-18,24-26,72-74,80-82,88-90,96-98]");
    assert_eq!((&found["phases"], &found["bound"]), (&Value::from(24), &Value::from(24)));
    assert_eq!(
        (&found["messages_per_link_max"], &found["is_shaped"]),
        (&Value::from(1), &true.into())
    );
    let found = row(&["--size", "72", "--free", "node[0-63,100-575]"]);
    assert_eq!((&found["size"], &found["phases"]), (&Value::from(72), &Value::from(72)));
    assert_eq!(found["is_shaped"], true);
}

#[test]
fn any_nodes_come_near_the_bound() {
    let found = row(&["--nodes", "node[3,17,100-160,575]", "--seed", "7"]);
    assert_eq!(
        (&found["size"], &found["messages_per_link_max"]),
        (&Value::from(64), &Value::from(1))
    );
    assert_eq!(found["nodes"], "node[3,17,100-160,575]");
    let (phases, bound) = (found["phases"].as_f64(), found["bound"].as_f64());
    let (phases, bound) = (phases.expect("phases"), bound.expect("a bound"));
    assert!(bound <= phases && phases <= (1.05 * bound).max(bound + 2.0), "{found}");
    assert_eq!(found["phases_over_bound"].as_f64(), Some(phases / bound));
}

#[test]
fn partners_are_listed_and_rest_in_one_phase() {
    let all = json(&["--size", "6", "--phase", "all"]);
    let rows = all["rows"].as_array().expect("rows");
    assert_eq!((rows.len(), &all["summary"]["phases"]), (36, &Value::from(6)));
    let rests = rows.iter().filter(|row| row["destination"].is_null()).count();
    assert_eq!(rests, 6);
    let one = json(&["--size", "6", "--phase", "2"]);
    assert_eq!(one["rows"].as_array().map(Vec::len), Some(6));
    assert!(one["rows"][0]["source"].as_str().is_some_and(|name| name.starts_with("node")));
}

/// The written phases, read back by another verb, have no conflict either.
#[test]
fn the_schedule_is_written_and_read() {
    let name = format!("laneway-job-{}.txt", std::process::id());
    let file = std::env::temp_dir().join(name);
    let path = file.to_str().expect("a readable name");
    let found = row(&["--nodes", "node[1-40]", "--schedule", path]);
    let schedule = format!("file:{path}");
    let counted = laneway(&[
        "topo",
        "alltoall",
        "--topology",
        "mlfm:d=8",
        "--schedule",
        &schedule,
        "--format",
        "json",
    ]);
    let text = std::fs::read_to_string(&file).expect("the schedule");
    std::fs::remove_file(&file).expect("removed");
    let counted: Value = serde_json::from_slice(&counted.stdout).expect("JSON");
    assert_eq!(counted["rows"][0]["messages_per_link_max"], 1);
    assert_eq!(counted["rows"][0]["phases"], found["phases"]);
    assert_eq!(text.lines().filter(|line| line.starts_with("node")).count(), 40 * 39);
}

#[test]
fn trees_and_damaged_machines_serve_jobs() {
    for args in [
        &["--topology", "fat-tree-3:d=4", "--size", "20"][..],
        &["--topology", "fat-tree-3-half:d=4", "--size", "20"],
        &["--topology", "mlfm:d=4", "--size", "20", "--fail", "link"],
        &["--topology", "mlfm:d=4", "--nodes", "node[1-20]", "--fail", "host:node0"],
    ] {
        let output = laneway(&[&["topo", "job", "--format", "json"], args].concat());
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let row = &json["rows"][0];
        assert_eq!(
            (&row["size"], &row["messages_per_link_max"]),
            (&Value::from(20), &Value::from(1))
        );
        assert_eq!(row["shape"].is_null(), args[1].starts_with("fat-tree"), "{args:?}");
    }
}

/// A failure that a shape does not touch leaves it in its place; any other sends it elsewhere.
#[test]
fn shapes_after_a_failure() {
    let whole = row(&["--shape", "2x4x3"]);
    for (fail, stays) in [
        ("link:vertex-7-8/9", true),
        ("host:node3", true),
        ("link:vertex-0-0/9", false),
        ("host:node0", false),
        ("switch:vertex-1-2", false),
    ] {
        let found = row(&["--shape", "2x4x3", "--fail", fail]);
        assert_eq!((&found["phases"], &found["is_shaped"]), (&24.into(), &true.into()), "{fail}");
        assert_eq!(
            (&found["shape"], &found["messages_per_link_max"]),
            (&"2x4x3".into(), &1.into())
        );
        assert_eq!(found["nodes"] == whole["nodes"], stays, "{fail}: {found}");
    }
    let sized = row(&["--size", "72", "--fail", "link"]);
    assert_eq!((&sized["phases"], &sized["is_shaped"]), (&72.into(), &true.into()), "{sized}");
}

/// A switch without cables to others keeps its nodes out of the job, and no others.
#[test]
fn an_unreachable_node_is_not_chosen() {
    let cut: Vec<String> = (9..=16).map(|port| format!("--fail=link:vertex-0-0/{port}")).collect();
    let cut: Vec<&str> = cut.iter().map(String::as_str).collect();
    let found = row(&[&["--size", "30"], &cut[..]].concat());
    assert_eq!(
        (&found["size"], &found["messages_per_link_max"]),
        (&Value::from(30), &Value::from(1))
    );
    let refused = job(&[&["--size", "569"], &cut[..]].concat());
    let text = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(2) && text.contains("cannot reach"), "{text}");
}

#[test]
fn what_cannot_be_is_refused() {
    for (args, word) in [
        (&["--size", "0"][..], "a job of 0"),
        (&["--size", "577"], "576 nodes are free"),
        (&["--size", "5", "--free", "node[0-3]"], "4 nodes are free"),
        (&["--nodes", ""], "character 1"),
        (&["--nodes", "node[0-3],node2"], "node2 is named twice"),
        (&["--nodes", "node[570-580]"], "no node `node576`"),
        (&["--nodes", "node[0-999999999999999999]"], "names, more than 576"),
        (&["--nodes", "node[0-9]x[0-999999999]y[0-999999999]"], "names, more than 576"),
        (&["--free", "node[1-2", "--size", "1"], "character 5"),
        (&["--shape", "2x4x4"], "over 3 cables"),
        (&["--shape", "9x4x3"], "8x9x8"),
        (&["--shape", "2x4x3", "--size", "7"], "24 nodes"),
        (&["--shape", "8x9x8", "--free", "node[0-574]"], "575 free"),
        (&["--size", "3", "--nodes", "node1"], "cannot be used"),
        (&["--size", "3", "--phase", "3"], "0 to 2"),
        (&["--nodes", "node0", "--fail", "host:node0"], "no cable"),
        (
            &["--shape", "8x9x8", "--fail", "link"],
            "--size 576, which takes any nodes, with the same",
        ),
        (&["--shape", "8x9x7", "--fail", "switch:vertex-0-0"], "unaffected by the failure"),
        (&[], "required"),
    ] {
        let output = job(args);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {text}");
        assert!(text.contains("error: ") && text.contains("\ncause: "), "{args:?}: {text}");
        assert!(text.contains(word), "{args:?}: {text}");
    }
}
