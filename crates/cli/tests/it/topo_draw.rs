//! `laneway topo draw`: what is on a drawing, that it is whole, and that it stays small.

use std::process::{Command, Output};

fn draw(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_laneway"));
    command.args(["topo", "draw"]).args(args).output().expect("the command starts")
}

fn drawing(args: &[&str]) -> String {
    let output = draw(args);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {said}");
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"), "{args:?}");
    assert!(!text.contains("NaN") && !text.contains("inf"), "{args:?}");
    assert_eq!(text.matches("<g ").count(), text.matches("</g>").count(), "{args:?}");
    text
}

/// Lines between switches: the subpaths of all paths that are drawn as lines.
fn lines(text: &str) -> usize {
    let paths = text.lines().filter(|line| line.starts_with("<path d=") && line.contains("none"));
    paths.map(|path| path.matches('M').count()).sum()
}

#[test]
fn a_mesh_shows_its_layers_vertices_and_edge_switches() {
    // One layer stands for all: small ones are laid out as large ones are.
    let text = drawing(&["--topology", "mlfm:d=3"]);
    assert_eq!(text.matches("<circle").count(), 4);
    assert_eq!(text.matches("<title>edge-").count(), 6);
    assert_eq!(lines(&text), 12);
    assert!(text.contains("36 hosts, 18 switches, 36 cables between switches"));
    assert!(text.contains("a line is 3 cables, one in each layer"));
    // Where layers differ: every vertex switch, every edge switch in each layer, every cable.
    let text = drawing(&["--topology", "mlfm:d=3", "--heat", "alltoall"]);
    assert_eq!(text.matches("<circle").count(), 12);
    assert_eq!(text.matches("<title>edge-").count(), 18);
    assert_eq!(lines(&text), 36);
    assert!(text.contains(">layer 2<") && !text.contains(">layer 3<"));
}

#[test]
fn large_fabrics_stay_small_and_say_what_stands_for_how_many() {
    for (topology, says) in [
        ("mlfm:d=18", "a line is 18 cables, one in each layer"),
        ("fat-tree-3:d=18", "a pile is several switches"),
        ("fat-tree-3-max:d=18", "23328 cables between switches"),
        ("mlfm:d=64", "64 layers"),
    ] {
        let text = drawing(&["--topology", topology]);
        assert!(text.contains(says), "{topology}");
        assert!(text.len() < 2_000_000, "{topology}: {} bytes", text.len());
    }
}

#[test]
fn heat_has_a_colour_for_every_load() {
    // An all-to-all fills every cable of a mesh alike; the half tree's below more than above.
    let even = drawing(&["--topology", "mlfm:d=8", "--heat", "alltoall"]);
    assert!(even.contains(">0.99<") && even.contains("mean over the 576 phases"), "a flat scale");
    let half = drawing(&["--topology", "fat-tree-3-half:d=4", "--heat", "alltoall"]);
    assert!(half.contains(">1.50<") && half.contains(">1.88<"), "the two loads of the half tree");
    // A phase without conflict has loads 0 and 1; a random permutation has more.
    let phase = drawing(&["--topology", "mlfm:d=8", "--heat", "phase:12"]);
    assert!(phase.contains(">1</text>") && !phase.contains("#1b0c41"));
    let random = drawing(&["--topology", "mlfm:d=8", "--heat", "random", "--seed", "7"]);
    assert!(random.contains("#1b0c41") && random.contains("seed 7"));
    assert_eq!(lines(&random), 576);
}

#[test]
fn phases_are_small_drawings_with_the_ways_of_one_switch() {
    let text = drawing(&["--topology", "mlfm:d=4", "--phases", "14-25"]);
    assert_eq!(text.matches("<g transform").count(), 12);
    assert!(text.contains(">phase 14, within layers<") && text.contains(">largest load 1<"));
    assert!(text.contains(">phase 20, layer l to l + 1<"));
    // Phases 14, 15 and 20 to 25 send 4 messages each to other vertices, 17 to 19 to neighbours.
    assert_eq!(text.matches("<polyline").count(), 8 * 4 + 3 * 4);
    let one = drawing(&["--topology", "fat-tree-2:d=3", "--phase", "4"]);
    assert_eq!(one.matches("<polyline").count(), 3);
}

#[test]
fn what_failed_is_crossed_out() {
    let cross = "stroke=\"#d40000\"";
    assert!(!drawing(&["--topology", "mlfm:d=4"]).contains(cross));
    let link = ["--topology", "mlfm:d=4", "--fail", "link:vertex-1-2/6"];
    assert_eq!(drawing(&link).matches(cross).count(), 1);
    // An edge switch is seen in every layer, and its cables are dashed.
    let text = drawing(&["--topology", "mlfm:d=4", "--fail", "switch:edge-0-3"]);
    assert_eq!(text.matches(cross).count(), 4);
    let dashed = text.lines().find(|line| line.contains("stroke-dasharray")).expect("dashes");
    assert_eq!(dashed.matches('M').count(), 8);
    assert!(text.contains("switches: 1, hosts cut off: 0"));
}

/// After a failure it is the repaired order that is drawn, unless another is named.
#[test]
fn the_order_after_a_failure() {
    let fail = ["--topology", "mlfm:d=4", "--fail", "link:vertex-0-0/5"];
    let with = |words: &[&'static str]| [&fail[..], words].concat();
    let native = drawing(&with(&["--phases", "0-39", "--schedule", "native"]));
    assert!(native.contains("largest load 2") && native.contains("within layers"));
    let repaired = drawing(&with(&["--phases", "0-39"]));
    assert!(repaired.contains("largest load 1") && !repaired.contains("largest load 2"));
    assert!(!repaired.contains("within layers"));
    assert!(drawing(&with(&["--heat", "phase:100"])).contains("in phase 100"));
    let refused = draw(&with(&["--heat", "phase:100", "--schedule", "native"]));
    assert_eq!(refused.status.code(), Some(2));
}

/// A fabric from a file is drawn as what it was recognised to be, with what it lacks crossed out.
#[test]
fn a_fabric_from_a_file_is_drawn_as_its_plan() {
    let file = std::env::temp_dir().join(format!("laneway-found-{}.toml", std::process::id()));
    let export = |fail: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_laneway"));
        command.args(["topo", "export", "--topology", "mlfm:d=4", "--as", "toml", "-o"]);
        command.arg(&file).args(fail).output().expect("the command starts")
    };
    let topology = format!("file:{}", file.display());
    assert!(export(&[]).status.success());
    let whole = drawing(&["--topology", &topology]);
    assert!(whole.contains("recognised as mlfm:d=4, multi-layer full mesh: 80 hosts"), "{whole}");
    assert!(whole.contains("a line is 4 cables") && !whole.contains("#d40000"));
    assert!(export(&["--fail", "link:vertex-1-2/6"]).status.success());
    let lacking = drawing(&["--topology", &topology, "--heat", "alltoall"]);
    assert_eq!(lacking.matches("stroke=\"#d40000\"").count(), 1);
    assert!(lacking.contains("79 of 80 cables between switches"), "{lacking}");
    assert!(lacking.contains("planned and not found (cables between switches: 1"), "{lacking}");
    let of_plan = drawing(&["--topology", "mlfm:d=4", "--heat", "alltoall"]);
    assert_eq!(lines(&lacking), lines(&of_plan));
    let _ = std::fs::remove_file(&file);
}

#[test]
fn it_is_written_to_a_file_or_refused() {
    let file = std::env::temp_dir().join(format!("laneway-draw-{}.svg", std::process::id()));
    let name = file.to_str().expect("a readable name");
    let output = draw(&["--topology", "fat-tree-2:d=4", "-o", name]);
    assert!(output.status.success() && output.stdout.is_empty());
    let written = std::fs::read_to_string(&file).expect("a drawing");
    std::fs::remove_file(&file).expect("removed");
    assert_eq!(written, drawing(&["--topology", "fat-tree-2:d=4"]));
    for args in [
        &["--topology", "mlfm:d=4", "--heat", "warm"][..],
        &["--topology", "mlfm:d=4", "--heat", "phase:80"],
        &["--topology", "mlfm:d=4", "--phases", "0-79"],
        &["--topology", "mlfm:d=4", "--phase", "1", "--heat", "random"],
        &["--topology", "fat-tree-3-half:d=5"],
        &[],
    ] {
        let output = draw(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{args:?}");
    }
    let nowhere = draw(&["--topology", "mlfm:d=4", "-o", "/dev/null/fabric.svg"]);
    assert_eq!(nowhere.status.code(), Some(3));
}
