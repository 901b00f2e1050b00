//! A rank's side of the start: reads what the launcher left in the environment and connects.

use std::os::fd::{AsFd, FromRawFd, OwnedFd, RawFd};
use std::rc::Rc;
use std::time::Duration;

use laneway_core::Rank;
use laneway_message::Link;
use laneway_processes::{Cores, Monotonic, reduce_timer_slack};

use crate::LocalComm;
use crate::board::Board;
use crate::error::LocalError;
use crate::memory::Memory;
use crate::stream::Stream;
use crate::sync::Ordering;
use crate::system;
use crate::transport::Transport;
use crate::world::LocalWorld;

pub(crate) const RANK: &str = "LANEWAY_LOCAL_RANK";
pub(crate) const SIZE: &str = "LANEWAY_LOCAL_SIZE";
pub(crate) const TRANSPORT: &str = "LANEWAY_LOCAL_TRANSPORT";
pub(crate) const LAUNCHER: &str = "LANEWAY_LOCAL_LAUNCHER";
pub(crate) const BOARD: &str = "LANEWAY_LOCAL_BOARD";
pub(crate) const LISTENER: &str = "LANEWAY_LOCAL_LISTENER";
const BIND: &str = "LANEWAY_LOCAL_BIND";
pub(crate) const WAIT_LIMIT: &str = "LANEWAY_WAIT_LIMIT";

const DEFAULT_LIMIT: Duration = Duration::from_secs(120);

/// Whether a launcher started this process as a rank; a rank's own children are none.
pub fn is_rank() -> bool {
    // SAFETY: plain call.
    let parent = unsafe { libc::getppid() };
    std::env::var(LAUNCHER).is_ok_and(|launcher| launcher == parent.to_string())
}

/// Connects to the other ranks; `None` in a process that is not a rank. Once in a process.
pub fn attach() -> Result<Option<LocalComm>, LocalError> {
    if !is_rank() {
        return Ok(None);
    }
    let size = number(SIZE)?;
    let rank: Rank = number(RANK)?;
    let transport: Transport = text(TRANSPORT)?.parse()?;
    let descriptor = inherited(number(BOARD)?)?;
    let board = Rc::new(Board::open(descriptor.as_fd(), size, transport)?);
    drop(descriptor);
    take_seat(&board, rank)?;
    reduce_timer_slack();
    let available = Cores::available();
    let cores = available.count();
    let bound = size <= cores && binding_wanted()? && available.bind(rank);
    let (link, copy): (Box<dyn Link>, _) = match transport {
        Transport::Memory => {
            let memory = Memory::new(board.clone(), rank, cores);
            let copy = memory.copy_method();
            (Box::new(memory), copy)
        }
        Transport::Unix | Transport::Tcp => {
            // A connection in each direction with every peer, and what the program itself opens.
            system::raise_open_files(2 * u64::from(size) + 64)?;
            let listener = inherited(number(LISTENER)?)?;
            let stream = Stream::new(board.clone(), transport, rank, listener, cores);
            (
                Box::new(stream.map_err(|error| LocalError::system("connect the ranks", error))?),
                "socket",
            )
        }
    };
    let description = vec![
        ("backend", format!("local:{transport}")),
        ("copy", copy.into()),
        ("cores", cores.to_string()),
        ("binding", if bound { "core" } else { "none" }.into()),
    ];
    let clock = Monotonic { alone: size <= cores, is_global: true };
    let world = LocalWorld { board, clock, description };
    Ok(Some(LocalComm::world(link, Rc::new(world), rank, wait_limit()?)))
}

/// Puts this process on the board, for peers that copy from its memory.
fn take_seat(board: &Board, rank: Rank) -> Result<(), LocalError> {
    let refuse = |error: &str| Err(LocalError::system(format!("attach as rank {rank}"), error));
    if rank >= board.size() {
        return refuse("there is no such rank");
    }
    let pid = std::process::id();
    let seat = &board.seat(rank).pid;
    match seat.compare_exchange(0, pid, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => Ok(()),
        Err(_) => refuse("it has attached already"),
    }
}

/// Takes over a descriptor that the launcher left open for this rank alone.
fn inherited(fd: RawFd) -> Result<OwnedFd, LocalError> {
    // SAFETY: plain calls; a descriptor that is not open is refused.
    if fd < 3 || unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) } != 0 {
        return Err(LocalError::system(
            format!("use descriptor {fd} of the launcher"),
            "it is not open, or belongs to something else",
        ));
    }
    // SAFETY: the launcher opened it for us; `take_seat` lets one caller come so far.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Ranks that have a core each stay on it.
fn binding_wanted() -> Result<bool, LocalError> {
    match std::env::var(BIND).as_deref() {
        Err(_) | Ok("core") => Ok(true),
        Ok("none") => Ok(false),
        Ok(other) => {
            Err(LocalError::Variable { name: BIND, value: other.into(), expected: "core or none" })
        }
    }
}

/// How long a wait may go without news: `LANEWAY_WAIT_LIMIT` in seconds, or 120.
pub fn wait_limit() -> Result<Duration, LocalError> {
    match std::env::var(WAIT_LIMIT) {
        Err(_) => Ok(DEFAULT_LIMIT),
        Ok(value) => match value.parse::<f64>() {
            Ok(seconds) if seconds > 0.0 && seconds < 1e9 => Ok(Duration::from_secs_f64(seconds)),
            _ => Err(LocalError::Variable {
                name: WAIT_LIMIT,
                value,
                expected: "a number of seconds above 0",
            }),
        },
    }
}

fn text(name: &'static str) -> Result<String, LocalError> {
    std::env::var(name).map_err(|_| LocalError::Variable {
        name,
        value: String::new(),
        expected: "what the launcher sets for each rank",
    })
}

fn number<T: std::str::FromStr>(name: &'static str) -> Result<T, LocalError> {
    let value = text(name)?;
    value.parse().map_err(|_| LocalError::Variable {
        name,
        value,
        expected: "a number that the launcher sets for each rank",
    })
}
