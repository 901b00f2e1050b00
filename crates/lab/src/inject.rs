//! Carries out faults, at once or by a timetable, and logs each with its time.

use std::collections::VecDeque;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::error::LabError;
use crate::fault::{Action, Fault, parse};
use crate::name::LabName;
use crate::plan::Plan;
use crate::system::{RealTime, Started, processes, signal, within};
use crate::wan;

/// A host has processes that start others: they are looked for until none is new.
const MOST_LOOKS: usize = 20;
const MOST_FLAPS: f64 = 100_000.0;
/// How long a timetable sleeps at most before it looks whether to stop.
const STEP: Duration = Duration::from_millis(20);
/// A sleep is late by about so much; the rest is waited for awake.
const AWAKE: Duration = Duration::from_micros(300);

/// How long before its time the tools of a fault are started, and those of how many at once.
const AHEAD: f64 = 0.02;
const MOST_AHEAD: usize = 32;

/// Something that was done to a lab.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Done {
    /// Seconds of the machine's monotonic clock: when it was to be done, when it was begun and when
    /// it was done.
    pub planned: f64,
    /// When it was begun.
    pub begun: f64,
    /// When it was done.
    pub done: f64,
    /// The fault as it was written.
    pub fault: String,
    /// `begin` or `end`.
    pub part: &'static str,
}

/// The one clock of all logs: seconds since the machine started.
pub fn monotonic() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes to a value of our own.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// One step of a timetable: when, which fault, and which part of it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Step {
    /// Seconds since the timetable began.
    pub at: f64,
    /// The fault's number in the timetable.
    pub fault: usize,
    /// Whether it begins there, or ends.
    pub begins: bool,
}

/// Faults and when they begin and end.
#[derive(Clone, Debug, PartialEq)]
pub struct Timetable {
    faults: Vec<Fault>,
    steps: Vec<Step>,
}

impl Timetable {
    /// One fault, now.
    pub fn now(fault: Fault) -> Result<Timetable, LabError> {
        let mut table = Timetable { faults: Vec::new(), steps: Vec::new() };
        table.add(0.0, fault)?;
        Ok(table)
    }

    /// Reads lines such as `1.5s drop n0:eth0 for 200ms`; `#` begins a comment.
    pub fn parse(text: &str, lab: &LabName, plan: &Plan) -> Result<Timetable, LabError> {
        let mut table = Timetable { faults: Vec::new(), steps: Vec::new() };
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let place = |error: LabError| LabError::Fault(format!("line {}: {error}", number + 1));
            let (at, words) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            let at = laneway_sim::platform::parse_time(at).map_err(|_| {
                place(LabError::Fault(format!("`{at}` is not a time; a line is `1.5s drop n0`")))
            })?;
            parse(words, lab, plan).and_then(|fault| table.add(at, fault)).map_err(place)?;
        }
        table.steps.sort_by(|a, b| a.at.total_cmp(&b.at));
        Ok(table)
    }

    fn add(&mut self, at: f64, fault: Fault) -> Result<(), LabError> {
        let (number, length) = (self.faults.len(), fault.length);
        let mut push = |at, begins| self.steps.push(Step { at, fault: number, begins });
        match (fault.period, length) {
            (Some(period), Some(length)) if period > 0.0 => {
                let times = (length / period).ceil().max(1.0);
                if times > MOST_FLAPS {
                    let what = "a link that flaps more than 100,000 times: a longer period";
                    return Err(LabError::Fault(what.to_string()));
                }
                let times = times as usize;
                for time in 0..times {
                    let begun = at + time as f64 * period;
                    push(begun, true);
                    push(begun + period / 2.0, false);
                }
            }
            (Some(_), _) => {
                let what = "a link that flaps needs a period above 0 and an end: flap n0 1s for 5s";
                return Err(LabError::Fault(what.to_string()));
            }
            (None, length) => {
                push(at, true);
                if let Some(length) = length.filter(|_| !fault.end.is_empty()) {
                    push(at + length, false);
                }
            }
        }
        self.faults.push(fault);
        Ok(())
    }

    /// What is done when, in this order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Injects every fault at its time, and reports it then. Stops early if `stop` is set, and then
    /// ends the faults that have begun.
    pub fn run(
        &self,
        lab: &LabName,
        stop: &AtomicBool,
        mut tell: impl FnMut(&Done),
    ) -> Result<(), LabError> {
        let _real_time = RealTime::request();
        let mut open = vec![false; self.faults.len()];
        let mut ended = Ok(());
        let mut ready = VecDeque::new();
        // A timetable begins when the tools of its first faults are ready.
        self.prepare(0, AHEAD, &mut ready);
        let zero = monotonic();
        for (number, step) in self.steps.iter().enumerate() {
            let planned = zero + step.at;
            if !wait_until(planned - AHEAD, stop) {
                break;
            }
            self.prepare(number, monotonic() - zero + AHEAD, &mut ready);
            let fault = &self.faults[step.fault];
            let prepared = ready.pop_front().unwrap_or_else(|| Ready::new(fault, step.begins));
            if !wait_until(planned, stop) {
                break;
            }
            // What has half begun is ended as well.
            open[step.fault] = step.begins && fault.length.is_some() && !fault.end.is_empty();
            match prepared.and_then(|prepared| prepared.carry_out(lab, planned)) {
                Ok(done) => tell(&done),
                Err(error) => {
                    ended = Err(error);
                    break;
                }
            }
        }
        for (fault, _) in self.faults.iter().zip(open).filter(|(_, open)| *open) {
            match carry_out(lab, fault, false, monotonic()) {
                Ok(done) => tell(&done),
                Err(error) => ended = ended.and(Err(error)),
            }
        }
        ended
    }

    /// Starts the tools of the steps from one on that come before an instant and have none yet;
    /// not beyond a host that is frozen or killed, because its tools would be, too.
    fn prepare<'f>(&'f self, from: usize, until: f64, ready: &mut Prepared<'f>) {
        let coming = self.steps[from..].iter().take(MOST_AHEAD);
        let coming = coming.map(|step| (step.at, step.begins, &self.faults[step.fault]));
        let is_near = |&(at, begins, fault): &(f64, bool, &Fault)| {
            let mut actions = fault.actions(begins).iter();
            at <= until && !actions.any(|action| matches!(action, Action::Signal { .. }))
        };
        for (_, begins, fault) in coming.take_while(is_near).skip(ready.len()) {
            ready.push_back(Ready::new(fault, begins));
        }
    }
}

type Prepared<'f> = VecDeque<Result<Ready<'f>, LabError>>;

/// Sleeps until an instant; false if stopped before.
fn wait_until(instant: f64, stop: &AtomicBool) -> bool {
    loop {
        if stop.load(Ordering::Acquire) {
            return false;
        }
        let left = Duration::from_secs_f64((instant - monotonic()).max(0.0));
        if left.is_zero() {
            return true;
        }
        if left > AWAKE {
            thread::sleep((left - AWAKE).min(STEP));
        } else {
            std::hint::spin_loop();
        }
    }
}

/// Begins or ends a fault, and logs it with the lab.
pub fn carry_out(
    lab: &LabName,
    fault: &Fault,
    begins: bool,
    planned: f64,
) -> Result<Done, LabError> {
    Ready::new(fault, begins)?.carry_out(lab, planned)
}

/// The beginning or the end of a fault, with the tools that it needs.
struct Ready<'f> {
    fault: &'f Fault,
    part: &'static str,
    actions: Vec<(&'f Action, Option<Started>)>,
}

impl<'f> Ready<'f> {
    fn new(fault: &'f Fault, begins: bool) -> Result<Ready<'f>, LabError> {
        let part = if begins { "begin" } else { "end" };
        let with_tool = |action: &'f Action| {
            let started = match action {
                Action::Tool { tool, namespace, .. } => Some(Started::within(tool, namespace)?),
                _ => None,
            };
            Ok((action, started))
        };
        let actions = fault.actions(begins).iter();
        let actions = actions.map(with_tool).collect::<Result<_, LabError>>()?;
        Ok(Ready { fault, part, actions })
    }

    fn carry_out(self, lab: &LabName, planned: f64) -> Result<Done, LabError> {
        let begun = monotonic();
        // Two directions at once.
        thread::scope(|scope| {
            let mut actions = self.actions.into_iter();
            let first = actions.next();
            let others: Vec<_> =
                actions.map(|(action, tool)| scope.spawn(move || act(lab, action, tool))).collect();
            let first = first.map_or(Ok(()), |(action, tool)| act(lab, action, tool));
            let ended = others.into_iter().map(|thread| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            });
            ended.fold(first, Result::and)
        })?;
        let (fault, part) = (self.fault.words.clone(), self.part);
        let done = Done { planned, begun, done: monotonic(), fault, part };
        log(lab, &done)?;
        Ok(done)
    }
}

/// A line of the lab's own log.
fn log(lab: &LabName, done: &Done) -> Result<(), LabError> {
    let file = lab.file("faults.log");
    let Done { planned, begun, done, fault, part } = done;
    let line = format!("{planned:.6} {begun:.6} {done:.6} {part} {fault}\n");
    let opened = OpenOptions::new().append(true).create(true).open(&file);
    opened
        .and_then(|mut log| log.write_all(line.as_bytes()))
        .map_err(|error| LabError::system(format!("writing {}", file.display()), error))
}

fn act(lab: &LabName, action: &Action, tool: Option<Started>) -> Result<(), LabError> {
    match action {
        Action::Link { namespace, device, up } => {
            let said = |error| LabError::system(format!("setting {device} up or down"), error);
            within(namespace, || set_link(device, *up))?.map_err(said)
        }
        Action::Tool { lines, .. } => tool.map_or(Ok(()), |tool| tool.feed(lines)),
        Action::Wan(command) => wan::request(lab, command).map(|_| ()),
        Action::Signal { host, signal: number } => {
            let mut known = Vec::new();
            for _ in 0..MOST_LOOKS {
                let found = processes(std::slice::from_ref(host));
                let new: Vec<i32> = found.into_iter().filter(|id| !known.contains(id)).collect();
                if new.is_empty() {
                    break;
                }
                signal(&new, *number);
                known.extend(new);
            }
            Ok(())
        }
    }
}

/// Whether a device has a carrier; of linux/ethtool.h.
const ETHTOOL_GLINK: u32 = 0x0a;

/// Sets a device of the calling thread's namespace up or down, by a call of the kernel.
fn set_link(device: &str, up: bool) -> io::Result<()> {
    let socket = std::net::UdpSocket::bind("127.0.0.1:0")
        .or_else(|_| std::net::UdpSocket::bind("0.0.0.0:0"))?;
    let descriptor = std::os::fd::AsRawFd::as_raw_fd(&socket);
    // SAFETY: all zeros is a request without a name.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    if device.len() >= request.ifr_name.len() {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    for (to, from) in request.ifr_name.iter_mut().zip(device.bytes()) {
        *to = from as libc::c_char;
    }
    let check = |code: i32| if code == 0 { Ok(()) } else { Err(io::Error::last_os_error()) };
    // SAFETY: the request is our own and lives during the calls; the kernel fills in the flags.
    unsafe {
        check(libc::ioctl(descriptor, libc::SIOCGIFFLAGS as _, &mut request))?;
        let flag = libc::IFF_UP as libc::c_short;
        match up {
            true => request.ifr_ifru.ifru_flags |= flag,
            false => request.ifr_ifru.ifru_flags &= !flag,
        }
        check(libc::ioctl(descriptor, libc::SIOCSIFFLAGS as _, &mut request))?;
        if up {
            // The kernel deals with links that came up once a second, unless a query asks for
            // one; a switch of metal does not wait. Where it cannot be asked, that second passes.
            let mut question: [u32; 2] = [ETHTOOL_GLINK, 0];
            request.ifr_ifru.ifru_data = question.as_mut_ptr().cast();
            let _ = libc::ioctl(descriptor, libc::SIOCETHTOOL as _, &mut request);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Options;
    use laneway_sim::platform::Platform;

    fn table(text: &str) -> Result<Timetable, LabError> {
        let platform = Platform::read("two-sites:2x2").expect("a platform");
        let plan = Plan::new(&platform, Options::default()).expect("a plan");
        Timetable::parse(text, &LabName::new("t").expect("a name"), &plan)
    }

    #[test]
    fn faults_begin_and_end_in_the_order_of_time() {
        let found =
            table("# a day\n2s carrier s0n0\n\n0.5s drop s0n1 for 1s\n0s freeze s1n0 for 3s")
                .expect("a timetable");
        let steps: Vec<(f64, bool)> =
            found.steps.iter().map(|step| (step.at, step.begins)).collect();
        assert_eq!(steps, [(0.0, true), (0.5, true), (1.5, false), (2.0, true), (3.0, false)]);
    }

    #[test]
    fn a_link_that_flaps_goes_down_and_up_until_its_end() {
        let found = table("1s flap s0n0 200ms for 1s").expect("a timetable");
        assert_eq!(found.steps.len(), 10);
        assert!((found.steps[9].at - 1.9).abs() < 1e-9 && !found.steps[9].begins);
    }

    #[test]
    fn a_wrong_line_is_named_by_its_number() {
        for (text, word) in [
            ("1s drop s0n0\nsoon drop s0n0", "line 2: `soon` is not a time"),
            ("1s", "line 1: no fault is named"),
            ("1s flap s0n0 100ms", "line 1: a link that flaps"),
            ("1s flap s0n0 0s for 1s", "line 1: a link that flaps"),
            ("1s flap s0n0 1ns for 1000s", "line 1: a link that flaps more than"),
        ] {
            let refused = table(text).expect_err(text).to_string();
            assert!(refused.contains(word), "{text}: {refused}");
        }
    }
}
