//! Launchers that start several tasks without PMI: each task would take itself for the whole run.
//! And allocations, within which everything runs as elsewhere.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Output;

use super::{laneway, said};

type Variables = &'static [(&'static str, &'static str)];

/// What launchers set for one task of several; the first three are what srun sets.
const TASKS: [Variables; 10] = [
    &[("SLURM_PROCID", "0"), ("SLURM_STEP_NUM_TASKS", "8")],
    &[("SLURM_PROCID", "3"), ("SLURM_STEP_NUM_TASKS", "8"), ("SLURM_STEP_ID", "0")],
    &[("SLURM_PROCID", "0"), ("SLURM_STEP_NUM_TASKS", "8"), ("PMI_RANK", "0")],
    &[("FLUX_TASK_RANK", "0"), ("FLUX_JOB_SIZE", "2")],
    &[("PALS_RANKID", "0")],
    &[("PMI_RANK", "0"), ("PMI_SIZE", "4")],
    &[("PMI_RANK", "1")],
    &[("PMIX_RANK", "0"), ("PMIX_NAMESPACE", "prterun-1@1"), ("PRTE_LAUNCHED", "1")],
    &[("LSF_PM_TASKID", "1"), ("LSB_DJOB_NUMPROC", "4")],
    &[("JSM_NAMESPACE_RANK", "0"), ("JSM_NAMESPACE_SIZE", "4")],
];

/// What is set where one process has an allocation to itself.
const ALLOCATIONS: [(&str, Variables); 6] = [
    ("salloc's shell", &[("SLURM_JOB_ID", "7"), ("SLURM_NTASKS", "8"), ("SLURM_NNODES", "4")]),
    (
        "salloc's shell as a step",
        &[
            ("SLURM_JOB_ID", "7"),
            ("SLURM_PROCID", "0"),
            ("SLURM_STEP_ID", "4294967290"),
            ("SLURM_STEP_NUM_TASKS", "8"),
        ],
    ),
    ("a batch script", &[("SLURM_JOB_ID", "7"), ("SLURM_NTASKS", "8"), ("SLURM_PROCID", "0")]),
    (
        "a single task",
        &[("SLURM_JOB_ID", "7"), ("SLURM_PROCID", "0"), ("SLURM_STEP_NUM_TASKS", "1")],
    ),
    ("a script of LSF", &[("LSB_JOBID", "7"), ("LSB_DJOB_NUMPROC", "8")]),
    ("a Flux instance", &[("FLUX_URI", "local:///run/flux"), ("FLUX_JOB_SIZE", "8")]),
];

fn run(variables: Variables, words: &[&str]) -> Output {
    laneway().args(words).envs(variables.iter().copied()).output().expect("timeout starts")
}

#[test]
fn one_task_of_several_that_no_mpi_joins_ends_with_3() {
    let gate = ["measure", "pairs", "--min-bw", "90%", "--reps", "2"];
    let check = ["check", "barrier"];
    let run = |variables: Variables, words: &[&str]| {
        let output = run(variables, words);
        let said = said(&output);
        assert_eq!(output.status.code(), Some(3), "{variables:?} {words:?}: {said}");
        // Tasks other than 0 report in a line with their number.
        let is_whole = said.starts_with("error: ") && said.contains("cause: ");
        let is_line = said.starts_with("rank ") && said.contains("; try ");
        assert!(is_whole || is_line, "{variables:?}: {said}");
        assert!(output.stdout.is_empty(), "nothing is measured: {said}");
    };
    std::thread::scope(|scope| {
        for variables in TASKS {
            scope.spawn(move || [&gate[..], &check].iter().for_each(|words| run(variables, words)));
        }
    });
    run(TASKS[0], &["check", "barrier", "--backend", "mpi"]);
    run(TASKS[0], &["measure", "pairs", "--backend", "sim:cluster:4"]);
}

#[test]
fn a_task_of_several_runs_what_needs_no_other() {
    for variables in [TASKS[0], TASKS[3], TASKS[8]] {
        let verbs: [&[&str]; 4] = [
            &["check", "barrier", "--backend", "local", "--ranks", "2"],
            &["info", "algorithms"],
            &["topo", "cost", "--nodes", "1000"],
            &["sim", "bcast", "--platform", "cluster:4", "--sizes", "8"],
        ];
        for words in verbs {
            let output = run(variables, words);
            assert_eq!(output.status.code(), Some(0), "{words:?}: {}", said(&output));
            assert!(!output.stdout.is_empty(), "{words:?}");
        }
    }
}

#[test]
fn an_allocation_alone_is_not_refused() {
    for (place, variables) in ALLOCATIONS {
        let output = run(variables, &["check", "barrier", "--ranks", "2"]);
        assert_eq!(output.status.code(), Some(0), "{place}: {}", said(&output));
        assert!(said(&output).contains(" passed, 0 failed"), "{place}: {}", said(&output));
    }
}

/// Stands for Slurm's: runs the command of a rank here, with the variables of one task of several.
const SRUN: &str = "#!/bin/sh\n\
     while [ \"$1\" != -- ]; do shift; done\n\
     shift\n\
     SLURM_PROCID=1 SLURM_STEP_ID=1 SLURM_STEP_NUM_TASKS=2 exec \"$@\"\n";

#[test]
fn srun_starts_ranks_within_an_allocation_only() {
    let words = ["check", "barrier", "--backend", "net", "--starter", "srun"];
    let refused = laneway().args(words).args(["--ranks", "2"]).output().expect("timeout starts");
    assert_eq!(refused.status.code(), Some(3), "{}", said(&refused));
    assert!(said(&refused).contains("SLURM_JOB_ID is not set"), "{}", said(&refused));

    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("srun");
    fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("srun");
    fs::write(&file, SRUN).expect("a file");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("permissions");
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
    let job = [
        ("PATH", path.as_str()),
        ("SLURM_JOB_ID", "7"),
        ("SLURM_JOB_NODELIST", "node1"),
        ("SLURM_TASKS_PER_NODE", "2"),
        ("SLURM_PROCID", "0"),
    ];
    let output = laneway().args(words).envs(job).output().expect("timeout starts");
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(said(&output).contains("5 calls passed, 0 failed"), "{}", said(&output));
}
