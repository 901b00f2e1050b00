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
            "laneway-net",
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
    ("laneway-net", &["laneway-core", "laneway-path"]),
    (
        "laneway-ranks",
        &["laneway-core", "laneway-message", "laneway-net", "laneway-path", "laneway-processes"],
    ),
    ("laneway-measure", &["laneway-core", "laneway-coll", "laneway-stats"]),
    (
        "laneway-papers",
        &[
            "laneway-coll",
            "laneway-core",
            "laneway-draw",
            "laneway-drill",
            "laneway-lab",
            "laneway-measure",
            "laneway-net",
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
            "laneway-ranks",
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
            "laneway-net",
            "laneway-papers",
            "laneway-path",
            "laneway-processes",
            "laneway-ranks",
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
            "laneway-net",
            "laneway-path",
            "laneway-report",
            "laneway-sites",
        ],
    ),
    (
        "laneway-smpi",
        &["laneway-cli", "laneway-coll", "laneway-core", "laneway-mpi", "laneway-sim"],
    ),
    (
        "laneway-examples",
        &[
            "laneway-backend",
            "laneway-coll",
            "laneway-core",
            "laneway-measure",
            "laneway-net",
            "laneway-path",
            "laneway-report",
            "laneway-sim",
            "laneway-sites",
            "laneway-topo",
        ],
    ),
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
            "laneway-net",
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

/// What a module of these crates may see of its siblings.
const MODULES_MAY_SEE: &[(&str, &[&str])] = &[
    ("crates/path/src/paths", &["congestion", "state"]),
    (
        "crates/path/src/sending",
        &["congestion", "connection", "encoding", "number", "paths", "wire"],
    ),
    ("crates/path/src/receiving", &["congestion", "connection", "encoding", "number", "wire"]),
    ("crates/net/src/system", &["error"]),
    ("crates/net/src/inventory", &["error", "system"]),
    ("crates/net/src/driver", &["error"]),
    ("crates/net/src/endpoint", &["driver", "error", "inventory", "system"]),
    ("crates/net/src/verbs", &["driver", "error", "system"]),
    ("crates/net/src/simulated", &["driver", "error"]),
    ("crates/net/src/control", &["driver", "endpoint", "error"]),
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

/// An option of another program, a format of files, and what launchers start in a lab.
const NO_WORDS: &[&str] = &["(srun --mpi=list)", "`--`", "lab enter --lab"];

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

/// A skip that is only printed is captured and forgotten: `laneway_needs` records it.
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
