//! What a measurement keeps of its results before its end, and what that costs.

use std::fs;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

/// A folder that goes when the test is over.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("laneway-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder");
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn start(folder: &Folder, args: &str) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_laneway"));
    command.args(args.split(' ')).current_dir(&folder.0).stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the command starts")
}

fn run(folder: &Folder, args: &str) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_laneway"));
    let output = command.args(args.split(' ')).current_dir(&folder.0).output().expect("it starts");
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&said).into_owned())
}

/// The rows that the journal has.
fn lines(journal: &Path) -> usize {
    let text = fs::read_to_string(journal).unwrap_or_default();
    text.matches('\n').count().saturating_sub(1)
}

/// Waits for some rows, and ends the run by a signal; gives what it said.
fn stop(mut child: Child, journal: &Path, signal: i32) -> (std::process::ExitStatus, String) {
    let begun = Instant::now();
    while lines(journal) < 3 || !journal.with_extension("").exists() {
        assert!(begun.elapsed() < Duration::from_secs(60), "no row in {}", journal.display());
        assert!(child.try_wait().expect("a child").is_none(), "it ended by itself");
        sleep(Duration::from_millis(5));
    }
    // SAFETY: the child was not waited for, so the number is its own.
    assert_eq!(unsafe { libc::kill(child.id() as i32, signal) }, 0);
    let status = child.wait().expect("a child");
    let mut text = String::new();
    child.stderr.take().expect("a pipe").read_to_string(&mut text).expect("text");
    (status, text)
}

const MANY: &str = "measure coll bcast,allreduce --algorithm all --backend sim:cluster:16 --sizes \
                    1K:28K:+1K";

/// A killed run leaves its rows, and both files say that they are not all.
#[test]
fn a_killed_run_leaves_what_was_done() {
    for (name, args, journal) in [
        ("coll", format!("{MANY} --export new.json"), "new.json.journal"),
        (
            "p2p",
            "measure p2p --backend sim:cluster:16 --pairs all --sizes 8:1M --export new.csv".into(),
            "new.csv.journal",
        ),
        (
            "pairs",
            "measure pairs --backend sim:cluster:48 --export new.json".into(),
            "new.json.journal",
        ),
    ] {
        let folder = Folder::new(&format!("kept-{name}"));
        let journal = folder.0.join(journal);
        let (status, _) = stop(start(&folder, &args), &journal, libc::SIGKILL);
        assert_eq!(status.signal(), Some(libc::SIGKILL));
        let export = journal.with_extension("");
        for file in [&journal, &export] {
            let file = file.file_name().and_then(|name| name.to_str()).expect("a name");
            let (code, said) = run(&folder, &format!("compare {file} {file}"));
            assert_eq!(code, Some(1), "{name} {file}: {said}");
            assert!(said.contains(&format!("{file} is incomplete (")), "{said}");
            let (code, said) = run(&folder, &format!("compare {file} {file} --allow-missing"));
            assert_eq!(code, Some(0), "{name} {file}: {said}");
        }
        // A journal holds every row that was measured before the end, the last rendering may be
        // a second older.
        let text = fs::read_to_string(&journal).expect("a journal");
        let rows = text.lines().skip(1).filter(|line| serde_json::from_str::<Value>(line).is_ok());
        assert!(rows.count() >= 3, "{text}");
    }
}

/// The command that starts the ranks writes no journal, and says what theirs has.
#[test]
fn an_interrupted_run_says_what_it_kept() {
    for (name, args) in [
        ("sim", MANY),
        (
            "local",
            "measure coll bcast --algorithm all --ranks 2 --sizes 8:1M --max-reps 40 --min-reps 30",
        ),
    ] {
        for (signal, code) in [(libc::SIGTERM, 143), (libc::SIGINT, 130)] {
            let folder = Folder::new(&format!("interrupt-{name}-{signal}"));
            let journal = folder.0.join("new.json.journal");
            let child = start(&folder, &format!("{args} --export new.json"));
            let (status, said) = stop(child, &journal, signal);
            let shell = status.code().or(status.signal().map(|signal| 128 + signal));
            assert_eq!(shell, Some(code), "{name}: {said}");
            let rows = said.lines().find_map(|line| line.strip_prefix("kept ")).expect(&said);
            assert!(
                rows.contains(" of a run of ") && rows.ends_with(" in new.json.journal"),
                "{said}"
            );
            let count: usize = rows.split(' ').next().and_then(|n| n.parse().ok()).expect(rows);
            assert!(count >= 3 && count <= lines(&journal), "{said}");
        }
    }
}

/// How often the export file is put in its place, seen from outside.
struct Placings(i32);

impl Placings {
    fn of(folder: &Folder) -> Placings {
        let path = std::ffi::CString::new(folder.0.to_str().expect("a name")).expect("a path");
        // SAFETY: the call takes a number and gives a descriptor.
        let watch = unsafe { libc::inotify_init1(libc::IN_NONBLOCK) };
        // SAFETY: the path is a C string that lives until the call is over.
        let added = unsafe { libc::inotify_add_watch(watch, path.as_ptr(), libc::IN_MOVE) };
        assert!(watch >= 0 && added >= 0);
        Placings(watch)
    }

    fn count(&self) -> usize {
        let mut count = 0;
        let mut buffer = [0u8; 4096];
        loop {
            // SAFETY: the buffer has as many bytes as are asked for.
            let read = unsafe { libc::read(self.0, buffer.as_mut_ptr().cast(), buffer.len()) };
            let Ok(read @ 1..) = usize::try_from(read) else { return count };
            let mut at = 0;
            while at < read {
                let word =
                    |at: usize| u32::from_ne_bytes(buffer[at..at + 4].try_into().expect("4 bytes"));
                // What is moved away comes between, as equal events in a row would be one.
                count += usize::from(word(at + 4) & libc::IN_MOVED_TO != 0);
                at += 16 + word(at + 12) as usize;
            }
        }
    }
}

/// 476 points are rendered at the beginning, once a second, and at the end: not 476 times.
#[test]
fn an_export_is_rendered_once_a_second_at_most() {
    let folder = Folder::new("placings");
    let placings = Placings::of(&folder);
    let begun = Instant::now();
    let (code, said) = run(&folder, &format!("{MANY} --keep --export new.json"));
    let seconds = begun.elapsed().as_secs_f64();
    assert_eq!(code, Some(0), "{said}");
    let count = placings.count();
    assert!(count >= 2 && count <= 2 + seconds as usize, "{count} in {seconds} s");
    let text = fs::read_to_string(folder.0.join("new.json")).expect("the export");
    let json: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(json["complete"], true);
    assert_eq!(json["rows"].as_array().map(Vec::len), Some(476));
    assert!(!folder.0.join("new.json.journal").exists());
}

/// A page is not a text for a terminal.
#[test]
fn a_terminal_gets_no_page() {
    let folder = Folder::new("terminal");
    fs::write(folder.0.join("a.csv"), "op,size_bytes,time_us\nbcast,8,2.0\n").expect("a file");
    let (mut near, mut far) = (0, 0);
    let none = std::ptr::null_mut::<libc::c_void>();
    // SAFETY: both numbers are valid for the call, and no name and no settings are asked for.
    let done = unsafe { libc::openpty(&mut near, &mut far, none.cast(), none.cast(), none.cast()) };
    assert_eq!(done, 0);
    use std::os::fd::FromRawFd;
    // SAFETY: the descriptor is ours alone.
    let terminal = unsafe { Stdio::from_raw_fd(far) };
    let mut command = Command::new(env!("CARGO_BIN_EXE_laneway"));
    command.args(["report", "a.csv"]).current_dir(&folder.0).stdout(terminal);
    let output = command.stderr(Stdio::piped()).spawn().and_then(Child::wait_with_output);
    let output = output.expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("try:   laneway report a.csv -o report.html"), "{said}");
}
