//! Connections that outlive their path, for any program in C: the three modules of the
//! path-migration paper and its four parts that a program calls (section 3). No MPI is needed.
//!
//! `open.rs` begins and ends, `communicate.rs` connects, sends and receives, `progress.rs` moves
//! things and tells what happened, `modules.rs` specifies, loads and migrates, `look.rs` tells how
//! paths and connections are. `setup.rs` reads what is done by itself, `held.rs` keeps what is
//! behind a handle, `event.rs` says in numbers what happened, `refused.rs` why not.

// In the order of the header.
mod open;

mod communicate;

mod progress;

mod modules;

mod look;

mod event;
mod held;
mod refused;
mod setup;

use std::ffi::{c_char, c_int, c_void};

/// What the thread does when an alternate path is armed: nothing.
pub const LANEWAY_ON_ARMED_NOTHING: c_int = 0;
/// The thread migrates when an alternate path is armed.
pub const LANEWAY_ON_ARMED_MIGRATE: c_int = 1;

/// What the thread does when a connection has migrated: it specifies another path and loads it.
pub const LANEWAY_ON_MIGRATED_REARM: c_int = 0;
/// The thread only specifies another path when a connection has migrated.
pub const LANEWAY_ON_MIGRATED_SPECIFY: c_int = 1;
/// The thread does nothing when a connection has migrated.
pub const LANEWAY_ON_MIGRATED_NOTHING: c_int = 2;

/// Nothing has happened.
pub const LANEWAY_EVENT_NONE: c_int = 0;
/// A connection that was begun here is open.
pub const LANEWAY_EVENT_CONNECTED: c_int = 1;
/// A peer has opened a connection, with its `label`.
pub const LANEWAY_EVENT_ACCEPTED: c_int = 2;
/// The peer of a connection that was begun here did not answer, or has another secret.
pub const LANEWAY_EVENT_NO_ANSWER: c_int = 3;
/// The peer has closed the connection; its receives will not be filled.
pub const LANEWAY_EVENT_CLOSED: c_int = 4;
/// The message `id` of `length` bytes has arrived at the peer.
pub const LANEWAY_EVENT_SENT: c_int = 5;
/// A message of `length` bytes is in the buffer that was posted as `id`.
pub const LANEWAY_EVENT_RECEIVED: c_int = 6;
/// The alternate path `path` is loaded and can take over.
pub const LANEWAY_EVENT_ARMED: c_int = 7;
/// The connection has left the path `from` for `path`; `cause` says why.
pub const LANEWAY_EVENT_MIGRATED: c_int = 8;
/// The alternate path `path` does not answer any more; it is being loaded again.
pub const LANEWAY_EVENT_UNHEALTHY: c_int = 9;
/// The peer loads the path `path`, which is not the alternate one here.
pub const LANEWAY_EVENT_WANTED: c_int = 10;
/// The connection is broken, in the state ERROR; `cause` says why.
pub const LANEWAY_EVENT_FAILED: c_int = 11;
/// The message `id` of a broken connection was not sent, or its arrival is unknown.
pub const LANEWAY_EVENT_SEND_FLUSHED: c_int = 12;
/// The buffer that was posted as `id` will not be filled: its connection is broken.
pub const LANEWAY_EVENT_RECEIVE_FLUSHED: c_int = 13;

/// There is no cause to tell.
pub const LANEWAY_CAUSE_NONE: c_int = 0;
/// Migrated because this end asked for it.
pub const LANEWAY_CAUSE_REQUEST: c_int = 1;
/// Migrated because the primary path died.
pub const LANEWAY_CAUSE_FAILURE: c_int = 2;
/// Migrated because the peer did.
pub const LANEWAY_CAUSE_PEER: c_int = 3;
/// Migrated because the primary path passed short packets only.
pub const LANEWAY_CAUSE_LENGTH: c_int = 8;
/// Migrated because the primary path lost packets, and the alternate one did not.
pub const LANEWAY_CAUSE_LOSS: c_int = 9;
/// Failed because the peer did not acknowledge a packet that was sent as often as allowed.
pub const LANEWAY_CAUSE_RETRIES: c_int = 4;
/// Failed because the peer had posted no receive as often as allowed.
pub const LANEWAY_CAUSE_NOT_READY: c_int = 5;
/// Failed because a message was longer than the buffer that was posted for it.
pub const LANEWAY_CAUSE_MESSAGE: c_int = 6;
/// Failed because this end asked for it.
pub const LANEWAY_CAUSE_ASKED: c_int = 7;

/// The states of a queue pair: nothing is known of a peer.
pub const LANEWAY_QP_RESET: c_int = 0;
/// A queue pair that has its primary path.
pub const LANEWAY_QP_INIT: c_int = 1;
/// A queue pair that is ready to receive.
pub const LANEWAY_QP_RTR: c_int = 2;
/// A queue pair that is ready to send.
pub const LANEWAY_QP_RTS: c_int = 3;
/// A queue pair whose send queue is drained.
pub const LANEWAY_QP_SQD: c_int = 4;
/// A queue pair that is broken.
pub const LANEWAY_QP_ERROR: c_int = 5;

/// The migration states: no alternate path is loaded.
pub const LANEWAY_MIGRATION_MIGRATED: c_int = 0;
/// The alternate path is being loaded.
pub const LANEWAY_MIGRATION_REARM: c_int = 1;
/// The alternate path can take over.
pub const LANEWAY_MIGRATION_ARMED: c_int = 2;

/// All connections of a process over the same paths. It is a name and no address: a handle that was
/// closed is refused like one that never was.
pub struct Paths {
    _none: [u8; 0],
}

/// This end of a path.
#[repr(C)]
pub struct LocalPath {
    /// An address of this machine, as "10.0.0.1" or "fd00::1".
    pub address: *const c_char,
    /// The device that packets leave and arrive by, and whose carrier is watched; or NULL.
    pub device: *const c_char,
    /// The first and the last port that are tried; 0 and 0 for any, 0 as the last for the first
    /// alone.
    pub first_port: u16,
    pub last_port: u16,
    /// The longest packet of the network, IP included; 0 for 1,500.
    pub mtu: c_int,
}

/// What the thread calls for an event of a path: ARMED, MIGRATED, UNHEALTHY, WANTED or FAILED.
/// laneway_paths_next_event tells the same event as well. The function may call the modules, send,
/// post receives and ask for states; what waits or closes the handle is refused there. It must not
/// wait for long, and must not end by an exception.
pub type OnEvent =
    Option<unsafe extern "C" fn(paths: *mut Paths, event: *const Event, data: *mut c_void)>;

/// How paths are opened. All that is 0 or NULL is as usual.
#[repr(C)]
pub struct PathsOptions {
    /// 1 to 8 paths, in the same order at both ends of a connection.
    pub paths: *const LocalPath,
    pub count: c_int,
    /// The job's secret: a file that only its owner can read, or bytes, at least 16; without one
    /// only loopback addresses are served.
    pub secret_file: *const c_char,
    pub secret: *const c_void,
    pub secret_length: usize,
    /// Not 0: peers may open connections to here.
    pub accepts: c_int,
    /// Not 0: no alternate path is loaded until the program does it; else one is at once.
    pub by_hand: c_int,
    /// What is done on ARMED and on MIGRATED: LANEWAY_ON_ARMED_..., LANEWAY_ON_MIGRATED_...
    pub on_armed: c_int,
    pub on_migrated: c_int,
    /// The path that connections begin with that are opened from here.
    pub first_path: c_int,
    /// Not 0: connections that are opened from here to one peer begin with different paths, in turn
    /// from `first_path` on, so that their load goes over all of them. Each goes back to the path
    /// that it began with, as with `fail_back`.
    pub spread: c_int,
    /// Not 0: a connection that is opened from here goes back to the path that it began with when
    /// that has been armed for `hold_ms` (0 for 200), and for twice as long each time that it died
    /// soon after, `most_hold_ms` (0 for 30,000) at most.
    pub fail_back: c_int,
    pub hold_ms: c_int,
    pub most_hold_ms: c_int,
    /// InfiniBand's code, 1 to 31, of the time in which a peer must acknowledge: 4.096 us times two
    /// to this power; 0 for 20, -1 waits for ever. And how often a packet is sent again before the
    /// connection fails, 1 to 7; 0 for 7, -1 never.
    pub ack_timeout: c_int,
    pub retries: c_int,
    /// InfiniBand's code, 1 to 31, of the time that a peer waits which found no buffer here; 0 for
    /// 12, 0.64 ms. And how often a message asks a peer without a buffer again, 1 to 6; 0 for ever,
    /// -1 never.
    pub not_ready_timer: c_int,
    pub not_ready_retries: c_int,
    /// Not 0: the asynchronous thread, which goes on while the program computes. Without it
    /// everything happens in calls, which then come from one thread at a time.
    pub thread: c_int,
    /// What the thread calls, with `data`; or NULL.
    pub on_event: OnEvent,
    pub data: *mut c_void,
}

/// What happened. Members that an event does not have are 0, paths -1.
#[repr(C)]
pub struct Event {
    /// LANEWAY_EVENT_...
    pub kind: c_int,
    /// The connection that it happened to.
    pub connection: u32,
    /// Of a message or a buffer, as it was given.
    pub id: u64,
    /// Bytes of a message.
    pub length: u64,
    /// Of a connection that a peer has opened.
    pub label: u64,
    pub path: c_int,
    /// The path that was left.
    pub from: c_int,
    /// LANEWAY_CAUSE_...
    pub cause: c_int,
}

/// How a connection is.
#[repr(C)]
pub struct ConnectionState {
    /// LANEWAY_QP_...
    pub queue_pair: c_int,
    /// LANEWAY_MIGRATION_...
    pub migration: c_int,
    pub primary: c_int,
    /// -1 where there is none.
    pub alternate: c_int,
    /// How often it has migrated, and how often a path of it was suspected to be dead.
    pub migrations: u64,
    pub suspicions: u64,
    /// Messages that were given and have not arrived.
    pub waiting: u64,
    /// Packets that were sent more than once.
    pub sent_again: u64,
    /// Nanoseconds there and back over the primary path, smoothed; 0 where it is not known yet.
    pub round_trip_ns: u64,
}

/// How a path is, and what went over it.
#[repr(C)]
pub struct PathState {
    /// 0 where its device has no carrier; 1 where it has, or no device was named.
    pub carrier: c_int,
    /// 1 where laneway_paths_drain, or a person, took it out of use.
    pub drained: c_int,
    /// Connections that have it as their primary path, and as their alternate one.
    pub primary_of: u64,
    pub alternate_of: u64,
    pub sent_packets: u64,
    pub sent_bytes: u64,
    pub received_packets: u64,
    pub received_bytes: u64,
}

/// What was counted since the paths were opened, over all connections, also those that are gone.
#[repr(C)]
pub struct PathsCounters {
    /// Packets that were dropped in silence because they belong to no connection here, came over
    /// another path or from another address than agreed, have a wrong tag, or are handshakes with
    /// another secret or out of turn.
    pub dropped_strange: u64,
    pub dropped_misplaced: u64,
    pub dropped_forged: u64,
    pub dropped_refused: u64,
    /// Packets of connections, and those of them that were sent more than once.
    pub sent: u64,
    pub received: u64,
    pub sent_again: u64,
    /// Packets that were refused though their tag was right: data that was there before, what no
    /// peer can have written, for another queue pair, again or far too late, in a state that takes
    /// none.
    pub duplicates: u64,
    pub malformed: u64,
    pub strange: u64,
    pub replayed: u64,
    pub unexpected: u64,
    pub migrations: u64,
    /// How often a path was suspected to be dead.
    pub suspicions: u64,
}
