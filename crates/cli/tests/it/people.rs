//! What people read and type: answers at the end, one layout, names that they know, files and
//! times as they write them.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

fn laneway(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_laneway"));
    command.args(args).env("COLUMNS", "200").stdin(Stdio::null());
    command.output().expect("the command starts")
}

/// What a command that succeeds prints.
fn printed(args: &[&str]) -> String {
    let output = laneway(args);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The last line: the answer.
fn answer(args: &[&str]) -> String {
    printed(args).lines().last().unwrap_or_default().to_string()
}

/// The line of an error that begins with a word.
fn error_line(args: &[&str], code: i32, begin: &str) -> String {
    let output = laneway(args);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
    let line = said.lines().find_map(|line| line.strip_prefix(begin));
    line.unwrap_or_else(|| panic!("{args:?} has no `{begin}`: {said}")).trim().to_string()
}

/// A folder that goes away with its files.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("laneway-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        Folder(path)
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        std::fs::write(&path, text).expect("a file");
        path
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn comparing_verbs_end_with_the_fastest() {
    let two = ["bcast", "--algorithm", "linear,binomial,pipeline", "--sizes", "8,1M"];
    // The root of three ranks sends to both others at once, as linear and as binomial.
    let text = printed(&[&["sim", "--platform", "cluster:3"], &two[..]].concat());
    let last: Vec<&str> = text.lines().rev().take(3).collect();
    assert_eq!(last[0], "Fastest at 1 MiB: pipeline; next is linear, 1.9 times slower.");
    let wanted = "Fastest at 8 B: linear and binomial (equal); next is pipeline, 2.0 times slower.";
    assert_eq!(last[1..], [wanted, ""], "{text}");
    // Sizes with the same answer share it.
    let text = answer(&[&["sim", "--platform", "cluster:2"], &two[..]].concat());
    assert_eq!(text, "Fastest from 8 B to 1 MiB: linear, binomial and pipeline (equal).");
    // The same as measured, with and without a race.
    let measured = [&["measure", "coll", "--backend", "sim:cluster:4", "--reps", "6"], &two[..]];
    let text = answer(&measured.concat());
    assert!(text.starts_with("Fastest at 1 MiB: pipeline; next is "), "{text}");
    let race = ["measure", "coll", "--backend", "sim:cluster:4", "--race"];
    let text = answer(&[&race[..], &two[..]].concat());
    assert!(text.starts_with("Fastest at 1 MiB: pipeline; next is "), "{text}");
    // One algorithm is not compared with any.
    let one = ["sim", "bcast", "--algorithm", "linear", "--platform", "cluster:2"];
    assert!(!printed(&one).contains("Fastest"));
}

#[test]
fn sites_end_with_the_choice_and_its_bound() {
    let args = ["sites", "scatter", "--platform", "two-sites:4x4", "--sizes", "256K"];
    for args in [&args[..], &[&args[..], &["--all"]].concat()] {
        // The sentence may be longer than a line.
        let text = printed(args).replace('\n', " ");
        let begin = text.find("Fastest scatter at 256 KiB: ").expect("the choice");
        let text = text[begin..].trim_end();
        assert!(text.contains("; lower bound ") && text.ends_with(" ms."), "{text}");
    }
    let text = answer(&[&args[..], &["--lanes", "1:4"]].concat());
    assert!(text.starts_with("Fastest at 256 KiB: ") && text.contains(" lane"), "{text}");
}

#[test]
fn models_end_with_what_they_say() {
    let folder = Folder::new("people-models");
    let model = folder.path("m.toml");
    let fit = ["model", "fit", "--backend", "sim:cluster:6", "-o", &model];
    let brief = printed(&fit);
    assert!(brief.lines().filter(|line| line.contains("all 15")).count() == 1, "{brief}");
    assert!(brief.contains("Of 45 values of pairs the median is shown; none differs"), "{brief}");
    let last = brief.lines().last().unwrap_or_default();
    assert!(last.starts_with("The model holds: "), "{brief}");
    let show = ["model", "show", &format!("file:{model}")];
    assert!(!printed(&show).contains("4-5"), "pairs are summarised");
    assert!(printed(&[&show[..], &["--all"]].concat()).contains("4-5"), "--all lists pairs");
    let predict = ["model", "predict", "bcast", "--model", &model, "--sizes", "1K,1M"];
    let text = answer(&predict);
    assert!(text.starts_with("Fastest at 1 MiB: pipeline:"), "{text}");
    let compare = ["model", "compare", "bcast", "--backend", "sim:cluster:4", "--sizes", "1K"];
    let text = answer(&compare);
    assert!(text.starts_with("Most accurate: ") && text.contains("; next is "), "{text}");
    // A similar name is what was meant.
    let missing = folder.path("n.toml");
    let what = error_line(&["model", "show", &missing], 3, "error: ");
    assert_eq!(what, format!("{missing} does not exist"));
}

#[test]
fn a_command_has_one_layout() {
    let folder = Folder::new("people-layout");
    let slow = "include = [\"cluster:4\"]\n[[event]]\nat = \"0s\"\nhost = \"node2\"\n\
                direction = \"in\"\nfactor = 0.36\n";
    let slow = format!("sim:{}", folder.file("slow.toml", slow));
    let heading = |text: &str| text.lines().next().map(str::to_string);
    let pairs = |backend: &str| printed(&["measure", "pairs", "--backend", backend]);
    let (healthy, damaged) = (pairs("sim:cluster:4"), pairs(&slow));
    assert_eq!(heading(&healthy), heading(&damaged), "{healthy}{damaged}");
    assert!(healthy.contains("slow_pairs") && !healthy.contains("ommon to all"), "{healthy}");
    let rule = "slow: below 80 % of the usual bandwidth, or above twice the usual latency, with \
                95 % confidence";
    let verdict = "node2 (rank 2) receives slowly in all 3 pairs: 36.0 % of the usual bandwidth";
    let lines: Vec<&str> = damaged.lines().rev().collect();
    assert!(lines[0].starts_with(verdict) && lines[1] == rule, "{damaged}");
    // What was asked for may be common to all rows, a result never.
    let check = ["check", "bcast", "--backend", "sim:cluster:2", "--sizes", "8"];
    let text = printed(&check);
    for column in ["passed", "failed", "skipped", "note"] {
        assert!(heading(&text).is_some_and(|line| line.contains(column)), "{text}");
    }
    assert!(text.contains("Common to all rows: op bcast."), "{text}");
    let measure = ["measure", "coll", "bcast", "--backend", "sim:cluster:2", "--reps", "6"];
    assert!(heading(&printed(&measure)).is_some_and(|line| line.ends_with("flags")));
}

#[test]
fn operations_are_understood_by_the_names_of_mpi() {
    let usual = ["sim", "bcast", "--platform", "cluster:4", "--sizes", "64K"];
    for name in ["MPI_Bcast", "Bcast"] {
        let args: Vec<&str> = usual.iter().map(|w| if *w == "bcast" { name } else { w }).collect();
        assert_eq!(printed(&args), printed(&usual), "{name}");
    }
    for (typed, advised) in [
        (&["measure", "bcast", "--ranks", "2"][..], "laneway measure coll bcast --ranks 2"),
        (&["measure", "MPI_Alltoall"], "laneway measure coll alltoall"),
        (&["measure", "coll", "MPI_Ibcast"], "laneway measure coll bcast --form nonblocking"),
        (&["info", "allreduce"], "laneway info algorithms allreduce"),
        (&["pairs"], "laneway measure pairs"),
        (&["info", "timings", "bcast"], "laneway info algorithms bcast"),
    ] {
        assert_eq!(error_line(typed, 2, "try:"), advised, "{typed:?}");
    }
    let own = printed(&["info", "algorithms", "MPI_Allreduce"]);
    assert!(own.contains("rabenseifner") && !own.contains("scatter-ring"), "{own}");
}

#[test]
fn platforms_are_files_with_and_without_the_word() {
    let folder = Folder::new("people-platforms");
    let slow = folder.file("slow.toml", "include = [\"cluster:4\"]\n");
    let sim = |platform: &str| printed(&["sim", "bcast", "--sizes", "8", "--platform", platform]);
    assert_eq!(sim(&slow), sim(&format!("file:{slow}")));
    let backend = format!("sim:file:{slow}");
    printed(&["measure", "coll", "bcast", "--sizes", "8", "--reps", "6", "--backend", &backend]);
    // A file that is missing is named, and so is one that is similar.
    let sow = folder.path("sow.toml");
    let args = ["sim", "bcast", "--platform", &sow];
    assert_eq!(error_line(&args, 3, "error: "), format!("{sow} does not exist"));
    let advised = format!("--platform {slow}; laneway info platforms lists all");
    assert_eq!(error_line(&args, 3, "try:"), advised);
    let backend = format!("sim:{sow}");
    let args = ["measure", "coll", "bcast", "--backend", &backend];
    assert_eq!(error_line(&args, 3, "error: "), format!("{sow} does not exist"));
    let other = folder.path("another-one.toml");
    let advised = error_line(&["sim", "bcast", "--platform", &other], 3, "try:");
    assert!(advised.starts_with("--platform cluster:16"), "{advised}");
}

#[test]
fn times_have_units_or_are_seconds() {
    let folder = Folder::new("people-times");
    let record = |every: &str| {
        let file = folder.path(&format!("{every}.json"));
        let run = ["sim", "bcast", "--platform", "cluster:2", "--algorithm", "binomial"];
        printed(&[&run[..], &["--sizes", "1M", "--record", &file, "--every", every]].concat());
        std::fs::read_to_string(file).expect("a record")
    };
    assert_eq!(record("1ms"), record("0.001"));
    assert_eq!(record("1ms"), record("0.001s"));
    let skewed = ["measure", "coll", "bcast", "--backend", "sim:cluster:2", "--reps", "6"];
    let skewed = [&skewed[..], &["--format", "csv", "--clock-offset"]].concat();
    let with = |offset| printed(&[&skewed[..], &[offset]].concat());
    assert_eq!(with("0.5"), with("500ms"));
}
