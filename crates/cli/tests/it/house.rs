//! The house keeps its shape: who may depend on whom, and how the source reads.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use laneway_needs::{Need, program};

/// What each crate may see of the others; the arrows of ARCHITECTURE.md.
const MAY_SEE: &[(&str, &[&str])] = &[
    ("laneway-core", &[]),
    ("laneway-coll", &["laneway-core"]),
    ("laneway-report", &["laneway-core", "laneway-stats"]),
    ("laneway-stats", &[]),
    (
        "laneway-draw",
        &["laneway-coll", "laneway-core", "laneway-report", "laneway-sim", "laneway-topo"],
    ),
    ("laneway-needs", &[]),
    ("laneway-sim", &["laneway-core", "laneway-stats"]),
    ("laneway-topo", &["laneway-core", "laneway-coll", "laneway-stats"]),
    ("laneway-message", &["laneway-core"]),
    ("laneway-processes", &["laneway-core"]),
    ("laneway-local", &["laneway-core", "laneway-message", "laneway-processes"]),
    ("laneway-lab", &["laneway-sim", "laneway-stats"]),
    (
        "laneway-drill",
        &[
            "laneway-core",
            "laneway-lab",
            "laneway-connections",
            "laneway-path",
            "laneway-sim",
            "laneway-stats",
        ],
    ),
    (
        "laneway-sites",
        &["laneway-coll", "laneway-core", "laneway-measure", "laneway-sim", "laneway-stats"],
    ),
    (
        "laneway-model",
        &["laneway-coll", "laneway-core", "laneway-measure", "laneway-sim", "laneway-stats"],
    ),
    ("laneway-mpi", &["laneway-core"]),
    ("laneway-path", &[]),
    ("laneway-connections", &["laneway-core", "laneway-path"]),
    (
        "laneway-net",
        &[
            "laneway-core",
            "laneway-message",
            "laneway-connections",
            "laneway-path",
            "laneway-processes",
        ],
    ),
    ("laneway-measure", &["laneway-core", "laneway-coll", "laneway-processes", "laneway-stats"]),
    (
        "laneway-papers",
        &[
            "laneway-coll",
            "laneway-core",
            "laneway-draw",
            "laneway-drill",
            "laneway-lab",
            "laneway-measure",
            "laneway-connections",
            "laneway-path",
            "laneway-report",
            "laneway-sim",
            "laneway-sites",
            "laneway-stats",
            "laneway-topo",
        ],
    ),
    (
        "laneway-backend",
        &[
            "laneway-core",
            "laneway-local",
            "laneway-measure",
            "laneway-mpi",
            "laneway-processes",
            "laneway-net",
            "laneway-sim",
        ],
    ),
    (
        "laneway-cli",
        &[
            "laneway-backend",
            "laneway-core",
            "laneway-coll",
            "laneway-draw",
            "laneway-report",
            "laneway-sim",
            "laneway-drill",
            "laneway-lab",
            "laneway-local",
            "laneway-measure",
            "laneway-model",
            "laneway-mpi",
            "laneway-connections",
            "laneway-papers",
            "laneway-path",
            "laneway-processes",
            "laneway-net",
            "laneway-sites",
            "laneway-stats",
            "laneway-topo",
        ],
    ),
    (
        "laneway-c",
        &[
            "laneway-coll",
            "laneway-core",
            "laneway-measure",
            "laneway-model",
            "laneway-mpi",
            "laneway-connections",
            "laneway-path",
            "laneway-processes",
            "laneway-report",
            "laneway-sites",
        ],
    ),
    (
        "laneway-smpi",
        &["laneway-cli", "laneway-coll", "laneway-core", "laneway-mpi", "laneway-sim"],
    ),
    (
        "laneway",
        &[
            "laneway-coll",
            "laneway-core",
            "laneway-local",
            "laneway-measure",
            "laneway-model",
            "laneway-mpi",
            "laneway-connections",
            "laneway-path",
            "laneway-processes",
            "laneway-net",
            "laneway-report",
            "laneway-sim",
            "laneway-sites",
            "laneway-stats",
            "laneway-topo",
        ],
    ),
    // One dependency is enough for a program.
    ("laneway-examples", &["laneway"]),
    (
        "laneway-benches",
        &[
            "laneway-core",
            "laneway-coll",
            "laneway-sim",
            "laneway-lab",
            "laneway-local",
            "laneway-measure",
            "laneway-model",
            "laneway-mpi",
            "laneway-connections",
            "laneway-path",
            "laneway-report",
            "laneway-sites",
            "laneway-stats",
            "laneway-topo",
        ],
    ),
];

/// No clock, socket, thread, file or unordered map here.
const PURE: &[&str] = &["core", "coll", "draw", "path", "report", "stats"];

/// They read files and use threads, and give the same answer every time.
const DETERMINISTIC: &[&str] = &["sim", "sites", "topo"];

const IMPURE_WORDS: &[&str] = &[
    "std::time",
    "Instant",
    "SystemTime",
    "std::net",
    "std::thread",
    "HashMap",
    "HashSet",
    "std::fs",
    "std::env",
    "std::process",
    "std::os",
    "libc",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn metadata() -> serde_json::Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo metadata is JSON")
}

#[test]
fn arrows_run_one_way() {
    let allowed: BTreeMap<&str, &[&str]> = MAY_SEE.iter().copied().collect();
    let metadata = metadata();
    let packages = metadata["packages"].as_array().expect("packages");
    assert_eq!(packages.len(), allowed.len(), "a new crate belongs into MAY_SEE");
    for package in packages {
        let name = package["name"].as_str().expect("a name");
        let allowed = allowed.get(name).unwrap_or_else(|| panic!("{name} is not in MAY_SEE"));
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            let seen = dependency["name"].as_str().expect("a name");
            let counts = dependency["kind"].as_str() != Some("dev") && seen.starts_with("laneway");
            assert!(!counts || allowed.contains(&seen), "{name} must not see {seen}");
        }
    }
}

/// The command, the C library and the crate for programs have one name: only the last is in the
/// reference, where their pages would be the same files.
#[test]
fn one_target_named_laneway_is_documented() {
    let metadata = metadata();
    let targets = metadata["packages"].as_array().expect("packages").iter();
    let targets = targets.flat_map(|package| package["targets"].as_array().expect("targets"));
    let named: Vec<&serde_json::Value> =
        targets.filter(|target| target["name"] == "laneway").collect();
    assert_eq!(named.len(), 3, "{named:?}");
    let documented: Vec<&serde_json::Value> =
        named.into_iter().filter(|target| target["doc"] == true).collect();
    assert_eq!(documented.len(), 1, "{documented:?}");
    assert_eq!(documented[0]["kind"][0], "lib");
}

/// What a module of these crates may see of its siblings.
const MODULES_MAY_SEE: &[(&str, &[&str])] = &[
    ("crates/path/src/paths", &["congestion", "state", "wire"]),
    (
        "crates/path/src/sending",
        &["congestion", "connection", "encoding", "number", "paths", "wire"],
    ),
    ("crates/path/src/receiving", &["congestion", "connection", "encoding", "number", "wire"]),
    ("crates/connections/src/system", &["error"]),
    ("crates/connections/src/inventory", &["error", "system"]),
    ("crates/connections/src/driver", &["error"]),
    ("crates/connections/src/endpoint", &["driver", "error", "inventory", "system"]),
    ("crates/connections/src/verbs", &["driver", "error", "system"]),
    ("crates/connections/src/simulated", &["driver", "error"]),
    ("crates/connections/src/control", &["driver", "endpoint", "error"]),
];

/// The modules that a line names by their path from the crate's root.
fn modules_named(line: &str) -> impl Iterator<Item = &str> {
    let code = line.split("//").next().unwrap_or("");
    let after = code.split("crate::").skip(1);
    let names = after.map(|rest| {
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        &rest[..end.unwrap_or(rest.len())]
    });
    names.filter(|name| name.starts_with(|c: char| c.is_ascii_lowercase()))
}

#[test]
fn modules_have_one_direction() {
    assert!(modules_named("use crate::paths::Route; // crate::wire").eq(["paths"]));
    let (sources, mut faults) = (sources(), Vec::new());
    for (module, allowed) in MODULES_MAY_SEE {
        let own = module.rsplit('/').next().unwrap_or(module);
        let is_in = |name: &str| {
            name.strip_prefix(module).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
        };
        let files: Vec<_> = sources.iter().filter(|(name, _)| is_in(name)).collect();
        assert!(!files.is_empty(), "{module} is gone: MODULES_MAY_SEE names it");
        for (name, text) in files {
            for (number, line) in code(text).lines().enumerate() {
                let strange = |seen: &&str| *seen != own && !allowed.contains(seen);
                faults.extend(
                    modules_named(line)
                        .filter(strange)
                        .map(|seen| format!("{name}:{}: must not see {seen}", number + 1)),
                );
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// In `measure`, probes stand on the engine, which does not know them.
#[test]
fn the_engine_of_measure_does_not_see_its_probes() {
    let (engine, probes) = ("crates/measure/src/", "crates/measure/src/probe/");
    let (mut faults, mut files) = (Vec::new(), 0);
    for (name, text) in sources() {
        let is_engine = name.starts_with(engine) && !name.starts_with(probes);
        if !is_engine || name.ends_with("/lib.rs") {
            continue;
        }
        files += 1;
        for (number, line) in code(&text).lines().enumerate() {
            let seen = modules_named(line)
                .any(|module| ["probe", "p2p", "pairs", "sites"].contains(&module));
            faults.extend(seen.then(|| format!("{name}:{}", number + 1)));
        }
    }
    assert!(files > 20, "{files} files of the engine");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_command_stands_on_few_crates() {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "-p", "laneway-cli", "-e", "normal", "--prefix", "none", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    let mut crates: Vec<&str> = text.lines().filter_map(|line| line.split(' ').next()).collect();
    crates.sort_unstable();
    crates.dedup();
    let external = crates.iter().filter(|name| !name.starts_with("laneway")).count();
    assert!((5..=60).contains(&external), "{external} external crates: {crates:?}");
}

#[test]
fn licence_and_edition_are_the_same_everywhere() {
    for package in metadata()["packages"].as_array().expect("packages") {
        assert_eq!(package["license"], "MIT OR Apache-2.0", "{}", package["name"]);
        assert_eq!(package["edition"], "2024", "{}", package["name"]);
    }
}

/// Every Rust file of the workspace, with its path from the root.
fn sources() -> Vec<(String, String)> {
    fn walk(dir: &Path, into: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(dir).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                walk(&path, into);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                into.push(path);
            }
        }
    }
    let root = root().canonicalize().expect("the workspace");
    let mut files = Vec::new();
    walk(&root.join("crates"), &mut files);
    walk(&root.join("bindings"), &mut files);
    walk(&root.join("benches"), &mut files);
    let read = |path: &PathBuf| {
        let name = path.strip_prefix(&root).expect("below the root").display().to_string();
        (name, fs::read_to_string(path).expect("readable source"))
    };
    let all: Vec<(String, String)> = files.iter().map(read).collect();
    assert!(all.len() > 50, "only {} files found", all.len());
    all
}

/// The part before the unit tests.
fn code(text: &str) -> &str {
    text.split("#[cfg(test)]").next().unwrap_or(text)
}

#[test]
fn pure_crates_stay_pure() {
    for (name, text) in sources() {
        let among = |rooms: &[&str]| {
            rooms.iter().any(|room| name.starts_with(&format!("crates/{room}/src/")))
        };
        if !among(PURE) && !among(DETERMINISTIC) {
            continue;
        }
        let allowed = if among(DETERMINISTIC) { &["std::fs", "std::thread"][..] } else { &[] };
        for (number, line) in code(&text).lines().enumerate() {
            let says = line.split("//").next().unwrap_or("");
            for word in IMPURE_WORDS.iter().filter(|word| !allowed.contains(word)) {
                assert!(!says.contains(word), "{name}:{}: {word} in a pure crate", number + 1);
            }
        }
    }
}

#[test]
fn files_read_alike() {
    let mut faults = Vec::new();
    for (name, text) in sources() {
        let mut fault = |line: usize, what: &str| faults.push(format!("{name}:{line}: {what}"));
        if !text.starts_with("//! ") {
            fault(1, "a file opens with a sentence on what it is for");
        }
        if name.ends_with("utils.rs") || name.contains("_old") {
            fault(1, "a name that says nothing, or an old variant");
        }
        let tests = name.contains("/tests/") || name.ends_with("_tests.rs");
        let lines: Vec<&str> = text.lines().collect();
        let code_lines = code(&text).lines().count();
        let library = name.contains("/src/") && !name.starts_with("crates/cli/") && !tests;
        let most = if library { 450 } else { 1000 };
        if code_lines > most {
            fault(lines.len(), &format!("a file of more than {most} lines"));
        }
        for (i, line) in lines.iter().enumerate() {
            let at = i + 1;
            if line.chars().count() > 100 {
                fault(at, "a line of more than 100 columns");
            }
            if line.ends_with([' ', '\t']) {
                fault(at, "a space at the end of a line");
            }
            for word in ["todo!(", "unimplemented!(", "dbg!(", concat!("FIX", "ME"), "#[ignore"] {
                if line.contains(word) && name != "crates/cli/tests/it/house.rs" {
                    fault(at, word);
                }
            }
            let before = if i > 0 { lines[i - 1].trim() } else { "" };
            if !tests
                && i < code_lines
                && line.contains(".unwrap()")
                && !before.starts_with("//")
                && !line.trim().starts_with("//")
            {
                fault(at, "unwrap without a comment that proves it");
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// What a user of a crate meets first is an example that runs, every public item is documented, and
/// an error may have one more reason tomorrow. It names no flag: only the command has some.
#[test]
fn libraries_are_ready_for_their_users() {
    let mut faults = Vec::new();
    for (name, text) in sources() {
        let Some((room, file)) = name.strip_prefix("crates/").and_then(|n| n.split_once("/src/"))
        else {
            continue;
        };
        if ["cli", "needs"].contains(&room) {
            continue;
        }
        if file == "lib.rs" {
            let fences = text.lines().filter(|line| line.starts_with("//! ```")).count();
            let idle = text.matches("//! ```no_run").count();
            if fences / 2 <= idle {
                faults.push(format!("{name}: no example that runs in the crate's documentation"));
            }
            if !text.contains("#![warn(missing_docs)]") {
                faults.push(format!("{name}: missing_docs is not on"));
            }
        }
        let lines: Vec<&str> = code(&text).lines().collect();
        for (i, line) in lines.iter().enumerate() {
            let error = line.strip_prefix("pub enum ").is_some_and(|rest| rest.contains("Error"));
            let before = lines[..i].iter().rev().take_while(|line| line.starts_with("#["));
            if error && !before.clone().any(|line| *line == "#[non_exhaustive]") {
                faults.push(format!("{name}:{}: an error that cannot grow", i + 1));
            }
            let says = line.split("//").next().unwrap_or("");
            if file.ends_with("error.rs") && (says.contains(" --") || says.contains("\"--")) {
                faults.push(format!("{name}:{}: which flag helps is the command's to say", i + 1));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// An option of another program, and a format of files.
const NO_WORDS: &[&str] = &["(srun --mpi=list)", "`--`"];

/// A user of a library has no command line: its words name neither a verb of the command nor a
/// flag, which the command adds where one helps. The papers tell by which commands they are
/// repeated, and a written platform which one measured it.
#[test]
fn libraries_do_not_speak_of_the_command() {
    let verbs = "tour info check measure compare report reproduce sim sites model topo lab path";
    let verbs: Vec<String> = verbs.split(' ').map(|verb| format!("laneway {verb}")).collect();
    let apart = ["crates/cli/", "crates/needs/", "crates/papers/", "bindings/smpi/"];
    let mut faults = Vec::new();
    for (name, text) in sources() {
        let tests = name.contains("/tests/") || name.ends_with("_tests.rs");
        let written = name == "crates/sites/src/found/platform.rs";
        if !name.contains("/src/") || tests || written || apart.iter().any(|a| name.starts_with(a))
        {
            continue;
        }
        for (number, line) in code(&text).lines().enumerate() {
            let mut says = line.split("//").next().unwrap_or("").to_string();
            NO_WORDS.iter().for_each(|words| says = says.replace(words, ""));
            let flag = |before: &str| {
                let mut parts = says.split(before).skip(1);
                parts.any(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()))
            };
            let verb = verbs.iter().any(|verb| says.contains(verb.as_str()));
            if verb || flag("`--") || flag(" --") {
                faults.push(format!("{name}:{}: words of the command: {says}", number + 1));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Where a library may end its process or print, and why.
const MAY_END: &[(&str, &str)] = &[
    ("crates/local/src/world.rs", "Comm::abort"),
    ("crates/mpi/src/world.rs", "Comm::abort"),
    ("crates/net/src/roster.rs", "Comm::abort"),
    ("crates/local/src/memory/direct.rs", "another process may still write to a caller's memory"),
    ("crates/mpi/src/let_go.rs", "MPI may still write to a caller's memory"),
    ("crates/mpi/src/guard.rs", "a crash inside an MPI, which no error can report"),
    ("crates/net/src/attach.rs", "the launcher of a rank on another host has gone"),
    ("crates/net/src/output.rs", "what a rank itself has printed, passed on"),
    ("crates/lab/src/system.rs", "a child between fork and exec"),
];

/// Failures of a library are values: its caller decides what is printed, and when to end.
#[test]
fn libraries_print_nothing_and_end_nothing() {
    let apart = ["crates/cli/", "crates/needs/", "bindings/", "benches/"];
    let words = ["process::exit", "process::abort", "libc::_exit", "print!(", "println!("];
    let words = words.iter().chain(&["io::stderr()"]);
    let mut seen = std::collections::BTreeSet::new();
    let mut faults = Vec::new();
    for (name, text) in sources() {
        let tests = name.ends_with("_tests.rs") || !name.contains("/src/");
        if tests || apart.iter().any(|a| name.starts_with(a)) {
            continue;
        }
        for (number, line) in code(&text).lines().enumerate() {
            let says = line.split("//").next().unwrap_or("");
            if !words.clone().any(|word| says.contains(word)) {
                continue;
            }
            match MAY_END.iter().find(|(file, _)| *file == name) {
                Some((file, _)) => _ = seen.insert(*file),
                None => faults.push(format!("{name}:{}: {}", number + 1, line.trim())),
            }
        }
    }
    let unused = MAY_END.iter().filter(|(file, _)| !seen.contains(file));
    faults.extend(unused.map(|(file, why)| format!("{file} ends nothing any more: {why}")));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Crates that programs may use by themselves; the others are internal.
const PUBLIC: &[&str] = &["core", "coll", "sim", "topo", "path"];

#[test]
fn every_crate_says_whether_it_is_public() {
    for (name, text) in sources() {
        let room = name.strip_prefix("crates/").and_then(|n| n.strip_suffix("/src/lib.rs"));
        let Some(room) = room.filter(|room| !["laneway", "needs"].contains(room)) else { continue };
        let first = text.lines().take_while(|line| line.starts_with("//! "));
        let first = first.map(|line| &line[4..]).collect::<Vec<&str>>().join(" ");
        let says = match PUBLIC.contains(&room) {
            true => "Public API, with the crate `laneway`",
            false => "Internal to laneway: it may change in any version",
        };
        assert!(first.contains(says), "{name}: its first paragraph does not say: {says}");
    }
}

/// What `pub use` and `pub` bring into the crate for programs has one meaning each.
#[test]
fn names_of_the_crate_for_programs_are_unique() {
    let mut names: Vec<String> = Vec::new();
    let folder = root().join("crates/laneway/src");
    let text = fs::read_to_string(folder.join("lib.rs")).expect("the crate");
    for used in text.split("pub use ").skip(1) {
        let used = used.split(';').next().unwrap_or_default();
        let list = used.split_once('{').map_or(used, |(_, list)| list.trim_end_matches('}'));
        let items = list.split(',').map(str::trim).filter(|item| !item.is_empty());
        names.extend(items.map(|item| {
            let name = item.rsplit(" as ").next().unwrap_or(item);
            name.rsplit("::").next().unwrap_or(name).to_string()
        }));
    }
    assert!(names.len() > 80, "only {} names found: {names:?}", names.len());
    names.sort_unstable();
    let twice: Vec<&[String]> = names.windows(2).filter(|two| two[0] == two[1]).collect();
    assert!(twice.is_empty(), "{twice:?}");
    assert!(!text.contains("::*"), "a name that is not written cannot be seen to be unique");
}

/// A skip that is only printed is captured and forgotten: `laneway_needs` records it.
/// Exit codes and advice are of the command, of the library for C and of the simulator's command.
#[test]
fn errors_of_libraries_are_data() {
    let mut faults = Vec::new();
    for (name, text) in sources() {
        if !name.starts_with("crates/") || name.starts_with("crates/cli/") {
            continue;
        }
        for word in ["try_this", "try:   ", "enum Exit", "into_failure"] {
            if code(&text).contains(word) {
                faults.push(format!("{name}: {word}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// A crate that a program uses has few modules to find one's way in.
#[test]
fn topo_has_at_most_ten_public_modules() {
    let text = fs::read_to_string(root().join("crates/topo/src/lib.rs")).expect("a library");
    let modules = text.lines().filter(|line| line.starts_with("pub mod ")).count();
    assert!((5..=10).contains(&modules), "{modules} public modules");
}

#[test]
fn skips_are_recorded() {
    for (name, text) in sources().iter().filter(|(name, _)| !name.starts_with("crates/needs/")) {
        for (number, line) in text.lines().enumerate() {
            let printed = line.contains(concat!("println!(\"skip", "ped"));
            assert!(!printed, "{name}:{}: ask a Need of laneway_needs", number + 1);
        }
    }
}

/// Lines of each function, by the indentation that rustfmt guarantees.
#[test]
fn functions_fit_a_screen() {
    const SCREEN: usize = 80;
    let mut faults = Vec::new();
    for (name, text) in sources() {
        let lines: Vec<&str> = text.lines().collect();
        for (i, line) in lines.iter().enumerate() {
            let trimmed = line.trim_start();
            let words = trimmed.trim_start_matches("pub ").trim_start_matches("pub(crate) ");
            let words = words.trim_start_matches("const ").trim_start_matches("unsafe ");
            if !words.starts_with("fn ") && !words.starts_with("extern \"C\" fn ") {
                continue;
            }
            // What a trait only declares has no body.
            let head = lines[i..].iter().find(|line| line.ends_with(['{', '}', ';']));
            if head.is_some_and(|line| !line.ends_with('{')) {
                continue;
            }
            let closing = " ".repeat(line.len() - trimmed.len()) + "}";
            let end = lines[i..].iter().position(|line| *line == closing);
            if end.is_some_and(|length| length > SCREEN) {
                faults.push(format!("{name}:{}: a function of more than {SCREEN} lines", i + 1));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn no_path_of_a_machine_is_written_down() {
    if !Need::Git.is_met(program("git")) {
        return;
    }
    let output = Command::new("git").args(["ls-files"]).current_dir(root()).output();
    let output = output.expect("git starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!output.stdout.is_empty(), "git knows no file");
    for file in String::from_utf8_lossy(&output.stdout).lines() {
        let Ok(text) = fs::read_to_string(root().join(file)) else { continue };
        for (number, line) in text.lines().enumerate() {
            for start in ["/work/", "/root/", "/home/"] {
                let found = line.find(start).filter(|&at| {
                    let before = line[..at].chars().next_back();
                    !before.is_some_and(|c| c.is_alphanumeric() || c == '.' || c == '_')
                });
                let here = file == "crates/cli/tests/it/house.rs";
                assert!(found.is_none() || here, "{file}:{}: {line}", number + 1);
            }
        }
    }
}
