//! Runs a program on the hosts of a platform, in virtual time and in this process.

use laneway_core::{Comm, Schedule};
use laneway_sim::platform::Platform;
use laneway_sim::{Outcome, Program};

use crate::error::{Error, Result};

/// Runs `program` once for each of `ranks` ranks on a simulated platform, and returns what each of
/// them returned, by rank. Rank r is on host r.
///
/// All ranks are coroutines of this thread, so `program` may borrow what it likes. Computing takes
/// no time; messages and sleeping take what the platform says. Every run gives the same digits.
///
/// ```
/// use laneway::{Platform, simulate};
///
/// let platform = Platform::read("cluster:2,latency=5us,rate=10Gbit")?;
/// let times = simulate(&platform, 2, |comm| {
///     match comm.rank() {
///         0 => comm.send(1, 7, &[0; 1000])?,
///         _ => comm.recv(Some(0), Some(7), &mut [0; 1000]).map(|_| ())?,
///     }
///     Ok::<f64, laneway::CommError>(comm.clock().now())
/// })?;
/// assert_eq!(times[1].as_ref().map(|time| format!("{:.1} us", time * 1e6)), Ok("5.8 us".into()));
/// # Ok::<(), laneway::Error>(())
/// ```
pub fn simulate<T>(
    platform: &Platform,
    ranks: u32,
    program: impl Fn(&dyn Comm) -> T,
) -> Result<Vec<T>> {
    let hosts = platform.hosts();
    if !(1..=hosts).contains(&ranks) {
        let why = format!("{ranks} ranks, and {} has {hosts} hosts", platform.name());
        return Err(Error::Rule(why));
    }
    Ok(Program::new(platform, ranks).run(program)?.results)
}

/// Runs a schedule alone, without data: up to a million ranks, and what each link carried.
///
/// ```
/// use laneway::{Collective, Platform, Shape, find, simulate_schedule};
///
/// let platform = Platform::read("cluster:1000,rate=10Gbit,latency=5us")?;
/// let shape = Shape::new(Collective::Bcast, platform.hosts(), 1 << 20);
/// let (algorithm, params) = find(Collective::Bcast, "binomial")?;
/// let outcome = simulate_schedule(&platform, &*algorithm.schedule(&shape, &params)?)?;
/// assert_eq!(outcome.messages, 999);
/// # Ok::<(), laneway::Error>(())
/// ```
pub fn simulate_schedule(platform: &Platform, schedule: &dyn Schedule) -> Result<Outcome> {
    Ok(laneway_sim::simulate(platform, schedule, None)?)
}
