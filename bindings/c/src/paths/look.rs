//! How paths and connections are, and what was counted.

use std::ffi::c_int;

use laneway_connections::{ConnectionId, Dropped, Endpoint};
use laneway_path::{Connection, Counters, MigrationState, PathId, QpState};

use super::event::number;
use super::held::find;
use super::modules::{path_id, unknown};
use super::*;
use crate::arguments::refused;
use crate::failure::Failure;
use crate::last_error::answer_coded;

/// How a connection is, written to `*state`.
///
/// # Safety
/// `state` has room for one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn laneway_paths_state(
    paths: *mut Paths,
    connection: u32,
    state: *mut ConnectionState,
) -> c_int {
    answer_coded(|| {
        let held = find(paths)?;
        let state = there(state, "state")?;
        let seen = held.with(|end| end.get(ConnectionId(connection)).map(of_connection))?;
        // SAFETY: it is not null; as the caller promises.
        unsafe { state.write(seen) };
        Ok(())
    })
}

/// How a path is, and what went over it, written to `*state`.
///
/// # Safety
/// `state` has room for one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn laneway_paths_path_state(
    paths: *mut Paths,
    path: c_int,
    state: *mut PathState,
) -> c_int {
    answer_coded(|| {
        let held = find(paths)?;
        let state = there(state, "state")?;
        let path = path_id(path)?;
        let seen = held.with(|endpoint| of_path(endpoint, path)).ok_or(unknown(path.0))?;
        // SAFETY: it is not null; as the caller promises.
        unsafe { state.write(seen) };
        Ok(())
    })
}

/// What was counted, packets that were dropped in silence included, written to `*counters`.
///
/// # Safety
/// `counters` has room for them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn laneway_paths_counters(
    paths: *mut Paths,
    counters: *mut PathsCounters,
) -> c_int {
    answer_coded(|| {
        let held = find(paths)?;
        let counters = there(counters, "counters")?;
        let (dropped, totals) = held.with(|endpoint| (endpoint.dropped(), endpoint.totals()));
        // SAFETY: it is not null; as the caller promises.
        unsafe { counters.write(in_numbers(dropped, totals)) };
        Ok(())
    })
}

/// The connections that are open, from either end: their numbers are written to `numbers`, which
/// has room for `length`, and how many there are to `*count`, also where that is more.
///
/// # Safety
/// `numbers` has so much room, and `count` has room for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn laneway_paths_connections(
    paths: *mut Paths,
    numbers: *mut u32,
    length: c_int,
    count: *mut c_int,
) -> c_int {
    answer_coded(|| {
        let held = find(paths)?;
        let count = there(count, "count")?;
        let room = match usize::try_from(length) {
            Ok(0) => 0,
            Ok(room) => there(numbers, "numbers").map(|_| room)?,
            Err(_) => {
                let cause = format!("{length} numbers");
                return Err(refused("invalid length", cause, "0 or more").into());
            }
        };
        let all: Vec<u32> = held.with(|end| end.connections().map(Connection::number).collect());
        // SAFETY: neither is null where it is written; as the caller promises.
        unsafe {
            count.write(c_int::try_from(all.len()).unwrap_or(c_int::MAX));
            for (at, connection) in all.iter().take(room).enumerate() {
                numbers.add(at).write(*connection);
            }
        }
        Ok(())
    })
}

/// An address that something is written to.
fn there<T>(address: *mut T, name: &str) -> Result<*mut T, Failure> {
    match address.is_null() {
        true => Err(refused("an argument is missing", format!("{name} is NULL"), "its address")),
        false => Ok(address),
    }
}

fn of_connection(known: &Connection) -> ConnectionState {
    let counters = known.counters();
    ConnectionState {
        queue_pair: match known.state() {
            QpState::Reset => LANEWAY_QP_RESET,
            QpState::Init => LANEWAY_QP_INIT,
            QpState::Rtr => LANEWAY_QP_RTR,
            QpState::Rts => LANEWAY_QP_RTS,
            QpState::Sqd => LANEWAY_QP_SQD,
            QpState::Error => LANEWAY_QP_ERROR,
        },
        migration: match known.migration() {
            MigrationState::Migrated => LANEWAY_MIGRATION_MIGRATED,
            MigrationState::Rearm => LANEWAY_MIGRATION_REARM,
            MigrationState::Armed => LANEWAY_MIGRATION_ARMED,
        },
        primary: number(known.primary()),
        alternate: known.alternate().map_or(-1, number),
        migrations: counters.migrations,
        suspicions: counters.suspicions,
        waiting: known.waiting() as u64,
        sent_again: counters.sent_again,
        round_trip_ns: known.round_trip(known.primary()).unwrap_or(0),
    }
}

fn of_path(endpoint: &Endpoint, path: PathId) -> Option<PathState> {
    let seen = endpoint.path_status().into_iter().nth(usize::from(path.0))?;
    let count = |is: &dyn Fn(&Connection) -> bool| {
        endpoint.connections().filter(|connection| is(connection)).count() as u64
    };
    Some(PathState {
        carrier: c_int::from(seen.carrier),
        drained: c_int::from(seen.drained),
        primary_of: count(&|connection| connection.primary() == path),
        alternate_of: count(&|connection| connection.alternate() == Some(path)),
        sent_packets: seen.sent.packets,
        sent_bytes: seen.sent.bytes,
        received_packets: seen.received.packets,
        received_bytes: seen.received.bytes,
    })
}

fn in_numbers(dropped: Dropped, totals: Counters) -> PathsCounters {
    PathsCounters {
        dropped_strange: dropped.strange,
        dropped_misplaced: dropped.misplaced,
        dropped_forged: dropped.forged,
        dropped_refused: dropped.refused,
        sent: totals.sent,
        received: totals.received,
        sent_again: totals.sent_again,
        duplicates: totals.duplicates,
        malformed: totals.malformed,
        strange: totals.strange,
        replayed: totals.replayed,
        unexpected: totals.unexpected,
        migrations: totals.migrations,
        suspicions: totals.suspicions,
    }
}
