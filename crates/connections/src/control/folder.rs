//! The folder of control sockets: one a service, named after its process.

use std::fs::{self, DirBuilder, FileType, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::error::NetError;

/// Names the folder in place of the usual one.
pub const VARIABLE: &str = "LANEWAY_CONTROL_DIR";

/// The user who runs this process.
pub(super) fn user() -> u32 {
    // SAFETY: the call has no arguments and cannot fail.
    unsafe { libc::geteuid() }
}

/// Where the sockets of this user's processes are.
pub fn folder() -> PathBuf {
    match std::env::var_os(VARIABLE).filter(|folder| !folder.is_empty()) {
        Some(folder) => folder.into(),
        None => format!("/tmp/laneway-{}", user()).into(),
    }
}

fn unusable(folder: &Path, why: impl ToString) -> NetError {
    NetError::ControlFolder { folder: folder.display().to_string(), why: why.to_string() }
}

/// The folder, made where it is not there, for this user alone.
pub(super) fn make(folder: &Path) -> Result<(), NetError> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(unusable(folder, error)),
        _ => examine(folder, user()),
    }
}

/// Refuses a folder that another user can write to. A link is refused too: it may be moved.
fn examine(folder: &Path, owner: u32) -> Result<(), NetError> {
    let about: Metadata = fs::symlink_metadata(folder).map_err(|error| unusable(folder, error))?;
    let why = if !about.is_dir() {
        "it is not a folder"
    } else if about.uid() != owner {
        "it belongs to another user"
    } else if about.mode() & 0o022 != 0 {
        "others may write to it"
    } else {
        return Ok(());
    };
    Err(unusable(folder, why))
}

/// The name of a process's n-th socket.
pub(super) fn name(pid: u32, service: u32) -> String {
    match service {
        0 => format!("{pid}.sock"),
        service => format!("{pid}-{service}.sock"),
    }
}

/// Process and number of a socket, by its name.
fn read_name(name: &str) -> Option<(u32, u32)> {
    let stem = name.strip_suffix(".sock")?;
    let (pid, service) = match stem.split_once('-') {
        Some((pid, service)) => (pid.parse().ok()?, service.parse().ok()?),
        None => (stem.parse().ok()?, 0),
    };
    (self::name(pid, service) == name).then_some((pid, service))
}

/// The sockets that lie there, with process and number, ordered; root may list every user's.
pub(super) fn sockets(folder: &Path) -> Result<Vec<(u32, u32, PathBuf)>, NetError> {
    let owner = match fs::symlink_metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(unusable(folder, error)),
        Ok(about) if user() == 0 => about.uid(),
        Ok(_) => user(),
    };
    examine(folder, owner)?;
    let entries = fs::read_dir(folder).map_err(|error| unusable(folder, error))?;
    let mut found: Vec<(u32, u32, PathBuf)> = entries
        .flatten()
        .filter_map(|entry| {
            let (pid, service) = read_name(entry.file_name().to_str()?)?;
            entry.file_type().ok().filter(FileType::is_socket)?;
            Some((pid, service, entry.path()))
        })
        .collect();
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for (pid, service) in [(1, 0), (4_000_000, 0), (17, 1), (17, 300)] {
            assert_eq!(read_name(&name(pid, service)), Some((pid, service)));
        }
        for other in ["", ".sock", "1", "1-0.sock", "01.sock", "+1.sock", "x.sock", "1-2-3.sock"] {
            assert_eq!(read_name(other), None, "{other}");
        }
    }
}
