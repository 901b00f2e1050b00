//! Every example runs, and is short.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Lines of an example: with its comments, and at most.
const SHORT: usize = 26;
/// Set in the process of its own that each example has: one may start itself as several ranks.
const APART: &str = "EXAMPLE_APART";

/// Runs an example in a process of its own, and in each of the ranks that it starts.
fn run(
    name: &str,
    main: impl FnOnce() -> Result<(), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    if laneway::is_rank() || std::env::var_os(APART).is_some() {
        return main();
    }
    let mut apart = Command::new(std::env::current_exe()?);
    apart.args(["--exact", name, "--nocapture", "--test-threads=1"]).env(APART, "1");
    let ended = apart.status()?;
    if ended.success() { Ok(()) } else { Err(format!("{name}: {ended}").into()) }
}

macro_rules! examples {
    ($($name:ident at $path:literal,)*) => {
        $(
            #[path = $path]
            mod $name;

            #[test]
            fn $name() -> Result<(), Box<dyn Error>> {
                run(stringify!($name), || $name::main().map_err(Into::into))
            }
        )*

        #[test]
        fn each_is_short_and_all_are_run() {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
            let names = [$(stringify!($name)),*];
            for name in names {
                let file = folder.join(format!("{name}.rs"));
                let lines = fs::read_to_string(&file).expect("an example").lines().count();
                assert!(lines <= SHORT, "{name}.rs has {lines} lines");
            }
            let files = fs::read_dir(folder).expect("the folder").flatten();
            let examples = files.filter(|file| file.path().extension().is_some_and(|e| e == "rs"));
            assert_eq!(examples.count(), names.len(), "an example that is not run");
        }
    };
}

examples! {
    measure_closure at "../measure_closure.rs",
    slow_node at "../slow_node.rs",
    simulate_schedule at "../simulate_schedule.rs",
    choose_scatter at "../choose_scatter.rs",
    compare_runs at "../compare_runs.rs",
    migrate at "../migrate.rs",
    prove_table at "../prove_table.rs",
}
