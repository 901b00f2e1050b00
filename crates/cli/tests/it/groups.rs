//! The groups of `.config/nextest.toml` name modules by patterns: each still has its tests.

use std::fs;
use std::path::{Path, PathBuf};

/// A package and a module of its tests, and how many it has at least: as many as when the group
/// was made. Tests that were taken out are taken out here.
const LEAST: &[(&str, &str, usize)] = &[
    ("laneway-cli", "path", 9),
    ("laneway-cli", "net", 9),
    ("laneway-cli", "processes", 3),
    ("laneway-cli", "ranks", 5),
    ("laneway-cli", "lab", 38),
    ("laneway-cli", "mpi", 12),
    ("laneway-cli", "random", 2),
    ("laneway-cli", "reproduce", 5),
    ("laneway-cli", "reproduce_fullmesh", 3),
    ("laneway-cli", "reproduce_multilane", 6),
    ("laneway-cli", "measure", 20),
    ("laneway-cli", "measure_launches", 12),
    ("laneway-cli", "measure_p2p", 29),
    ("laneway-cli", "measure_pairs_sample", 4),
    ("laneway-cli", "measure_truth", 11),
    ("laneway-cli", "topo_opensm", 6),
    ("laneway-cli", "topo_agents", 3),
    ("laneway-cli", "examples", 10),
    ("laneway-topo", "failures", 8),
    ("laneway-topo", "repair", 11),
    ("laneway-topo", "job", 13),
    ("laneway-topo", "fuzz", 5),
    ("laneway-topo", "recognise", 8),
    ("laneway-measure", "accuracy", 16),
    ("laneway-measure", "p2p_damage", 3),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The tests in a file, or in all files of a folder.
fn tests_in(path: &Path) -> usize {
    let Ok(entries) = fs::read_dir(path) else {
        let text = fs::read_to_string(path).unwrap_or_default();
        // A macro makes one of each of its lines.
        let shards = text.matches("_in_shard_").count().saturating_sub(1);
        return text.lines().filter(|line| line.trim() == "#[test]").count() + shards;
    };
    entries.flatten().map(|entry| tests_in(&entry.path())).sum()
}

/// The modules that a pattern such as `test(/^(a|b_c|d[a-z_]*)::/)` names.
fn named<'m>(pattern: &str, modules: &[&'m str]) -> Vec<&'m str> {
    let of_word = |word: &str| -> Vec<&'m str> {
        let is_named = |module: &&&str| match word.strip_suffix("[a-z_]*") {
            Some(begin) => module.starts_with(begin),
            None => **module == word,
        };
        modules.iter().filter(is_named).copied().collect()
    };
    pattern
        .split('|')
        .flat_map(|word| {
            let found = of_word(word);
            assert!(!found.is_empty(), "`{word}` of .config/nextest.toml is not a module of LEAST");
            found
        })
        .collect()
}

#[test]
fn each_group_has_the_tests_that_it_had() {
    for &(package, module, least) in LEAST {
        let folder = package.strip_prefix("laneway-").expect("a package of ours");
        let it = root().join("crates").join(folder).join("tests/it");
        let found = tests_in(&it.join(module)) + tests_in(&it.join(format!("{module}.rs")));
        assert!(found >= least, "{package} {module}: {found} tests, there were {least}");
    }
}

#[test]
fn each_pattern_names_modules_that_are_there() {
    let text = fs::read_to_string(root().join(".config/nextest.toml")).expect("the settings");
    let text = text.replace('\n', " ");
    let modules: Vec<&str> = LEAST.iter().map(|(_, module, _)| *module).collect();
    let mut seen = Vec::new();
    for part in text.split("/^(").skip(1) {
        let pattern = part.split(")::/").next().expect("a pattern of modules");
        seen.extend(named(pattern, &modules));
    }
    let unseen: Vec<&&str> = modules.iter().filter(|module| !seen.contains(module)).collect();
    assert!(unseen.is_empty(), "no group has {unseen:?}");
}
