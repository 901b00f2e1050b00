//! Copies between the memory of two processes by the system's leave, and finding out whether it
//! gives it.

use std::cell::UnsafeCell;

use crate::board::Board;
use crate::system;

/// Copies between a place of this process and one of another.
///
/// # Safety
/// `local` must be valid for `len` bytes: for reads when `write`, for writes otherwise.
pub(crate) unsafe fn copy_between(
    pid: u32,
    local: u64,
    remote: u64,
    len: usize,
    write: bool,
) -> std::io::Result<()> {
    let mut done = 0;
    while done < len {
        let part = |at: u64| libc::iovec {
            iov_base: (at as usize + done) as *mut libc::c_void,
            iov_len: len - done,
        };
        let (here, there) = (part(local), part(remote));
        // SAFETY: the caller vouches for the local end; the system checks the remote one.
        let count = unsafe {
            if write {
                libc::process_vm_writev(pid as i32, &here, 1, &there, 1, 0)
            } else {
                libc::process_vm_readv(pid as i32, &here, 1, &there, 1, 0)
            }
        };
        match count {
            1.. => done += count as usize,
            0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            _ if system::last_errno() == libc::EINTR => {}
            _ => return Err(std::io::Error::last_os_error()),
        }
    }
    Ok(())
}

/// Memory of the launcher that ranks try direct copies on, whom the system guards like any rank.
pub(crate) struct Target {
    /// The token to read, then a place to write it to. Other processes write there.
    memory: Box<UnsafeCell<[[u8; TOKEN]; 2]>>,
    _open: Open,
}

const TOKEN: usize = 16;

impl Target {
    pub fn new(token: [u8; TOKEN]) -> Target {
        Target { memory: Box::new(UnsafeCell::new([token, [0; TOKEN]])), _open: Open::new() }
    }

    pub fn address(&self) -> u64 {
        self.memory.get() as u64
    }
}

/// Whether both directions work: some systems allow to read and not to write.
pub(crate) fn permitted(board: &Board) -> bool {
    let head = board.head();
    let (mut read, mut back) = ([0u8; TOKEN], [0u8; TOKEN]);
    let copy = |local: *mut u8, remote: u64, write| {
        // SAFETY: the local end is a whole array of ours.
        unsafe { copy_between(head.launcher, local as u64, remote, TOKEN, write) }.is_ok()
    };
    let there = head.probe + TOKEN as u64;
    // All ranks write the same bytes to the same place.
    copy(read.as_mut_ptr(), head.probe, false)
        && copy(read.as_mut_ptr(), there, true)
        && copy(back.as_mut_ptr(), there, false)
        && read == head.token
        && back == head.token
}

/// While it lives, the other ranks may copy from and into this process where the Yama module asks
/// for it. There it means any process of this user, so it is taken back.
pub(crate) struct Open;

impl Open {
    pub fn new() -> Open {
        // SAFETY: plain call. Without Yama it fails, and then it is not needed.
        unsafe { libc::prctl(libc::PR_SET_PTRACER, libc::c_ulong::MAX, 0, 0, 0) };
        Open
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        // SAFETY: as above.
        unsafe { libc::prctl(libc::PR_SET_PTRACER, 0, 0, 0, 0) };
    }
}
