//! More ranks than cores on a host: they take turns, and what is measured is about that.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use laneway_core::talk::{broadcast_value, gather_any_values};
use laneway_core::{Comm, CommError};

use crate::GrantedCores;

/// A host on which more ranks run than cores.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Crowd {
    /// Its name, as the communicator gives it.
    pub host: String,
    /// All that run there.
    pub ranks: u32,
    /// Those that its ranks may use, all of them together.
    pub cores: u32,
    /// Other hosts that are crowded too.
    pub others: u32,
}

impl fmt::Display for Crowd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Crowd { host, ranks, cores, others } = self;
        match cores {
            1 => write!(f, "{ranks} ranks share the 1 core of {host}")?,
            _ => write!(f, "{ranks} ranks share the {cores} cores of {host}")?,
        }
        match others {
            0 => write!(f, ", and disturb each other"),
            1 => write!(f, ", and 1 other host is crowded: they disturb each other"),
            _ => write!(f, ", and {others} other hosts are crowded: they disturb each other"),
        }
    }
}

/// Collective, on a communicator that is not used meanwhile: the host with the most ranks to
/// a core, where one has more ranks than cores; every rank gets the same answer. A simulated
/// cluster never is crowded.
///
/// A rank that is bound sees only its own cores, so a host has those of all its ranks together, at
/// most as many as a quota grants.
pub fn crowded(comm: &dyn Comm) -> Result<Option<Crowd>, CommError> {
    if comm.clock().is_virtual() {
        return Ok(None);
    }
    let hosts = comm.hosts()?;
    let all = gather_any_values(comm, &GrantedCores::here())?;
    // Rank 0 has found it, and the others hear of it.
    let worst = most_crowded(&hosts, &all);
    let known = worst.map_or((0, 0, 0, 0), |(place, crowd)| {
        (place as u64, crowd.ranks, crowd.cores, crowd.others)
    });
    let (place, ranks, cores, others) = broadcast_value(comm, &known)?;
    let host = hosts.get(place as usize).cloned().unwrap_or_default();
    Ok((ranks > 0).then_some(Crowd { host, ranks, cores, others }))
}

/// What the ranks of one host have.
#[derive(Default)]
struct Host {
    /// Its first rank.
    place: usize,
    ranks: u32,
    cores: BTreeSet<u32>,
    /// The largest of its ranks': they may be in different control groups.
    quota: Option<u32>,
    unlimited: bool,
}

impl Host {
    fn usable(&self) -> u32 {
        let allowed = self.cores.len() as u32;
        let quota = self.quota.filter(|_| !self.unlimited);
        quota.map_or(allowed, |quota| quota.min(allowed)).max(1)
    }

    /// Ranks to a core.
    fn load(&self) -> f64 {
        f64::from(self.ranks) / f64::from(self.usable())
    }
}

/// The host with the most ranks to a core, of equals that of the lowest rank, and that rank; none
/// where each rank has a core. Both lists have an entry for each rank.
fn most_crowded(hosts: &[String], cores: &[GrantedCores]) -> Option<(usize, Crowd)> {
    let mut all: BTreeMap<&str, Host> = BTreeMap::new();
    for (place, (name, cores)) in hosts.iter().zip(cores).enumerate() {
        let host = all.entry(name).or_insert_with(|| Host { place, ..Host::default() });
        host.ranks += 1;
        host.cores.extend(&cores.allowed);
        host.quota = host.quota.max(cores.quota);
        host.unlimited |= cores.quota.is_none();
    }
    let mut crowded: Vec<(&str, Host)> =
        all.into_iter().filter(|(_, host)| host.ranks > host.usable()).collect();
    crowded.sort_by(|(_, a), (_, b)| b.load().total_cmp(&a.load()).then(a.place.cmp(&b.place)));
    let (name, worst) = crowded.first()?;
    let crowd = Crowd {
        host: name.to_string(),
        ranks: worst.ranks,
        cores: worst.usable(),
        others: crowded.len() as u32 - 1,
    };
    Some((worst.place, crowd))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cores(allowed: &[u32], quota: Option<u32>) -> GrantedCores {
        GrantedCores { allowed: allowed.to_vec(), quota }
    }

    fn found(ranks: &[(&str, GrantedCores)]) -> Option<Crowd> {
        let (hosts, cores): (Vec<String>, Vec<GrantedCores>) =
            ranks.iter().map(|(host, cores)| (host.to_string(), cores.clone())).unzip();
        most_crowded(&hosts, &cores).map(|(_, crowd)| crowd)
    }

    fn crowd(host: &str, ranks: u32, cores: u32, others: u32) -> Option<Crowd> {
        Some(Crowd { host: host.into(), ranks, cores, others })
    }

    #[test]
    fn free_ranks_have_the_cores_of_their_host() {
        let free = cores(&[0, 1], None);
        assert_eq!(found(&[("a", free.clone()), ("a", free.clone())]), None);
        assert_eq!(found(&vec![("a", free); 3]), crowd("a", 3, 2, 0));
        assert_eq!(found(&[]), None);
    }

    #[test]
    fn bound_ranks_have_those_of_all_of_them() {
        let bound = |core| ("a", cores(&[core], None));
        assert_eq!(found(&[bound(0), bound(1), bound(70)]), None);
        assert_eq!(found(&[bound(3), bound(3)]), crowd("a", 2, 1, 0));
    }

    #[test]
    fn a_quota_grants_less_than_there_is() {
        let bound = |core, quota| ("a", cores(&[core], quota));
        assert_eq!(found(&[bound(0, Some(1)), bound(1, Some(1))]), crowd("a", 2, 1, 0));
        assert_eq!(found(&[bound(0, Some(2)), bound(1, Some(1))]), None);
        assert_eq!(found(&[bound(0, None), bound(1, Some(1))]), None);
    }

    #[test]
    fn hosts_differ_and_the_fullest_is_found() {
        let ranks = |host, ranks, own: &[u32]| vec![(host, cores(own, None)); ranks];
        let wide: Vec<u32> = (0..128).collect();
        let two = [ranks("wide", 100, &wide), ranks("narrow", 4, &[0, 1])].concat();
        assert_eq!(found(&two), crowd("narrow", 4, 2, 0));
        let three = [two, ranks("full", 3, &[5])].concat();
        assert_eq!(found(&three), crowd("full", 3, 1, 1));
    }

    #[test]
    fn a_crowd_reads_as_a_sentence() {
        let text = |cores, others| crowd("x", 4, cores, others).map(|crowd| crowd.to_string());
        let wanted = ["4 ranks share the 2 cores of x, and disturb each other"];
        assert_eq!(text(2, 0).as_deref(), Some(wanted[0]));
        assert!(text(1, 0).is_some_and(|text| text.starts_with("4 ranks share the 1 core of x,")));
        assert!(text(1, 2).is_some_and(|text| text.contains("2 other hosts are crowded")));
    }
}
