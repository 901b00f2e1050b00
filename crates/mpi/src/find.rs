//! Which library file to open, and why that one: the explicit choice first, then the installation
//! of the launcher that started us, then the library path.
//!
//! Open MPI 4 and 5 share one soname, so the loader's own search may give the ranks of one launcher
//! the library of another. That is why a launcher's folder is asked before any search path, and why
//! an empty one is an error and not a reason to look further.

use std::path::{Path, PathBuf};

use crate::error::MpiError;
use crate::launcher::{self, Environment, Kind, Launcher};
use crate::simulation;

/// A library file with the reason for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    pub file: PathBuf,
    pub why: String,
}

/// What the search looks at, so that tests can build a world of their own.
pub struct Surroundings<'a> {
    pub environment: Environment<'a>,
    /// The programs that this process descends from, the parent first.
    pub ancestors: Vec<PathBuf>,
    /// The folders that the system's loader searches, in its order.
    pub system: Vec<PathBuf>,
    /// The simulator that this process is a part of.
    pub simulator: Option<PathBuf>,
}

impl Surroundings<'_> {
    pub fn of_process() -> Surroundings<'static> {
        Surroundings {
            environment: &launcher::of_process,
            ancestors: ancestors(),
            system: system_folders(Path::new("/")),
            simulator: simulation::simulator(),
        }
    }
}

/// The names that an MPI library goes by, the likeliest first.
#[derive(Clone, Copy)]
enum Names {
    OpenMpi,
    Mpich,
    Any,
}

impl Names {
    fn list(self) -> &'static [&'static str] {
        match self {
            Names::OpenMpi => &["libmpi.so.40", "libmpi.so", "libmpi_abi.so.1", "libmpi_abi.so.0"],
            Names::Mpich => &[
                "libmpi.so.12",
                "libmpich.so.12",
                "libmpich.so",
                "libmpi.so",
                "libmpi_abi.so.1",
                "libmpi_abi.so.0",
            ],
            Names::Any => &[
                "libmpi.so.40",
                "libmpi.so.12",
                "libmpich.so.12",
                "libmpi_abi.so.1",
                "libmpi_abi.so.0",
                "libmpi.so",
                "libmpich.so",
            ],
        }
    }

    /// Whether a link such as libmpi.so, which the system's administrator turns, leads elsewhere.
    fn belongs_to_another(self, file: &Path) -> bool {
        let target = file.canonicalize().unwrap_or_else(|_| file.into());
        let target = target.file_name().map(|name| name.to_string_lossy().into_owned());
        let target = target.unwrap_or_default();
        match self {
            Names::OpenMpi => target.contains("mpich") || target.starts_with("libmpi.so.12"),
            Names::Mpich => target.starts_with("libmpi.so.40"),
            Names::Any => false,
        }
    }

    fn within(self, folder: &Path) -> Option<PathBuf> {
        let files = self.list().iter().map(|name| folder.join(name));
        files.filter(|file| file.is_file()).find(|file| !self.belongs_to_another(file))
    }
}

/// Chooses the library file. `explicit` is the caller's wish, before `LANEWAY_MPI`.
pub fn find(explicit: Option<&Path>, around: &Surroundings<'_>) -> Result<Choice, MpiError> {
    if let Some(path) = explicit {
        return chosen(path, "its name");
    }
    if let Some(path) = (around.environment)("LANEWAY_MPI").filter(|path| !path.is_empty()) {
        return chosen(Path::new(&path), "LANEWAY_MPI");
    }
    if let Ok(launcher) = launcher::detect(around.environment) {
        let (names, programs): (_, &[&str]) = match launcher.kind {
            Kind::OpenMpi => (Names::OpenMpi, &["orterun", "orted", "prterun", "prted", "prte"]),
            Kind::Hydra | Kind::Intel => (
                Names::Mpich,
                &["hydra_pmi_proxy", "hydra_bstrap_proxy", "mpiexec.hydra", "mpiexec.mpich"],
            ),
            Kind::Smpi => return within_simulation(around),
            Kind::Slurm | Kind::Pals | Kind::Other => return on_library_path(around),
        };
        return beside_launcher(&launcher, names, programs, around);
    }
    on_library_path(around)
}

/// The simulator is in this process already, or there is no simulation.
fn within_simulation(around: &Surroundings<'_>) -> Result<Choice, MpiError> {
    let why = "simulates this process".into();
    let file = around.simulator.clone();
    file.map(|file| Choice { file, why }).ok_or(MpiError::NotSimulated { file: None })
}

/// A file, a folder of libraries, or the folder that an MPI is installed in.
fn chosen(path: &Path, asked_by: &'static str) -> Result<Choice, MpiError> {
    let why = format!("chosen by {asked_by}");
    if path.is_dir() {
        let folders = [vec![path.to_path_buf()], library_folders(path)].concat();
        return match folders.iter().find_map(|folder| Names::Any.within(folder)) {
            Some(file) => Ok(Choice { file, why }),
            None => Err(MpiError::NotFound { looked_in: folders }),
        };
    }
    if !path.exists() {
        return Err(MpiError::Missing { path: path.into(), asked_by });
    }
    Ok(Choice { file: path.into(), why })
}

/// The library of the launcher's own installation: found from the nearest ancestor that is one of
/// its programs, or else from the prefixes that launchers leave in the environment.
fn beside_launcher(
    launcher: &Launcher,
    names: Names,
    programs: &[&str],
    around: &Surroundings<'_>,
) -> Result<Choice, MpiError> {
    let is_launcher = |program: &&PathBuf| {
        let name = program.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = name.unwrap_or_default();
        programs.contains(&name.as_str())
            || name.starts_with("mpirun")
            || name.starts_with("mpiexec")
    };
    let program = around.ancestors.iter().find(is_launcher);
    let prefix = program.and_then(|program| program.parent()?.parent());
    let beside = prefix.map(library_folders).unwrap_or_default();
    let named = named_by_launcher(launcher.kind, around.environment);
    // PRRTE may be installed apart from its Open MPI 5, which then says where it is itself. An
    // older Open MPI says nothing, and what is set comes from a run around this one.
    let is_prrte = program.is_none_or(|program| {
        program.file_name().is_some_and(|name| name.to_string_lossy().starts_with("prte"))
    });
    let folders = if is_prrte { [named, beside].concat() } else { [beside, named].concat() };
    let who = match program {
        Some(program) => program.display().to_string(),
        None => launcher.kind.name().into(),
    };
    if folders.is_empty() {
        // A remote daemon of another user hides its program, and then the path is all there is.
        return on_library_path(around);
    }
    match folders.iter().find_map(|folder| names.within(folder)) {
        Some(file) => Ok(Choice { file, why: format!("belongs to the launcher {who}") }),
        None => Err(MpiError::LauncherWithoutLibrary { launcher: who, looked_in: folders }),
    }
}

/// The folders that launchers leave in the environment of their ranks.
fn named_by_launcher(kind: Kind, environment: Environment<'_>) -> Vec<PathBuf> {
    let folder = |name: &str| environment(name).map(PathBuf::from).into_iter();
    let within = |name: &str| folder(name).flat_map(|prefix| library_folders(&prefix));
    match kind {
        Kind::OpenMpi => folder("OMPI_LIBDIR_LOC").chain(within("OPAL_PREFIX")).collect(),
        Kind::Intel => within("I_MPI_ROOT").collect(),
        _ => Vec::new(),
    }
}

fn on_library_path(around: &Surroundings<'_>) -> Result<Choice, MpiError> {
    let path = (around.environment)("LD_LIBRARY_PATH").unwrap_or_default();
    let path: Vec<_> = std::env::split_paths(&path).filter(|p| p.is_absolute()).collect();
    let listed = path.iter().map(|folder| (folder, "first on LD_LIBRARY_PATH"));
    let system = around.system.iter().map(|folder| (folder, "first in the system's folders"));
    let mut all = listed.chain(system);
    let found = all.find_map(|(folder, why)| Some((Names::Any.within(folder)?, why)));
    match found {
        Some((file, why)) => Ok(Choice { file, why: why.into() }),
        None => {
            Err(MpiError::NotFound { looked_in: [path.clone(), around.system.clone()].concat() })
        }
    }
}

/// Where an installation may keep its libraries: plainly, by Debian's or Red Hat's custom, in an
/// older Intel's folder of builds, or in a Debian flavour's own folder.
fn library_folders(prefix: &Path) -> Vec<PathBuf> {
    let multiarch = multiarch();
    let places = [
        "lib".to_string(),
        "lib64".to_string(),
        format!("lib/{multiarch}"),
        "lib/release".to_string(),
        "intel64/lib/release".to_string(),
        format!("lib/{multiarch}/openmpi/lib"),
        format!("lib/{multiarch}/mpich/lib"),
    ];
    places.iter().map(|place| prefix.join(place)).collect()
}

fn multiarch() -> String {
    format!("{}-linux-gnu", std::env::consts::ARCH)
}

/// The folders of the system's loader: those its configuration names, then those it always has.
fn system_folders(root: &Path) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    read_loader_configuration(root, &root.join("etc/ld.so.conf"), &mut folders, 4);
    let multiarch = multiarch();
    for place in [&format!("usr/lib/{multiarch}"), "usr/lib64", "usr/lib", "usr/local/lib"] {
        folders.push(root.join(place));
    }
    let mut seen = std::collections::BTreeSet::new();
    folders.retain(|folder| seen.insert(folder.clone()));
    folders
}

/// Reads one file of the loader's configuration; `depth` ends a circle of includes.
fn read_loader_configuration(root: &Path, file: &Path, out: &mut Vec<PathBuf>, depth: u32) {
    let Ok(text) = std::fs::read_to_string(file) else { return };
    for line in text.lines().map(|line| line.split('#').next().unwrap_or("").trim()) {
        match line.strip_prefix("include ") {
            None if line.is_empty() => {}
            None => out.push(root.join(line.trim_start_matches('/'))),
            Some(pattern) if depth > 0 => {
                // The one pattern in use: a folder, then "*" and an ending.
                let pattern = root.join(pattern.trim().trim_start_matches('/'));
                let ending = pattern.to_string_lossy().rsplit('*').next().map(str::to_owned);
                let (Some(folder), Some(ending)) = (pattern.parent(), ending) else { continue };
                let Ok(entries) = std::fs::read_dir(folder) else { continue };
                let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
                files.retain(|file| file.to_string_lossy().ends_with(&ending));
                files.sort();
                for file in files {
                    read_loader_configuration(root, &file, out, depth - 1);
                }
            }
            Some(_) => {}
        }
    }
}

/// The programs that this process descends from, the parent first, as far as they may be read.
fn ancestors() -> Vec<PathBuf> {
    const DEEPEST: usize = 32;
    let mut programs = Vec::new();
    let mut process = std::os::unix::process::parent_id();
    while process > 1 && programs.len() < DEEPEST {
        let folder = PathBuf::from(format!("/proc/{process}"));
        // Reading the link may be denied; an empty name keeps the walk going and matches nothing.
        programs.push(std::fs::read_link(folder.join("exe")).unwrap_or_default());
        let stat = std::fs::read_to_string(folder.join("stat")).unwrap_or_default();
        // The parent's number is the second field after the name, which ends with the last ")".
        let fields = stat.rsplit(')').next().unwrap_or("");
        process = fields.split_whitespace().nth(1).and_then(|n| n.parse().ok()).unwrap_or(0);
    }
    programs
}

#[cfg(test)]
#[path = "find_tests.rs"]
pub(crate) mod tests;
