//! Where ranks are on a platform: for algorithms that ask.

use laneway_core::{Location, Placement};

use super::Platform;
use crate::network::HostId;

/// Distances are latencies in these parts of a second.
const PARTS: f64 = 1e12;

impl Platform {
    /// Where ranks are that run on these hosts: sites by their number, farther by their latency. A
    /// host of no site is one by itself.
    pub fn placement(&self, hosts: &[HostId]) -> Placement {
        let names = self.site_names.len() as u32;
        let location = |&host: &HostId| {
            let (lan, wan) = (self.hosts[host as usize].lan, self.hosts[host as usize].wan);
            let wan_card = wan.out != lan.out || wan.into != lan.into;
            Location { site: self.site_of(host).unwrap_or(names + host), host, wan_card }
        };
        let locations: Vec<Location> = hosts.iter().map(location).collect();
        // Sites without a rank have no number there.
        let mut sites: Vec<u32> = locations.iter().map(|location| location.site).collect();
        sites.sort_unstable();
        sites.dedup();
        let latency = |from: u32, to: u32| {
            let at = |site: u32| sites[site as usize] as usize;
            let way = self.between.get(at(from) * self.site_names.len() + at(to));
            way.and_then(Option::as_ref).map_or(0.0, |way| way.latency)
        };
        Placement::new(locations).with_distances(|from, to| (PARTS * latency(from, to)) as u64)
    }
}
