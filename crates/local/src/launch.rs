//! Starts the ranks: processes of this same binary with the same arguments, or of another program,
//! and a board between them.

use std::io::{self, IsTerminal};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use laneway_core::Rank;
use laneway_processes::{Mask, Program, Signals, prepare_child};

use crate::attach::{BOARD, LAUNCHER, LISTENER, RANK, SIZE, TRANSPORT, WAIT_LIMIT};
use crate::board::Board;
use crate::error::{LocalError, MOST_RANKS};
use crate::memory::between::Target;
use crate::stream::socket;
use crate::supervise::Supervisor;
use crate::system;
use crate::transport::Transport;

/// A run to start.
#[derive(Clone, Copy, Debug)]
pub struct Launch {
    /// How many processes.
    pub ranks: u32,
    /// What carries their messages.
    pub transport: Transport,
    /// How long a wait of a rank may go without news; the environment's or the default otherwise.
    pub limit: Option<Duration>,
}

impl Launch {
    /// Runs this program as `ranks` ranks and returns their exit code when all have ended. Blocks;
    /// meant for the main thread of a program that has no other yet.
    pub fn run(&self) -> Result<i32, LocalError> {
        self.run_program(&Program::this())
    }

    /// The same with any program that calls [`attach`](crate::attach).
    pub fn run_program(&self, program: &Program) -> Result<i32, LocalError> {
        if !(1..=MOST_RANKS).contains(&self.ranks) {
            return Err(LocalError::Ranks { asked: self.ranks });
        }
        crate::attach::wait_limit()?;
        let signals =
            Signals::block().map_err(|error| LocalError::system("block signals", error))?;
        let (mut board, descriptor) = Board::create(self.ranks, self.transport)?;
        // Lives until the last rank has ended, for ranks to try a direct copy on.
        let memory = self.transport == Transport::Memory;
        let target = memory.then(|| Target::new(board.head().token));
        board.set_probe(target.as_ref().map_or(0, Target::address));
        let listeners = self.listeners(&mut board)?;
        let mut supervisor = Supervisor::new(board, signals.awaited());
        for (rank, listener) in (0..self.ranks).zip(listeners) {
            // When one cannot be started, dropping the supervisor ends those that were.
            let command = program.command();
            let mut command =
                self.command(command, rank, &descriptor, listener.as_ref(), signals.before());
            let child = command.spawn();
            let child =
                child.map_err(|error| LocalError::Spawn { rank, error: error.to_string() })?;
            supervisor.add(child.id());
        }
        drop(descriptor);
        let code = supervisor.watch();
        drop(supervisor);
        drop(target);
        code
    }

    /// One listening socket for each rank, where the transport has any.
    fn listeners(&self, board: &mut Board) -> Result<Vec<Option<OwnedFd>>, LocalError> {
        if self.transport == Transport::Memory {
            return Ok((0..self.ranks).map(|_| None).collect());
        }
        system::raise_open_files(u64::from(self.ranks) + 64)?;
        (0..self.ranks)
            .map(|rank| {
                let (listener, address) = socket::listen(self.transport, self.ranks)?;
                board.set_address(rank, &address);
                Ok(Some(listener))
            })
            .collect()
    }

    fn command(
        &self,
        mut command: Command,
        rank: Rank,
        board: &OwnedFd,
        listener: Option<&OwnedFd>,
        mask: Mask,
    ) -> Command {
        command.env(RANK, rank.to_string()).env(SIZE, self.ranks.to_string());
        command.env(TRANSPORT, self.transport.name()).env(LAUNCHER, std::process::id().to_string());
        command.env(BOARD, board.as_raw_fd().to_string());
        if let Some(listener) = listener {
            command.env(LISTENER, listener.as_raw_fd().to_string());
        }
        if let Some(limit) = self.limit {
            command.env(WAIT_LIMIT, limit.as_secs_f64().to_string());
        }
        // A rank lies in a process group of its own, where a terminal cannot be read.
        if rank != 0 || io::stdin().is_terminal() {
            command.stdin(Stdio::null());
        }
        command.process_group(0);
        let inherit = [Some(board.as_raw_fd()), listener.map(AsRawFd::as_raw_fd)];
        let launcher = std::process::id();
        // SAFETY: the closure runs between fork and exec and makes only async-signal-safe calls.
        unsafe { command.pre_exec(move || prepare(launcher, &mask, &inherit)) };
        command
    }
}

/// In the child, before it becomes a rank: dies with the launcher, and keeps its descriptors.
fn prepare(launcher: u32, mask: &Mask, inherit: &[Option<RawFd>]) -> io::Result<()> {
    // SAFETY: plain calls, each async-signal-safe.
    unsafe {
        if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0) != 0 {
            return Err(io::Error::last_os_error());
        }
        // The launcher may have died before that call.
        if libc::getppid() as u32 != launcher {
            return Err(io::Error::from_raw_os_error(libc::ESRCH));
        }
        for fd in inherit.iter().flatten() {
            if libc::fcntl(*fd, libc::F_SETFD, 0) != 0 {
                return Err(io::Error::last_os_error());
            }
        }
    }
    prepare_child(mask)
}
