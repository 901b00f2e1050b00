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
use laneway_core::{
    Buffers, Comm, CommError, Exec, Failure, Placement, Reduction, Schedule, Shape,
};
use laneway_sim::platform::Platform;
use laneway_sim::{HostId, Network};

use crate::choose::{Candidate, ChoiceError, Sites};

/// Choices that are remembered; more would be looked through for longer than a choice takes.
const REMEMBERED: usize = 64;

/// Why ranks are nowhere, or a call is not made.
#[derive(Debug)]
#[non_exhaustive]
pub enum PlaceError {
    /// All ranks know of it.
    Refused(Failure),
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

impl From<Failure> for PlaceError {
    fn from(failure: Failure) -> PlaceError {
        PlaceError::Refused(failure)
    }
}

impl fmt::Display for PlaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlaceError::Refused(failure) => failure.fmt(f),
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
    chosen: Mutex<Vec<(Shape, Arc<Chosen>)>>,
}

impl fmt::Debug for Placed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Placed").field("hosts", &self.hosts).finish_non_exhaustive()
    }
}

impl Placed {
    fn new(platform: Platform, hosts: Vec<HostId>) -> Placed {
        let placement = Arc::new(platform.placement(&hosts));
        Placed { platform, hosts, placement, chosen: Mutex::default() }
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
        let known = || self.chosen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, chosen)) = known().iter().find(|(one, _)| one == shape) {
            return Ok(chosen.clone());
        }
        if shape.ranks > self.ranks() {
            let (ranks, placed) = (shape.ranks, self.ranks());
            return Err(ChoiceError::Call(format!("a call of {ranks} ranks, {placed} are placed")));
        }
        let hosts = self.hosts[..shape.ranks as usize].to_vec();
        let sites = Sites::new(&self.platform, hosts)?;
        let candidate = sites.choose(shape)?.best;
        let schedule = sites.schedule(shape, candidate.algorithm, &candidate.params)?;
        let chosen = Arc::new(Chosen { candidate, schedule });
        let mut known = known();
        if known.len() == REMEMBERED {
            known.remove(0);
        }
        known.push((shape.clone(), chosen.clone()));
        Ok(chosen)
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
        let refused = |cause: String| {
            Failure::usage("no schedule for this call", cause, "another root or size")
        };
        shape.validate().map_err(|bad| refused(bad.0))?;
        let chosen = self.choose(shape).map_err(|error| refused(error.to_string()))?;
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
    Ok(Some(platform.map_err(|error| error.into_failure())?))
}
