//! Where the ranks of a run are: their hosts, looked up in a platform of sites.

use std::sync::Arc;

use clap::{Arg, ArgMatches};
use laneway_core::{Comm, Failure, Placement, Shape};
use laneway_measure::talk::announce;
use laneway_sim::platform::Platform;
use laneway_sim::{HostId, Network};
use laneway_sites::{Candidate, Sites};

use crate::session::RankError;

pub fn arg() -> Arg {
    Arg::new("sites")
        .long("sites")
        .value_name("P")
        .env("LANEWAY_SITES")
        .help("The platform that says where hosts are [default: of --backend sim:P; a lab's own]")
}

/// The platform that was named for the hosts of a run.
pub fn asked(matches: &ArgMatches) -> Option<String> {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let simulated = || text("backend").and_then(|backend| backend.strip_prefix("sim:"));
    text("sites").filter(|name| !name.is_empty()).or_else(simulated).map(str::to_string)
}

/// The ranks of a run on a platform.
#[derive(Debug)]
pub struct Placed {
    platform: Platform,
    hosts: Vec<HostId>,
    placement: Arc<Placement>,
}

/// Collective: the platform that rank 0 was told of, on every rank. Launchers seldom pass on what
/// is in the environment, and other hosts may not have the file.
fn told(comm: &dyn Comm, spec: Option<&str>) -> Result<Option<Platform>, RankError> {
    let text = match spec.filter(|_| comm.rank() == 0) {
        Some(spec) => match std::fs::read_to_string(spec) {
            Ok(file) => format!("{spec}\n{file}"),
            Err(_) => spec.to_string(),
        },
        None => String::new(),
    };
    let mut length = [text.len() as f64];
    announce(comm, &mut length)?;
    let mut bytes: Vec<f64> = text.bytes().map(f64::from).collect();
    bytes.resize(length[0] as usize, 0.0);
    announce(comm, &mut bytes)?;
    let bytes: Vec<u8> = bytes.into_iter().map(|byte| byte as u8).collect();
    let text = String::from_utf8_lossy(&bytes);
    if text.is_empty() {
        return Ok(None);
    }
    let platform = match text.split_once('\n') {
        Some((name, file)) => Platform::parse(name, file),
        None => Platform::read(&text),
    };
    Ok(Some(platform.map_err(|error| error.into_failure())?))
}

impl Placed {
    /// Collective: finds every rank's host on the platform that rank 0 was told of, by its name or
    /// by the part before the first dot; none where nobody said where hosts are.
    pub fn find(comm: &dyn Comm, spec: Option<&str>) -> Result<Option<Placed>, RankError> {
        let Some(platform) = told(comm, spec)? else { return Ok(None) };
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
                let what = format!("where is host `{name}`?");
                let cause = format!("{spec} has no host of that name");
                let try_this = "--sites FILE.toml that names the hosts, or none";
                return Err(Failure::usage(what, cause, try_this).into());
            };
            hosts.push(host as HostId);
        }
        let placement = Arc::new(platform.placement(&hosts));
        Ok(Some(Placed { platform, hosts, placement }))
    }

    /// Collective: as if rank r were on host r of the platform that rank 0 was told of, and from
    /// the first host again where there are more ranks; none where no platform is named.
    pub fn pretend(comm: &dyn Comm, spec: Option<&str>) -> Result<Option<Placed>, RankError> {
        let Some(platform) = told(comm, spec)? else { return Ok(None) };
        let hosts: Vec<HostId> = (0..comm.size()).map(|rank| rank % platform.hosts()).collect();
        let placement = Arc::new(platform.placement(&hosts));
        Ok(Some(Placed { platform, hosts, placement }))
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

    /// What is chosen for a call of the first ranks; every rank comes to the same.
    pub fn choose(&self, shape: &Shape) -> Option<Candidate> {
        let hosts = self.hosts[..shape.ranks as usize].to_vec();
        let choice = Sites::new(&self.platform, hosts).ok()?.choose(shape).ok()?;
        Some(choice.best)
    }
}
