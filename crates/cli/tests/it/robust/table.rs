//! The table of `table.txt`: what every verb does where something is missing or broken.
//!
//! The file has the command lines and what is expected of them; `LANEWAY_REGENERATE=1` writes anew
//! what the commands do now, to be reviewed.
//!
//! A case is a line `  NAME: WORDS` and under it the exit code and the error, else the first line
//! of stderr, or of stdout where stderr has none. The words are those of the command, in a folder
//! with the files of [`Folder`], and at their end may stand where stdout goes: `> /dev/full`,
//! `>&-` (closed), `| :` (a pipe that is not read), or `^C` (SIGINT after a while).

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use super::{laneway, plain, said};

/// A command that is to be interrupted is at work when it has started ranks, or has computed for so
/// many ticks of 10 ms, and a little later.
const AT_WORK_TICKS: u64 = 10;
const LATER: Duration = Duration::from_millis(300);

/// One line of the table.
struct Case<'t> {
    verb: &'t str,
    name: &'t str,
    words: &'t str,
}

/// What a command did.
#[derive(Debug, PartialEq)]
struct Seen {
    code: String,
    line: String,
}

/// Its last third is cut from the middle of a line on.
const PLATFORM: &str = "[[site]]\nname = \"a\"\nlatency = \"10us\"\n\n[[host]]\n\
     name = \"n[0-3]\"\nsite = \"a\"\nrate = \"1Gbit\"\n";

/// Where the commands run, with good files of each kind and with bad ones.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("robust");
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a folder");
        let folder = Folder(folder);
        let make = |words: &str| {
            let output = folder.command(words).output().expect("timeout starts");
            assert!(output.status.success(), "{words}: {}", said(&output));
        };
        make("sim bcast --sizes 8,64K --platform cluster:4 --export good.json");
        make("sim bcast --algorithm binomial --sizes 8 --record links.json --platform cluster:4");
        make("model fit --backend sim:cluster:4 --model hockney -o model.toml");
        make("topo new --topology mlfm:d=4 -o fabric.topo");
        make("topo export --topology mlfm:d=4 --as ibnetdiscover -o found.topo");
        folder.file("platform.toml", PLATFORM);
        let names =
            ["good.json", "links.json", "model.toml", "found.topo", "fabric.topo", "platform.toml"];
        for name in names {
            let (stem, ending) = name.split_once('.').expect("an ending");
            let text = fs::read_to_string(folder.0.join(name)).expect("a file");
            folder.file(&format!("cut-{stem}.{ending}"), &text[..text.len() * 2 / 3]);
        }
        for ending in ["json", "csv", "html", "toml", "topo", "svg", "txt", "gp"] {
            folder.file(&format!("empty.{ending}"), "");
            symlink("/dev/full", folder.0.join(format!("full.{ending}"))).expect("a link");
        }
        folder
    }

    fn file(&self, name: &str, text: &str) {
        fs::write(self.0.join(name), text).expect("a file");
    }

    fn command(&self, words: &str) -> Command {
        let mut command = laneway();
        command.args(words.split_whitespace()).current_dir(&self.0);
        // Programs that others run here are not seen.
        command.env("LANEWAY_CONTROL_DIR", self.0.join("control"));
        command
    }

    fn run(&self, words: &str) -> Output {
        let (words, end) = split_end(words);
        let mut command = self.command(words);
        match end {
            "" => command.output(),
            "> /dev/full" => {
                let full = fs::OpenOptions::new().write(true).open("/dev/full");
                command.stdout(full.expect("a device")).stderr(Stdio::piped());
                command.spawn().and_then(|child| child.wait_with_output())
            }
            "| :" => {
                let (reader, writer) = std::io::pipe().expect("a pipe");
                drop(reader);
                command.stdout(writer).stderr(Stdio::piped());
                command.spawn().and_then(|child| child.wait_with_output())
            }
            ">&-" => {
                let mut shell = plain("sh");
                let line = format!("exec {} {words} >&-", env!("CARGO_BIN_EXE_laneway"));
                shell.args(["-c", &line]).current_dir(&self.0).output()
            }
            _ => self.interrupted(words),
        }
        .expect("it starts")
    }

    /// The command and what it has started get what Ctrl-C sends to them.
    fn interrupted(&self, words: &str) -> std::io::Result<Output> {
        let mut command = plain(env!("CARGO_BIN_EXE_laneway"));
        command.args(words.split_whitespace()).current_dir(&self.0);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.process_group(0).spawn()?;
        let begun = Instant::now();
        while !is_at_work(child.id()) {
            assert!(child.try_wait()?.is_none(), "{words} has ended by itself");
            assert!(begun.elapsed() < Duration::from_secs(30), "{words} does nothing");
            sleep(Duration::from_millis(10));
        }
        sleep(LATER);
        let group = format!("-{}", child.id());
        let killed = Command::new("kill").args(["-INT", "--", &group]).status()?;
        assert!(killed.success(), "{words} has ended by itself");
        child.wait_with_output()
    }

    fn see(&self, words: &str) -> Seen {
        let output = self.run(words);
        let code = match (output.status.code(), output.status.signal()) {
            (Some(code), _) => code.to_string(),
            (None, signal) => format!("signal {}", signal.unwrap_or_default()),
        };
        let first = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes).into_owned();
            let mut lines = text.lines().filter(|line| !line.trim().is_empty());
            // A note may come before an error.
            let error = lines.clone().find(|line| line.starts_with("error: "));
            error.or_else(|| lines.next()).map(|line| line.trim_end().to_owned())
        };
        let line = match output.status.success() {
            // The notes beside the result may be any.
            true => first(&output.stdout).or_else(|| first(&output.stderr)),
            false => first(&output.stderr).or_else(|| first(&output.stdout)),
        };
        // Of this machine is where the folder stands.
        let here = format!("{}/", self.0.display());
        Seen { code, line: line.unwrap_or_else(|| "nothing".into()).replace(&here, "") }
    }
}

fn is_at_work(pid: u32) -> bool {
    let read = |file: &str| fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default();
    let (children, stat) = (read(&format!("task/{pid}/children")), read("stat"));
    // Behind the name, which is in brackets: the state, ten numbers, and the ticks.
    let ticks = stat.rsplit(')').next().unwrap_or_default().split_whitespace().nth(11);
    !children.trim().is_empty()
        || ticks.and_then(|ticks| ticks.parse().ok()).unwrap_or(0u64) >= AT_WORK_TICKS
}

/// The words of a command, and where its stdout goes.
fn split_end(words: &str) -> (&str, &str) {
    let ends = ["> /dev/full", ">&-", "| :", "^C"];
    let end = ends.into_iter().find(|end| words.ends_with(end)).unwrap_or("");
    (words.trim_end_matches(end).trim_end(), end)
}

/// The cases of a table, and what it expects of them.
fn parse(table: &str) -> Vec<(Case<'_>, Seen)> {
    let (mut verb, mut cases) = ("", Vec::new());
    let mut lines = table.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    while let Some(line) = lines.next() {
        let Some(case) = line.strip_prefix("  ") else {
            verb = line;
            continue;
        };
        let (name, words) = case.split_once(": ").expect(line);
        let expected = lines.next().expect(line).trim_start();
        let (code, line) = expected.split_once("  ").expect(expected);
        let (code, line) = (code.to_owned(), line.to_owned());
        cases.push((Case { verb, name, words }, Seen { code, line }));
    }
    cases
}

/// The table with what was seen in the place of what it expected.
fn render(table: &str, seen: &[(Case<'_>, Seen)]) -> String {
    let head = table.lines().take_while(|line| line.is_empty() || line.starts_with('#'));
    let mut text: String = head.map(|line| format!("{line}\n")).collect();
    let mut verb = "";
    for (case, seen) in seen {
        if case.verb != verb {
            let gap = if verb.is_empty() { "" } else { "\n" };
            text += &format!("{gap}{}\n", case.verb);
            verb = case.verb;
        }
        text += &format!("  {}: {}\n    {}  {}\n", case.name, case.words, seen.code, seen.line);
    }
    text
}

#[test]
fn every_verb_says_what_is_missing_or_broken() {
    const TABLE: &str = include_str!("table.txt");
    let (folder, expected) = (Folder::new(), parse(TABLE));
    assert!(expected.len() > 100, "{} cases", expected.len());
    let next = AtomicUsize::new(0);
    let work = || {
        let mut own = Vec::new();
        while let Some((case, _)) = expected.get(next.fetch_add(1, Ordering::Relaxed)) {
            own.push((case.words, folder.see(case.words)));
        }
        own
    };
    let found: Vec<(&str, Seen)> = scope(|scope| {
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no case panics")).collect()
    });
    let of = |words: &str| {
        let (_, seen) = found.iter().find(|(other, _)| *other == words).expect(words);
        Seen { code: seen.code.clone(), line: seen.line.clone() }
    };
    let mut faults = Vec::new();
    for (case, expected) in &expected {
        let seen = of(case.words);
        if seen != *expected {
            let Case { verb, name, words } = case;
            faults.push(format!("{verb}, {name}: {words}\n  was  {expected:?}\n  is   {seen:?}"));
        }
        // Success with nothing to show for it.
        if seen.code == "0" && seen.line == "nothing" {
            faults.push(format!("{} ends with 0 and prints nothing", case.words));
        }
    }
    if std::env::var_os("LANEWAY_REGENERATE").is_some_and(|value| value == "1") {
        let seen: Vec<(Case<'_>, Seen)> = parse(TABLE)
            .into_iter()
            .map(|(case, _)| {
                let seen = of(case.words);
                (case, seen)
            })
            .collect();
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/robust/table.txt");
        fs::write(file, render(TABLE, &seen)).expect("the table is written");
        return;
    }
    assert!(faults.is_empty(), "{} cases differ:\n{}", faults.len(), faults.join("\n"));
}
