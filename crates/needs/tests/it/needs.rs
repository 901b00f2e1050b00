//! The helper's own promises: it runs one of these tests again, with something hidden or required.

use std::process::{Command, Output};

use laneway_needs::{Need, cores_at_most, file, program};

/// Asks as tests do, where one of the others started it.
#[test]
fn asks_for_an_mpi() {
    if std::env::var_os("TEST_ASKS").is_some() && Need::Mpi.is_met(Ok(())) {
        println!("it is there");
    }
}

/// Runs that test with these variables; gives what it recorded, too.
fn ask(name: &str, variables: &[(&str, &str)]) -> (Output, String) {
    let record = format!("laneway-needs-{name}-{}", std::process::id());
    let record = std::env::temp_dir().join(record);
    let mut command = Command::new(std::env::current_exe().expect("a test has a program"));
    command.args(["--exact", "needs::asks_for_an_mpi", "--nocapture"]);
    command.env_remove("LANEWAY_HIDE").env_remove("LANEWAY_REQUIRE");
    command.env("TEST_ASKS", "1").env("LANEWAY_SKIPPED", &record).envs(variables.iter().copied());
    let output = command.output().expect("this program starts");
    let recorded = std::fs::read_to_string(&record).unwrap_or_default();
    let _ = std::fs::remove_file(&record);
    (output, recorded)
}

fn says(output: &Output, words: &str) -> bool {
    let text = [&output.stdout[..], &output.stderr].concat();
    String::from_utf8_lossy(&text).contains(words)
}

#[test]
fn an_available_tool_is_not_skipped() {
    for variables in [&[][..], &[("LANEWAY_REQUIRE", "all")], &[("LANEWAY_HIDE", "cmake,git")]] {
        let (output, recorded) = ask("there", variables);
        assert!(output.status.success() && says(&output, "it is there"), "{output:?}");
        assert_eq!(recorded, "");
    }
}

#[test]
fn what_is_hidden_is_recorded_with_its_test() {
    for hidden in ["mpi", "all", "cmake, mpi"] {
        let (output, recorded) = ask("hidden", &[("LANEWAY_HIDE", hidden)]);
        assert!(output.status.success() && !says(&output, "it is there"), "{output:?}");
        assert!(says(&output, "skipped: laneway-needs::needs::asks_for_an_mpi"), "{output:?}");
        assert_eq!(
            recorded,
            "laneway-needs::needs::asks_for_an_mpi\tmpi: hidden by LANEWAY_HIDE\n"
        );
    }
}

#[test]
fn what_is_required_fails_where_it_is_missing() {
    for required in ["mpi", "all", "simgrid,mpi"] {
        let variables = [("LANEWAY_HIDE", "mpi"), ("LANEWAY_REQUIRE", required)];
        let (output, recorded) = ask("required", &variables);
        assert!(!output.status.success(), "{output:?}");
        assert!(says(&output, "mpi is required, but hidden by LANEWAY_HIDE"), "{output:?}");
        assert_eq!(recorded, "");
    }
    let others = [("LANEWAY_HIDE", "mpi"), ("LANEWAY_REQUIRE", "simgrid")];
    assert!(ask("others", &others).0.status.success());
}

#[test]
fn a_name_that_nothing_has_is_refused() {
    let (output, _) = ask("unknown", &[("LANEWAY_REQUIRE", "mpis"), ("LANEWAY_HIDE", "mpi")]);
    assert!(!output.status.success() && says(&output, "nothing is called \"mpis\""), "{output:?}");
}

#[test]
fn names_are_apart() {
    for (at, need) in Need::ALL.iter().enumerate() {
        assert!(Need::ALL[..at].iter().all(|other| other.name() != need.name()), "{need:?}");
    }
}

#[test]
fn reasons_name_what_is_missing() {
    assert_eq!(file(std::env::current_exe().expect("a test has a program")), Ok(()));
    assert_eq!(file("/nowhere/mpirun"), Err("there is no /nowhere/mpirun".into()));
    assert_eq!(program("sh"), Ok(()));
    assert_eq!(program("no-such"), Err("there is no no-such on the path".into()));
    assert_eq!(cores_at_most(4, 4), Ok(()));
    assert_eq!(cores_at_most(4, 5), Err("5 cores would take too many ranks".into()));
}
