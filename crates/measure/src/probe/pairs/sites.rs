//! Which ranks share a site, and so a way to the others: as given, by the hosts' names, or else by
//! the latencies.

use super::error::Refusal;

/// Where the sites are known from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sites {
    /// The site of each rank; where one of the ranks has none, the latencies tell.
    Known(Vec<Option<u32>>),
    /// The number of ranks at each site, one site after the other.
    Counts(Vec<u32>),
    /// What follows the first dot of a host's name; where all have the same, the latencies tell.
    Domains,
}

impl Sites {
    /// The site of each rank on these hosts, where that is known before anything is measured.
    pub fn of(&self, hosts: &[String]) -> Result<Option<Vec<u32>>, Refusal> {
        match self {
            Sites::Known(sites) => {
                let site = |rank: usize| sites.get(rank).copied().flatten();
                Ok((0..hosts.len()).map(site).collect())
            }
            Sites::Counts(counts) => by_counts(counts, hosts.len()).map(Some),
            Sites::Domains => Ok(by_domains(hosts)),
        }
    }
}

fn by_counts(counts: &[u32], ranks: usize) -> Result<Vec<u32>, Refusal> {
    let counted = counts.iter().map(|&count| u64::from(count)).sum();
    if counted != ranks as u64 {
        return Err(Refusal::Sites { counted, ranks });
    }
    let site = |(&count, site): (&u32, u32)| std::iter::repeat_n(site, count as usize);
    Ok(counts.iter().zip(0..).flat_map(site).collect())
}

fn by_domains(hosts: &[String]) -> Option<Vec<u32>> {
    let mut known: Vec<&str> = Vec::new();
    let mut sites = Vec::with_capacity(hosts.len());
    for host in hosts {
        let domain = host.split_once('.').map_or("", |(_, domain)| domain);
        let place = known.iter().position(|known| *known == domain);
        sites.push(place.unwrap_or(known.len()) as u32);
        if place.is_none() {
            known.push(domain);
        }
    }
    // Hosts of one domain may be anywhere.
    (known.len() > 1).then_some(sites)
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
        assert_eq!(Sites::Domains.of(&four), Ok(Some(vec![0, 1, 0, 2])));
        assert_eq!(Sites::Domains.of(&hosts(&["a.x.org", "b.x.org"])), Ok(None));
        assert_eq!(Sites::Counts(vec![1, 3]).of(&four), Ok(Some(vec![0, 1, 1, 1])));
        for bad in [&[1, 1][..], &[4, 1], &[], &[u32::MAX, u32::MAX]] {
            let counted = bad.iter().map(|&count| u64::from(count)).sum();
            let refusal = Refusal::Sites { counted, ranks: 4 };
            assert_eq!(Sites::Counts(bad.to_vec()).of(&four), Err(refusal));
        }
        // Five hosts of a platform, of which four have a rank.
        let known = |sites: &[Option<u32>]| Sites::Known(sites.to_vec()).of(&four);
        let [one, two] = [Some(0), Some(1)];
        assert_eq!(known(&[one, one, two, two, None]), Ok(Some(vec![0, 0, 1, 1])));
        assert_eq!(known(&[one, one, None, two]), Ok(None));
        assert_eq!(known(&[one, one]), Ok(None));
    }
}
