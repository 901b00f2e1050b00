//! The pages of the documentation: links that work, lines that fit, pages of a bounded length, and
//! an index that has them all.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The longest line of prose, in characters; tables, code and links may be longer.
const COLUMNS: usize = 160;
/// The most words of a page for readers. Reference tables count.
const WORDS: usize = 2_000;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace")
}

fn pages_of(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path());
    let mut pages: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|ending| ending == "md")).collect();
    pages.sort();
    pages
}

/// Every page with its text, by its path from the root.
fn pages() -> BTreeMap<String, String> {
    let root = root();
    let folders = ["docs", "docs/evidence", "docs/papers"];
    let mut files: Vec<PathBuf> =
        folders.iter().flat_map(|folder| pages_of(&root.join(folder))).collect();
    let top = ["README.md", "CHANGELOG.md", "ARCHITECTURE.md", "CONTRIBUTING.md"];
    files.extend(top.map(|name| root.join(name)));
    let name = |file: &Path| file.strip_prefix(&root).expect("below the root").to_owned();
    let text = |file: &Path| fs::read_to_string(file).expect("a page");
    files.iter().map(|file| (name(file).display().to_string(), text(file))).collect()
}

/// The lines outside of fenced blocks, with their numbers.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_fenced = false;
    text.lines().enumerate().filter_map(move |(number, line)| {
        let fence = line.starts_with("```");
        is_fenced ^= fence;
        (!is_fenced && !fence).then_some((number + 1, line))
    })
}

/// The anchor of a heading, as hosts of Markdown make it.
fn anchor(heading: &str) -> String {
    let letters = heading.trim().chars().flat_map(char::to_lowercase);
    let kept = letters.filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn anchors(text: &str) -> Vec<String> {
    let headings = lines(text).filter(|(_, line)| line.starts_with('#'));
    headings.map(|(_, line)| anchor(line.trim_start_matches('#'))).collect()
}

/// What the links of a text point to.
fn links(text: &str) -> Vec<&str> {
    let after = text.split("](").skip(1);
    after.filter_map(|rest| rest.split(')').next()).filter(|link| !link.contains("://")).collect()
}

#[test]
fn links_between_pages_work() {
    let (root, pages) = (root(), pages());
    let mut faults = Vec::new();
    for (name, text) in &pages {
        for link in links(text) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let folder = root.join(name).parent().expect("a folder").to_owned();
            let target = match file {
                "" => root.join(name),
                file => folder.join(file),
            };
            let Ok(target) = target.canonicalize() else {
                faults.push(format!("{name}: {link} does not exist"));
                continue;
            };
            let target = target.strip_prefix(&root).unwrap_or(&target).display().to_string();
            let found =
                pages.get(&target).is_none_or(|text| anchors(text).contains(&heading.into()));
            if !heading.is_empty() && !found {
                faults.push(format!("{name}: {link} has no such heading"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_index_has_every_page() {
    for (folder, index) in
        [("docs", "docs/README.md"), ("docs/evidence", "docs/evidence/README.md")]
    {
        let text = fs::read_to_string(root().join(index)).expect("the index");
        for page in pages_of(&root().join(folder)) {
            let name = page.file_name().expect("a name").to_string_lossy().into_owned();
            assert!(name == "README.md" || links(&text).contains(&&*name), "{index} lacks {name}");
        }
    }
}

#[test]
fn pages_are_short_and_lines_fit() {
    let mut faults = Vec::new();
    for (name, text) in &pages() {
        let is_for_readers = name.starts_with("docs/") && name.matches('/').count() == 1;
        let words = text.split_whitespace().count();
        if is_for_readers && words > WORDS {
            faults.push(format!("{name}: {words} words, {WORDS} at most"));
        }
        if !name.starts_with("docs/") {
            continue;
        }
        for (number, line) in lines(text) {
            let is_prose = !line.starts_with('|') && !line.starts_with("    ");
            let length = line.chars().count();
            if is_prose && length > COLUMNS && line.trim().contains(' ') {
                faults.push(format!("{name}:{number}: {length} columns, {COLUMNS} at most"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
