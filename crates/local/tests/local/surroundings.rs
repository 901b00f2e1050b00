//! Machines and shells that a run may find itself on: each is made for one launcher and its ranks.

use std::fs::File;
use std::io::{self, Read, Write};
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::{Duration, Instant};

use crate::seccomp::{self, Tracers};

/// The variable that names the surroundings of a run.
pub const VARIABLE: &str = "TEST_SURROUNDINGS";

/// The exit code of a launcher that may not make what it was asked for.
pub const SKIPPED: u8 = 77;

/// What has to be looked at when the run is over.
pub enum After {
    Nothing,
    /// What the ranks wrote to a terminal.
    Terminal(File),
    /// Whom the launcher and the ranks let trace them.
    Tracers(Tracers),
}

/// Makes the surroundings that the driver asked for, for this process and all it starts.
pub fn make() -> io::Result<After> {
    let asked = std::env::var(VARIABLE).unwrap_or_default();
    match asked.as_str() {
        "" => {}
        "no direct copies" => seccomp::refuse_direct_copies()?,
        "no direct writes" => seccomp::refuse_direct_writes()?,
        "tracing refused" => seccomp::refuse_tracers()?,
        "tracers recorded" => return Ok(After::Tracers(seccomp::record_tracers()?)),
        "files of 1 MiB" => limit(libc::RLIMIT_FSIZE, 1 << 20)?,
        "64 open files" => limit(libc::RLIMIT_NOFILE, 64)?,
        "queues of 4" => shorten_queues(4)?,
        "tostop" => return Ok(After::Terminal(terminal_that_stops()?)),
        other => panic!("no surroundings are called {other:?}"),
    }
    Ok(After::Nothing)
}

impl After {
    /// What must be so in the end: each rank's words have come, if there is a reader.
    pub fn expect(self, words: &[String]) -> Result<(), String> {
        let master = match self {
            After::Nothing => return Ok(()),
            // The ranks and their launcher.
            After::Tracers(tracers) => return tracers.expect_taken_back(words.len() + 1),
            After::Terminal(master) => master,
        };
        // Closing a terminal ends the process whose terminal it is.
        let mut master = ManuallyDrop::new(master);
        // The system passes on what was written in its own time.
        let (mut text, end) = (String::new(), Instant::now() + Duration::from_secs(5));
        let mut bytes = [0; 4096];
        loop {
            match master.read(&mut bytes) {
                Ok(count) => text += &String::from_utf8_lossy(&bytes[..count]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error.to_string()),
            }
            match words.iter().find(|word| !text.contains(*word)) {
                None => return Ok(()),
                Some(word) if Instant::now() > end => {
                    return Err(format!("no {word:?} on the terminal, only {text:?}"));
                }
                Some(_) => std::thread::sleep(Duration::from_millis(1)),
            }
        }
    }
}

fn done(code: i32) -> io::Result<()> {
    if code < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Soft and hard.
fn limit(what: libc::__rlimit_resource_t, most: u64) -> io::Result<()> {
    let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
    // SAFETY: the structure lives through the call.
    done(unsafe { libc::setrlimit(what, &limit) })
}

/// A network of our own in which no listening socket has a longer queue; users may make one where
/// the system lets them.
fn shorten_queues(most: u32) -> io::Result<()> {
    // SAFETY: plain calls; this process has one thread.
    unsafe {
        if libc::unshare(libc::CLONE_NEWNET) != 0 {
            done(libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNET))?;
        }
    }
    File::options()
        .write(true)
        .open("/proc/sys/net/core/somaxconn")?
        .write_all(most.to_string().as_bytes())
}

/// Makes a terminal of our own that stops background groups which write to it (`stty tostop`), and
/// our output go there; gives its other end.
fn terminal_that_stops() -> io::Result<File> {
    let (mut master, mut slave) = (0, 0);
    let none = std::ptr::null_mut();
    // SAFETY: both numbers are valid for the call; name and settings are not asked for.
    unsafe { done(libc::openpty(&mut master, &mut slave, none, none.cast(), none.cast()))? };
    // SAFETY: both were just opened and have no other owner.
    let (master, slave) = unsafe { (File::from_raw_fd(master), OwnedFd::from_raw_fd(slave)) };
    // SAFETY: plain calls on open descriptors; the settings are read before they are written.
    unsafe {
        done(libc::setsid())?;
        done(libc::ioctl(slave.as_raw_fd(), libc::TIOCSCTTY, 0))?;
        let mut settings: libc::termios = std::mem::zeroed();
        done(libc::tcgetattr(slave.as_raw_fd(), &mut settings))?;
        settings.c_lflag |= libc::TOSTOP;
        done(libc::tcsetattr(slave.as_raw_fd(), libc::TCSANOW, &settings))?;
        done(libc::dup2(slave.as_raw_fd(), 1))?;
        done(libc::fcntl(master.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK))?;
        done(libc::fcntl(master.as_raw_fd(), libc::F_SETFD, libc::FD_CLOEXEC))?;
    }
    Ok(master)
}
