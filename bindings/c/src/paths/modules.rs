//! The paper's three modules, and paths that are taken out of use by hand.

use std::ffi::c_int;

use laneway_connections::{ConnectionId, Endpoint, NetError};
use laneway_path::{PathId, Refusal};

use super::held::find;
use super::*;
use crate::arguments::items;
use crate::last_error::{Coded, answer_coded};

/// Alternate path specification for a list of connections: `path` takes over when it is loaded and
/// the primary path dies, or when it is asked to. What was loaded before is not any more. Of these
/// three modules each is asked of every connection of the list, also after one has refused; the
/// code and the words are those of the first that did, and it goes on as before.
///
/// # Safety
/// `connections` has `count` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn laneway_paths_specify(
    paths: *mut Paths,
    connections: *const u32,
    count: c_int,
    path: c_int,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe {
        ask_each(paths, connections, count, |endpoint, id| endpoint.specify(&[id], path_id(path)?))
    }
}

/// Path loading request for a list of connections: their alternate paths are loaded at both ends
/// and tried. LANEWAY_EVENT_ARMED of each, or its state, tells when it is done.
///
/// # Safety
/// `connections` has `count` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn laneway_paths_load(
    paths: *mut Paths,
    connections: *const u32,
    count: c_int,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { ask_each(paths, connections, count, |endpoint, id| endpoint.load(&[id])) }
}

/// Path migration for a list of connections, which must be armed: their alternate paths become the
/// primary ones, at the peers as well. LANEWAY_EVENT_MIGRATED tells of each.
///
/// # Safety
/// `connections` has `count` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn laneway_paths_migrate(
    paths: *mut Paths,
    connections: *const u32,
    count: c_int,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { ask_each(paths, connections, count, |endpoint, id| endpoint.migrate(&[id])) }
}

/// Takes the traffic of every connection off a path, now or as soon as another one is armed, and
/// keeps it and that of later connections off.
#[unsafe(no_mangle)]
pub extern "C" fn laneway_paths_drain(paths: *mut Paths, path: c_int) -> c_int {
    answer_coded(|| Ok(find(paths)?.with(|endpoint| endpoint.drain(path_id(path)?))?))
}

/// Lets a path be used again.
#[unsafe(no_mangle)]
pub extern "C" fn laneway_paths_undrain(paths: *mut Paths, path: c_int) -> c_int {
    answer_coded(|| Ok(find(paths)?.with(|endpoint| endpoint.undrain(path_id(path)?))?))
}

/// Applies a request to every connection of a list; returns the first refusal.
///
/// # Safety
/// `connections` has `count` numbers.
unsafe fn ask_each(
    paths: *mut Paths,
    connections: *const u32,
    count: c_int,
    ask: impl Fn(&mut Endpoint, ConnectionId) -> Result<(), NetError>,
) -> c_int {
    answer_coded(|| {
        let held = find(paths)?;
        // SAFETY: as the caller promises.
        let numbers = unsafe { items(connections, count, "connections")? };
        let asked = held.with(|endpoint| {
            let ask = |number: &u32| ask(endpoint, ConnectionId(*number)).err();
            let refusals: Vec<_> = numbers.iter().map(ask).collect();
            // What follows leaves at once.
            endpoint.progress();
            refusals
        });
        let refusals = asked.iter().flatten().count();
        let first = numbers.iter().zip(asked).find_map(|(number, error)| Some((number, error?)));
        first.map_or(Ok(()), |(number, error)| {
            let cause = match refusals {
                1 => format!("connection {number}: {error}"),
                many => format!("connection {number} and {} more: {error}", many - 1),
            };
            Err(Coded::with_cause(&error, cause))
        })
    })
}

/// A path's number in C.
pub fn path_id(path: c_int) -> Result<PathId, NetError> {
    // More than any connection has.
    let number = u8::try_from(path).unwrap_or(u8::MAX);
    if c_int::from(number) == path { Ok(PathId(number)) } else { Err(unknown(number)) }
}

pub fn unknown(number: u8) -> NetError {
    NetError::Refused(Refusal::UnknownPath { path: PathId(number) })
}
