//! A folder in which examples run: the programs and files that they name.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// An example may take so long.
const LIMIT: Duration = Duration::from_secs(120);

/// Gives a command a simulated cluster: of two sites where it is about sites, and of 16 hosts at
/// most, as every pair of more is a matter of minutes.
const MPIRUN: &str = r#"#!/bin/sh
n=4
while [ $# -gt 0 ]; do
    case $1 in
        -n) n=$2; shift 2 ;;
        --map-by) shift 2 ;;
        *) break ;;
    esac
done
[ "$n" -gt 16 ] && n=16
case "$*" in
    *sites*) platform=two-sites:$((n / 2))x$((n - n / 2)) ;;
    *) platform=cluster:$n ;;
esac
LANEWAY_BACKEND=sim:$platform exec "$@"
"#;

/// Reads what a stranger's program would read.
const READER: &str = "#!/bin/sh\nexec cat >/dev/null\n";

const IMB: &str = "# Benchmarking Bcast\n# #processes = 4\n#-------\n       #bytes #repetitions  \
    t_min[usec]  t_max[usec]  t_avg[usec]\n           8          100         1.00         1.20\
         1.10\n";

/// What makes the files that examples read, in this order.
const BEFORE: &[&str] = &[
    "laneway measure coll bcast --backend sim:cluster:4 --export before.json",
    "for file in after run monday tuesday all-sizes; do cp before.json $file.json; done",
    "laneway measure coll bcast --backend sim:cluster:4 --sizes 8 --export some-sizes.json",
    "laneway measure coll bcast --backend sim:cluster:4 --format osu > osu.txt",
    "cp osu.txt osu-old.txt; cp osu.txt osu-new.txt",
    "laneway topo export -t mlfm:d=8 --as ibnetdiscover -o found.txt",
    "laneway topo new -t mlfm:d=8 -o plan.toml",
    "laneway topo new -t mlfm:p=36 -o fabric.toml",
    "laneway topo route -t mlfm:d=8 -o lfts.txt",
    "laneway topo export -t fat-tree-3:d=4 --as simgrid -o platform.xml",
    "echo 'graph { a -- b; a -- h1; b -- h2 }' > drawn.dot",
    "laneway model fit --backend sim:cluster:4 --model loggp -o loggp.toml",
    "laneway model fit --backend sim:cluster:4 --platform tomorrow.toml -o tonight.toml",
    "laneway sim scatter --algorithm linear --platform two-sites:8x8 --sizes 4M --record sim.json",
    "cp sim.json lab.json",
    "laneway sites measure --backend sim:two-sites:8x8 -o found.toml",
    "for file in sites platform; do echo \"include = ['two-sites:8x8']\" > $file.toml; done",
    "echo \"include = ['cluster:8']\" > racks.toml",
    "mkdir -p docs",
];

/// How an example ended.
pub enum Ended {
    /// With this code, and these words on stderr.
    Code(i32, String),
    TooLate,
}

/// The folder; it goes with the value.
pub struct Stage(PathBuf);

impl Stage {
    /// With all files that examples read.
    pub fn new() -> Stage {
        let stage = Stage::bare();
        fs::write(stage.0.join("imb.txt"), IMB).expect("a file");
        for command in BEFORE {
            match stage.run(command) {
                Ended::Code(0, _) => {}
                Ended::Code(code, stderr) => panic!("{command} ends with {code}: {stderr}"),
                Ended::TooLate => panic!("{command} does not end"),
            }
        }
        stage
    }

    /// With programs alone.
    pub fn bare() -> Stage {
        let folder = std::env::temp_dir().join(format!("laneway-examples-{}", std::process::id()));
        let bin = folder.join("bin");
        fs::create_dir_all(&bin).expect("a folder");
        symlink(env!("CARGO_BIN_EXE_laneway"), bin.join("laneway")).expect("a link");
        for (name, text) in [("mpirun", MPIRUN), ("jq", READER), ("dot", READER)] {
            let file = bin.join(name);
            fs::write(&file, text).expect("a script");
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("its mode");
        }
        Stage(folder)
    }

    fn shell(&self, command: &str) -> Command {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut shell = Command::new("bash");
        shell.args(["-c", command]).current_dir(&self.0).stdin(Stdio::null());
        shell.env("PATH", format!("{}:{path}", self.0.join("bin").display()));
        // Help texts are not wrapped, so that an example is one line.
        shell.env("COLUMNS", "1000");
        shell
    }

    /// Runs a command line as a group of its own, which ends with it.
    pub fn run(&self, command: &str) -> Ended {
        let (out, err) = (self.0.join("stdout"), self.0.join("stderr"));
        let file = |path: &Path| fs::File::create(path).expect("a file");
        let mut shell = self.shell(command);
        let mut child = shell.stdout(file(&out)).stderr(file(&err)).process_group(0).spawn();
        let child = child.as_mut().expect("bash starts");
        let begun = Instant::now();
        loop {
            if let Some(status) = child.try_wait().expect("a child") {
                let said = fs::read_to_string(&err).unwrap_or_default();
                return Ended::Code(status.code().unwrap_or(-1), said);
            }
            if begun.elapsed() > LIMIT {
                let group = format!("-{}", child.id());
                let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
                let _ = child.wait();
                return Ended::TooLate;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn help(&self, verb: &str) -> String {
        let output = self.shell(&format!("laneway {verb} --help")).output().expect("help");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The examples of every verb's help, with the verb.
    pub fn examples_of_help(&self) -> Vec<(String, String)> {
        let mut all = Vec::new();
        let mut open = vec![String::new()];
        while let Some(verb) = open.pop() {
            let help = self.help(&verb);
            let examples = part(&help, "Examples:");
            all.extend(examples.iter().map(|line| (format!("{verb} --help"), example(line))));
            let names = part(&help, "Commands:").into_iter();
            let names = names.filter_map(|line| line.split_whitespace().next());
            let names = names.filter(|name| *name != "help");
            open.extend(names.map(|name| format!("{verb} {name}").trim().to_string()));
        }
        // Verbs as they were found, so that a file is written before it is read.
        all.sort_by_key(|(verb, _)| verb.matches(' ').count());
        all
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The indented lines below a heading of a help text.
fn part<'t>(help: &'t str, heading: &str) -> Vec<&'t str> {
    let lines = help.lines().skip_while(|line| *line != heading).skip(1);
    let lines = lines.take_while(|line| !line.trim().is_empty());
    lines.filter(|line| line.starts_with("  ") && !line.starts_with("   ")).collect()
}

/// The command of a line: what stands before a comment, which two spaces set apart.
fn example(line: &str) -> String {
    let line = line.trim();
    let line = line.split("    # ").next().unwrap_or(line);
    line.split("  ").next().unwrap_or(line).trim().to_string()
}

/// The commands of the documentation, with file and line: those of indented blocks.
pub fn examples_of_docs(root: &Path) -> Vec<(String, String)> {
    let mut files: Vec<PathBuf> = fs::read_dir(root.join("docs"))
        .expect("docs")
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .collect();
    files.push(root.join("README.md"));
    files.sort();
    let mut all = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("a page");
        let name = file.strip_prefix(root).unwrap_or(&file).display().to_string();
        let mut set = String::new();
        // A command goes on behind a backslash; its place is that of its first line.
        let lines = text.lines().enumerate().map(|(number, line)| (number, line.to_string()));
        let lines = lines.fold(Vec::<(usize, String)>::new(), |mut all, (number, line)| {
            match all.last_mut() {
                Some((_, begun)) if begun.starts_with("    ") && begun.ends_with(" \\") => {
                    begun.truncate(begun.len() - 1);
                    begun.push_str(line.trim_start());
                }
                _ => all.push((number, line)),
            }
            all
        });
        for (number, line) in &lines {
            let Some(line) = line.strip_prefix("    ") else { continue };
            let line = line.strip_prefix("$ ").unwrap_or(line);
            let first = line.split_whitespace().next().unwrap_or_default();
            if let Some((variable, _)) = first.split_once('=') {
                let is_name = |letter: char| letter.is_ascii_uppercase() || letter == '_';
                if variable.chars().all(is_name) && !line.contains(' ') {
                    set += &format!("{line}; ");
                    continue;
                }
            }
            let starts =
                ["laneway", "mpirun", "srun"].contains(&first) || first.starts_with("LANEWAY_");
            if starts && line.contains("laneway ") {
                let uses = |word: &str| line.contains('$') && !word.is_empty();
                let before = if uses(&set) { set.as_str() } else { "" };
                all.push((format!("{name}:{}", number + 1), format!("{before}{}", example(line))));
            }
        }
    }
    all
}
