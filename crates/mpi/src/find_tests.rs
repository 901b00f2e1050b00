//! The choice of a library on trees that are built for the purpose.

use std::sync::atomic::{AtomicU32, Ordering};

use std::ffi::OsString;

use super::*;

/// A folder of its own, removed at the end.
pub(crate) struct Tree(PathBuf);

impl Tree {
    pub(crate) fn new(name: &str) -> Tree {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let unique = format!("laneway-mpi-{name}-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(unique);
        std::fs::create_dir_all(&path).unwrap();
        Tree(path.canonicalize().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }

    fn library(&self, name: &str) -> PathBuf {
        self.file(name, b"a library")
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const OPEN_MPI: (&str, &str) = ("OMPI_COMM_WORLD_RANK", "0");
const HYDRA: (&str, &str) = ("PMI_RANK", "0");
const SIMULATED: (&str, &str) = ("SMPI_GLOBAL_SIZE", "2");
/// Stands for a process that has the simulator in it, which no variable tells.
const LOADED: (&str, &str) = ("loaded", "");

fn search(
    pairs: &[(&str, &str)],
    ancestors: &[PathBuf],
    system: &[PathBuf],
) -> Result<Choice, MpiError> {
    let environment =
        |name: &str| pairs.iter().find(|pair| pair.0 == name).map(|pair| OsString::from(pair.1));
    find(
        None,
        &Surroundings {
            environment: &environment,
            ancestors: ancestors.to_vec(),
            system: system.to_vec(),
            simulator: pairs.contains(&LOADED).then(|| PathBuf::from("libsimgrid.so")),
        },
    )
}

#[test]
fn the_explicit_choice_comes_first() {
    let tree = Tree::new("explicit");
    let (mine, other) = (tree.library("mine/lib/libmpi.so.12"), tree.library("sys/libmpi.so.40"));
    let system = [tree.path("sys")];
    let prefix = tree.path("mine");
    for wish in [&mine, &prefix, &tree.path("mine/lib")] {
        let choice = search(&[("LANEWAY_MPI", wish.to_str().unwrap()), OPEN_MPI], &[], &system);
        assert_eq!(
            choice.unwrap(),
            Choice { file: mine.clone(), why: "chosen by LANEWAY_MPI".into() }
        );
    }
    assert_eq!(search(&[("LANEWAY_MPI", "")], &[], &system).unwrap().file, other);
    let absent = search(&[("LANEWAY_MPI", "/nowhere/libmpi.so")], &[], &system).unwrap_err();
    assert!(matches!(absent, MpiError::Missing { .. }), "{absent:?}");
    let empty = tree.path("sys/empty");
    std::fs::create_dir(&empty).unwrap();
    let absent = search(&[("LANEWAY_MPI", empty.to_str().unwrap())], &[], &system).unwrap_err();
    assert!(matches!(absent, MpiError::NotFound { .. }), "{absent:?}");
}

#[test]
fn the_launchers_own_library_comes_before_the_same_soname_elsewhere() {
    let tree = Tree::new("launcher");
    let five = tree.library("five/lib/libmpi.so.40");
    tree.library("usr/lib/libmpi.so.40");
    let path = tree.path("usr/lib");
    let pairs = [OPEN_MPI, ("LD_LIBRARY_PATH", path.to_str().unwrap())];
    let ancestors = [
        PathBuf::from("/usr/bin/bash"),
        tree.path("five/bin/prterun"),
        tree.path("usr/bin/mpirun.openmpi"),
    ];
    let choice = search(&pairs, &ancestors, std::slice::from_ref(&path)).unwrap();
    assert_eq!(choice.file, five);
    assert!(choice.why.contains("five/bin/prterun"), "{}", choice.why);
}

#[test]
fn a_prefix_in_the_environment_serves_where_the_program_is_hidden() {
    let tree = Tree::new("prefix");
    let library = tree.library("five/lib64/libmpi.so.40");
    let prefix = tree.path("five");
    let pairs = [OPEN_MPI, ("OPAL_PREFIX", prefix.to_str().unwrap())];
    assert_eq!(search(&pairs, &[PathBuf::new()], &[]).unwrap().file, library);
}

#[test]
fn open_mpi_says_where_it_is_when_its_launcher_is_installed_apart() {
    let tree = Tree::new("apart");
    let five = tree.library("opt/five/lib/libmpi.so.40");
    let four = tree.library("usr/lib/libmpi.so.40");
    let named = tree.path("opt/five/lib");
    let pairs = [OPEN_MPI, ("OMPI_LIBDIR_LOC", named.to_str().unwrap())];
    let prrte = [tree.path("usr/bin/prterun")];
    assert_eq!(search(&pairs, &prrte, &[]).unwrap().file, five);
    // Version 4, started from a shell that version 5 started.
    let orte = [tree.path("usr/bin/orterun"), tree.path("opt/five/bin/prterun")];
    assert_eq!(search(&pairs, &orte, &[]).unwrap().file, four);
}

#[test]
fn a_launcher_without_a_library_is_an_error_and_no_reason_to_look_further() {
    let tree = Tree::new("bare");
    tree.library("usr/lib/libmpi.so.40");
    let ancestors = [tree.path("bare/bin/orterun")];
    let error = search(&[OPEN_MPI], &ancestors, &[tree.path("usr/lib")]).unwrap_err();
    let MpiError::LauncherWithoutLibrary { launcher, looked_in } = error else {
        panic!("{error:?}");
    };
    assert!(launcher.ends_with("bare/bin/orterun"));
    assert!(looked_in.contains(&tree.path("bare/lib")));
}

#[test]
fn two_mpis_in_one_folder_are_distinguished() {
    let tree = Tree::new("debian");
    let folder = format!("usr/lib/{}", multiarch());
    let open_mpi = tree.library(&format!("{folder}/libmpi.so.40.30.4"));
    let mpich = tree.library(&format!("{folder}/libmpich.so.12"));
    let link = tree.path(&format!("{folder}/libmpi.so"));
    std::os::unix::fs::symlink(&open_mpi, &link).unwrap();
    let hydra = [tree.path("usr/bin/hydra_pmi_proxy"), tree.path("usr/bin/mpiexec.hydra")];
    assert_eq!(search(&[HYDRA], &hydra, &[]).unwrap().file, mpich);
    let orte = [tree.path("usr/bin/orterun")];
    assert_eq!(search(&[OPEN_MPI], &orte, &[]).unwrap().file, link);
    std::fs::remove_file(&mpich).unwrap();
    let error = search(&[HYDRA], &hydra, &[]).unwrap_err();
    assert!(matches!(error, MpiError::LauncherWithoutLibrary { .. }), "{error:?}");
}

#[test]
fn slurm_leaves_the_choice_to_the_library_path() {
    let tree = Tree::new("slurm");
    let first = tree.library("first/libmpi.so.12");
    let second = tree.library("second/libmpi.so.40");
    let path = format!("{}:relative", tree.path("first").display());
    let slurm = [("SLURM_PROCID", "0"), ("PMI_RANK", "0")];
    let pairs = [slurm[0], slurm[1], ("LD_LIBRARY_PATH", &path)];
    let system = [tree.path("second")];
    assert_eq!(search(&pairs, &[], &system).unwrap().file, first);
    assert_eq!(search(&slurm, &[], &system).unwrap().file, second);
    let error = search(&slurm, &[], &[]).unwrap_err();
    assert!(matches!(error, MpiError::NotFound { .. }), "{error:?}");
}

#[test]
fn a_simulation_uses_the_simulator_that_it_is_in() {
    let tree = Tree::new("simulated");
    tree.library("lib/libmpi.so.40");
    let system = [tree.path("lib")];
    let inside = search(&[SIMULATED, LOADED, HYDRA], &[], &system).unwrap();
    assert_eq!(inside.file, Path::new("libsimgrid.so"));
    let error = search(&[SIMULATED], &[], &system).unwrap_err();
    assert_eq!(error, MpiError::NotSimulated { file: None });
}

#[test]
fn the_loaders_configuration_is_read_with_what_it_includes() {
    let tree = Tree::new("loader");
    tree.file("etc/ld.so.conf", b"include /etc/ld.so.conf.d/*.conf\n/opt/last/lib # why\n");
    tree.file("etc/ld.so.conf.d/b.conf", b"/opt/b/lib\n");
    tree.file("etc/ld.so.conf.d/a.conf", b"# a comment\n/opt/a/lib\ninclude /etc/ld.so.conf\n");
    tree.file("etc/ld.so.conf.d/ignored", b"/opt/ignored\n");
    let folders = system_folders(&tree.path(""));
    let expected = ["opt/a/lib", "opt/b/lib", "opt/last/lib"].map(|place| tree.path(place));
    let listed: Vec<_> = folders.iter().filter(|f| f.starts_with(tree.path("opt"))).collect();
    for place in &expected {
        assert!(listed.contains(&place), "{place:?} is not in {listed:?}");
    }
    assert_eq!(listed.len(), expected.len());
}

#[test]
fn this_process_has_ancestors() {
    assert!(!ancestors().is_empty());
}
