//! One error for all ranks that a launcher started and that fail alike, before they know of each
//! other.
//!
//! The process that prints an error holds a name for a while, made of the error and of the
//! launcher's process on this host; another that fails with the same error there sees that the name
//! is taken, stays silent, and ends after it: many launchers end all ranks with the first.

use std::io::{ErrorKind, Read};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::os::unix::process::parent_id;
use std::thread::sleep;
use std::time::{Duration, Instant};

use laneway_core::{Exit, Failure};

use crate::output;

/// How long a rank leaves the word to rank 0, which mostly fails alike.
const TURN: Duration = Duration::from_secs(2);
/// How often it looks whether the error was printed.
const LOOK: Duration = Duration::from_millis(20);
/// How long who tells an error holds its name: ranks do not fail at one instant.
const HELD: Duration = Duration::from_secs(1);

/// Shows a failure that came before the ranks knew of each other. All have the same command line,
/// and rank 0 prints what is wrong with it. What this machine lacks others may have: a rank whose
/// error no other prints does so itself.
pub fn show(failure: Failure) -> Exit {
    let Some(rank) = laneway_mpi::launched_rank() else { return output::show(failure) };
    match failure.exit {
        Exit::Usage if rank > 0 => failure.exit,
        Exit::Usage => output::show(failure),
        _ => show_alike(rank, failure),
    }
}

fn show_alike(rank: u32, failure: Failure) -> Exit {
    let name = name_of(&failure.to_string(), parent_id());
    let begun = Instant::now();
    while rank > 0 && begun.elapsed() < TURN {
        if let Some(teller) = hear(&name) {
            await_end(teller);
            return failure.exit;
        }
        sleep(LOOK);
    }
    let Some(held) = claim(&name) else {
        hear(&name).into_iter().for_each(await_end);
        return failure.exit;
    };
    let exit = output::show(failure);
    sleep(HELD);
    drop(held);
    exit
}

/// The name of an error among the ranks that one process of a launcher has started.
fn name_of(error: &str, launcher: u32) -> String {
    // FNV-1a: to tell errors apart, not to resist forgery.
    let hash = error.bytes().fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    });
    format!("laneway-error-{launcher}-{hash:016x}")
}

fn address(name: &str) -> std::io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(name)
}

/// The holder of a name, if there is one.
fn hear(name: &str) -> Option<UnixStream> {
    address(name).and_then(|address| UnixStream::connect_addr(&address)).ok()
}

/// Waits until a name is let go.
fn await_end(mut teller: UnixStream) {
    // Nothing is ever written: it ends with who holds the name, or when that takes too long.
    let _ = teller.set_read_timeout(Some(TURN)).and_then(|()| teller.read(&mut [0]));
}

/// Takes a name; `None` if another process has it. Where names cannot be held each rank prints.
fn claim(name: &str) -> Option<Option<UnixListener>> {
    match address(name).and_then(|address| UnixListener::bind_addr(&address)) {
        Ok(held) => Some(Some(held)),
        Err(error) if error.kind() == ErrorKind::AddrInUse => None,
        Err(_) => Some(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_held_by_one_until_it_is_let_go() {
        let name = name_of("error: a test", std::process::id());
        assert!(hear(&name).is_none());
        let held = claim(&name).expect("the name is free");
        let teller = hear(&name).expect("the name is held");
        assert!(claim(&name).is_none());
        assert!(claim(&name_of("error: another", std::process::id())).is_some());
        let waiting = std::thread::spawn(|| await_end(teller));
        sleep(LOOK);
        assert!(!waiting.is_finished());
        drop(held);
        waiting.join().expect("it ends");
        assert!(hear(&name).is_none() && claim(&name).is_some());
    }
}
