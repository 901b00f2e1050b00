//! Every example runs, and is short.

use std::error::Error;
use std::fs;
use std::path::Path;

/// Lines of an example at most.
const SHORT: usize = 40;

macro_rules! examples {
    ($($name:ident at $path:literal,)*) => {
        $(
            #[path = $path]
            mod $name;

            #[test]
            fn $name() -> Result<(), Box<dyn Error>> {
                $name::main().map_err(Into::into)
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
