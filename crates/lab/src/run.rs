//! A command on a host of a lab, with a record of the links and a timetable of faults beside it.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use crate::enter::command;
use crate::error::LabError;
use crate::inject::{Done, Timetable};
use crate::mpi;
use crate::name::LabName;
use crate::plan::Plan;
use crate::record::{Link, Recorder};
use crate::system::die_with_owner;

/// A command that is to run in a lab.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// The host that it starts on; launchers of MPI find the others.
    pub host: &'a str,
    /// What it is called.
    pub program: &'a str,
    /// What it is given.
    pub arguments: &'a [String],
    /// How often the bytes of every link are read, where they are to be recorded.
    pub every: Option<Duration>,
    /// What breaks while it runs.
    pub timetable: Option<&'a Timetable>,
}

/// How a command in a lab ended.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Ended {
    /// Its exit code, or 128 and the signal that ended it, as shells tell it.
    pub code: i32,
    /// What every link carried, where that was asked for.
    pub links: Option<Vec<Link>>,
}

impl Run<'_> {
    /// Runs the command to its end. `on_fault` is called for faults while they happen. Record and
    /// timetable end with the command, or when `stop` is set; the command goes on then.
    pub fn run(
        &self,
        lab: &LabName,
        plan: &Plan,
        stop: &AtomicBool,
        on_fault: impl Fn(&Done) + Sync,
    ) -> Result<Ended, LabError> {
        let recorder = self.every.map(|_| Recorder::new(lab, plan)).transpose()?;
        let mut process = command(lab, self.host, self.program)?;
        process.args(self.arguments).envs(mpi::environment(lab, plan));
        die_with_owner(&mut process);
        let program = || self.program.to_string();
        let not_started = |error| LabError::Start { program: program(), error };
        let child = process.spawn().map_err(not_started)?;
        thread::scope(|scope| {
            let record = recorder.zip(self.every);
            let record =
                record.map(|(recorder, every)| scope.spawn(move || recorder.record(every, stop)));
            let (faults, on_fault) = (self.timetable, &on_fault);
            let faults = faults.map(|table| scope.spawn(move || table.run(lab, stop, on_fault)));
            let code = wait(child);
            stop.store(true, Ordering::Release);
            let links = record.map(joined).transpose()?;
            faults.map(joined).transpose()?;
            Ok(Ended { code: code.map_err(not_started)?, links })
        })
    }
}

fn joined<T>(thread: ScopedJoinHandle<T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn wait(mut child: Child) -> io::Result<i32> {
    let status = child.wait()?;
    Ok(status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)))
}
