//! What happened, in numbers.

use std::ffi::c_int;

use laneway_connections::{Notice, What};
use laneway_path::{Cause, Event as PathEvent, PathId, Why};

use super::*;

impl Event {
    pub fn none() -> Event {
        Event {
            kind: LANEWAY_EVENT_NONE,
            connection: 0,
            id: 0,
            length: 0,
            label: 0,
            path: -1,
            from: -1,
            cause: LANEWAY_CAUSE_NONE,
        }
    }

    /// A notice in numbers; `None` if it is nothing that a program could have asked for.
    pub fn of(notice: &Notice) -> Option<Event> {
        let none = || Event { connection: notice.connection.0, ..Event::none() };
        let plain = |kind| Event { kind, ..none() };
        Some(match &notice.what {
            What::Connected => plain(LANEWAY_EVENT_CONNECTED),
            What::Accepted { label } => Event { label: *label, ..plain(LANEWAY_EVENT_ACCEPTED) },
            What::NoAnswer => plain(LANEWAY_EVENT_NO_ANSWER),
            What::Closed => plain(LANEWAY_EVENT_CLOSED),
            What::Event(event) => of_connection(event, none())?,
            _ => return None,
        })
    }
}

fn of_connection(event: &PathEvent, none: Event) -> Option<Event> {
    let on = |kind, path: &PathId| Event { kind, path: number(*path), ..none };
    Some(match event {
        PathEvent::Sent { id, message } => {
            Event { kind: LANEWAY_EVENT_SENT, id: *id, length: message.len() as u64, ..none }
        }
        PathEvent::Received { id, message } => {
            Event { kind: LANEWAY_EVENT_RECEIVED, id: *id, length: message.len() as u64, ..none }
        }
        PathEvent::Armed { path } => on(LANEWAY_EVENT_ARMED, path),
        PathEvent::Unhealthy { path } => on(LANEWAY_EVENT_UNHEALTHY, path),
        PathEvent::Wanted { path } => on(LANEWAY_EVENT_WANTED, path),
        PathEvent::Migrated { from, to, cause } => Event {
            from: number(*from),
            cause: match cause {
                Cause::Request => LANEWAY_CAUSE_REQUEST,
                Cause::Peer => LANEWAY_CAUSE_PEER,
                Cause::Length => LANEWAY_CAUSE_LENGTH,
                Cause::Loss => LANEWAY_CAUSE_LOSS,
                _ => LANEWAY_CAUSE_FAILURE,
            },
            ..on(LANEWAY_EVENT_MIGRATED, to)
        },
        PathEvent::Failed { why } => Event {
            kind: LANEWAY_EVENT_FAILED,
            cause: match why {
                Why::Retries => LANEWAY_CAUSE_RETRIES,
                Why::NotReadyRetries => LANEWAY_CAUSE_NOT_READY,
                Why::Message => LANEWAY_CAUSE_MESSAGE,
                Why::Asked => LANEWAY_CAUSE_ASKED,
                // One that this header has no name for.
                _ => LANEWAY_CAUSE_NONE,
            },
            ..none
        },
        PathEvent::SendFlushed { id } => {
            Event { kind: LANEWAY_EVENT_SEND_FLUSHED, id: *id, ..none }
        }
        PathEvent::ReceiveFlushed { id } => {
            Event { kind: LANEWAY_EVENT_RECEIVE_FLUSHED, id: *id, ..none }
        }
        // What a program in C need not hear: established, drained, and what has no name here.
        _ => return None,
    })
}

pub fn number(path: PathId) -> c_int {
    c_int::from(path.0)
}
