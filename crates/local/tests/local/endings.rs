//! Scenarios in which something goes wrong, and how the ranks should come to know.

use std::io::Read;
use std::time::{Duration, Instant};

use laneway_core::{Comm, CommError};
use laneway_local::LocalComm;

/// The last rank.
fn victim(comm: &LocalComm) -> bool {
    comm.rank() + 1 == comm.size()
}

/// Waits for a message that never comes; only the launcher can end this rank in time.
fn wait_in_vain(comm: &LocalComm) -> Result<(), CommError> {
    let mut word = [0; 8];
    comm.recv(Some(comm.size() - 1), Some(99), &mut word)?;
    Ok(())
}

/// One rank is killed while the others wait for it.
pub fn killed(comm: &LocalComm) -> Result<(), CommError> {
    if victim(comm) {
        std::thread::sleep(Duration::from_millis(100));
        // SAFETY: plain call on this process.
        unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
    }
    wait_in_vain(comm)
}

/// One rank ends with a code of its own.
pub fn code(comm: &LocalComm) -> Result<(), CommError> {
    if victim(comm) {
        std::process::exit(101);
    }
    wait_in_vain(comm)
}

/// All ranks fail alike, a little after each other.
pub fn agree(comm: &LocalComm) -> Result<(), CommError> {
    std::thread::sleep(Duration::from_millis(20 * u64::from(comm.rank())));
    std::process::exit(4)
}

/// A rank is done and leaves while others still want something from it.
pub fn leave(comm: &LocalComm) -> Result<(), CommError> {
    if victim(comm) {
        // What it has sent still arrives.
        for to in 0..comm.rank() {
            comm.send(to, 1, &[5; 100])?;
        }
        return Ok(());
    }
    std::thread::sleep(Duration::from_millis(50));
    let mut data = [0; 100];
    comm.recv(Some(comm.size() - 1), Some(1), &mut data)?;
    assert_eq!(data, [5; 100]);
    let start = Instant::now();
    let error = wait_in_vain(comm).expect_err("no rank is there to send");
    let how = "exited with code 0".to_string();
    assert_eq!(error, CommError::PeerDied { rank: comm.size() - 1, how });
    assert!(start.elapsed() < Duration::from_secs(1));
    Ok(())
}

/// Ranks leave as soon as the system has taken their messages, which are far more than fit into
/// the receiver's socket.
pub fn last_words(comm: &LocalComm) -> Result<(), CommError> {
    let mut data = vec![0; 60 << 10];
    for round in 0..32 {
        if comm.rank() != 0 {
            comm.send(0, round, &vec![round as u8; data.len()])?;
            continue;
        }
        if round == 0 {
            std::thread::sleep(Duration::from_millis(50));
        }
        for from in 1..comm.size() {
            comm.recv(Some(from), Some(round), &mut data)?;
            assert!(data.iter().all(|&byte| byte == round as u8));
        }
    }
    Ok(())
}

/// A receive from any rank ends when no other rank is left.
pub fn leave_any(comm: &LocalComm) -> Result<(), CommError> {
    if comm.rank() != 0 {
        return Ok(());
    }
    let error = comm.recv(None, None, &mut [0; 4]).expect_err("no rank is there to send");
    assert!(matches!(error, CommError::PeerDied { .. }), "{error}");
    Ok(())
}

/// A rank leaves while a long message to it waits.
pub fn leave_mid(comm: &LocalComm) -> Result<(), CommError> {
    if victim(comm) {
        return Ok(());
    }
    let error = comm.send(comm.size() - 1, 1, &vec![1; 10 << 20]).expect_err("no rank takes it");
    let how = "exited with code 0".to_string();
    assert_eq!(error, CommError::PeerDied { rank: comm.size() - 1, how });
    Ok(())
}

/// A rank leaves early, and a rank that waits for it ends the run silently, as the command does.
pub fn leave_abort(comm: &LocalComm) -> Result<(), CommError> {
    if comm.rank() == 1 {
        return Ok(());
    }
    match comm.recv(Some(1), Some(99), &mut [0; 8]) {
        Err(CommError::PeerDied { rank: 1, .. }) => comm.abort(3),
        other => panic!("{other:?}"),
    }
}

/// All ranks live and none sends: the limit ends the wait, and says what it was for.
pub fn hang(comm: &LocalComm) -> Result<(), CommError> {
    if victim(comm) {
        // Past the limit of the others, who leave first.
        std::thread::sleep(Duration::from_millis(1500));
        return Ok(());
    }
    let error = wait_in_vain(comm).expect_err("the limit ends it");
    let waiting_for = format!("a message from rank {} with tag 99", comm.size() - 1);
    assert_eq!(error, CommError::TimedOut { seconds: 1, waiting_for });
    Ok(())
}

/// A token goes round until the run is ended from outside; says when it is on its way.
pub fn forever(comm: &LocalComm) -> Result<(), CommError> {
    let mut word = [0; 8];
    for lap in 0..u64::MAX {
        let next = (comm.rank() + 1) % comm.size();
        if comm.rank() != 0 {
            comm.recv(None, None, &mut word)?;
        }
        comm.send(next, 0, &word)?;
        if comm.rank() == 0 {
            comm.recv(None, None, &mut word)?;
            if lap == 20 {
                println!("running");
            }
        }
    }
    Ok(())
}

/// One rank ends all.
pub fn abort(comm: &LocalComm) -> Result<(), CommError> {
    if victim(comm) {
        comm.abort(42);
    }
    wait_in_vain(comm)
}

/// A queue that is dropped early takes its buffers out of reach.
pub fn give_up(comm: &LocalComm) -> Result<(), CommError> {
    if comm.rank() == 1 {
        let _ = comm.send(0, 1, &vec![7; 8 << 20]);
        return Ok(());
    }
    let mut data = vec![0u8; 8 << 20];
    let mut queue = comm.queue();
    // SAFETY: the buffer outlives the queue, which is dropped below.
    unsafe { queue.recv(0, 1, 1, data.as_mut_ptr(), data.len())? };
    std::thread::sleep(Duration::from_millis(50));
    let mut done = Vec::new();
    queue.test(&mut done)?;
    let finished = !done.is_empty();
    drop(queue);
    let before = data.clone();
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(data, before, "nothing is written after the queue has gone");
    assert!(finished || comm.probe(None, None, false).is_err());
    Ok(())
}

/// Only rank 0 has the launcher's input.
pub fn input(comm: &LocalComm) -> Result<(), CommError> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).expect("input is text");
    assert_eq!(text, if comm.rank() == 0 { "for rank 0" } else { "" });
    Ok(())
}

/// Every rank says who it is.
pub fn talk(comm: &LocalComm) -> Result<(), CommError> {
    println!("this is rank {}", comm.rank());
    Ok(())
}
