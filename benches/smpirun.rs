//! Our library under SimGrid's MPI, on a platform of ours.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use laneway_sim::platform::Platform;

/// Seconds that a run may take on a real clock.
const LIMIT: &str = "300";

/// The folder of what was built.
pub fn built() -> Result<PathBuf, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let folder = program.parent().and_then(Path::parent).ok_or("no folder")?;
    Ok(folder.to_path_buf())
}

/// Our library for SimGrid, in the folder of what was built; the reason for a missing judge was
/// printed before.
pub fn object(folder: &Path) -> Option<PathBuf> {
    if !is_there() {
        eprintln!("error: SimGrid's smpirun cannot be started: there is no judge");
        eprintln!("try:   apt-get install libsimgrid-dev");
        return None;
    }
    if is_old(folder, &folder.join("laneway")) {
        eprintln!("error: the library for SimGrid is older than the command, or not there");
        eprintln!("try:   cargo build --release -p laneway-smpi");
        return None;
    }
    Some(folder.join("liblaneway_smpi.so"))
}

/// Whether SimGrid's launcher can be started.
fn is_there() -> bool {
    let found = Command::new("smpirun").arg("-version").stdin(Stdio::null()).output();
    found.is_ok_and(|output| output.status.success())
}

/// Whether the library was built before the program: it would be other code.
fn is_old(folder: &Path, program: &Path) -> bool {
    let built = |file: &Path| file.metadata().and_then(|data| data.modified()).ok();
    built(&folder.join("liblaneway_smpi.so")) < built(program)
}

/// A platform as files for SimGrid, removed at the end, and its options.
pub struct Exported {
    folder: PathBuf,
    ranks: u32,
    pub arguments: Vec<String>,
}

impl Exported {
    /// The name is part of the folder's.
    pub fn new(platform: &Platform, name: &str) -> Result<Exported, String> {
        let export = platform.export_simgrid().map_err(|error| error.to_string())?;
        let files = [&export.platform_xml[..], &export.hostfile];
        Exported::of(files, platform.hosts(), export.arguments.clone(), name)
    }

    /// Of the texts of a platform and of a list of hosts.
    pub fn of(
        [platform, hosts]: [&str; 2],
        ranks: u32,
        arguments: Vec<String>,
        name: &str,
    ) -> Result<Exported, String> {
        let folder = format!("laneway-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        let wrong = |error: std::io::Error| error.to_string();
        std::fs::create_dir_all(&folder).map_err(wrong)?;
        let exported = Exported { folder, ranks, arguments };
        std::fs::write(exported.folder.join("platform.xml"), platform).map_err(wrong)?;
        std::fs::write(exported.folder.join("hostfile"), hosts).map_err(wrong)?;
        Ok(exported)
    }

    /// What the library prints to standard output.
    pub fn run(
        &self,
        settings: &[String],
        object: &Path,
        words: &[&str],
    ) -> Result<String, String> {
        let mut command = Command::new("timeout");
        command.args(["--kill-after=5", LIMIT, "smpirun", "-np", &self.ranks.to_string()]);
        command.arg("-platform").arg(self.folder.join("platform.xml"));
        command.arg("-hostfile").arg(self.folder.join("hostfile"));
        command.arg("--cfg=smpi/privatization:dlopen").args(settings);
        command.args(&self.arguments).arg(object).args(words);
        let output = command.stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
        if !output.status.success() {
            let err = String::from_utf8_lossy(&output.stderr);
            let tail: Vec<&str> = err.trim().lines().rev().take(5).collect();
            return Err(format!("{}: {}", output.status, tail.join(" / ")));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

impl Drop for Exported {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
