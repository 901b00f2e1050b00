//! Completions, asked of the shells themselves.

use std::path::{Path, PathBuf};
use std::process::Command;

use laneway_needs::{Need, program};

/// What is typed, and the last word that comes of it; of several that begin so, one of them.
const TYPED: [(&str, &str); 8] = [
    ("measure coll bcast,barr", "bcast,barrier"),
    ("sites scatter,gather,exsc", "scatter,gather,exscan"),
    ("model compare bca", "bcast"),
    ("model fit --model hockney-p", "hockney-pairs"),
    ("sim bcast --algorithm binomial,neigh", "binomial,neighbour"),
    ("topo check --routing up", "up-down"),
    ("topo diff ml", "mlfm"),
    ("info alg", "algorithms"),
];

/// A script of completions, removed at the end.
struct Script(PathBuf);

impl Script {
    fn new(shell: &str) -> Script {
        let file = std::env::temp_dir().join(format!("laneway-{shell}-{}", std::process::id()));
        let mut command = Command::new(env!("CARGO_BIN_EXE_laneway"));
        let made = command.args(["completions", shell]).output().expect("the command starts");
        std::fs::write(&file, made.stdout).expect("a script");
        Script(file)
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn said_by(shell: &[&str], asked: &str) -> String {
    let asked = Command::new("timeout").arg("60").args(shell).args(["-c", asked]).output();
    let said = asked.expect("the shell runs");
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    String::from_utf8_lossy(&said.stdout).into_owned()
}

#[test]
fn bash_completes_lists_and_names() {
    let script = Script::new("bash");
    for (typed, wanted) in TYPED {
        let words: Vec<&str> = std::iter::once("laneway").chain(typed.split(' ')).collect();
        let [.., before, last] = &words[..] else { panic!("no words") };
        let asked = format!(
            "source {}\nCOMP_WORDS=({}); COMP_CWORD={}; _laneway laneway '{last}' '{before}'\n\
             printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            script.path().display(),
            words.join(" "),
            words.len() - 1
        );
        let offered = said_by(&["bash"], &asked);
        assert!(offered.lines().any(|line| line.starts_with(wanted)), "{typed}: {offered:?}");
        assert!(!offered.contains(",-"), "options are in no list: {offered}");
    }
}

#[test]
fn fish_completes_lists_and_names() {
    if !Need::Shells.is_met(program("fish")) {
        return;
    }
    let script = Script::new("fish");
    for (typed, wanted) in TYPED {
        let asked = format!("source {}; complete -C'laneway {typed}'", script.path().display());
        let offered = said_by(&["fish"], &asked);
        assert!(offered.lines().any(|line| line.starts_with(wanted)), "{typed}: {offered:?}");
    }
}

/// In a shell at a terminal, in which the command is a function that prints its words.
#[test]
fn zsh_completes_lists_and_names() {
    if !Need::Shells.is_met(program("zsh")) {
        return;
    }
    let script = Script::new("zsh");
    for (typed, wanted) in TYPED {
        let asked = format!(
            "zmodload zsh/zpty; zpty shell 'zsh -f -i'\n\
             zpty -w shell 'autoload -U compinit; compinit -D -u; source {}'\n\
             zpty -w shell 'laneway() {{ print got: $* }}'\n\
             zpty -w shell 'laneway {typed}'$'\\t'\n\
             while zpty -r shell line; do\n\
             [[ $line == got:* ]] && print -r -- $line && break\ndone; zpty -d shell",
            script.path().display()
        );
        let got = said_by(&["zsh", "-f"], &asked);
        let last = got.split_whitespace().last().unwrap_or_default();
        assert!(last.starts_with(wanted), "{typed}: {got:?}");
    }
}
