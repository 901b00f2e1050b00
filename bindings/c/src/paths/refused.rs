//! Why something was refused: the code, and the words.

use std::ffi::c_int;

use laneway_connections::NetError;
use laneway_path::Refusal;

use crate::failure::{Exit, Failure};
use crate::last_error::Coded;
use crate::{LANEWAY_NO_ANSWER, LANEWAY_STATE, LANEWAY_UNKNOWN};

const USAGE: c_int = Exit::Usage as c_int;
const ENVIRONMENT: c_int = Exit::Environment as c_int;

impl From<NetError> for Coded {
    fn from(error: NetError) -> Coded {
        Coded::with_cause(&error, error.to_string())
    }
}

impl Coded {
    /// The code and the advice for an error, with this cause.
    pub fn with_cause(error: &NetError, cause: String) -> Coded {
        let (code, what, try_this) = match error {
            NetError::NoPort { .. } => (ENVIRONMENT, "no port is free", "a wider range of ports"),
            NetError::Paths { .. } => (USAGE, "no such number of paths", "1 to 8 paths"),
            NetError::NoSecret { .. } => (USAGE, "the secret is missing", "secret_file, or secret"),
            NetError::ShortSecret { .. } => (USAGE, "the secret is too short", "32 random bytes"),
            NetError::SecretFile { .. } => (ENVIRONMENT, "there is no secret", "another file"),
            NetError::OpenSecret { .. } => {
                (ENVIRONMENT, "a secret is for its owner alone", "chmod 600, and the right owner")
            }
            NetError::Security { .. } => {
                (USAGE, "unknown security", "encrypt, authenticate or trust")
            }
            NetError::PathKind { .. } => (USAGE, "unknown kind of paths", "datagram or stream"),
            NetError::NoAnswer { .. } => {
                (LANEWAY_NO_ANSWER, "no connection", "the same secret and paths at both ends")
            }
            NetError::UnknownConnection { .. } => {
                (LANEWAY_UNKNOWN, "no such connection", "an open connection, as reported by events")
            }
            NetError::TooManyConnections => (ENVIRONMENT, "no connection", "close some before"),
            NetError::Refused(refusal) => of_state(*refusal),
            _ => {
                (ENVIRONMENT, "the system refused", "`ip -brief address` lists what can be a path")
            }
        };
        coded(code, what, cause, try_this)
    }
}

/// What a connection itself refused.
fn of_state(refusal: Refusal) -> (c_int, &'static str, &'static str) {
    match refusal {
        Refusal::UnknownPath { .. } => (USAGE, "no such path", "a path that both ends have"),
        Refusal::AlternateIsPrimary { .. } => (USAGE, "not an alternate path", "another path"),
        Refusal::NoAlternate => (LANEWAY_STATE, "nothing to load", "laneway_paths_specify before"),
        Refusal::NotArmed { .. } => (
            LANEWAY_STATE,
            "the alternate path is not loaded",
            "laneway_paths_load, and LANEWAY_EVENT_ARMED before",
        ),
        _ => (LANEWAY_STATE, "the connection is in the wrong state", "another connection"),
    }
}

fn coded(code: c_int, what: &str, cause: impl Into<String>, try_this: &str) -> Coded {
    Coded { code, failure: Failure::usage(what, cause, try_this) }
}

/// A handle that is not open.
pub fn closed() -> Coded {
    let cause = "the paths were closed, or never opened";
    coded(LANEWAY_UNKNOWN, "no such paths", cause, "what laneway_paths_open gave")
}

/// A call that the thread's function must not make.
pub fn in_callback() -> Coded {
    let cause = "it is called by on_event, and the thread would wait for itself";
    coded(LANEWAY_STATE, "this cannot be called here", cause, "the program's own threads")
}

/// A buffer that cannot be had.
pub fn no_memory(bytes: usize) -> Coded {
    let cause = format!("{bytes} bytes cannot be allocated");
    coded(ENVIRONMENT, "out of memory", cause, "a shorter message or buffer")
}
