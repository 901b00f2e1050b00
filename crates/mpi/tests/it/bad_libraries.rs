//! Files that are no MPI: each gives an error that names the file and a way out, and no crash.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::process::{Outcome, probe, run};
use laneway_needs::{Need, file};

fn open(library: &Path) -> Outcome {
    let mut command = Command::new(probe());
    command.env_clear().env("LANEWAY_MPI", library).arg("info");
    run(command, Duration::from_secs(30))
}

fn refused(library: &Path, because: &str) {
    let Outcome { code, text } = open(library);
    assert_eq!(code, Some(3), "{}: {text}", library.display());
    assert!(text.contains(because), "{}: no '{because}' in {text}", library.display());
    assert!(text.contains(&library.display().to_string()), "{text}");
    assert!(text.contains("cause: "), "{text}");
}

/// The mathematics library that this very test has mapped, or else the C library.
fn no_mpi() -> PathBuf {
    let maps = std::fs::read_to_string("/proc/self/maps").expect("a process has maps");
    let mapped = |name: &str| {
        let paths = maps.lines().filter_map(|line| line.split_whitespace().nth(5));
        paths.into_iter().find(|path| path.contains(name)).map(PathBuf::from)
    };
    let near = mapped("/libc.so").expect("the C library is mapped");
    [near.with_file_name("libm.so.6")].into_iter().find(|path| path.is_file()).unwrap_or(near)
}

#[test]
fn files_other_than_mpi_are_refused() {
    let folder = std::env::temp_dir().join(format!("laneway-mpi-bad-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the files");
    let whole = std::fs::read(no_mpi()).expect("the library can be read");
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        std::fs::write(&path, bytes).expect("a file can be written");
        path
    };
    refused(&no_mpi(), "is not an MPI library\ncause: it has no MPI_Get_library_version");
    refused(&folder.join("absent.so"), "no MPI library at");
    refused(&file("empty.so", b""), "only 0 bytes");
    refused(&file("text.so", &b"/* a linker script */\n".repeat(8)), "not an ELF file");
    refused(&file("truncated.so", &whole[..whole.len() / 2]), "truncated");
    let mut foreign = whole.clone();
    foreign[18] = if cfg!(target_arch = "x86_64") { 183 } else { 62 };
    refused(&file("foreign.so", &foreign), "is built for");
    // A header that promises what the file does not hold must not reach the loader.
    let mut wild = whole;
    wild[32..40].copy_from_slice(&u64::MAX.to_le_bytes());
    refused(&file("wild.so", &wild), "truncated");
    std::fs::remove_dir_all(&folder).expect("the folder is ours");
}

#[test]
fn an_empty_folder_is_refused_with_the_places_that_were_looked_at() {
    let folder = std::env::temp_dir().join(format!("laneway-mpi-none-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let Outcome { code, text } = open(&folder);
    std::fs::remove_dir(&folder).expect("the folder is ours");
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains("no MPI library was found"), "{text}");
    assert!(text.contains(&folder.join("lib").display().to_string()), "{text}");
}

#[test]
fn a_simulator_is_refused_outside_a_simulation() {
    let folder = format!("/usr/lib/{}-linux-gnu", std::env::consts::ARCH);
    let library = Path::new(&folder).join("libsimgrid.so");
    if !Need::Simgrid.is_met(file(&library)) {
        return;
    }
    refused(&library, "works under smpirun alone");
}
