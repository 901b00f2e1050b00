//! Chooses the fastest algorithm for a call on a platform.

use laneway_core::{Collective, Rank, Schedule, Shape};
use laneway_sim::platform::Platform;
use laneway_sites::{Choice, Sites};

use crate::error::{Error, Result};

/// Which call is chosen for, and how much work that may be.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ChooseOptions {
    /// The root, where the collective has one.
    pub root: Rank,
    /// The host of each rank; without it one rank on each host of the platform.
    pub hosts: Option<Vec<u32>>,
    /// How much the simulator may do, as [`Choice::work`] counts it; what is usual without it.
    pub work: Option<u64>,
}

impl ChooseOptions {
    /// With this root.
    pub fn with_root(self, root: Rank) -> ChooseOptions {
        ChooseOptions { root, ..self }
    }

    /// With rank r on host `hosts[r]`.
    pub fn with_hosts(self, hosts: Vec<u32>) -> ChooseOptions {
        ChooseOptions { hosts: Some(hosts), ..self }
    }

    /// With so much work of the simulator at most.
    pub fn with_work(self, work: u64) -> ChooseOptions {
        ChooseOptions { work: Some(work), ..self }
    }
}

/// The fastest algorithm, with its parameters, for a call with a rank on each host, as the
/// simulator sees it; beside it all others that were tried, and a lower bound where one is known.
///
/// ```
/// use laneway::{Collective, Platform, choose};
///
/// let platform = Platform::read("two-sites:4x4,latency=20ms")?;
/// let choice = choose(&platform, Collective::Scatter, 1 << 20)?;
/// let bound = choice.bound.as_ref().expect("a bound").time;
/// assert!(bound <= choice.best.time && choice.best.time < 1.1 * bound);
/// # Ok::<(), laneway::Error>(())
/// ```
pub fn choose(platform: &Platform, collective: Collective, bytes: u64) -> Result<Choice> {
    choose_with(platform, collective, bytes, &ChooseOptions::default())
}

/// The same with other options.
pub fn choose_with(
    platform: &Platform,
    collective: Collective,
    bytes: u64,
    options: &ChooseOptions,
) -> Result<Choice> {
    let sites = sites(platform, options)?;
    let shape = shape(&sites, collective, bytes, options)?;
    Ok(match options.work {
        Some(work) => sites.choose_with(&shape, work)?,
        None => sites.choose(&shape)?,
    })
}

/// The schedule of what was chosen, for [`perform`](crate::perform), or to be looked at.
pub fn chosen_schedule(
    platform: &Platform,
    choice: &Choice,
    bytes: u64,
    options: &ChooseOptions,
) -> Result<Box<dyn Schedule>> {
    let sites = sites(platform, options)?;
    let best = &choice.best;
    let shape = shape(&sites, best.algorithm.family, bytes, options)?;
    Ok(sites.schedule(&shape, best.algorithm, &best.params)?)
}

fn sites<'a>(platform: &'a Platform, options: &ChooseOptions) -> Result<Sites<'a>> {
    Ok(match &options.hosts {
        Some(hosts) => Sites::new(platform, hosts.clone())?,
        None => Sites::one_each(platform),
    })
}

fn shape(
    sites: &Sites,
    collective: Collective,
    bytes: u64,
    options: &ChooseOptions,
) -> Result<Shape> {
    let ranks = sites.placement().ranks();
    if options.root >= ranks {
        return Err(Error::Rule(format!("root {} of {ranks} ranks", options.root)));
    }
    Ok(Shape::new(collective, ranks, bytes).with_root(options.root))
}
