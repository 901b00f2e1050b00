//! The ranks of a run on a platform of sites: each call gets the schedule that is best there.
//!
//! ```
//! use laneway_core::{Collective, Comm, Shape};
//! use laneway_sim::{Program, platform::Platform};
//! use laneway_sites::Placed;
//!
//! let platform = Platform::read("two-sites:2x2").expect("a platform");
//! let end = Program::new(&platform, 4).run(|comm| {
//!     // Under MPI the same call finds the hosts by their names.
//!     let placed = Placed::find(comm, Some("two-sites:2x2")).expect("known hosts");
//!     let placed = placed.expect("sites");
//!     let shape = Shape::new(Collective::Scatter, 4, 8);
//!     let rows = if comm.rank() == 0 { (0..32).collect() } else { vec![] };
//!     let mut mine = [0; 8];
//!     placed.run(comm, &shape, &rows, &mut mine, None).expect("a scatter");
//!     mine[0]
//! });
//! assert_eq!(end.expect("an end").results, [0, 8, 16, 24]);
//! ```

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use laneway_core::talk;
use laneway_core::{Buffers, Comm, CommError, Exec, Placement, Reduction, Schedule, Shape};
use laneway_sim::HostId;
use laneway_sim::platform::{Platform, PlatformError};

use crate::choose::{Candidate, ChoiceError, Sites};

/// Choices that are remembered; more would be looked through for longer than a choice takes.
const REMEMBERED: usize = 64;

/// Why ranks are nowhere, or a call is not made.
#[derive(Debug)]
#[non_exhaustive]
pub enum PlaceError {
    /// The platform cannot be used; all ranks know of it.
    Platform(PlatformError),
    /// There is no schedule for the call; all ranks know of it.
    Call {
        /// The cause.
        why: String,
    },
    /// A rank's host that the platform does not have; all ranks know of it.
    UnknownHost {
        /// The host's name.
        host: String,
        /// The platform's.
        platform: String,
    },
    /// The others may not know and be waiting.
    Comm(CommError),
}

impl From<CommError> for PlaceError {
    fn from(error: CommError) -> PlaceError {
        PlaceError::Comm(error)
    }
}

impl From<PlatformError> for PlaceError {
    fn from(error: PlatformError) -> PlaceError {
        PlaceError::Platform(error)
    }
}

impl fmt::Display for PlaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlaceError::Platform(error) => error.fmt(f),
            PlaceError::Call { why } => write!(f, "no schedule for this call: {why}"),
            PlaceError::UnknownHost { host, platform } => {
                write!(f, "the site of host `{host}` is unknown: {platform} has no such host")
            }
            PlaceError::Comm(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for PlaceError {}

/// What was chosen for a call.
#[non_exhaustive]
pub struct Chosen {
    /// The algorithm, and what it takes in the simulator.
    pub candidate: Candidate,
    /// Its schedule for the call.
    pub schedule: Box<dyn Schedule>,
}

/// The ranks of a communicator on a platform.
pub struct Placed {
    platform: Platform,
    hosts: Vec<HostId>,
    placement: Arc<Placement>,
    /// What this rank chose, and what all ranks chose together.
    chosen: Choices,
    agreed: Choices,
}

/// Choices by the shapes that they are for.
#[derive(Default)]
struct Choices(Mutex<Vec<(Shape, Arc<Chosen>)>>);

impl Choices {
    fn find(&self, shape: &Shape) -> Option<Arc<Chosen>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().find(|(one, _)| one == shape).map(|(_, chosen)| chosen.clone())
    }

    fn add(&self, shape: &Shape, chosen: Chosen) -> Arc<Chosen> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Among calls of as many ranks: they were all part of each of these calls.
        let alike = |(one, _): &&(Shape, Arc<Chosen>)| one.ranks == shape.ranks;
        if known.iter().filter(alike).count() >= REMEMBERED
            && let Some(first) = known.iter().position(|(one, _)| one.ranks == shape.ranks)
        {
            known.remove(first);
        }
        let chosen = Arc::new(chosen);
        known.push((shape.clone(), chosen.clone()));
        chosen
    }
}

/// Precedes a choice that rank 0 announces; the text of an error has no such beginning.
const FOUND: &str = "\u{1}";

impl fmt::Debug for Placed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Placed").field("hosts", &self.hosts).finish_non_exhaustive()
    }
}

impl Placed {
    fn new(platform: Platform, hosts: Vec<HostId>) -> Placed {
        let placement = Arc::new(platform.placement(&hosts));
        let (chosen, agreed) = (Choices::default(), Choices::default());
        Placed { platform, hosts, placement, chosen, agreed }
    }

    /// Collective: finds every rank's host on the platform that rank 0 was given, by its name or
    /// by the part before the first dot; `None` if no platform was given.
    pub fn find(comm: &dyn Comm, spec: Option<&str>) -> Result<Option<Placed>, PlaceError> {
        let Some(platform) = announce_platform(comm, spec)? else { return Ok(None) };
        let (names, spec) = (comm.hosts()?, platform.name());
        let short = |name: &str| name.split('.').next().unwrap_or_default().to_string();
        let find = |name: &String| {
            let known = platform.host_names();
            let exact = known.iter().position(|one| one == name);
            exact.or_else(|| known.iter().position(|one| short(one) == short(name)))
        };
        let mut hosts = Vec::new();
        for name in &names {
            let Some(host) = find(name) else {
                let (host, platform) = (name.clone(), spec.to_string());
                return Err(PlaceError::UnknownHost { host, platform });
            };
            hosts.push(host as HostId);
        }
        Ok(Some(Placed::new(platform, hosts)))
    }

    /// Collective: as if rank r were on host r of the platform that rank 0 was given, and from
    /// the first host again where there are more ranks; `None` if no platform is named.
    pub fn pretend(comm: &dyn Comm, spec: Option<&str>) -> Result<Option<Placed>, PlaceError> {
        let Some(platform) = announce_platform(comm, spec)? else { return Ok(None) };
        let hosts: Vec<HostId> = (0..comm.size()).map(|rank| rank % platform.hosts()).collect();
        Ok(Some(Placed::new(platform, hosts)))
    }

    /// How many ranks there are.
    pub fn ranks(&self) -> u32 {
        self.placement.ranks()
    }

    /// The name of each rank's site.
    pub fn sites(&self) -> Vec<String> {
        let names = self.platform.site_names();
        let name = |host: &HostId| match self.platform.site_of(*host) {
            Some(site) => names[site as usize].clone(),
            None => "nowhere".to_string(),
        };
        self.hosts.iter().map(name).collect()
    }

    /// A call of the first ranks that knows where they are.
    pub fn place(&self, shape: Shape) -> Shape {
        if shape.ranks == self.placement.ranks() {
            return shape.with_placement(self.placement.clone());
        }
        let hosts = &self.hosts[..shape.ranks as usize];
        shape.with_placement(Arc::new(self.platform.placement(hosts)))
    }

    /// What is chosen for a call of the first ranks; every rank comes to the same. A second time it
    /// is remembered.
    pub fn choose(&self, shape: &Shape) -> Result<Arc<Chosen>, ChoiceError> {
        match self.chosen.find(shape) {
            Some(chosen) => Ok(chosen),
            None => Ok(self.chosen.add(shape, self.search(shape)?)),
        }
    }

    /// Collective: the same, but only rank 0 searches, and announces what it has found.
    pub fn choose_together(
        &self,
        comm: &dyn Comm,
        shape: &Shape,
    ) -> Result<Arc<Chosen>, PlaceError> {
        // Filled by this function alone, so that it has the same choices on every rank.
        if let Some(chosen) = self.agreed.find(shape) {
            return Ok(chosen);
        }
        let text = match comm.rank() {
            0 => match self.choose(shape) {
                Ok(chosen) => format!("{FOUND}{}", chosen.candidate.written()),
                Err(error) => error.to_string(),
            },
            _ => String::new(),
        };
        let text = talk::broadcast_text(comm, &text)?;
        let Some(found) = text.strip_prefix(FOUND) else {
            return Err(PlaceError::Call { why: text });
        };
        let chosen = Candidate::read(shape.collective, found)
            .and_then(|candidate| self.schedule(shape, candidate))
            .map_err(|error| PlaceError::Call { why: error.to_string() })?;
        Ok(self.agreed.add(shape, chosen))
    }

    fn sites_of(&self, shape: &Shape) -> Result<Sites<'_>, ChoiceError> {
        if shape.ranks > self.ranks() {
            let (ranks, placed) = (shape.ranks, self.ranks());
            return Err(ChoiceError::Call(format!("a call of {ranks} ranks, {placed} are placed")));
        }
        let hosts = self.hosts[..shape.ranks as usize].to_vec();
        Sites::new(&self.platform, hosts)
    }

    fn search(&self, shape: &Shape) -> Result<Chosen, ChoiceError> {
        self.schedule(shape, self.sites_of(shape)?.choose(shape)?.best)
    }

    fn schedule(&self, shape: &Shape, candidate: Candidate) -> Result<Chosen, ChoiceError> {
        let sites = self.sites_of(shape)?;
        let schedule = sites.schedule(shape, candidate.algorithm, &candidate.params)?;
        Ok(Chosen { candidate, schedule })
    }

    /// Collective: does a call by what is chosen for it.
    pub fn run(
        &self,
        comm: &dyn Comm,
        shape: &Shape,
        input: &[u8],
        output: &mut [u8],
        reduction: Option<Reduction>,
    ) -> Result<(), PlaceError> {
        shape.validate().map_err(|bad| PlaceError::Call { why: bad.0 })?;
        let chosen = self.choose_together(comm, shape)?;
        let mut tmp = vec![0; chosen.schedule.tmp_len(comm.rank()) as usize];
        let buffers = Buffers::new(input, output, &mut tmp);
        Ok(Exec::new(comm, &*chosen.schedule, buffers, reduction, 0)?.run()?)
    }
}

/// Collective: the platform that rank 0 was given, on every rank. Launchers seldom pass on what
/// is in the environment, and other hosts may not have the file.
fn announce_platform(comm: &dyn Comm, spec: Option<&str>) -> Result<Option<Platform>, PlaceError> {
    let text = match spec.filter(|_| comm.rank() == 0) {
        Some(spec) => match std::fs::read_to_string(spec) {
            Ok(file) => format!("{spec}\n{file}"),
            Err(_) => spec.to_string(),
        },
        None => String::new(),
    };
    let text = talk::broadcast_text(comm, &text)?;
    if text.is_empty() {
        return Ok(None);
    }
    let platform = match text.split_once('\n') {
        Some((name, file)) => Platform::parse(name, file),
        None => Platform::read(&text),
    };
    Ok(Some(platform?))
}

#[cfg(test)]
mod tests {
    use laneway_core::Collective;
    use laneway_sim::Program;

    use super::*;

    #[test]
    fn rank_0_searches_and_all_ranks_have_its_choice() {
        let platform = Platform::read("two-sites:2x2").expect("a platform");
        let ended = Program::new(&platform, 4).run(|comm| {
            let placed = Placed::find(comm, Some("two-sites:2x2")).expect("known hosts");
            let placed = placed.expect("sites");
            let shape = Shape::new(Collective::Bcast, 4, 1 << 20);
            let chosen = placed.choose_together(comm, &shape).expect("a choice");
            let again = placed.choose_together(comm, &shape).expect("the same");
            assert!(Arc::ptr_eq(&chosen, &again));
            let searched = placed.chosen.find(&shape).is_some();
            (searched, chosen.candidate.spelled(), chosen.candidate.time)
        });
        let results = ended.expect("an end").results;
        assert_eq!(
            results.iter().map(|one| one.0).collect::<Vec<_>>(),
            [true, false, false, false]
        );
        let is_same = |one: &(bool, String, f64)| (&one.1, one.2) == (&results[0].1, results[0].2);
        assert!(results.iter().all(is_same), "{results:?}");
        // A call that nothing serves is refused on every rank.
        let ended = Program::new(&platform, 4).run(|comm| {
            let placed = Placed::find(comm, Some("two-sites:2x2")).expect("known hosts");
            let placed = placed.expect("sites");
            let shape = Shape::new(Collective::Bcast, 5, 8);
            let refused = placed.choose_together(comm, &shape).map(|chosen| chosen.candidate.time);
            matches!(refused, Err(PlaceError::Call { .. }))
        });
        assert_eq!(ended.expect("an end").results, [true; 4]);
    }
}
