//! Files that a run might leave behind.

use laneway_needs::cases::Case;

/// The same case, which fails also where it leaves a file.
pub fn leaves_no_file(case: Case) -> Case {
    let Case { name, run } = case;
    let run = move || {
        let before = files_left();
        run()?;
        match files_left() {
            after if after == before => Ok(()),
            after => Err(format!("files before {before:?}, after {after:?}")),
        }
    };
    Case { name, run: Box::new(run) }
}

/// Files with our name where shared memory and sockets are usually left behind.
fn files_left() -> Vec<String> {
    ["/dev/shm", "/tmp", "/run"]
        .iter()
        .flat_map(std::fs::read_dir)
        .flatten()
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_dir()))
        .map(|entry| entry.path().display().to_string())
        .filter(|path| path.contains("laneway"))
        .collect()
}
