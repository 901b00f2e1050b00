//! The source is written in the field's words: a ratchet on words that a stranger stumbles over.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// How many lines of a room may have such a word; zero for a room without an entry. A count may
/// only fall: lower it here after rewriting lines.
const ALLOWED: &[(&str, usize)] = &[
    ("crates/coll", 2),
    ("crates/measure", 7),
    ("crates/model", 44),
    ("crates/sim", 7),
    ("crates/sites", 21),
];

/// A word that is not for code, in comments, texts and names of any case.
const WORDS: &[&str] =
    &["nobody", "somebody", "anybody", "everybody", "whoever", "told", "so many", "none where"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn is_letter(byte: Option<&u8>) -> bool {
    byte.is_some_and(u8::is_ascii_alphabetic)
}

/// Where `word` begins in a line, with nothing but whole words around it.
fn places<'l>(line: &'l str, word: &'l str) -> impl Iterator<Item = usize> + 'l {
    let whole = move |at: &usize| {
        let bytes = line.as_bytes();
        !(*at > 0 && is_letter(bytes.get(at - 1)) || is_letter(bytes.get(at + word.len())))
    };
    line.match_indices(word).map(|(at, _)| at).filter(whole)
}

/// Whether a line says "X is no Y". "There is no Y" and "is no longer" are plain English.
fn negates_a_noun(line: &str) -> bool {
    let mut found = places(line, "is no");
    found.any(|at| {
        let rest = line[at + "is no".len()..].strip_prefix(' ').unwrap_or("");
        let plain = ["longer ", "more ", "less "].iter().any(|word| rest.starts_with(word));
        let begins = rest.starts_with(|c: char| c.is_ascii_lowercase());
        begins && !plain && !line[..at].ends_with("there ")
    })
}

fn is_unclear(line: &str) -> bool {
    let line = line.to_ascii_lowercase().replace('_', " ");
    negates_a_noun(&line) || WORDS.iter().any(|word| places(&line, word).next().is_some())
}

/// Every Rust file and every page below a folder.
fn walk(dir: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            walk(&path, into);
        } else if path.extension().is_some_and(|ending| ending == "rs" || ending == "md") {
            into.push(path);
        }
    }
}

/// The lines with such words, by room: `crates/core`, `bindings/c`, `benches`.
fn unclear_lines() -> BTreeMap<String, Vec<String>> {
    let root = root().canonicalize().expect("the workspace");
    let mut files = Vec::new();
    for folder in ["crates", "bindings", "benches", "examples", "docs"] {
        walk(&root.join(folder), &mut files);
    }
    assert!(files.len() > 50, "only {} files found", files.len());
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in files {
        let name = file.strip_prefix(&root).expect("below the root").display().to_string();
        if name == "crates/cli/tests/it/words.rs" {
            continue;
        }
        let depth = if name.starts_with("crates") || name.starts_with("bindings") { 2 } else { 1 };
        let room = name.split('/').take(depth).collect::<Vec<_>>().join("/");
        let text = fs::read_to_string(&file).expect("readable source");
        let lines = text.lines().enumerate().filter(|(_, line)| is_unclear(line));
        let lines = lines.map(|(at, line)| format!("{name}:{}: {}", at + 1, line.trim()));
        found.entry(room).or_default().extend(lines);
    }
    found
}

#[test]
fn source_uses_the_words_of_the_field() {
    let found = unclear_lines();
    let mut faults = Vec::new();
    for (room, lines) in &found {
        let allowed = ALLOWED.iter().find(|(name, _)| name == room).map_or(0, |(_, count)| *count);
        let count = lines.len();
        if count > allowed {
            let lines = lines.join("\n");
            faults.push(format!("{room}: {count} unclear lines, {allowed} allowed:\n{lines}"));
        } else if count < allowed {
            faults.push(format!("{room}: lower the line from {allowed} to {count}"));
        }
    }
    let unknown = ALLOWED.iter().filter(|(room, _)| !found.contains_key(*room));
    faults.extend(unknown.map(|(room, _)| format!("{room}: there is no such room")));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn unclear_words_are_found_in_names_and_sentences() {
    for line in [
        "/// Nobody waits.",
        "let is_told = true;",
        "const NOBODY: u32 = 9;",
        "struct Told {",
        "/// None where it fails.",
        "/// So many bytes.",
        "\"it is no file\"",
        "fn whoever_asks() {}",
        "fn a_pair_is_no_node() {",
    ] {
        assert!(is_unclear(line), "{line}");
    }
    for line in [
        "untold",
        "the threshold",
        "there is no such file",
        "There is no lab",
        "it is no longer open",
        "this no",
        "`None` if it fails",
        "not so much",
    ] {
        assert!(!is_unclear(line), "{line}");
    }
}
