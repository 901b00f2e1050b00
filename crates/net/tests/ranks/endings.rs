//! Scenarios in which a rank ends before the others.

use std::time::Duration;

use laneway_core::{Comm, CommError};
use laneway_net::RanksComm;

/// All but rank 2 wait for it.
fn wait_for_two(comm: &RanksComm) -> Result<(), CommError> {
    comm.recv(Some(2), Some(1), &mut [0]).map(|_| ())
}

pub fn killed(comm: &RanksComm) -> Result<(), CommError> {
    if comm.rank() == 2 {
        std::thread::sleep(Duration::from_millis(50));
        // SAFETY: plain call on this process.
        unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
    }
    wait_for_two(comm)
}

pub fn panic(comm: &RanksComm) -> Result<(), CommError> {
    assert!(comm.rank() != 2, "on purpose");
    wait_for_two(comm)
}

pub fn code(comm: &RanksComm) -> Result<(), CommError> {
    if comm.rank() == 2 {
        eprintln!("rank 2 says why");
        comm.abort(4);
    }
    wait_for_two(comm)
}

/// It ends well, and the others wait for it.
pub fn leave(comm: &RanksComm) -> Result<(), CommError> {
    if comm.rank() == 2 {
        return Ok(());
    }
    match wait_for_two(comm) {
        Err(CommError::PeerDied { rank: 2, .. }) => Ok(()),
        other => panic!("{other:?}"),
    }
}

pub fn hang(comm: &RanksComm) -> Result<(), CommError> {
    if comm.rank() == 2 {
        std::thread::sleep(Duration::from_secs(3));
        return Ok(());
    }
    match wait_for_two(comm) {
        Err(CommError::TimedOut { .. }) => Ok(()),
        other => panic!("{other:?}"),
    }
}

/// A rank's own child is not a rank, and inherits nothing of it.
pub fn child(comm: &RanksComm) -> Result<(), CommError> {
    let environment = std::process::Command::new("env").output().expect("env");
    let text = String::from_utf8_lossy(&environment.stdout).into_owned();
    assert!(!text.contains("LANEWAY_NET_RANK"), "{text}");
    assert!(laneway_net::is_rank(), "rank {}", comm.rank());
    let lines = std::fs::read("/proc/self/cmdline").expect("a command line");
    let shown = String::from_utf8_lossy(&lines).into_owned() + &text;
    let secret = shown.split(|c: char| !c.is_ascii_hexdigit()).find(|word| word.len() == 64);
    assert_eq!(secret, None, "the secret is shown");
    Ok(())
}

pub fn forever(comm: &RanksComm) -> Result<(), CommError> {
    println!("rank {} is {}", comm.rank(), std::process::id());
    let next = (comm.rank() + 1) % comm.size();
    loop {
        comm.send(next, 1, &[7; 1000])?;
        comm.recv(None, Some(1), &mut [0; 1000])?;
    }
}
