//! What each host of a site sends and receives inside it: one message between neighbours, then
//! messages to and from several partners at once, so that the slower end of a pair shows.

use laneway_core::CommError;

use super::course::{Course, NARROWER, NEAR_SECONDS};
use super::flows::Flow;
use super::rated::Rated;
use super::{End, Found, Kind};

/// Hosts of a site that differ by more are not taken for alike.
const UNEVEN: f64 = 1.1;

impl Course<'_> {
    /// From each host to the next one, round the site, so that each has sent and received; then
    /// from each to several, and from several to each.
    pub(super) fn inside(&mut self, site: usize) -> Result<(), CommError> {
        let hosts = self.found.members(site);
        let count = hosts.len();
        if count < 2 {
            return Ok(());
        }
        let ends = [Some(site); 2];
        let mut size = self.message(self.flow(hosts[0], hosts[1]), NEAR_SECONDS)?;
        let mut fastest: Option<Rated> = None;
        for place in 0..count {
            let flow = self.flow(hosts[place], hosts[(place + 1) % count]);
            let rated = self.add(Kind::Inside, ends, &[flow], size)?;
            if fastest.as_ref().is_none_or(|best| best.each.value < rated.each.value) {
                fastest = Some(rated);
            }
        }
        let first = self.found.way(Kind::Inside, site, site).next().map(|rated| rated.each.value);
        if let (Some(fastest), Some(first)) = (fastest, first)
            && fastest.each.value > UNEVEN * first
        {
            size = size.max(self.message(fastest.flows[0], NEAR_SECONDS)?);
        }
        for end in [End::From, End::To] {
            for &host in &hosts {
                self.fan(site, host, end, size)?;
            }
        }
        Ok(())
    }

    /// From one host to two others of its site, or from two to it, then four, …, until a partner
    /// has less than it was seen to have: what limits it then is this host.
    fn fan(&mut self, site: usize, host: usize, end: End, size: usize) -> Result<(), CommError> {
        let others: Vec<usize> =
            self.found.members(site).into_iter().filter(|other| *other != host).collect();
        let partners = self.found.fastest_first(&others, end.other());
        // One message may have less than cards have, where connections are limited.
        let alone = self.found.most_inside(site);
        let able = |other: &usize| self.found.card_rates(*other)[end.other() as usize].min(alone);
        let able: Vec<f64> = partners.iter().map(able).collect();
        let kind = if end == End::From { Kind::FromOne } else { Kind::ToOne };
        let mut count = 2;
        while partners.len() >= 2 {
            count = count.min(partners.len());
            let flows: Vec<Flow> =
                partners[..count].iter().map(|&other| self.pair(host, other, end)).collect();
            let rated = self.add(kind, [Some(site); 2], &flows, size)?;
            let is_limited =
                rated.rates.iter().zip(&able).any(|(rate, able)| *rate < NARROWER * able);
            if is_limited || count == partners.len() {
                break;
            }
            count *= 2;
        }
        Ok(())
    }

    /// The flow between a host, at this end of it, and another one.
    pub(super) fn pair(&self, host: usize, other: usize, end: End) -> Flow {
        match end {
            End::From => self.flow(host, other),
            End::To => self.flow(other, host),
        }
    }
}

impl Found {
    /// Some hosts of a site, those with the fastest cards first; by rank where cards are alike.
    pub(super) fn fastest_first(&self, hosts: &[usize], end: End) -> Vec<usize> {
        let card = |host: usize| self.card_rates(host)[end as usize];
        let most = hosts.iter().map(|host| card(*host)).fold(0.0, f64::max);
        let grade = |host: usize| ((most / card(host)).ln() / UNEVEN.ln()).round();
        let mut hosts = hosts.to_vec();
        hosts.sort_by(|&a, &b| grade(a).total_cmp(&grade(b)));
        hosts
    }
}
