//! The command as a person or a script meets it: output, errors, exit codes.

use std::collections::BTreeSet;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn laneway(args: &[&str]) -> Output {
    laneway_with(args, &[])
}

fn laneway_with(args: &[&str], env: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_laneway"));
    command.args(args).envs(env.iter().copied()).stdin(Stdio::null());
    command.output().expect("the command starts")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A refusal: the exit code, the three lines, and something that the person needs.
fn refused(args: &[&str], env: &[(&str, &str)], code: i32, says: &[&str]) {
    let output = laneway_with(args, env);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {text}");
    assert_eq!(stdout(&output), "", "{args:?} prints rows");
    for line in ["error: ", "cause: ", "try: "] {
        assert!(text.lines().any(|l| l.starts_with(line)), "{args:?} has no `{line}`:\n{text}");
    }
    for word in says {
        assert!(text.contains(word), "{args:?} does not say `{word}`:\n{text}");
    }
}

#[test]
fn an_invalid_wait_limit_is_refused_on_every_backend() {
    for backend in ["local:shm", "local:tcp", "sim:cluster:4"] {
        let args = ["check", "bcast", "--ranks", "2", "--backend", backend];
        for nonsense in ["soon", "0", "-3"] {
            refused(&args, &[("LANEWAY_WAIT_LIMIT", nonsense)], 2, &["LANEWAY_WAIT_LIMIT is"]);
        }
    }
}

#[test]
fn everything_passes_on_five_processes() {
    let output = laneway(&["check", "--ranks", "5", "--format", "json"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(json["schema"], "laneway.check/1");
    assert_eq!(json["env"]["ranks"], 5);
    let rows = json["rows"].as_array().expect("rows");
    assert!(rows.len() > 2000, "only {} rows", rows.len());
    for row in rows {
        assert_ne!(row["ok"], false, "{row}");
        for name in ["op", "algorithm", "ranks", "root", "size_bytes", "ok"] {
            assert!(row.get(name).is_some(), "{name} is missing in {row}");
        }
    }
    let summary = &json["summary"];
    assert_eq!(summary["failed"], 0);
    assert_eq!(summary["passed"], rows.iter().filter(|row| row["ok"] == true).count());
    assert_eq!(summary["skipped"], rows.iter().filter(|row| row["ok"].is_null()).count());
    // Every algorithm did run, every root was a root, every size was there.
    for algorithm in laneway_coll::all() {
        let ran = |row: &&Value| {
            row["algorithm"] == algorithm.name && row["op"] == algorithm.family.name()
        };
        // Neighbour exchange pairs its ranks, and five have no pairs.
        let serves = algorithm.name != "neighbour";
        let passed = rows.iter().filter(ran).any(|row| row["ok"] == true);
        assert_eq!(passed, serves, "{} {}", algorithm.family.name(), algorithm.name);
    }
    for root in 0..5 {
        assert!(rows.iter().any(|row| row["op"] == "bcast" && row["root"] == root));
    }
    for size in [0, 1, 7, 1024, 65537] {
        assert!(rows.iter().any(|row| row["op"] == "bcast" && row["size_bytes"] == size));
    }
}

#[test]
fn every_transport_and_odd_rank_counts() {
    for backend in ["local:shm", "local:unix", "local:tcp"] {
        for ranks in ["1", "2", "7"] {
            let args = ["check", "--ranks", ranks, "--backend", backend, "--sizes", "0,3,1K"];
            let output = laneway(&args);
            assert!(output.status.success(), "{args:?}: {}{}", stdout(&output), stderr(&output));
            assert!(stdout(&output).contains(" 0 failed"), "{}", stdout(&output));
        }
    }
}

#[test]
fn operations_sizes_and_algorithms_have_one_grammar() {
    let args = ["check", "bcast,reduce", "scan", "--algorithm", "all", "--sizes", "8:32,1K"];
    let output = laneway(&[&args[..], &["--ranks", "2", "--format", "json"]].concat());
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let rows = json["rows"].as_array().expect("rows");
    let values = |name: &str, op: &str| -> BTreeSet<String> {
        let of = rows.iter().filter(|row| row["op"] == op);
        of.map(|row| row[name].to_string()).collect()
    };
    assert_eq!(values("size_bytes", "bcast").len(), 4);
    assert!(values("algorithm", "reduce").len() > 3 && values("algorithm", "scan").len() > 1);
    assert!(rows.iter().all(|row| row["ok"] != false));
}

#[test]
fn an_operation_that_has_none_of_the_algorithms_is_named() {
    let left_out = "left out reduce: it has no algorithm `scatter-ring`";
    for verb in [&["check"][..], &["measure", "coll"], &["sim"]] {
        let own = match verb {
            ["sim"] => ["--platform", "cluster:4"],
            _ => ["--backend", "sim:cluster:4"],
        };
        let args = ["bcast,reduce", "--algorithm", "scatter-ring", "--sizes", "8"];
        let output = laneway(&[verb, &args, &own].concat());
        assert!(output.status.success(), "{verb:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(left_out), "{verb:?}: {}", stderr(&output));
    }
}

#[test]
fn what_two_choices_have_in_common_is_measured_once() {
    let args = ["measure", "coll", "bcast", "--algorithm", "all,binomial", "--sizes", "8"];
    let output = laneway(&[&args[..], &["--backend", "sim:cluster:4", "--format", "csv"]].concat());
    assert_eq!(stdout(&output).matches(",binomial,").count(), 1, "{}", stdout(&output));
}

#[test]
fn files_have_the_endings_of_what_they_hold_and_hostfiles_must_be_there() {
    refused(
        &["sim", "bcast", "--platform", "cluster:4", "--timeline", "x.png"],
        &[],
        2,
        &["drawings are SVG, not .png", "--timeline bcast.svg"],
    );
    refused(&["topo", "draw", "-t", "mlfm:d=2", "-o", "x.pdf"], &[], 2, &["not .pdf"]);
    let net = ["check", "bcast", "--backend", "net", "--hostfile", "no-such-file"];
    refused(&net, &[], 3, &["no-such-file", "slots=4"]);
    let both = [&net[..], &["--hosts", "localhost"]].concat();
    refused(&both, &[], 2, &["--hosts and --hostfile"]);
}

#[test]
fn more_ranks_than_cores() {
    let output = laneway(&["check", "allreduce,bcast", "--ranks", "24", "--sizes", "1K"]);
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn parameters_can_be_set() {
    let algorithm = "knomial:radix=3:segment=100,native";
    let output = laneway(&["check", "bcast", "--ranks", "6", "--algorithm", algorithm]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("knomial"));
}

#[test]
fn csv_has_a_header_and_a_line_for_each_row() {
    let output = laneway(&["check", "scan", "--ranks", "3", "--sizes", "1", "--format", "csv"]);
    let text = stdout(&output);
    assert!(text.starts_with("op,algorithm,ranks,root,size_bytes,"), "{text}");
    assert!(text.lines().skip(1).all(|line| line.starts_with("scan,")), "{text}");
    assert!(text.lines().count() > 4);
}

#[test]
fn an_export_is_written_beside_the_table() {
    let dir = std::env::temp_dir().join(format!("laneway-export-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a folder");
    let file = dir.join("rows.json");
    let file = file.to_str().expect("a readable name");
    let output = laneway(&["check", "barrier", "--ranks", "2", "--export", file]);
    assert!(output.status.success(), "{}", stderr(&output));
    let json: Value = serde_json::from_str(&std::fs::read_to_string(file).expect("the file"))
        .expect("JSON in the file");
    assert_eq!(json["summary"]["failed"], 0);
    assert_eq!(std::fs::read_dir(&dir).expect("the folder").count(), 1, "nothing else is left");
    std::fs::remove_dir_all(&dir).expect("removed");
    refused(&["check", "barrier", "--export", "rows.xyz"], &[], 2, &[".json"]);
}

#[test]
fn unknown_words_offer_the_nearest() {
    refused(&["check", "bcats"], &[], 2, &["unknown operation `bcats`", "laneway check bcast"]);
    refused(&["check", "bcast", "--algorithm", "binomail"], &[], 2, &["binomial"]);
    let radix = "knomial:raddix=3";
    refused(&["check", "bcast", "--algorithm", radix], &[], 2, &["raddix", "radix"]);
    refused(&["check", "bcast", "--algorithm", "knomial:radix=1"], &[], 2, &["between 2 and"]);
    refused(&["check", "--backend", "smoke"], &[], 2, &["smoke", "local"]);
    refused(&["check", "--backend", "local:smoke"], &[], 2, &["smoke", "shm"]);
    refused(&["chekc"], &[], 2, &["check"]);
    refused(&["check", "--rank", "3"], &[], 2, &["--ranks"]);
}

#[test]
fn absurd_numbers_are_refused() {
    for ranks in ["0", "100000", "4294967296", "-1", "five"] {
        refused(&["check", "--ranks", ranks], &[], 2, &[]);
    }
    for size in ["99999999999999999999", "17179869184G", "9999T", "-7", "1.5K", ""] {
        refused(&["check", "bcast", "--ranks", "2", "--sizes", size], &[], 2, &[]);
    }
    refused(&["check", "alltoall", "--ranks", "4", "--sizes", "512G"], &[], 2, &["memory"]);
}

#[test]
fn without_a_launcher_mpi_says_so() {
    refused(&["check", "--backend", "mpi"], &[], 3, &["mpirun -n N", "backend local"]);
}

#[test]
fn a_launcher_without_its_library_is_an_error() {
    let env = [
        ("OMPI_COMM_WORLD_RANK", "0"),
        ("OMPI_COMM_WORLD_SIZE", "2"),
        ("OPAL_PREFIX", "/nowhere"),
        ("OMPI_MCA_orte_precondition_transports", "1-2"),
    ];
    refused(&["check", "barrier"], &env, 3, &["/nowhere/lib", "LANEWAY_MPI"]);
}

#[test]
fn a_thread_level_that_does_not_exist_is_refused() {
    for word in ["many", "Single", "3"] {
        let env = [("LANEWAY_MPI_THREADS", word)];
        refused(&["info", "env"], &env, 2, &[word, "single, funneled, serialized or multiple"]);
    }
}

#[test]
fn libraries_other_than_mpi_are_refused() {
    let dir = std::env::temp_dir().join(format!("laneway-no-mpi-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a folder");
    let write = |name: &str, bytes: &[u8]| {
        let file = dir.join(name);
        std::fs::write(&file, bytes).expect("written");
        file.to_str().expect("a readable name").to_owned()
    };
    // An ELF header for another processor (AArch64 or x86-64, whichever this is not).
    let own = std::fs::read("/proc/self/exe").expect("our own file");
    let mut other = own[..64.min(own.len())].to_vec();
    other[18] = if other[18] == 62 { 183 } else { 62 };
    let cases = [
        write("libempty.so", b""),
        write("libtext.so", b"not a library"),
        write("libother.so", &other),
        write("libcut.so", &own[..40]),
        dir.join("libmissing.so").to_str().expect("a readable name").to_owned(),
    ];
    for file in &cases {
        refused(&["info", "env"], &[("LANEWAY_MPI", file)], 3, &[]);
    }
    for name in ["libm.so.6", "libc.so.6"] {
        for folder in ["/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/lib64", "/usr/lib"] {
            let file = format!("{folder}/{name}");
            if std::path::Path::new(&file).exists() {
                refused(&["info", "env"], &[("LANEWAY_MPI", &file)], 3, &["MPI"]);
            }
        }
    }
    std::fs::remove_dir_all(&dir).expect("removed");
}

#[test]
fn a_closed_stdout_is_an_error() {
    let laneway = env!("CARGO_BIN_EXE_laneway");
    for verb in ["info algorithms", "check barrier --ranks 2", "completions bash"] {
        for (how, line) in [
            ("closed", format!("exec {laneway} {verb} >&-")),
            ("full", format!("exec {laneway} {verb} > /dev/full")),
        ] {
            let output = Command::new("sh").args(["-c", &line]).output().expect("sh");
            assert_eq!(output.status.code(), Some(3), "{how} {verb}: {}", stderr(&output));
            assert!(stderr(&output).contains("standard output"), "{how} {verb}");
        }
    }
}

#[test]
fn info_lists_every_algorithm() {
    let output = laneway(&["info", "algorithms", "--format", "json"]);
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let rows = json["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), laneway_coll::all().count());
    assert!(rows.iter().all(|row| row["what"].as_str().is_some_and(|text| text.len() > 10)));
    let env = laneway(&["info", "env"]);
    assert!(env.status.success(), "{}", stderr(&env));
    assert!(stdout(&env).contains("cores"));
}

#[test]
fn help_has_examples_everywhere() {
    assert!(stdout(&laneway(&["--help"])).contains("Examples:"));
    for verb in ["tour", "info", "check", "sim", "completions", "man"] {
        let output = laneway(&[verb, "--help"]);
        assert!(output.status.success());
        assert!(stdout(&output).contains("Examples:"), "{verb}");
    }
    assert!(stdout(&laneway(&["--version"])).starts_with("laneway "));
}

/// Every verb that opens connections names the variable that says how they are protected.
#[test]
fn help_names_the_protection_of_connections() {
    let verbs = [
        "check",
        "info",
        "measure p2p",
        "measure coll",
        "measure pairs",
        "model fit",
        "model compare",
        "model predict",
        "sites measure",
        "path serve",
        "path drill",
        "reproduce path-migration",
    ];
    for verb in verbs {
        let words: Vec<&str> = verb.split(' ').chain(["--help"]).collect();
        let help = stdout(&laneway(&words));
        let words = ["encrypt", "authenticate (default)", "trust", "datagram (default)", "stream"];
        for word in ["LANEWAY_SECURITY", "LANEWAY_PATH_KIND"].into_iter().chain(words) {
            let said = help.replace(['\n', ' '], "").contains(&word.replace(' ', ""));
            assert!(said, "{verb}: {word}");
        }
    }
}

#[test]
fn completions_and_manual_pages() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = laneway(&["completions", shell]);
        assert!(output.status.success());
        assert!(stdout(&output).contains("check"), "{shell}");
    }
    refused(&["completions", "smash"], &[], 2, &["bash"]);
    let dir = std::env::temp_dir().join(format!("laneway-man-{}", std::process::id()));
    let output = laneway(&["man", dir.to_str().expect("a readable name")]);
    assert!(output.status.success(), "{}", stderr(&output));
    let page = std::fs::read_to_string(dir.join("laneway-check.1")).expect("a page");
    assert!(page.contains(".SH NOTES\n") && page.contains(".SH EXAMPLES\n"), "{page}");
    assert!(!page.contains("EXTRA"), "{page}");
    let page = std::fs::read_to_string(dir.join("laneway.1")).expect("a page");
    assert!(page.contains(".SH EXIT STATUS\n") && !page.contains("help(1)"), "{page}");
    std::fs::remove_dir_all(&dir).expect("removed");
    refused(&["man", "/proc/none"], &[], 3, &[]);
}

#[test]
fn the_tour_shows_its_stops() {
    let dir = std::env::temp_dir().join(format!("laneway-tour-{}.svg", std::process::id()));
    let output = laneway(&["tour", "--svg", dir.to_str().expect("a readable name")]);
    let text = stdout(&output);
    assert!(output.status.success(), "{text}{}", stderr(&output));
    for stop in ["1. ", "2. ", "3. ", "4. ", "local:shm", "local:unix", "local:tcp", "0 wrong"] {
        assert!(text.contains(stop), "no `{stop}` in\n{text}");
    }
    let wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > 80).collect();
    assert!(wide.is_empty(), "over 80 columns: {wide:#?}");
    let svg = std::fs::read_to_string(&dir).expect("the picture");
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    std::fs::remove_file(&dir).expect("removed");
}
