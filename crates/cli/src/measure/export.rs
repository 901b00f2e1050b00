//! An export file that could not be written is refused before anything is measured.

use std::fs::OpenOptions;
use std::path::Path;

use laneway_core::Comm;

use crate::failure::Failure;
use crate::output;
use crate::session::RankError;
use laneway_core::talk;

/// Why nothing can be written there: it is a folder, its folder is missing, or it cannot be opened.
pub fn objection(file: Option<&str>) -> Option<String> {
    let file = Path::new(file?);
    if file.is_dir() {
        return Some("it is a folder".into());
    }
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        return Some(format!("there is no folder `{}`", folder.display()));
    }
    if file.is_file() {
        return OpenOptions::new().append(true).open(file).err().map(|error| error.to_string());
    }
    // A pipe would wait for its reader.
    if file.exists() {
        return None;
    }
    // Not under its own name: a reader that waits for the file would find an empty one, then none.
    let beside = output::beside(file);
    let opened = OpenOptions::new().append(true).create(true).open(&beside);
    let _ = std::fs::remove_file(&beside);
    opened.err().map(|error| error.to_string())
}

/// What is said then.
pub fn failure(file: Option<&str>, cause: String) -> Failure {
    let file = file.unwrap_or_default();
    let what = format!("cannot write `{file}`");
    Failure::environment(what, cause, output::writable(Path::new(file)))
}

/// Collective: rank 0 writes, so it alone looks.
pub fn refuse(comm: &dyn Comm, file: Option<&str>) -> Result<(), RankError> {
    let own = if comm.rank() == 0 { objection(file) } else { None };
    match talk::objection(comm, own)? {
        Some(cause) => Err(failure(file, cause).into()),
        None => Ok(()),
    }
}
