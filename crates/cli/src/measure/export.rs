//! An export file that could not be written is refused before anything is measured.

use std::path::Path;

use laneway_core::{Comm, Failure};

use crate::agree;
use crate::session::RankError;

/// Why nothing can be written there: it is a folder, or its folder is missing.
pub fn objection(file: Option<&str>) -> Option<String> {
    let file = Path::new(file?);
    if file.is_dir() {
        return Some("it is a folder".into());
    }
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty())?;
    (!folder.is_dir()).then(|| format!("there is no folder `{}`", folder.display()))
}

/// What is said then.
pub fn failure(file: Option<&str>, cause: String) -> Failure {
    let what = format!("cannot write `{}`", file.unwrap_or_default());
    Failure::usage(what, cause, "a folder that exists and can be written to")
}

/// Collective: rank 0 writes, so it alone looks.
pub fn refuse(comm: &dyn Comm, file: Option<&str>) -> Result<(), RankError> {
    let own = if comm.rank() == 0 { objection(file) } else { None };
    match agree::objection(comm, own)? {
        Some(cause) => Err(failure(file, cause).into()),
        None => Ok(()),
    }
}
