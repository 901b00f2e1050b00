//! The default number of ranks, and the notice of more ranks than cores.

use std::process::{Command, Output, Stdio};

use laneway_needs::{Need, cores_at_most, file, program};
use laneway_processes::GrantedCores;

const LANEWAY: &str = env!("CARGO_BIN_EXE_laneway");

fn run(words: &[&str]) -> Output {
    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", "120"]).args(words).stdin(Stdio::null());
    command.env_remove("LANEWAY_RANKS").env_remove("LANEWAY_BACKEND");
    command.envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")]);
    let output = command.output().expect("timeout starts");
    // Two repetitions of ranks that share cores may tell no bandwidth, which is not what this is
    // about.
    let code = output.status.code();
    assert!(matches!(code, Some(0 | 4)), "{words:?}: {}", said(&output));
    output
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The lines about ranks that share cores.
fn warnings(output: &Output) -> Vec<String> {
    let text = said(output);
    text.lines().filter(|line| line.contains(" ranks share the ")).map(str::to_string).collect()
}

/// The ranks of a run that prints JSON.
fn ranks(output: &Output) -> u64 {
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    json["env"]["ranks"].as_u64().expect("a number of ranks")
}

const QUICK: [&str; 6] = ["--sizes", "8", "--reps", "2", "--format", "json"];

/// The verbs that measure, quickly.
fn measuring() -> [Vec<&'static str>; 3] {
    let coll = [&["measure", "coll", "bcast"], &QUICK[..]].concat();
    let p2p = [&["measure", "p2p"], &QUICK[..]].concat();
    let pairs = ["measure", "pairs", "--size", "4M", "--reps", "2", "--format", "json"].to_vec();
    [coll, p2p, pairs]
}

#[test]
fn what_measures_has_a_rank_for_each_core_and_at_least_two() {
    let cores = GrantedCores::here().usable();
    for verb in measuring() {
        let output = run(&[&[LANEWAY][..], &verb].concat());
        assert_eq!(ranks(&output), u64::from(cores.max(2)), "{verb:?}");
        assert!(said(&output).contains(&format!("{} ranks on this machine", cores.max(2))));
        assert_eq!(warnings(&output).len(), usize::from(cores < 2), "{}", said(&output));
    }
    let check = run(&[LANEWAY, "check", "barrier", "--format", "json"]);
    assert_eq!(ranks(&check), u64::from(cores.max(4)), "trees with branches");
    assert_eq!(warnings(&check), [""; 0]);
}

#[test]
fn cores_are_those_that_the_process_may_use() {
    if !Need::Taskset.is_met(program("taskset")) {
        return;
    }
    let first = GrantedCores::here().allowed[0].to_string();
    for verb in measuring() {
        let output = run(&[&["taskset", "-c", &first, LANEWAY][..], &verb].concat());
        assert_eq!(ranks(&output), 2, "{verb:?}");
        let warnings = warnings(&output);
        assert_eq!(warnings.len(), 1, "{}", said(&output));
        assert!(warnings[0].starts_with("2 ranks share the 1 core of "), "{warnings:?}");
    }
}

#[test]
fn every_measuring_verb_notes_oversubscription_once() {
    let cores = GrantedCores::here().usable();
    if !Need::Cores.is_met(cores_at_most(30, cores)) {
        return;
    }
    let many = (cores + 1).to_string();
    for verb in measuring() {
        let output = run(&[&[LANEWAY][..], &verb, &["--ranks", &many]].concat());
        let warnings = warnings(&output);
        assert_eq!(warnings.len(), 1, "{verb:?}: {}", said(&output));
        let begins = format!("{many} ranks share the {cores} core");
        assert!(warnings[0].starts_with(&begins), "{warnings:?}");
        let advised = warnings[0].contains(&format!("--ranks {cores} gives each its own"));
        assert_eq!(advised, cores > 1, "{warnings:?}");
    }
    // Several launches have the same to say, and say it once.
    let launches = [&measuring()[0][..], &["--ranks", &many, "--launches", "2"]].concat();
    let output = run(&[&[LANEWAY][..], &launches].concat());
    assert_eq!(warnings(&output).len(), 1, "{}", said(&output));
}

#[test]
fn ranks_of_an_mpi_get_the_notice_too() {
    let launcher = "/usr/bin/mpirun.openmpi";
    let cores = GrantedCores::here().usable();
    if !Need::Mpi.is_met(file(launcher)) || !Need::Cores.is_met(cores_at_most(14, cores)) {
        return;
    }
    let many = (cores + 1).to_string();
    for verb in measuring() {
        // Ranks that are bound see one core each; those of all of them are the host's.
        let bound = [launcher, "--oversubscribe", "--bind-to", "core", "-n"];
        let enough = cores.to_string();
        let output = run(&[&bound[..], &[&enough, LANEWAY], &verb].concat());
        if cores > 1 {
            assert_eq!(warnings(&output), [""; 0], "{}", said(&output));
        }
        let start = [launcher, "--oversubscribe", "-n", &many, LANEWAY];
        let output = run(&[&start[..], &verb].concat());
        assert_eq!(warnings(&output).len(), 1, "{verb:?}: {}", said(&output));
    }
}

#[test]
fn simulated_ranks_have_cores_of_their_own() {
    let ranks = ["--backend", "sim:cluster:40"];
    for verb in measuring() {
        let output = run(&[&[LANEWAY][..], &verb, &ranks].concat());
        assert_eq!(warnings(&output), [""; 0], "{verb:?}");
    }
}
