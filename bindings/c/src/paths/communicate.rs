//! Communication: connections, messages and buffers.

use std::ffi::{c_char, c_int, c_void};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use laneway_connections::{ConnectionId, NetError, What};

use super::Paths;
use super::held::{Held, Receive, find, refuse_in_callback};
use super::progress::limit;
use super::refused::no_memory;
use crate::arguments::{items, refused, word};
use crate::last_error::{Coded, answer_coded};

/// An endpoint tells in time how a handshake went; this is for what comes between.
const GRACE: Duration = Duration::from_secs(1);
/// So often a call that waits for its connection looks whether another thread has its answer.
const LOOK: Duration = Duration::from_millis(10);

/// Begins to open a connection to a peer, whose address on each path is given as "10.0.0.2:40123",
/// in the order of the paths here. It is greeted at these, which may be fewer than its paths: both
/// ends tell each other the rest. The connection's number is written to `*connection`;
/// LANEWAY_EVENT_CONNECTED or, after `timeout_ms` milliseconds, LANEWAY_EVENT_NO_ANSWER reports the
/// outcome. The peer gets `label`.
///
/// # Safety
/// `peers` has `count` C strings, and `connection` has room for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn laneway_paths_begin_connect(
    paths: *mut Paths,
    peers: *const *const c_char,
    count: c_int,
    label: u64,
    limit_ms: c_int,
    connection: *mut u32,
) -> c_int {
    answer_coded(|| {
        let begin = |held: &Held, peers: &[SocketAddr], limit| {
            Ok(held.with(|endpoint| endpoint.begin_open(peers, label, limit))?)
        };
        // SAFETY: as the caller promises.
        unsafe { open(paths, peers, count, limit_ms, connection, begin) }
    })
}

/// The same, and waits until the connection is open or the time is over. No event tells of it.
///
/// # Safety
/// As for laneway_paths_begin_connect.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn laneway_paths_connect(
    paths: *mut Paths,
    peers: *const *const c_char,
    count: c_int,
    label: u64,
    limit_ms: c_int,
    connection: *mut u32,
) -> c_int {
    answer_coded(|| {
        refuse_in_callback()?;
        let connect = |held: &Held, peers: &[SocketAddr], limit| connect(held, peers, label, limit);
        // SAFETY: as the caller promises.
        unsafe { open(paths, peers, count, limit_ms, connection, connect) }
    })
}

/// Opens a connection in one way or the other, and writes its number.
///
/// # Safety
/// As for laneway_paths_begin_connect.
unsafe fn open(
    paths: *mut Paths,
    peers: *const *const c_char,
    count: c_int,
    limit_ms: c_int,
    connection: *mut u32,
    way: impl FnOnce(&Held, &[SocketAddr], Duration) -> Result<ConnectionId, Coded>,
) -> Result<(), Coded> {
    let held = find(paths)?;
    // SAFETY: as the caller promises.
    let peers = unsafe { addresses(peers, count, connection)? };
    let id = way(&held, &peers, limit(limit_ms)?)?;
    // SAFETY: it was seen not to be null; as the caller promises.
    unsafe { *connection = id.0 };
    Ok(())
}

fn connect(
    held: &Held,
    peers: &[SocketAddr],
    label: u64,
    limit: Duration,
) -> Result<ConnectionId, Coded> {
    let begun = Instant::now();
    let id = {
        // Locked until it is known that this call waits for it.
        let mut taken = held.taken();
        let id = held.with(|endpoint| endpoint.begin_open(peers, label, limit))?;
        taken.opening.insert(id);
        id
    };
    while begun.elapsed() < limit + GRACE {
        let went = held.taken().opened(id);
        match went {
            Some(What::Connected) => return Ok(id),
            Some(_) => break,
            // Events for other threads, not taken yet, are no reason to look again; that
            // another thread took what is for this call is.
            None => held.rest(LOOK.min(limit + GRACE - begun.elapsed().min(limit))),
        }
    }
    held.taken().opening.remove(&id);
    Err(NetError::NoAnswer { peer: peers[0].to_string(), seconds: limit.as_secs() }.into())
}

/// Sends a message of `length` bytes, which are copied: `data` is the caller's again at once.
/// LANEWAY_EVENT_SENT with `id` tells when it has arrived. Messages of a connection arrive once and
/// in the order of the calls, whatever becomes of its paths. The peer must have posted a buffer for
/// it; until then the message waits.
///
/// # Safety
/// `data` has `bytes` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn laneway_paths_send(
    paths: *mut Paths,
    connection: u32,
    id: u64,
    data: *const c_void,
    length: usize,
) -> c_int {
    answer_coded(|| {
        let held = find(paths)?;
        if data.is_null() && length > 0 {
            return Err(missing("data").into());
        }
        let mut message = room(length)?;
        if length > 0 {
            // SAFETY: it is not null; as the caller promises.
            let bytes = unsafe { std::slice::from_raw_parts(data.cast::<u8>(), length) };
            message.extend_from_slice(bytes);
        }
        Ok(held.with(|endpoint| endpoint.send(ConnectionId(connection), id, message))?)
    })
}

/// Gives a buffer of `length` bytes for one message; buffers are filled in the order of these
/// calls. It is the library's until LANEWAY_EVENT_RECEIVED or LANEWAY_EVENT_RECEIVE_FLUSHED with
/// `id` was taken, or LANEWAY_EVENT_CLOSED of the connection, or until the connection or the handle
/// is closed. The message is copied into it when its event is taken, by laneway_paths_next_event. A
/// message that is longer than its buffer breaks the connection, as on InfiniBand.
///
/// # Safety
/// `buffer` has this much room, and has no other user until then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn laneway_paths_post_receive(
    paths: *mut Paths,
    connection: u32,
    id: u64,
    buffer: *mut c_void,
    length: usize,
) -> c_int {
    answer_coded(|| {
        let held = find(paths)?;
        if buffer.is_null() && length > 0 {
            return Err(missing("buffer").into());
        }
        let (connection, space) = (ConnectionId(connection), room(length)?);
        let number = held.keep(Receive { connection, id, buffer: buffer.cast(), length });
        let posted = held.with(|endpoint| endpoint.post_receive(connection, number, space));
        Ok(posted.inspect_err(|_| held.give_up(number))?)
    })
}

/// Closes a connection and tells the peer. What has not arrived is lost, events of it that were not
/// taken are gone, and its buffers are the caller's again.
#[unsafe(no_mangle)]
pub extern "C" fn laneway_paths_disconnect(paths: *mut Paths, connection: u32) -> c_int {
    answer_coded(|| {
        let held = find(paths)?;
        let connection = ConnectionId(connection);
        // Locked until all of it is forgotten, so that its buffers are not filled.
        let mut taken = held.taken();
        held.with(|endpoint| endpoint.close(connection))?;
        taken.forget(connection);
        Ok(())
    })
}

/// # Safety
/// `peers` has `count` C strings.
unsafe fn addresses(
    peers: *const *const c_char,
    count: c_int,
    connection: *mut u32,
) -> Result<Vec<SocketAddr>, Coded> {
    if connection.is_null() {
        return Err(missing("connection").into());
    }
    let read = |text: &*const c_char| {
        // SAFETY: as the caller promises.
        let text = unsafe { word(*text, "a peer's address")? };
        text.parse().map_err(|_| {
            let try_this = "an address and a port as 10.0.0.2:40123 or [fd00::2]:40123";
            refused("invalid address", format!("`{text}`"), try_this)
        })
    };
    // SAFETY: as the caller promises.
    let peers = unsafe { items(peers, count, "peers")? };
    Ok(peers.iter().map(read).collect::<Result<_, _>>()?)
}

fn missing(name: &str) -> crate::failure::Failure {
    refused("an argument is missing", format!("{name} is NULL"), "an address with room for it")
}

/// So much memory, or a refusal.
fn room(length: usize) -> Result<Vec<u8>, Coded> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(length).map_err(|_| no_memory(length))?;
    Ok(bytes)
}
