//! `laneway topo` as a fabric's designer or a script meets it.

use std::process::{Command, Output};

use serde_json::Value;

fn topo(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_laneway"));
    command.arg("topo").args(args).output().expect("the command starts")
}

fn rows(args: &[&str], code: i32) -> Vec<Value> {
    let args: Vec<&str> = args.iter().copied().chain(["--format", "json"]).collect();
    let output = topo(&args);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(json["schema"], "laneway.topo/1");
    json["rows"].as_array().expect("rows").clone()
}

fn refused(args: &[&str]) -> String {
    let output = topo(args);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
    assert!(said.contains("error:") && said.contains("try:"), "{args:?}: {said}");
    said
}

fn number(row: &Value, name: &str) -> f64 {
    row[name].as_f64().unwrap_or_else(|| panic!("{name} of {row}"))
}

/// paper: fullmesh figure 13.
#[test]
fn the_all_to_all_of_the_paper() {
    for d in [4, 8, 18] {
        for kind in ["mlfm", "fat-tree-3"] {
            let spec = format!("{kind}:d={d}");
            let row = &rows(&["alltoall", "--topology", &spec], 0)[0];
            assert_eq!(number(row, "messages_per_link_max"), 1.0, "{row}");
            assert_eq!(number(row, "throughput_phase_mean"), 1.0, "{row}");
            assert_eq!(number(row, "time_over_ideal"), 1.0, "{row}");
            assert_eq!(row["proof"], "every message");
        }
        let spec = format!("fat-tree-3-half:d={d}");
        let row = &rows(&["alltoall", "--topology", &spec], 0)[0];
        let mean = number(row, "throughput_phase_mean");
        assert!((0.50..0.525).contains(&mean), "{row}");
    }
}

/// paper: fullmesh figure 14: 3.0 % to 9.4 % below the tree, less where d is larger.
#[test]
fn random_permutations_come_near_the_fat_tree() {
    let mut below = Vec::new();
    for d in [4, 8, 18] {
        let mean = |kind: &str| {
            let spec = format!("{kind}:d={d}");
            let row = &rows(&["random", "--topology", &spec, "--trials", "100"], 0)[0];
            assert!(number(row, "stderr") > 0.0 && number(row, "stderr") < 0.02, "{row}");
            number(row, "throughput_mean")
        };
        below.push(1.0 - mean("mlfm") / mean("fat-tree-3"));
    }
    assert!(below.windows(2).all(|pair| pair[0] > pair[1]), "{below:?}");
    assert!(below[0] < 0.13 && below[2] > 0.01 && below[2] < 0.05, "{below:?}");
}

#[test]
fn a_schedule_with_its_path() {
    let row = &rows(&["schedule", "-t", "mlfm:d=3", "--source", "0", "--phase", "12"], 0)[0];
    assert_eq!(row["destination"], 18);
    assert_eq!(row["path"], "vertex-0-0 edge-0-2 vertex-1-2");
    assert_eq!(rows(&["schedule", "-t", "mlfm:d=2"], 0).len(), 144);
}

#[test]
fn other_schedules_are_counted() {
    let row = |words: &[&str]| {
        let args = [&["alltoall", "-t", "mlfm:d=3", "--schedule"], words].concat();
        rows(&args, 0).remove(0)
    };
    assert!(number(&row(&["shift"]), "messages_per_link_max") > 1.0);
    assert!(number(&row(&["random", "--seed", "4"]), "messages_per_link_max") > 1.0);
    assert_eq!(number(&row(&["bcast/binomial"]), "phases"), 6.0);
    assert_eq!(number(&row(&["alltoall/full-mesh"]), "messages_per_link_max"), 1.0);
    let pairs = std::env::temp_dir().join(format!("laneway-pairs-{}", std::process::id()));
    std::fs::write(&pairs, "0 3\n1 3\n\n0 1\n").expect("a file");
    let word = format!("file:{}", pairs.display());
    let counted = row(&[&word]);
    assert_eq!((number(&counted, "phases"), number(&counted, "messages_per_link_max")), (2.0, 2.0));
    // Who rests sends nothing: four messages to one host are four with a conflict of four.
    std::fs::write(&pairs, "0 5\n1 5\n2 5\n3 5\n").expect("a file");
    let counted = row(&[&word]);
    std::fs::remove_file(&pairs).expect("it is there");
    assert_eq!(number(&counted, "throughput_flow_mean"), 0.25, "{counted}");
    assert_eq!((number(&counted, "ideal_phases"), number(&counted, "time_over_ideal")), (4.0, 1.0));
}

/// Whatever the order is called, its time is that of as many phases over the same number.
#[test]
fn one_ideal_for_every_order() {
    let row =
        |words: &[&str]| rows(&[&["alltoall", "-t", "mlfm:d=4"], words].concat(), 0).remove(0);
    let ideal = |words: &[&str]| number(&row(words), "ideal_phases");
    for schedule in ["native", "shift", "random", "alltoall/full-mesh", "alltoall/pairwise"] {
        assert_eq!(ideal(&["--schedule", schedule]), 80.0, "{schedule}");
    }
    // Each host sends 79 messages, or 7 long ones.
    assert_eq!(ideal(&["--schedule", "allgather/ring"]), 79.0);
    assert_eq!(ideal(&["--schedule", "alltoall/bruck"]), 7.0);
    assert_eq!(ideal(&["--schedule", "native", "--routing", "minimal"]), 80.0);
    let file = std::env::temp_dir().join(format!("laneway-rep-{}", std::process::id()));
    let name = file.display().to_string();
    let fail = ["--fail", "link:vertex-0-0/5"];
    let written = ["job", "-t", "mlfm:d=4", "--size", "80", "--schedule", &name];
    let phases = number(&rows(&[&written[..], &fail].concat(), 0)[0], "phases");
    let read = row(&[&["--schedule", &format!("file:{name}")], &fail[..]].concat());
    std::fs::remove_file(&file).expect("it is there");
    assert_eq!(
        (number(&read, "ideal_phases"), number(&read, "messages_per_link_max")),
        (80.0, 1.0)
    );
    assert_eq!(number(&read, "time_over_ideal"), phases / 80.0, "{read}");
    let repaired = row(&[&["--schedule", "repaired"], &fail[..]].concat());
    assert_eq!(repaired["time_over_ideal"], read["time_over_ideal"], "{repaired}");
    // A node less is a phase less.
    let less = row(&["--schedule", "repaired", "--fail", "link"]);
    assert_eq!((number(&less, "ideal_phases"), number(&less, "unreached")), (80.0, 0.0));
    let args = ["alltoall", "-t", "mlfm:d=4", "--schedule", "repaired", "--fail", "host:node7"];
    let less = &rows(&args, 1)[0];
    assert_eq!((number(less, "ideal_phases"), number(less, "unreached")), (79.0, 158.0), "{less}");
}

/// After a failure the repaired order is shown, unless the unchanged one is asked for.
#[test]
fn the_repaired_order_can_be_had() {
    let fail = ["schedule", "-t", "mlfm:d=4", "--fail", "link:vertex-0-0/5"];
    let native = rows(&[&fail[..], &["--schedule", "native"]].concat(), 0);
    assert_eq!(native.len(), 80 * 80);
    let repaired = rows(&fail, 0);
    assert!(repaired.len() > native.len() && repaired.len().is_multiple_of(80));
    let mut met = std::collections::BTreeSet::new();
    for row in repaired.iter().filter(|row| !row["destination"].is_null()) {
        assert_ne!(row["source"], row["destination"]);
        let pair = (row["source"].as_u64(), row["destination"].as_u64());
        assert!(met.insert(pair), "twice: {row}");
    }
    assert_eq!(met.len(), 80 * 79);
    let said = topo(&[&fail[..], &["--phase", "0"]].concat()).stderr;
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(said.contains("the repaired one; --schedule native"), "{said}");
    // A node's message to itself has a phase in the paper's order.
    let own = native.iter().filter(|row| row["source"] == row["destination"]).count();
    assert_eq!(own, 80);
}

/// A plan with a cable less is damaged, however it became known.
#[test]
fn a_found_fabric_with_a_dead_cable_is_repaired() {
    let file = std::env::temp_dir().join(format!("laneway-dead-{}.ibn", std::process::id()));
    let name = file.display().to_string();
    let cut = ["-t", "mlfm:d=8", "--fail", "link:vertex-4-4/15"];
    let written = topo(&[&["export", "--as", "ibnetdiscover", "-o", &name], &cut[..]].concat());
    assert!(written.status.success());
    let spec = format!("file:{name}");
    let found = rows(&["alltoall", "-t", &spec], 0);
    let output = topo(&["alltoall", "-t", &spec, "--schedule", "repaired"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let checked = rows(&["check", "-t", &spec], 0);
    std::fs::remove_file(&file).expect("it is there");
    assert_eq!(
        (&found[0]["schedule"], &found[1]["schedule"]),
        (&"native".into(), &"repaired".into())
    );
    assert!(number(&found[0], "messages_per_link_max") > 1.0, "{}", found[0]);
    assert_eq!(number(&found[1], "messages_per_link_max"), 1.0, "{}", found[1]);
    assert!(1.0 / number(&found[1], "time_over_ideal") >= 0.82, "{}", found[1]);
    assert!(
        output.status.success() && said.contains("missing: vertex-4-4/15 to edge-2-4/13"),
        "{said}"
    );
    assert_eq!((number(&checked[0], "unreached"), &checked[0]["holds"]), (0.0, &true.into()));
}

/// A tree's order after a failure is never longer than before its repair.
#[test]
fn trees_are_repaired_near_the_bound() {
    for (spec, seed, most) in [
        ("fat-tree-3-half:d=4", "1", 136.0),
        ("fat-tree-3-half:d=4", "2", 142.0),
        ("fat-tree-3:d=8", "2", 570.0),
    ] {
        let found = rows(&["alltoall", "-t", spec, "--fail", "link", "--fail-seed", seed], 0);
        let time = |row: &Value| number(row, "time_over_ideal") * number(row, "ideal_phases");
        assert!(time(&found[1]) <= time(&found[0]).min(most + 0.5), "{spec} {seed}: {}", found[1]);
    }
}

/// Hosts 266,240, without a table and within memory.
#[test]
fn a_mesh_of_128_port_switches_is_proved() {
    let row = &rows(&["alltoall", "--topology", "mlfm:d=64"], 0)[0];
    assert_eq!(number(row, "nodes"), 266_240.0);
    assert_eq!(number(row, "messages_per_link_max"), 1.0);
    assert!(row["proof"].as_str().is_some_and(|proof| proof.starts_with("symmetry")), "{row}");
    assert_eq!(rows(&["check", "--topology", "mlfm:d=64"], 0)[0]["holds"], true);
    refused(&["check", "--topology", "mlfm:d=64", "--fail", "link"]);
}

#[test]
fn a_failure_is_reported_routed_around_and_repaired() {
    let fail = ["-t", "mlfm:d=8", "--fail", "link:vertex-0-0/9"];
    let found = rows(&[&["check"], &fail[..]].concat(), 0);
    assert_eq!(found[0]["holds"], true);
    let found = rows(&[&["alltoall"], &fail[..]].concat(), 0);
    assert!(number(&found[0], "throughput_phase_mean") < 0.51, "{}", found[0]);
    assert_eq!(number(&found[1], "messages_per_link_max"), 1.0);
    assert!(1.0 / number(&found[1], "time_over_ideal") >= 0.82, "{}", found[1]);
    // The table that does not react loses messages, and that is not a success.
    let kept = [&["alltoall", "--routing", "native", "--schedule", "native"], &fail[..]].concat();
    assert!(number(&rows(&kept, 1)[0], "lost") > 0.0);
    let kept = [&["check", "--routing", "native"], &fail[..]].concat();
    assert_eq!(rows(&kept, 1)[0]["holds"], false);
}

/// A mesh that was found, with other names and another order, has the order of its plan.
#[test]
fn a_fabric_from_a_file_is_known_again() {
    let file = std::env::temp_dir().join(format!("laneway-mesh-{}.toml", std::process::id()));
    let name = file.display().to_string();
    rows(&["new", "-t", "mlfm:d=3", "-o", &name], 0);
    let spec = format!("file:{name}");
    let found = rows(&["alltoall", "-t", &spec], 0);
    assert_eq!(
        (number(&found[0], "messages_per_link_max"), number(&found[0], "phases")),
        (1.0, 36.0)
    );
    let found = rows(&["alltoall", "-t", &spec, "--fail", "link:vertex-0-0/4"], 0);
    assert_eq!(number(&found[1], "messages_per_link_max"), 1.0);
    std::fs::remove_file(&file).expect("it is there");
}

#[test]
fn every_pair_that_is_not_reached_can_be_listed() {
    let file = std::env::temp_dir().join(format!("laneway-unreached-{}", std::process::id()));
    let name = file.display().to_string();
    let args = ["check", "-t", "mlfm:d=4", "--fail", "link:vertex-0-0/5", "--routing", "native"];
    let row = &rows(&[&args[..], &["--unreached", &name]].concat(), 1)[0];
    let text = std::fs::read_to_string(&file).expect("a file");
    std::fs::remove_file(&file).expect("it is there");
    assert_eq!(text.lines().count() as f64 - 1.0, number(row, "unreached"));
    assert!(text.starts_with("from,to,path\nnode"), "{text}");
}

/// All count a pair as unreached if a host has lost its cable, if no cables connect it, or if the
/// forwarding does not; and all end alike.
#[test]
fn a_check_a_table_and_an_all_to_all_agree_on_what_is_unreached() {
    let file = std::env::temp_dir().join(format!("laneway-agree-{}.toml", std::process::id()));
    let table = std::env::temp_dir().join(format!("laneway-agree-{}.lft", std::process::id()));
    let table = table.display().to_string();
    let name = file.display().to_string();
    rows(&["new", "-t", "fat-tree-2:d=3", "-o", &name], 0);
    let from_file = format!("file:{name}");
    let cases: [(&[&str], i32, f64); 10] = [
        (&["-t", "mlfm:d=4"], 0, 0.0),
        (&["-t", "mlfm:d=4", "--fail", "link"], 0, 0.0),
        (&["-t", "mlfm:d=4", "--fail", "switch:edge-0-1"], 0, 0.0),
        (&["-t", "mlfm:d=4", "--fail", "host:node7"], 1, 158.0),
        (&["-t", "mlfm:d=4", "--fail", "switch:vertex-0-0"], 1, 620.0),
        (&["-t", "mlfm:d=4", "--fail", "link:vertex-0-0/1"], 1, 158.0),
        (&["-t", "mlfm:d=8", "--fail", "link", "--routing", "native"], 1, 1136.0),
        (&["-t", "fat-tree-3:d=4", "--fail", "switch", "--fail", "host:node0"], 1, f64::NAN),
        (&["-t", &from_file], 0, 0.0),
        (&["-t", &from_file, "--fail", "host:node0", "--fail", "link"], 1, 34.0),
    ];
    for (args, code, pairs) in cases {
        let checked = rows(&[&["check"], args].concat(), code);
        for counted in rows(&[&["alltoall"], args].concat(), code) {
            assert_eq!(counted["unreached"], checked[0]["unreached"], "{args:?}: {counted}");
        }
        let routed = rows(&[&["route", "-o", &table], args].concat(), code);
        assert_eq!(routed[0]["unreached"], checked[0]["unreached"], "{args:?}: {}", routed[0]);
        let unreached = number(&checked[0], "unreached");
        assert!(pairs.is_nan() || unreached == pairs, "{args:?}: {}", checked[0]);
    }
    std::fs::remove_file(&file).expect("it is there");
    std::fs::remove_file(&table).expect("it is there");
}

/// A cable has two ends, and a switch takes its cables with it: what is out already is said, and
/// the rest is done.
#[test]
fn what_is_out_already_is_said_and_not_refused() {
    let twice = ["--fail", "link:vertex-0-0/5", "--fail", "link:edge-0-1/1"];
    for (fail, said) in [
        (
            &twice[..],
            "already out: edge-0-1/1 is the other end of the cable vertex-0-0/5 to edge-0-1/1\n",
        ),
        (
            &["--fail", "link:vertex-0-0/5", "--fail", "link:vertex-0-0/5"],
            "already out: the cable vertex-0-0/5 to edge-0-1/1\n",
        ),
        (
            &["--fail", "switch:edge-0-1", "--fail", "link:vertex-0-0/5"],
            "already out: the cable vertex-0-0/5 to edge-0-1/1, with edge-0-1\n",
        ),
    ] {
        let output = topo(&[&["check", "-t", "mlfm:d=4"], fail].concat());
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{fail:?}: {text}");
        assert!(text.contains(said), "{fail:?}: {text}");
    }
    // One cable is out, not two.
    let once = rows(&["alltoall", "-t", "mlfm:d=4", "--fail", "link:vertex-0-0/5"], 0);
    assert_eq!(rows(&[&["alltoall", "-t", "mlfm:d=4"], &twice[..]].concat(), 0), once);
    // A port that never had a cable is still refused.
    assert!(
        refused(&["check", "-t", "fat-tree-3:d=3", "--fail", "link:top-0-1/6"])
            .contains("nothing is plugged into")
    );
}

/// A person reads the answer first, and then the same lines whatever the answer is and however wide
/// the terminal is.
#[test]
fn the_answer_comes_first_and_the_layout_is_the_same() {
    let table = std::env::temp_dir().join(format!("laneway-answer-{}.lft", std::process::id()));
    let table = table.display().to_string();
    let cut = ["--fail", "switch:vertex-0-0"];
    let link = ["--fail", "link:vertex-0-0/5", "--schedule", "native"];
    let of = |verb: &[&str], more: &[&str]| -> Vec<String> {
        [verb, &["-t", "mlfm:d=4"], more].concat().iter().map(ToString::to_string).collect()
    };
    let wrote =
        format!("Wrote {table}: all 6,320 pairs of hosts are reached, without a credit loop.");
    let written =
        format!("Wrote {table}, which does not hold: 620 of 6,320 pairs of hosts are unreached");
    for (good, answer, bad, other) in [
        (
            of(&["alltoall"], &[]),
            "No conflict: 6,320 pairs, every message counted.",
            of(&["alltoall"], &link),
            "Conflicts: in 76 of 80 phases up to 2 messages share a link, first in phase 0 on ",
        ),
        (
            of(&["check"], &[]),
            "Holds: all 6,320 pairs are reached, without a loop or a credit loop; every pair was",
            of(&["check"], &cut),
            "Does not hold: 620 of 6,320 pairs of hosts are unreached (4 hosts have lost their",
        ),
        (
            of(&["random"], &[]),
            "Random permutations keep 59.5 % of the bandwidth (standard error",
            of(&["random"], &cut),
            "Random permutations keep ",
        ),
        (of(&["route", "-o", &table], &[]), &wrote, of(&["route", "-o", &table], &cut), &written),
        (
            of(&["job", "--size", "16"], &[]),
            "No conflict: 240 pairs, every message counted. The all-to-all of 16 nodes (shape",
            of(&["job", "--nodes", "node[0-6,9,31-37]"], &[]),
            "No conflict: 210 pairs, every message counted. The all-to-all of 15 nodes",
        ),
        (
            of(&["alternates", "node0", "node79"], &[]),
            "Two paths that share no cable and no switch, of 16 candidates.",
            of(&["alternates", "node0", "node1"], &[]),
            "Two paths that share no cable and no switch, of 16 candidates.",
        ),
        (
            of(&["new"], &[]),
            "mlfm:d=4: 80 nodes, 30 switches",
            of(&["new"], &cut),
            "mlfm:d=4: 76 nodes",
        ),
        (
            of(&["cost"], &[]),
            "mlfm:d=4 with 30 switches of 8 ports and 160 cables, for 80 nodes.",
            of(&["cost"], &cut),
            "mlfm:d=4 with 29 switches",
        ),
    ] {
        let shown = |args: &[String], columns: &str| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_laneway"));
            let output = command.arg("topo").args(args).env("COLUMNS", columns).output();
            String::from_utf8_lossy(&output.expect("it starts").stdout).into_owned()
        };
        let labels = |text: &str| -> Vec<String> {
            let table = text.split_once("\n\n").map_or("", |(_, table)| table);
            let words = table.lines().filter(|line| !line.starts_with(' '));
            words.map(|line| line.split(' ').next().unwrap_or("").to_string()).collect()
        };
        let flat = |text: &str| text.replace('\n', " ");
        let (whole, damaged) = (shown(&good, "80"), shown(&bad, "80"));
        assert!(flat(&whole).starts_with(answer), "{good:?}: {whole}");
        assert!(flat(&damaged).starts_with(other), "{bad:?}: {damaged}");
        assert!(labels(&whole).len() > 3, "{good:?}: {whole}");
        assert_eq!(labels(&whole), labels(&damaged), "{good:?} and {bad:?}");
        assert_eq!(labels(&whole), labels(&shown(&good, "300")), "{good:?} on a wide terminal");
    }
    std::fs::remove_file(&table).expect("it is there");
}

/// The largest mesh of 36-port switches, as the paper has it.
#[test]
fn no_conflict_is_said_in_words() {
    let output = topo(&["alltoall", "--topology", "mlfm:d=18"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.starts_with("No conflict: 37,890,180 pairs, every message counted.\n"), "{text}");
    let row = &rows(&["alltoall", "--topology", "mlfm:d=4"], 0)[0];
    assert!(row["conflicts_max"].is_null() && row["messages_per_link_max"] == 1, "{row}");
}

/// What cannot be read is not a mistake of the command line, whichever verb and argument it is;
/// neither is a folder that is not there, or cannot be written to.
#[test]
fn files_that_cannot_be_read_or_written_are_of_the_environment() {
    let folder = std::env::temp_dir().join(format!("laneway-no-folder-{}", std::process::id()));
    std::fs::create_dir(&folder).expect("a folder");
    let gone = folder.join("gone").display().to_string();
    let out = folder.join("gone/out").display().to_string();
    let here = folder.display().to_string();
    let fabric = format!("file:{gone}");
    let (of, mesh) = (["-t", &fabric], ["-t", "mlfm:d=2"]);
    let code = |args: &[&[&str]]| {
        let args = args.concat();
        let output = topo(&args);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(3), "{args:?}: {said}");
        assert!(said.contains("error:") && said.contains("try:"), "{args:?}: {said}");
    };
    let verbs: [&[&str]; 12] = [
        &["new"],
        &["cost"],
        &["schedule"],
        &["alltoall"],
        &["random"],
        &["check"],
        &["route", "-o", "unwritten"],
        &["alternates", "node0", "node1"],
        &["export", "--as", "dot"],
        &["job", "--size", "2"],
        &["draw"],
        &["draw", "--heat", "random"],
    ];
    for verb in verbs {
        code(&[verb, &of]);
    }
    code(&[&["import", &gone]]);
    // A folder can be opened, and not be read.
    code(&[&["import", &here]]);
    code(&[&["diff", "mlfm:d=2", &gone]]);
    code(&[&["diff", &fabric, &gone]]);
    code(&[&["watch", "--once", "-o", "unwritten", "--discover", "true", "--whole", &gone]]);
    code(&[&["alltoall", "--schedule", &fabric], &mesh]);
    code(&[&["check", "--lids", &gone], &mesh]);
    code(&[&["check", "--routing", &here], &mesh]);
    code(&[&["check", "--routing", &gone], &mesh]);
    code(&[&["route", "-o", "unwritten", "--from", &gone], &mesh]);
    // And what is written.
    code(&[&["new", "-o", &out], &mesh]);
    code(&[&["route", "-o", &out], &mesh]);
    code(&[&["export", "--as", "dot", "-o", &out], &mesh]);
    code(&[&["draw", "-o", &out], &mesh]);
    code(&[&["job", "--size", "2", "--schedule", &out], &mesh]);
    code(&[&["check", "--unreached", &out], &mesh]);
    let export = format!("{out}.json");
    for verb in ["new", "cost", "schedule", "alltoall", "random", "check"] {
        code(&[&[verb, "--export", &export], &mesh]);
    }
    let kept: Vec<_> = std::fs::read_dir(&folder).expect("a folder").collect();
    assert!(kept.is_empty(), "{kept:?}");
    std::fs::remove_dir(&folder).expect("it is there");
}

/// What does not arrive is reported, and is not a success.
#[test]
fn lost_messages_are_a_failure() {
    let cut = ["-t", "mlfm:d=4", "--fail", "switch:vertex-0-0"];
    let row = &rows(&[&["random"], &cut[..]].concat(), 1)[0];
    assert!(number(row, "lost") > 0.0 && number(row, "throughput_mean") > 0.0, "{row}");
    // Four hosts are gone: nothing that can be sent is lost, and it is not a whole all-to-all.
    let row = &rows(&[&["alltoall", "--schedule", "repaired"], &cut[..]].concat(), 1)[0];
    assert!(number(row, "time_over_ideal") >= 1.0, "{row}");
    assert_eq!(
        (number(row, "lost"), number(row, "unreached")),
        (0.0, 4.0 * (79.0 + 76.0)),
        "{row}"
    );
    // A table that does not react leaves out pairs that are connected.
    let kept = ["alltoall", "-t", "mlfm:d=8", "--fail", "link", "--routing", "native"];
    let row = &rows(&[&kept[..], &["--schedule", "repaired"]].concat(), 1)[0];
    assert_eq!((number(row, "lost"), number(row, "unreached")), (1136.0, 1136.0), "{row}");
    let row = &rows(&[&["check"], &cut[..]].concat(), 1)[0];
    assert_eq!((number(row, "hosts_unplugged"), &row["holds"]), (4.0, &false.into()), "{row}");
    let path = [&["schedule", "--source", "0", "--phase", "1"], &cut[..]].concat();
    assert_eq!(rows(&[&path[..], &["--schedule", "native"]].concat(), 1)[0]["path"], "lost");
    assert_eq!(rows(&path, 1)[0]["destination"], Value::Null);
    let file = std::env::temp_dir().join(format!("laneway-empty-{}.toml", std::process::id()));
    std::fs::write(&file, "[[switch]]\nname = \"a\"\nports = 4\n").expect("a file");
    for verb in ["alltoall", "random", "check", "schedule", "draw", "new"] {
        refused(&[verb, "-t", &format!("file:{}", file.display())]);
    }
    std::fs::remove_file(&file).expect("it is there");
}

/// paper: fullmesh tables 1 and 2.
#[test]
fn costs_side_by_side() {
    let found = rows(&["cost", "--nodes", "6000", "--switch-watts", "100"], 0);
    assert_eq!(found.len(), 5);
    let mesh = &found[0];
    assert_eq!((number(mesh, "nodes"), number(mesh, "switches")), (6156.0, 513.0));
    assert!((number(mesh, "port_efficiency") - 1.0 / 3.0).abs() < 1e-9);
    assert!((number(mesh, "bisection") - 20.0 / 38.0).abs() < 1e-9);
    assert!((number(mesh, "bisection_paper") - 19.0 / 36.0).abs() < 1e-9);
    assert_eq!(number(mesh, "power_w"), 51_300.0);
    assert_eq!(number(mesh, "diameter_switches"), 3.0);
    assert_eq!(number(mesh, "disjoint_paths"), 18.0);
    assert_eq!(mesh["price"], Value::Null);
}

#[test]
fn bad_words_are_refused() {
    for args in [
        &["alltoall", "--topology", "mesh:d=4"][..],
        &["alltoall", "--topology", "fat-tree-3-half:d=5"],
        &["alltoall", "-t", "mlfm:d=4", "--schedule", "nativ"],
        &["alltoall", "-t", "mlfm:d=4", "--schedule", "bcast/none"],
        &["alltoall", "-t", "mlfm:d=4", "--schedule", "repaired"],
        &["alltoall", "-t", "mlfm:d=4", "--routing", "nothing"],
        &["alltoall", "-t", "mlfm:d=4", "--fail", "cable"],
        &["alltoall", "-t", "mlfm:d=4", "--fail", "link:vertex-0-0"],
        &["alltoall", "-t", "mlfm:d=4", "--fail", "link:vertex-0-0/99"],
        &["alltoall", "-t", "mlfm:d=4", "--fail", "switch:vertex-9-0"],
        &["random", "-t", "mlfm:d=4", "--trials", "1"],
        &["schedule", "-t", "mlfm:d=4", "--source", "80"],
        &["schedule", "-t", "mlfm:d=4", "--schedule", "repaired"],
        &["schedule", "-t", "mlfm:d=4", "--phase", "5-2"],
        &["schedule", "-t", "mlfm:d=18"],
        &["cost"],
        &["cost", "--nodes", "0"],
        &["cost", "--nodes", "99999999"],
        &["cost", "--nodes", "100", "--switch-watts", "-3"],
    ] {
        refused(args);
    }
    assert!(refused(&["alltoall", "-t", "mlfn:d=4"]).contains("mlfm"));
}
