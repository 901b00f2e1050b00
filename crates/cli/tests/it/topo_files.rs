//! The verbs of `laneway topo` that read and write files, as a person or a script meets them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

/// A folder that goes when it is no longer needed.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("laneway-files-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).expect("a folder");
        Folder(folder)
    }

    fn path(&self, file: &str) -> String {
        self.0.join(file).display().to_string()
    }

    /// Runs `laneway topo` here.
    fn topo(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_laneway"));
        command.current_dir(&self.0).arg("topo").args(args).output().expect("the command starts")
    }

    fn done(&self, args: &[&str]) -> String {
        let output = self.topo(args);
        assert!(output.status.success(), "{args:?}: {}", errors(&output));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn json(&self, args: &[&str], code: i32) -> Value {
        let args: Vec<&str> = args.iter().copied().chain(["--format", "json"]).collect();
        let output = self.topo(&args);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {}", errors(&output));
        serde_json::from_slice(&output.stdout).expect("JSON")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_file_is_taken_with_its_prefix_and_without() {
    let here = Folder::new();
    for (format, file) in [("ibsim", "found"), ("lft", "table"), ("guid2lid", "lids")] {
        here.done(&["export", "-t", "mlfm:d=2", "--as", format, "-o", file]);
    }
    fs::write(here.path("pairs"), "0 3\n1 2\n").expect("written");
    for before in ["", "file:"] {
        let [found, table, lids, pairs] =
            ["found", "table", "lids", "pairs"].map(|file| format!("{before}{file}"));
        let discover = "cat found";
        for args in [
            &["diff", "mlfm:d=2", &found][..],
            &["diff", &found, &found],
            &["import", &found],
            &["check", "-t", &found],
            &["check", "-t", &found, "--routing", &table, "--lids", &lids],
            &["cost", "-t", &found],
            &["cost", &found],
            &["draw", "-t", &found, "-o", "x.svg"],
            &["alltoall", "-t", &found, "--schedule", &pairs],
            &["route", "-t", &found, "--from", &table, "-o", "new"],
            &["job", "-t", &found, "--size", "2", "--schedule", &pairs],
            &["watch", "--whole", &found, "--discover", discover, "-o", "t", "--once"],
        ] {
            here.done(args);
        }
        // What is not all pairs is not counted as if it were.
        let args = ["alltoall", "-t", "mlfm:d=2", "--schedule", &pairs];
        assert_eq!(here.json(&args, 0)["rows"][0]["unreached"], Value::Null);
    }
    for args in [
        &["check", "-t", "sow.toml"][..],
        &["check", "-t", "file:sow.toml"],
        &["diff", "sow.toml", "found"],
        &["diff", "mlfm:d=2", "file:sow.toml"],
        &["import", "sow.toml"],
        &["alltoall", "-t", "mlfm:d=2", "--schedule", "sow.toml"],
        &["check", "-t", "mlfm:d=2", "--routing", "sow.toml"],
    ] {
        let output = here.topo(args);
        assert_eq!(output.status.code(), Some(3), "{args:?}: {}", errors(&output));
        let first = "error: `sow.toml` does not exist\n";
        assert!(errors(&output).starts_with(first), "{args:?}: {}", errors(&output));
    }
}

#[test]
fn every_format_that_is_written_is_a_fabric_again() {
    let here = Folder::new();
    for format in ["ibsim", "ibnetdiscover", "cables", "toml", "dot", "simgrid"] {
        here.done(&["export", "-t", "mlfm:d=3", "--as", format, "-o", format]);
        let row = &here.json(&["import", format], 0)["rows"][0];
        assert_eq!(row["topology"], "mlfm:d=3", "{format}");
        assert_eq!((&row["hosts"], &row["cables"]), (&36.into(), &72.into()), "{format}");
        // Its own forwarding, so its own all-to-all has no conflict.
        let file = format!("file:{format}");
        let checked = &here.json(&["check", "-t", &file], 0)["rows"][0];
        assert_eq!(checked["holds"], true, "{format}: {checked}");
    }
    for (format, word) in [("slurm", "node[60-63]"), ("simgrid", "\"node63\""), ("dot", "node63")] {
        let text = here.done(&["export", "-t", "fat-tree-3:d=4", "--as", format]);
        assert!(text.contains(word), "{format}: {text}");
    }
}

/// Names that a format cannot tell apart end with an error that names them, and write no file.
#[test]
fn names_that_would_become_one_are_refused() {
    let here = Folder::new();
    let graph = "graph { sw [ports=4]; \"h 0\" [kind=host]; \"sw/1\" [kind=host]; \"h 1\" \
                 [kind=host]; sw -- \"h 0\"; sw -- \"sw/1\"; sw -- \"h 1\" }";
    fs::write(here.path("drawn.dot"), graph).expect("written");
    for (args, said) in [
        (&["export", "--as", "slurm"][..], "the hosts `h 0` and `h 1` would both be `h`"),
        (&["export", "--as", "toml"], "`sw/1` is a host, and port 1 of switch `sw`"),
        (&["export", "--as", "simgrid"], "`sw/1` is a host, and port 1 of switch `sw`"),
        (&["new"], "`sw/1` is a host, and port 1 of switch `sw`"),
    ] {
        let output = here.topo(&[args, &["-t", "file:drawn.dot", "-o", "out"]].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", errors(&output));
        assert!(errors(&output).contains(said), "{args:?}: {}", errors(&output));
        assert!(!PathBuf::from(here.path("out")).exists(), "{args:?}");
    }
    // Where cables run is in a list of them.
    here.done(&["export", "-t", "mlfm:d=3", "--as", "cables", "-o", "cables"]);
    let cost = |of: &str| here.json(&["cost", "-t", of], 0)["rows"][0]["cables_row"].clone();
    assert_eq!(cost("file:cables"), cost("mlfm:d=3"));
    assert!(cost("mlfm:d=3").as_u64() > Some(0), "{}", cost("mlfm:d=3"));
}

/// What has failed is missing in the file, and nothing else is other than planned.
#[test]
fn a_damaged_fabric_comes_back_from_graphs_and_platforms() {
    let here = Folder::new();
    let cuts = ["--fail", "link:vertex-0-0/4", "--fail", "host:node7"];
    for format in ["dot", "simgrid"] {
        let args = ["export", "-t", "mlfm:d=3", "--as", format, "-o", format];
        here.done(&[&args[..], &cuts].concat());
        let row = &here.json(&["import", format], 0)["rows"][0];
        assert_eq!((&row["hosts"], &row["cables"]), (&36.into(), &70.into()), "{format}: {row}");
        let found = here.json(&["diff", "mlfm:d=3", format], 1);
        let summary = &found["summary"];
        let counts = ["wrong", "missing", "extra"].map(|kind| summary[kind].as_u64());
        assert_eq!(counts, [Some(0), Some(2), Some(0)], "{format}: {found}");
        assert_eq!(summary["compared_by"], "name", "{format}");
    }
}

/// Names of their own, no ports, no planned order: known by the cables alone.
#[test]
fn a_drawn_mesh_is_recognised() {
    let here = Folder::new();
    let mut graph = String::from("graph drawn {\n");
    // Two layers of three switches; an edge switch joins every two vertices, in both layers.
    for layer in ["p", "q"] {
        for (edge, pair) in [("ab", ["a", "b"]), ("bc", ["b", "c"]), ("ca", ["c", "a"])] {
            graph += &format!("  {layer}{} -- {edge} -- {layer}{};\n", pair[0], pair[1]);
        }
        for vertex in ["a", "b", "c"] {
            graph += &format!("  {layer}{vertex} -- {{ {layer}{vertex}1 {layer}{vertex}2 }}\n");
        }
    }
    fs::write(here.path("drawn.dot"), graph + "}\n").expect("written");
    let row = &here.json(&["import", "drawn.dot"], 0)["rows"][0];
    assert_eq!((&row["topology"], &row["differences"]), (&"mlfm:d=2".into(), &0.into()), "{row}");
    let checked = &here.json(&["check", "-t", "file:drawn.dot"], 0)["rows"][0];
    assert_eq!(checked["holds"], true, "{checked}");
}

/// Addresses alone say who is meant only together with who has them.
#[test]
fn a_dump_of_addresses_is_read_by_a_file_of_them() {
    let here = Folder::new();
    here.done(&["export", "-t", "mlfm:d=3", "--as", "guid2lid", "-o", "lids"]);
    let lids = fs::read_to_string(here.path("lids")).expect("written");
    // As OpenSM gives them: not in our order.
    let swap = |text: &str, one: &str, other: &str| {
        text.replace(one, "ONE").replace(other, one).replace("ONE", other)
    };
    let other = swap(&lids, "0x0001 0x0001", "0x0009 0x0009");
    assert_ne!(other, lids);
    fs::write(here.path("lids"), &other).expect("written");
    let args = ["export", "-t", "mlfm:d=3", "--as", "lft", "--lids", "lids"];
    let tables = here.done(&args);
    let line = |line: &str| match line.split_once(" guid ") {
        Some((_, rest)) => {
            let guid = rest.split(' ').next().unwrap_or("");
            format!("dump_ucast_routes: Switch {guid}\nLID    : Port : Hops : Optimal\n")
        }
        None if line.starts_with("0x") => {
            format!("{} : {}  : 02   : yes\n", &line[..6], &line[7..10])
        }
        None => String::from("\n"),
    };
    let dump: String = tables.lines().map(line).collect();
    fs::write(here.path("opensm.fdbs"), &dump).expect("written");
    let by = ["--routing", "opensm.fdbs"];
    assert_eq!(here.done(&[&args[..], &by].concat()), tables);
    let from = ["--from", "opensm.fdbs", "--lids", "lids", "-o", "new.lft"];
    let row = here.json(&[&["route", "-t", "mlfm:d=3"], &from[..]].concat(), 0)["rows"][0].clone();
    assert_eq!(row["changed_entries"], 0, "{row}");
    let both = [&["-t", "mlfm:d=3", "--lids", "lids"], &by[..]].concat();
    let checked = &here.json(&[&["check"], &both[..]].concat(), 0)["rows"][0];
    assert_eq!((&checked["unreached"], &checked["holds"]), (&0.into(), &true.into()), "{checked}");
    let counted = &here.json(&[&["alltoall"], &both[..]].concat(), 0)["rows"][0];
    assert_eq!(counted["messages_per_link_max"], 1, "{counted}");
    // Without them no part is guessed.
    let output = here.topo(&[&["check", "-t", "mlfm:d=3"], &by[..]].concat());
    assert_eq!(output.status.code(), Some(2), "{}", errors(&output));
    let printed = errors(&output);
    assert!(printed.contains("line 3: ") && printed.contains("--lids"), "{printed}");
    fs::write(here.path("lids"), other.replacen("0x0009 0x0009", "0x0009 zero", 1))
        .expect("written");
    let output = here.topo(&[&args[..], &by].concat());
    assert_eq!(output.status.code(), Some(2), "{}", errors(&output));
    assert!(errors(&output).contains("line 37: `zero` is not a number"), "{}", errors(&output));
}

/// Where a graph or a platform does not tell a fabric, the line that does not is named.
#[test]
fn graphs_and_platforms_without_a_fabric_are_refused() {
    let here = Folder::new();
    for (file, text, said) in [
        ("way.dot", "digraph {\n a -> b\n}\n", "line 1: a cable leads both ways"),
        ("open.dot", "graph {\n a -- b\n", "line 3: "),
        ("hosts.dot", "graph {\n a -- b\n}\n", "line 2: a cable between two hosts"),
        ("dash.dot", "graph {\n leaf-0 -- b\n}\n", "line 2: the name continues after `leaf`"),
        ("port.dot", "graph {\n a:1 -- b; b -- h;\n a:1 -- i }\n", "line 3: port 1 of switch a"),
        ("drawing.xml", "<svg xmlns=\"http://www.w3.org/2000/svg\"/>\n", "line 1: <svg> and not"),
        (
            "entity.xml",
            "<!DOCTYPE platform [\n<!ENTITY a SYSTEM \"/etc/hostname\">]>\n<platform/>\n",
            "line 2: a document type that defines entities",
        ),
        (
            "cluster.xml",
            "<platform version=\"4.1\">\n<cluster id=\"c\" radical=\"0-9\"/>\n</platform>\n",
            "line 2: a <cluster> does not list its cables",
        ),
        (
            "ways.xml",
            "<platform><zone id=\"z\">\n<host id=\"a\"/><host id=\"b\"/>\n<link id=\"1\"/>\
             <link id=\"2\"/>\n<route src=\"a\" dst=\"b\"><link_ctn id=\"1\"/>\
             <link_ctn id=\"2\"/></route></zone></platform>",
            "line 4: what a link joins cannot be known",
        ),
    ] {
        fs::write(here.path(file), text).expect("written");
        let topology = format!("file:{file}");
        for args in [&["import", file][..], &["check", "-t", &topology]] {
            let output = here.topo(args);
            assert_eq!(output.status.code(), Some(2), "{args:?}: {}", errors(&output));
            let printed = errors(&output);
            assert!(printed.contains(file) && printed.contains(said), "{args:?}: {printed}");
        }
    }
}

#[test]
fn tables_are_written_and_taken_as_a_routing() {
    let here = Folder::new();
    let row = here.json(&["route", "-t", "mlfm:d=4", "-o", "tables.lft"], 0)["rows"][0].clone();
    assert_eq!((&row["unreached"], &row["credit_loop"]), (&0.into(), &false.into()), "{row}");
    let counted = here.json(&["alltoall", "-t", "mlfm:d=4", "--routing", "tables.lft"], 0);
    assert_eq!(counted["rows"][0]["messages_per_link_max"], 1, "{counted}");
    // Truncated in the middle of a line: an error that names it, and no panic.
    let text = fs::read_to_string(here.path("tables.lft")).expect("the tables");
    let half = text.len() / 2;
    let cut = text[..half].rfind(" : ").map_or(half, |at| at - 2);
    fs::write(here.path("half.lft"), &text[..cut - 3]).expect("written");
    let output = here.topo(&["check", "-t", "mlfm:d=4", "--routing", "half.lft"]);
    assert_eq!(output.status.code(), Some(2), "{}", errors(&output));
    assert!(errors(&output).contains("line "), "{}", errors(&output));
}

/// Five switches with a host each, in a ring.
fn ring() -> String {
    let mut text = String::new();
    for at in 0..5 {
        text += &format!("[[switch]]\nname = \"s{at}\"\nports = 3\n");
        text += &format!("[[host]]\nname = \"h{at}\"\n");
    }
    for at in 0..5 {
        text += &format!("[[cable]]\nfrom = \"s{at}/1\"\nto = \"h{at}\"\n");
        text += &format!("[[cable]]\nfrom = \"s{at}/2\"\nto = \"s{}/3\"\n", (at + 1) % 5);
    }
    text
}

/// What is handed to other software is proven first, and what is wrong with it is said.
#[test]
fn a_table_that_does_not_hold_is_a_failure() {
    let here = Folder::new();
    fs::write(here.path("ring"), ring()).expect("written");
    let of = ["-t", "file:ring"];
    here.done(&[&["export"], &of[..], &["--as", "lft", "-o", "good.lft"]].concat());
    let good = fs::read_to_string(here.path("good.lft")).expect("a table");
    // The entries of s0 and s1 for h3, whose address is 4.
    let (one, other) = (good.find("0x0004").expect("there"), good.find("(s1)").expect("there"));
    let other = other + good[other..].find("0x0004").expect("there");
    let mut hole = good.clone();
    hole.replace_range(one..one + good[one..].find('\n').expect("an end") + 1, "");
    let mut round = good.clone();
    round.replace_range(one + 7..one + 10, "002");
    round.replace_range(other + 7..other + 10, "003");
    fs::write(here.path("hole.lft"), hole).expect("written");
    fs::write(here.path("round.lft"), round).expect("written");
    for (routing, said) in [
        ("minimal", "credit loop: s0/2 s1/2 s2/2 s3/2 s4/2"),
        ("hole.lft", "not reached: h0 to h3, path 0: s0 has no path to it"),
        ("round.lft", "not reached: h0 to h3, path 0: a message loops through s"),
    ] {
        let with = [&of[..], &["--routing", routing]].concat();
        for verb in [
            &["export", "--as", "lft", "-o", "out"][..],
            &["export", "--as", "simgrid", "-o", "out"],
            &["route", "-o", "out", "--unreached", "pairs.csv"],
            &["check"],
        ] {
            let output = here.topo(&[verb, &with[..]].concat());
            assert_eq!(output.status.code(), Some(1), "{verb:?} {routing}: {}", errors(&output));
            assert!(errors(&output).contains(said), "{verb:?} {routing}: {}", errors(&output));
        }
        let pairs = fs::read_to_string(here.path("pairs.csv")).expect("pairs");
        assert_eq!(pairs.contains("h0,h3,0"), routing != "minimal", "{pairs}");
    }
    here.done(&[&["export"], &of[..], &["--as", "simgrid", "-o", "out"]].concat());
}

/// No table of it fits into memory.
#[test]
fn a_very_large_tree_is_proven() {
    let here = Folder::new();
    let row = here.json(&["check", "-t", "fat-tree-3:d=64"], 0)["rows"][0].clone();
    assert_eq!((&row["holds"], &row["longest_path_switches"]), (&true.into(), &5.into()), "{row}");
    assert!(row["proof"].as_str().expect("words").contains("pairs represent all"), "{row}");
}

#[test]
fn a_fabric_has_no_forwarding_to_choose() {
    let output = Folder::new().topo(&["new", "-t", "mlfm:d=2", "--routing", "nosuch"]);
    assert_eq!(output.status.code(), Some(2), "{}", errors(&output));
}

/// The entries of a table, of hosts and switches alike: by switch and address.
fn entries(text: &str) -> BTreeMap<(&str, &str), &str> {
    let mut switch = "";
    let mut all = BTreeMap::new();
    for line in text.lines() {
        match line.split_once(' ') {
            Some((lid, rest)) if lid.starts_with("0x") => {
                all.insert((switch, lid), &rest[..3]);
            }
            _ => switch = line,
        }
    }
    all
}

/// Every entry that differs changes in one step, and no other changes at all.
#[test]
fn a_step_changes_what_must_change() {
    let here = Folder::new();
    here.done(&["route", "-t", "mlfm:d=4", "-o", "old.lft"]);
    let fail = ["--fail", "link:vertex-0-0/5", "--fail", "switch:edge-2-3"];
    let args = ["route", "-t", "mlfm:d=4", "--from", "old.lft", "-o", "new.lft"];
    let row = here.json(&[&args[..], &fail[..]].concat(), 0)["rows"][0].clone();
    let steps = row["steps"].as_u64().expect("a number");
    let files = (1..=steps).map(|step| format!("new.lft.step{step}"));
    let read = |file: String| fs::read_to_string(here.path(&file)).expect("a table");
    let texts: Vec<String> =
        std::iter::once("old.lft".to_string()).chain(files).map(read).collect();
    let tables: Vec<_> = texts.iter().map(|text| entries(text)).collect();
    let keys: BTreeSet<_> = tables.iter().flat_map(|table| table.keys()).collect();
    let mut changed = 0;
    for key in keys {
        let changes = tables.windows(2).filter(|pair| pair[0].get(key) != pair[1].get(key)).count();
        let differs = tables[0].get(key) != tables[steps as usize].get(key);
        assert_eq!(changes, usize::from(differs), "{key:?}");
        changed += changes as u64;
    }
    assert_eq!((row["changed_entries"].as_u64(), changed > 100), (Some(changed), true), "{row}");
}

#[test]
fn a_change_is_written_in_steps() {
    let here = Folder::new();
    here.done(&["route", "-t", "mlfm:d=4", "-o", "old.lft"]);
    let fail = "link:vertex-0-0/5";
    let args = ["route", "-t", "mlfm:d=4", "--fail", fail, "--from", "old.lft", "-o", "new.lft"];
    let row = here.json(&args, 0)["rows"][0].clone();
    let steps = row["steps"].as_u64().expect("a number");
    assert!((1..=8).contains(&steps), "{row}");
    let changed = row["changed_entries"].as_u64().expect("a number");
    assert!(changed > 0 && changed < 30 * 80 / 4, "few of the entries change: {row}");
    let read = |file: String| fs::read_to_string(here.path(&file)).expect("a table");
    assert_eq!(read(format!("new.lft.step{steps}")), read("new.lft".into()));
}

/// Six switches with a host each, on which the shortest ways and those of `up-down` hold alone and
/// close a credit loop together.
fn loops() -> String {
    let mut graph = String::from("graph {\n");
    for at in 0..6 {
        graph += &format!("s{at} [kind=switch ports=16]; h{at} [kind=host]; s{at}:16 -- h{at};\n");
    }
    graph
        + "s0:1 -- s1:1; s0:2 -- s3:1; s1:2 -- s2:1; s1:3 -- s5:1;\n\
             s2:2 -- s4:1; s3:2 -- s5:2; s4:2 -- s5:3 }\n"
}

/// Seven more, on which no order without a credit loop is found.
const KNOT: &str = "graph {
    s0:2 -- s1:2; s0:3 -- s2:2; s0:4 -- s6:2; s1:3 -- s5:2; s2:3 -- s3:2; s2:4 -- s3:4;
    s3:3 -- s4:2; s4:3 -- s6:3; s4:4 -- s5:3; s4:5 -- s6:4;
    s0:1 -- h0; s1:1 -- h1; s2:1 -- h2; s3:1 -- h3; s4:1 -- h4; s5:1 -- h5; s6:1 -- h6 }";

/// Every step is proven, hosts and all; one with a credit loop is not a success.
#[test]
fn the_table_of_a_step_is_proven() {
    let here = Folder::new();
    for (graph, new, credit_loop) in [(loops(), "up-down", false), (KNOT.into(), "balanced", true)]
    {
        fs::write(here.path("net.dot"), graph).expect("written");
        let of = ["-t", "file:net.dot"];
        here.done(&[&["route"], &of[..], &["--routing", "minimal", "-o", "old.lft"]].concat());
        let change = ["route", "--routing", new, "--from", "old.lft", "-o", "new.lft"];
        let code = i32::from(credit_loop);
        let row = here.json(&[&change[..], &of].concat(), code)["rows"][0].clone();
        assert_eq!(row["credit_loop"], false, "{row}");
        let steps = row["steps"].as_u64().expect("a number");
        assert!(steps > 1, "{row}");
        let mut with_credit_loop = 0;
        let said = errors(&here.topo(&[&change[..], &of].concat()));
        for step in 1..=steps {
            let file = format!("new.lft.step{step}");
            let output = here.topo(&[&["check", "--routing", &file], &of[..]].concat());
            assert!(!errors(&output).contains("not reached"), "{}", errors(&output));
            let has = output.status.code() == Some(1);
            assert_eq!(said.contains(&format!("{file}: a credit loop")), has, "{said}");
            with_credit_loop += u64::from(has);
        }
        assert_eq!(
            (row["steps_with_credit_loop"].as_u64(), with_credit_loop > 0),
            (Some(with_credit_loop), credit_loop)
        );
    }
    // What an earlier change has left is none of a whole table's.
    here.done(&["route", "-t", "file:net.dot", "-o", "new.lft"]);
    assert!(!here.0.join("new.lft.step1").exists());
}

/// Planned GUIDs are places in the order of a file; names are not.
#[test]
fn a_table_is_read_by_names_where_guids_are_planned() {
    let here = Folder::new();
    let fabric = |hosts: [&str; 2], switches: [&str; 2]| {
        let mut text = String::new();
        for name in switches {
            text += &format!("[[switch]]\nname = \"{name}\"\nports = 4\n");
        }
        for name in hosts {
            text += &format!("[[host]]\nname = \"{name}\"\n");
        }
        for (from, to) in [("b'/1", "x, y"), ("'c'/2", "z"), ("b'/3", "'c'/4")] {
            text += &format!("[[cable]]\nfrom = \"{from}\"\nto = \"{to}\"\n");
        }
        text
    };
    fs::write(here.path("a"), fabric(["x, y", "z"], ["b'", "'c'"])).expect("written");
    fs::write(here.path("b"), fabric(["z", "x, y"], ["'c'", "b'"])).expect("written");
    here.done(&["diff", "file:a", "b"]);
    here.done(&["route", "-t", "file:a", "-o", "a.lft"]);
    let row =
        &here.json(&["route", "-t", "file:b", "--from", "a.lft", "-o", "b.lft"], 0)["rows"][0];
    assert_eq!(row["changed_entries"], 0, "{row}");
    here.done(&["check", "-t", "file:b", "--routing", "a.lft"]);
    let read = |file: &str| fs::read_to_string(here.path(file)).expect("written");
    let address = |text: &str| {
        let line = text.lines().find(|line| line.ends_with("'z')")).map(|line| &line[..6]);
        line.map(str::to_string)
    };
    assert_eq!(address(&read("a.lft")), address(&read("b.lft")));
    // A name with a comma is one field.
    let whole = read("a.lft");
    let hole = whole.lines().filter(|line| !line.contains("'x, y'"));
    let hole: String = hole.map(|line| format!("{line}\n")).collect();
    fs::write(here.path("hole.lft"), hole).expect("written");
    let args = ["check", "-t", "file:a", "--routing", "hole.lft", "--unreached", "pairs.csv"];
    assert_eq!(here.topo(&args).status.code(), Some(1));
    assert_eq!(read("pairs.csv"), "from,to,path\nz,\"x, y\",0\n");
}

/// A host that is not in the tables has the address of the fabric's file, if it is free.
#[test]
fn a_host_that_tables_lack_keeps_its_own_address() {
    let here = Folder::new();
    here.done(&["export", "-t", "mlfm:d=2", "--as", "guid2lid", "-o", "lids"]);
    let lids = fs::read_to_string(here.path("lids")).expect("written");
    for (place, address) in [("0x0001 0x0001", "0x0777 0x0777"), ("0x0002 0x0002", "0x0003 0x0003")]
    {
        let lids = match address {
            "0x0777 0x0777" => lids.replace(place, address),
            // Its address is that of the next one, who has this in the tables.
            _ => lids.replace("0x0003 0x0003", "0x0888 0x0888").replace(place, address),
        };
        fs::write(here.path("lids"), lids).expect("written");
        let net = ["--lids", "lids", "--as", "ibnetdiscover", "-o", "net"];
        here.done(&[&["export", "-t", "mlfm:d=2"], &net[..]].concat());
        here.done(&["route", "-t", "mlfm:d=2", "-o", "old.lft"]);
        let old = fs::read_to_string(here.path("old.lft")).expect("written");
        let name = if address.starts_with("0x0777") { "'node0'" } else { "'node1'" };
        let lines = old.lines().filter(|line| !line.contains(name));
        let old = lines.map(|line| format!("{line}\n")).collect::<String>();
        fs::write(here.path("old.lft"), old).expect("written");
        here.done(&["route", "-t", "file:net", "--from", "old.lft", "-o", "new.lft"]);
        let new = fs::read_to_string(here.path("new.lft")).expect("written");
        let line = new.lines().find(|line| line.contains(name)).expect("a way to it");
        assert_eq!(line.starts_with("0x0777"), address.starts_with("0x0777"), "{line}");
        let other = new.lines().find(|line| line.contains("'node2'")).expect("a way to it");
        assert!(other.starts_with("0x0003"), "{other}");
    }
}

/// Neither memory nor one of two answers is taken for granted.
#[test]
fn tables_that_cannot_be_are_refused() {
    let here = Folder::new();
    let heading = "Unicast lids [0x0-0x80] of switch Lid 1 guid 0x02004c5700000001 ():\n";
    let node = ": (Channel Adapter portguid 0x02004c5780000001: 'node0')\n";
    for (of, table, said) in [
        (
            "fat-tree-3:d=24",
            format!("{heading}0x0001 001 {node}0x0080 001 {node}"),
            "line 3: one host with 128 addresses",
        ),
        (
            "mlfm:d=2",
            format!("{heading}0x0001 001 {node}0x0001 002 {node}"),
            "line 3: a second entry for 0x1",
        ),
    ] {
        fs::write(here.path("table"), table).expect("written");
        let output = here.topo(&["check", "-t", of, "--routing", "table"]);
        assert_eq!(output.status.code(), Some(2), "{}", errors(&output));
        assert!(errors(&output).contains(said), "{}", errors(&output));
    }
}

/// An address more than a path would be the next host's.
#[test]
fn addresses_and_paths_agree() {
    let here = Folder::new();
    let of = ["-t", "mlfm:d=3"];
    here.done(&[&["route"], &of[..], &["--paths", "2", "-o", "two.lft"]].concat());
    let two = [&of[..], &["--routing", "two.lft"]].concat();
    here.done(&[&["export"], &two[..], &["--as", "lft", "-o", "again.lft"]].concat());
    here.done(&[&["export"], &two[..], &["--as", "guid2lid", "-o", "two"]].concat());
    here.done(&[&["export"], &of[..], &["--as", "guid2lid", "-o", "one"]].concat());
    let read = |file: &str| fs::read_to_string(here.path(file)).expect("written");
    assert_eq!(read("two.lft"), read("again.lft"));
    here.done(&[&["export"], &two[..], &["--as", "lft", "--lids", "two"]].concat());
    let refused = |args: &[&str]| {
        let output = here.topo(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", errors(&output));
        assert!(errors(&output).contains("do not agree"), "{}", errors(&output));
    };
    refused(&[&["export"], &two[..], &["--as", "lft", "--lids", "one"]].concat());
    refused(&[&["route"], &of[..], &["--paths", "2", "--lids", "one", "-o", "x"]].concat());
    // A fabric that runs with two addresses a host keeps both, and gets a path to each.
    here.done(&[&["export"], &two[..], &["--as", "ibnetdiscover", "-o", "net"]].concat());
    let row = here.json(&["route", "-t", "file:net", "-o", "kept.lft"], 0)["rows"][0].clone();
    assert_eq!(row["paths"], 2, "{row}");
    refused(&["route", "-t", "file:net", "--paths", "1", "-o", "x"]);
}

/// Tables that are installed have the addresses that the subnet runs with.
#[test]
fn a_change_keeps_the_installed_addresses() {
    let here = Folder::new();
    here.done(&["export", "-t", "mlfm:d=3", "--as", "guid2lid", "-o", "lids"]);
    let lids = fs::read_to_string(here.path("lids")).expect("written");
    fs::write(here.path("lids"), lids.replace("0x0001 0x0001", "0x0666 0x0666")).expect("written");
    here.done(&["route", "-t", "mlfm:d=3", "--lids", "lids", "-o", "old.lft"]);
    fs::write(here.path("new.lft.step1"), "of an earlier run").expect("written");
    here.done(&["route", "-t", "mlfm:d=3", "--from", "old.lft", "-o", "new.lft"]);
    let new = fs::read_to_string(here.path("new.lft")).expect("written");
    assert!(new.contains("0x0666 "), "the address of node0 is lost");
    assert!(!here.0.join("new.lft.step1").exists(), "a step that is none of this change");
}

#[test]
fn a_mesh_of_72_ports_has_no_addresses() {
    let here = Folder::new();
    let output = here.topo(&["export", "-t", "mlfm:d=36", "--as", "guid2lid"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(errors(&output).contains("49151"), "{}", errors(&output));
}

#[test]
fn addresses_of_a_running_opensm_are_kept() {
    let here = Folder::new();
    here.done(&["export", "-t", "mlfm:d=2", "--as", "guid2lid", "-o", "guid2lid"]);
    let text = fs::read_to_string(here.path("guid2lid")).expect("written");
    let moved = text.replace("0x0001 0x0001", "0x0777 0x0777");
    assert_ne!(text, moved);
    fs::write(here.path("guid2lid"), moved).expect("written");
    let tables = here.done(&["export", "-t", "mlfm:d=2", "--as", "lft", "--lids", "guid2lid"]);
    assert!(tables.contains("\n0x0777 001 : "), "{tables}");
    fs::write(here.path("few"), "").expect("written");
    let output = here.topo(&["export", "-t", "mlfm:d=2", "--as", "lft", "--lids", "few"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn wrong_missing_and_extra_cables_are_named() {
    let here = Folder::new();
    here.done(&["export", "-t", "mlfm:d=3", "--as", "cables", "-o", "plan.csv"]);
    let plan = fs::read_to_string(here.path("plan.csv")).expect("written");
    let whole = here.json(&["diff", "mlfm:d=3", "plan.csv"], 0);
    assert_eq!(whole["summary"]["compared_by"], "name", "{whole}");
    // One cable gone, two exchanged at their far ends.
    let found = plan
        .replace("vertex-0-0,6,4,edge-0-1,1,row\n", "")
        .replace("vertex-1-0,6,5,edge-0-2,2", "vertex-1-0,6,5,edge-1-2,PORT")
        .replace("vertex-1-1,6,4,edge-1-2,2", "vertex-1-1,6,4,edge-0-2,2")
        .replace("PORT", "2");
    assert_ne!(found, plan);
    fs::write(here.path("found.csv"), found).expect("written");
    let found = here.json(&["diff", "file:plan.csv", "found.csv"], 1);
    let summary = &found["summary"];
    let counts = ["wrong", "missing", "extra"].map(|kind| summary[kind].as_u64());
    assert_eq!(counts, [Some(2), Some(1), Some(0)], "{found}");
    let rows = found["rows"].to_string();
    for place in ["vertex-0-0/4 to edge-0-1/1", "vertex-1-0/5 to edge-1-2/2"] {
        assert!(rows.contains(place), "no {place} in {rows}");
    }
}

#[test]
fn watching_routes_around_what_is_gone() {
    let here = Folder::new();
    let export = |fail: &[&str], file: &str| {
        let args = ["export", "-t", "mlfm:d=4", "--as", "ibnetdiscover", "-o", file];
        here.done(&[&args[..], fail].concat());
    };
    export(&[], "whole.txt");
    export(&["--fail", "switch:edge-0-1"], "cut.txt");
    let args = [
        "watch",
        "--whole",
        "whole.txt",
        "--discover",
        "cat cut.txt",
        "-o",
        "tables.lft",
        "--reload",
        "echo yes > reloaded",
        "--once",
    ];
    let row = here.json(&args, 0)["rows"][0].clone();
    assert_eq!((&row["topology"], &row["cables_lost"]), (&"mlfm:d=4".into(), &8.into()), "{row}");
    assert_eq!((&row["unreached"], &row["credit_loop"]), (&0.into(), &false.into()), "{row}");
    assert!(here.0.join("reloaded").exists());
    let checked = ["check", "-t", "file:cut.txt", "--routing", "tables.lft"];
    assert_eq!(here.json(&checked, 0)["rows"][0]["unreached"], 0);
    for broken in ["false", "echo nothing"] {
        let args = ["watch", "--discover", broken, "-o", "tables.lft", "--once"];
        assert_eq!(here.topo(&args).status.code(), Some(3), "{broken}");
    }
}

#[test]
fn watching_says_what_it_cannot_mend() {
    let here = Folder::new();
    let export = |fail: &[&str], file: &str| {
        let args = ["export", "-t", "mlfm:d=2", "--as", "ibnetdiscover", "-o", file];
        here.done(&[&args[..], fail].concat());
    };
    export(&[], "whole.txt");
    // Both ways out of a switch.
    let fail = ["--fail", "link:vertex-0-0/3", "--fail", "link:vertex-0-0/4"];
    export(&fail, "cut.txt");
    let watch = |discover: &str, rest: &[&str]| {
        let args = ["watch", "--whole", "whole.txt", "--discover", discover, "-o", "t.lft"];
        here.topo(&[&args[..], rest].concat())
    };
    let output = watch("cat cut.txt", &["--once"]);
    assert_eq!(output.status.code(), Some(1), "{}", errors(&output));
    assert!(errors(&output).contains("no path from node2 to node0\n"), "{}", errors(&output));
    // What a command leaves running neither hangs us nor empties the tables.
    let before = fs::read_to_string(here.path("t.lft")).expect("written");
    let begun = Instant::now();
    let output = watch("sleep 9 2>/dev/null & echo $! > sleeper; cat cut.txt", &["--once"]);
    assert_eq!(output.status.code(), Some(3), "{}", errors(&output));
    assert!(begun.elapsed().as_secs() < 8, "it waited for the sleeper");
    let sleeper = fs::read_to_string(here.path("sleeper")).expect("its number");
    let _ = Command::new("kill").arg(sleeper.trim()).output();
    let output = watch("echo 'Hca 1 \"lonely\"'", &["--once"]);
    assert_eq!(output.status.code(), Some(3), "{}", errors(&output));
    assert_eq!(fs::read_to_string(here.path("t.lft")).expect("still there"), before);
}

/// A host whose cable is cut is named, and so are its pairs; verbs about what is left count it.
#[test]
fn a_host_without_a_cable_is_named() {
    let here = Folder::new();
    let net = ["export", "-t", "mlfm:d=2", "--as", "ibnetdiscover", "-o"];
    here.done(&[&net[..], &["whole"]].concat());
    let cut = ["--fail", "host:node0"];
    here.done(&[&net[..], &["cut"], &cut].concat());
    let watch = ["watch", "--whole", "whole", "--discover", "cat cut", "-o", "t.lft", "--once"];
    let row = &here.json(&watch, 1)["rows"][0];
    assert_eq!((&row["unreached"], &row["hosts_unplugged"]), (&22.into(), &1.into()), "{row}");
    let of = [&["-t", "mlfm:d=2"], &cut[..]].concat();
    // Tables are for those that are left, and the pairs of the others are unreached in all verbs.
    for verb in [&["check"][..], &["route", "-o", "r.lft"]] {
        let row = &here.json(&[verb, &of[..]].concat(), 1)["rows"][0];
        let found = (&row["unreached"], &row["hosts_unplugged"]);
        assert_eq!(found, (&22.into(), &1.into()), "{row}");
    }
    let export = [&["export", "--as", "lft", "-o", "e.lft"], &of[..]].concat();
    let output = here.topo(&export);
    assert_eq!(output.status.code(), Some(1), "{}", errors(&output));
    assert!(errors(&output).contains("hosts without a cable: node0\n"), "{}", errors(&output));
    for args in [&watch[..], &[&["check"], &of[..]].concat()] {
        let said = errors(&here.topo(args));
        assert!(said.contains("hosts without a cable: node0\n"), "{said}");
    }
    // Of very many the first are named.
    let many = ["check", "-t", "mlfm:d=5", "--fail"];
    let parts: Vec<String> = (0..25).map(|at| format!("host:node{at}")).collect();
    let parts = parts.join(" --fail ");
    let said = errors(&here.topo(&[&many[..], &parts.split(' ').collect::<Vec<_>>()].concat()));
    assert!(said.contains(", node19 and 5 more\n"), "{said}");
}

/// OpenSM may give other addresses than it did when the fabric was whole.
#[test]
fn watching_writes_the_addresses_that_are_discovered() {
    let here = Folder::new();
    let net = ["export", "-t", "mlfm:d=2", "--as", "ibnetdiscover", "-o"];
    here.done(&[&net[..], &["whole"]].concat());
    here.done(&["export", "-t", "mlfm:d=2", "--as", "guid2lid", "-o", "lids"]);
    let lids = fs::read_to_string(here.path("lids")).expect("written");
    // node3 has now what was node0's, who is gone.
    let moved = lids.replace("0x0001 0x0001", "0x0777 0x0777").replace("0x0004", "0x0001");
    fs::write(here.path("lids"), moved).expect("written");
    let cut = ["now", "--lids", "lids", "--fail", "host:node0", "--fail", "link:vertex-0-0/3"];
    here.done(&[&net[..], &cut].concat());
    let watch = ["watch", "--whole", "whole", "--discover", "cat now", "-o", "t.lft", "--once"];
    let row = &here.json(&watch, 1)["rows"][0];
    assert_eq!((&row["cables_lost"], &row["hosts_unplugged"]), (&2.into(), &1.into()), "{row}");
    let text = fs::read_to_string(here.path("t.lft")).expect("written");
    assert!(text.contains("\n0x0001 "), "{text}");
    for line in text.lines().filter(|line| line.starts_with("0x")) {
        let is_node3 = line.contains("'node3'");
        assert_eq!(line.starts_with("0x0001 "), is_node3, "{line}");
        assert!(!line.contains("'node0'"), "{line}");
    }
    let checked = ["check", "-t", "file:now", "--routing", "t.lft"];
    assert_eq!(here.json(&checked, 0)["rows"][0]["unreached"], 0);
}

/// Adapters are called `node0 mlx5_0`; two of one node are not distinguished.
#[test]
fn a_host_is_found_by_the_first_word_of_its_name() {
    let here = Folder::new();
    here.done(&["export", "-t", "mlfm:d=2", "--as", "cables", "-o", "plan"]);
    let plan = fs::read_to_string(here.path("plan")).expect("written");
    let mut found = plan.clone();
    for host in 0..12 {
        found = found.replace(&format!(",node{host},"), &format!(",node{host} mlx5_0,"));
    }
    fs::write(here.path("found"), &found).expect("written");
    here.done(&["diff", "mlfm:d=2", "found"]);
    fs::write(here.path("found"), found.replace("node1 mlx5_0", "node0 mlx5_1")).expect("written");
    let summary = here.json(&["diff", "mlfm:d=2", "found"], 1)["summary"].clone();
    let counts = ["wrong", "missing", "extra"].map(|kind| summary[kind].as_u64());
    assert_eq!(counts, [Some(2), Some(0), Some(0)], "{summary}");
}

/// Every change is one line with its time, however the fabric was first seen.
#[test]
fn watching_prints_a_line_for_each_change() {
    let here = Folder::new();
    let net = ["export", "-t", "mlfm:d=4", "--as", "ibnetdiscover", "-o", "next"];
    let show = |fail: &[&str]| {
        here.done(&[&net[..], fail].concat());
        fs::rename(here.path("next"), here.path("now")).expect("renamed");
    };
    let link = ["--fail", "link:vertex-2-1/6"];
    show(&link);
    let mut command = Command::new(env!("CARGO_BIN_EXE_laneway"));
    command.current_dir(&here.0).stderr(Stdio::null());
    command.stdout(fs::File::create(here.path("lines")).expect("a file"));
    command.args(["topo", "watch", "--every", "100ms", "-o", "t.lft", "--discover", "cat now"]);
    let mut watch = command.args(["--reload", "true"]).spawn().expect("it starts");
    let deadline = Instant::now() + Duration::from_secs(30);
    let await_lines = |count: usize| loop {
        let text = fs::read_to_string(here.path("lines")).expect("written");
        if text.lines().count() >= count || Instant::now() > deadline {
            break text;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    await_lines(1);
    show(&[]);
    await_lines(2);
    show(&["--fail", "switch:edge-0-1", "--fail", "host:node7"]);
    let text = await_lines(3);
    let _ = watch.kill();
    let _ = watch.wait();
    let cable = "vertex-2-1/6 – edge-1-3/3";
    let wanted = [
        (format!("lost {cable}, "), "entries changed, reloaded"),
        (format!("restored {cable}, "), "entries changed, reloaded"),
        ("lost edge-0-1 with its 8 cables, vertex-0-1/4 – node7, 158 pairs unreached, ".into(), ""),
    ];
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), wanted.len(), "{text}");
    for (line, (begin, end)) in lines.iter().zip(wanted) {
        let (time, rest) = line.split_once(' ').expect("a time");
        let digits = time.split(':').all(|part| part.len() == 2 && part.parse::<u8>().is_ok());
        assert!(time.len() == 8 && digits, "{line}");
        assert!(rest.starts_with(&begin) && rest.ends_with(end), "{line}: {begin}");
        let entries = rest.split(", ").find_map(|part| part.strip_suffix(" entries changed"));
        let entries = entries.and_then(|count| count.parse::<u64>().ok());
        assert!(entries.is_some_and(|count| count > 0), "{line}");
    }
}

/// Without names the plan's cable is named by the switches that lack it.
#[test]
fn watching_compares_with_the_plan_that_it_recognises() {
    let here = Folder::new();
    let export = ["export", "-t", "mlfm:d=4", "--as", "cables", "-o"];
    here.done(&[&export[..], &["plan"]].concat());
    let plan = fs::read_to_string(here.path("plan")).expect("written");
    let line = "vertex-0-0,8,5,edge-0-1,1,row\n";
    assert!(plan.contains(line), "{plan}");
    let found = plan.replace(line, "").replace("vertex-", "rack").replace("edge-", "spine");
    fs::write(here.path("found"), &found).expect("written");
    let watch = ["watch", "--discover", "cat found", "-o", "t.lft", "--once"];
    let row = &here.json(&watch, 0)["rows"][0];
    assert_eq!(row["topology"], "mlfm:d=4", "{row}");
    assert_eq!(
        (&row["cables_lost"], &row["lost"]),
        (&1.into(), &"rack0-0 – spine0-1".into()),
        "{row}"
    );
    assert!(row["changed_entries"].as_u64().is_some_and(|count| count > 0), "{row}");
    let time = row["time"].as_str().expect("a time");
    assert!(time.len() == 25 && time.contains('T'), "{row}");
}

/// Watching goes on, and tries again, when the tables cannot be loaded.
#[test]
fn watching_outlives_a_failure() {
    let here = Folder::new();
    here.done(&["export", "-t", "mlfm:d=2", "--as", "ibnetdiscover", "-o", "net"]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_laneway"));
    command.current_dir(&here.0).stdout(Stdio::null()).stderr(Stdio::null());
    let looks = "echo look >> looks; cat net";
    let fails = "cp looks seen; echo tried >> tried; false";
    command.args(["topo", "watch", "--every", "1", "-o", "t.lft", "--discover", looks]);
    let mut watch = command.args(["--reload", fails]).spawn().expect("it starts");
    let deadline = Instant::now() + Duration::from_secs(30);
    let lines = |file: &str| fs::read_to_string(here.path(file)).map_or(0, |t| t.lines().count());
    let mut seen_first = 0;
    while Instant::now() < deadline && lines("tried") < 2 {
        if lines("tried") == 1 && seen_first == 0 {
            seen_first = lines("seen");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let ended = watch.try_wait().expect("its state");
    let _ = watch.kill();
    let _ = watch.wait();
    assert_eq!((lines("tried") >= 2, ended), (true, None), "it has given up");
    assert_eq!(seen_first, 2, "one discovery is not believed");
}

#[test]
fn what_cannot_be_answered_is_refused() {
    let here = Folder::new();
    fs::write(here.path("odd"), "SwitchName=a Nodes=n[0-3]\n").expect("written");
    for args in [
        &["import", "odd", "--map"][..],
        &["draw", "-t", "mlfm:d=2", "--heat", "phase:0-3", "-o", "x.svg"],
    ] {
        let output = here.topo(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", errors(&output));
        assert!(!errors(&output).contains("line 1"), "{}", errors(&output));
    }
    let output = here.topo(&["import", "nowhere"]);
    assert_eq!(output.status.code(), Some(3), "{}", errors(&output));
    assert!(!errors(&output).contains("line 1"), "{}", errors(&output));
}
