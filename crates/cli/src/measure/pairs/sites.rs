//! Which ranks share a site, and so a way to the others: the platform knows, or the hosts' names,
//! or the person who asks; and else the latencies tell.

use laneway_core::Failure;
use laneway_sim::Network;
use laneway_sim::platform::Platform;

/// Where the sites are known from.
#[derive(Debug, PartialEq, Eq)]
pub enum Sites {
    /// The site of each host of a simulated cluster, where all are at one.
    Platform(Vec<Option<u32>>),
    /// So many ranks at each, one after the other.
    Given(Vec<u32>),
    /// What follows the first dot of a host's name.
    Domains,
}

impl Sites {
    pub fn from(given: Option<&str>, backend: Option<&str>) -> Result<Sites, Failure> {
        if let Some(text) = given {
            let count = |word: &str| word.parse::<u32>().ok().filter(|&ranks| ranks > 0);
            let counts: Option<Vec<u32>> = text.split(',').map(count).collect();
            return counts.map(Sites::Given).ok_or_else(|| {
                let cause = "a number of ranks for each site, as in 8,8";
                Failure::usage(format!("no sites `{text}`"), cause, "--sites 8,8")
            });
        }
        match backend.and_then(|backend| backend.strip_prefix("sim:")) {
            Some(spec) => {
                let platform = Platform::read(spec).map_err(|error| error.into_failure())?;
                let sites = (0..platform.hosts()).map(|host| platform.site_of(host));
                Ok(Sites::Platform(sites.collect()))
            }
            None => Ok(Sites::Domains),
        }
    }

    /// The site of each rank, where that is known before anything is measured.
    pub fn of(&self, hosts: &[String]) -> Result<Option<Vec<u32>>, Failure> {
        match self {
            // Rank r is on host r.
            Sites::Platform(sites) => Ok(sites.iter().copied().take(hosts.len()).collect()),
            Sites::Given(counts) => {
                let numbered = counts.iter().zip(0..);
                let sites: Vec<u32> = numbered
                    .flat_map(|(&count, site)| {
                        std::iter::repeat_n(site, (count as usize).min(hosts.len() + 1))
                    })
                    .collect();
                if sites.len() == hosts.len() {
                    return Ok(Some(sites));
                }
                let total: u64 = counts.iter().map(|&count| u64::from(count)).sum();
                let what = format!("sites of {total} ranks");
                let cause = format!("there are {} ranks", hosts.len());
                Err(Failure::usage(what, cause, "as many as there are, as in --sites 8,8"))
            }
            Sites::Domains => {
                let domain =
                    |host: &String| host.split_once('.').map_or("", |(_, d)| d).to_string();
                let mut known: Vec<String> = Vec::new();
                let site = |host: &String| {
                    let domain = domain(host);
                    let found = known.iter().position(|known| *known == domain);
                    found.unwrap_or_else(|| {
                        known.push(domain);
                        known.len() - 1
                    }) as u32
                };
                let sites = hosts.iter().map(site).collect();
                // Hosts of one domain may be anywhere.
                Ok((known.len() > 1).then_some(sites))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| name.to_string()).collect()
    }

    #[test]
    fn sites_are_found_each_way() {
        let four = hosts(&["a.x.org", "b.y.org", "c.x.org", "d"]);
        let of = |given, backend| Sites::from(given, backend).and_then(|sites| sites.of(&four));
        assert_eq!(of(None, None), Ok(Some(vec![0, 1, 0, 2])));
        assert_eq!(of(Some("1,3"), Some("mpi")), Ok(Some(vec![0, 1, 1, 1])));
        assert_eq!(of(None, Some("sim:two-sites:2x3")), Ok(Some(vec![0, 0, 1, 1])));
        assert_eq!(Sites::Domains.of(&hosts(&["a.x.org", "b.x.org"])), Ok(None));
        for bad in ["", "4,", "0,4", "x", "1,1", "4,1", "4294967295,4294967295"] {
            assert!(of(Some(bad), None).is_err(), "{bad}");
        }
    }
}
