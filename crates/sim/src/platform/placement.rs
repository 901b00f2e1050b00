//! Where ranks are on a platform: for algorithms that ask.

use std::collections::BTreeSet;

use laneway_core::{Location, Placement, Rank};

use super::{Host, Platform};
use crate::network::{HostId, ResourceId};

impl Platform {
    /// Where ranks are that run on these hosts: sites by their number, farther by their latency,
    /// with the rates of hosts and between sites. A host of no site is one by itself.
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
        let way = |from: u32, to: u32| {
            let (from, to) = (sites[from as usize], sites[to as usize]);
            let is_site = from.max(to) < names;
            let at = is_site.then_some((from * names + to) as usize)?;
            self.between.get(at)?.as_ref()
        };
        let latency = |from: u32, to: u32| way(from, to).map_or(0.0, |way| way.latency);
        let placement = Placement::new(locations);
        let cards = Cards::new(self, &placement);
        let rate = |from: u32, to: u32| {
            let Some(way) = way(from, to) else { return u64::MAX };
            let pairs = placement.members(from).len() * placement.members(to).len();
            let pairs = pairs * self.settled.connections as usize;
            let links = way.links.iter().map(|id| self.resources[*id as usize].rate);
            let narrowest = links.fold(way.most * pairs as f64, f64::min);
            narrowest.min(cards.out[from as usize]).min(cards.into[to as usize]) as u64
        };
        let rates = placement.clone().with_rates(rate);
        let speed = |rank: Rank| self.slowest_card(hosts[rank as usize]) as u64;
        let distance = |from, to| (Placement::DISTANCES_PER_SECOND * latency(from, to)) as u64;
        rates.with_speeds(speed).with_distances(distance)
    }

    /// Bytes a second of a host's slowest card and direction; infinite without a limit.
    fn slowest_card(&self, host: HostId) -> f64 {
        let Host { lan, wan, .. } = &self.hosts[host as usize];
        let cards = [lan.out, lan.into, wan.out, wan.into].map(|card| self.card_rate(card));
        cards.into_iter().fold(f64::INFINITY, f64::min)
    }

    fn card_rate(&self, card: Option<ResourceId>) -> f64 {
        card.map_or(f64::INFINITY, |id| self.resources[id as usize].rate)
    }
}

/// Bytes a second of all cards of each site's hosts that lead to other sites.
struct Cards {
    out: Vec<f64>,
    into: Vec<f64>,
}

impl Cards {
    fn new(platform: &Platform, placement: &Placement) -> Cards {
        let sum = |site: u32, card: &dyn Fn(&Host) -> Option<ResourceId>| {
            let hosts = placement.members(site).iter().map(|rank| placement.location(*rank).host);
            // Ranks of a host share its card.
            let hosts: BTreeSet<u32> = hosts.collect();
            let rate = |host: u32| platform.card_rate(card(&platform.hosts[host as usize]));
            hosts.into_iter().map(rate).sum::<f64>()
        };
        let sites = || 0..placement.sites();
        Cards {
            out: sites().map(|site| sum(site, &|host| host.wan.out)).collect(),
            into: sites().map(|site| sum(site, &|host| host.wan.into)).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_placement_knows_rates_of_hosts_and_between_sites() {
        let spec = "sites:2,3,rate=80Mbit,connection=8Mbit,uplink=400Mbit";
        let platform = Platform::read(spec).expect("a platform");
        let placement = platform.placement(&[0, 1, 2, 3, 4]);
        assert_eq!(placement.speed(3), 10_000_000);
        // Six pairs of hosts with 1 MB/s each.
        assert_eq!((placement.rate(0, 1), placement.rate(1, 0)), (6_000_000, 6_000_000));
        let few = platform.placement(&[0, 2]);
        assert_eq!(few.rate(0, 1), 1_000_000);
    }
}
