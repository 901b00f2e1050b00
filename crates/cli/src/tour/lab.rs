//! The stop of the lab: two sites on this machine, and a link that breaks; with root only.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use laneway_lab::{Guard, LabError, LabName, Plan, connect, mpi, open, parse_fault, up};
use laneway_lab::{Options, carry_out, monotonic, this_program};
use laneway_sim::platform::Platform;

use super::say;
use crate::failure::Failure;

const PLATFORM: &str = "two-sites:2x2,latency=5ms,connection=25Mbit";
/// How long the link is broken.
const BROKEN: Duration = Duration::from_millis(100);

/// Builds a lab, sends a byte across, and once more over a link that breaks for a moment.
pub fn stop() -> Result<(), Failure> {
    say("7. A cluster on this machine, with links that break\n")?;
    match build_and_break() {
        Ok(text) => say(&text),
        Err(LabError::NotRoot) => say("   It needs root: sudo laneway tour shows it.\n"),
        // Whatever a machine lacks for it, the tour goes on.
        Err(error) => say(&format!("   Not on this machine: {error}\n")),
    }
}

fn build_and_break() -> Result<String, LabError> {
    let platform = Platform::read(PLATFORM).map_err(|error| LabError::Name(error.to_string()))?;
    let plan = Plan::new(&platform, Options::default()).map_err(LabError::Unbuildable)?;
    let lab = LabName::new(&format!("tour-{}", std::process::id()))?;
    let program = this_program()?;
    let begun = Instant::now();
    let guard = Guard::start(&lab, &program)?;
    up(&lab, &plan, &program)?;
    mpi::prepare(&lab, &plan, &program)?;
    open(&lab)?;
    let built_ms = begun.elapsed().as_millis();
    let seen = broken(&lab, &plan);
    guard.remove()?;
    let (healthy_ms, broken_ms) = seen?;
    Ok(format!(
        "   2 sites of 2 hosts, 5 ms apart, built in {built_ms} ms. A byte takes {healthy_ms:.1} \
         ms one way; over a\n   link that loses everything for {} ms it takes {broken_ms:.0} ms, \
         and arrives.\n",
        BROKEN.as_millis()
    ))
}

/// Milliseconds of a byte from site to site: over a healthy link, and over one that breaks.
fn broken(lab: &LabName, plan: &Plan) -> Result<(f64, f64), LabError> {
    let said = |error| LabError::system("a byte across the lab", error);
    let (mut one, mut other) = connect(lab, &plan.hosts[0], &plan.hosts[2], 0)?;
    let mut byte_ms = |meanwhile: &mut dyn FnMut() -> Result<(), LabError>| {
        let begun = Instant::now();
        one.write_all(&[1]).map_err(said)?;
        meanwhile()?;
        other.read_exact(&mut [0]).map_err(said)?;
        Ok(1e3 * begun.elapsed().as_secs_f64())
    };
    let healthy = byte_ms(&mut || Ok(()))?;
    let fault = parse_fault("drop s0n0", lab, plan)?;
    carry_out(lab, &fault, true, monotonic())?;
    let broken = byte_ms(&mut || {
        std::thread::sleep(BROKEN);
        carry_out(lab, &fault, false, monotonic()).map(|_| ())
    })?;
    Ok((healthy, broken))
}
