//! What flows of different ways have at once: all ways of a site, and those of one host inside its
//! site and across.

use laneway_core::CommError;

use super::course::{Course, MOST, MOST_FLOWS};
use super::flows::Flow;
use super::rated::Rated;
use super::{Found, Kind};

/// Flows across that have less than this part of the card inside would not show in what all have
/// together whose card it is.
const MATTERS: f64 = 0.16;
/// Flows across that would have less than this part of their rate on the card inside show it
/// themselves.
const SQUEEZED: f64 = 0.6;

impl Course<'_> {
    /// All ways of one site at once, each with the flows that brought the most across.
    pub(super) fn shared(&mut self, kind: Kind, site: usize) -> Result<(), CommError> {
        let (mut flows, mut size) = (Vec::new(), 0);
        for other in (0..self.found.sites.len()).filter(|other| *other != site) {
            let [from, to] = if kind == Kind::Out { [site, other] } else { [other, site] };
            if let Some(best) = self.found.fullest(from, to) {
                flows.extend_from_slice(&best.flows);
                size = size.max(self.lasting(best));
            }
        }
        let ends = match kind {
            Kind::Out => [Some(site), None],
            _ => [None, Some(site)],
        };
        self.add(kind, ends, &flows, size).map(|_| ())
    }

    /// Bytes of such flows among others that begin later: the short message, half of this, lasts
    /// until the last flow has begun.
    fn lasting(&self, rated: &Rated) -> usize {
        let latest = 4.0 * self.found.latencies.iter().copied().fold(0.0, f64::max);
        let lasting = 2.0 * latest * rated.each.value;
        rated.size.max(lasting.min(MOST as f64) as usize)
    }

    /// What the first host of a site sends or receives inside and across at once: more than its
    /// card inside has, where it has another one for other sites. So many flows are inside that
    /// they take twice as long as those across, which begin later: the last byte is one of theirs.
    pub(super) fn beside(&mut self, kind: Kind, site: usize) -> Result<(), CommError> {
        let out = kind == Kind::OutBeside;
        let hosts = self.found.members(site);
        let Some((&host, others)) = hosts.split_first() else { return Ok(()) };
        let card = self.found.card_rates(host)[usize::from(!out)];
        let Some(across) = self.found.across(site, out).cloned() else { return Ok(()) };
        let tells = across.sum() >= MATTERS * card || self.found.is_squeezed(&across, card, site);
        if !across.is_measured() || others.is_empty() || !tells {
            return Ok(());
        }
        let inside = inside_beside(&across, card);
        if inside > MOST_FLOWS {
            return Ok(());
        }
        let inside = others.iter().cycle().take(inside).map(|&other| match out {
            true => self.flow(host, other),
            false => self.flow(other, host),
        });
        let flows: Vec<Flow> = inside.chain(across.flows.iter().copied()).collect();
        let size = self.lasting(&across);
        let ends = if out { [Some(site), None] } else { [None, Some(site)] };
        self.add(kind, ends, &flows, size).map(|_| ())
    }
}

/// Flows inside that have as much as the card, at half the rate of a flow across.
fn inside_beside(across: &Rated, card: f64) -> usize {
    (2.0 * card / across.each.value).round() as usize
}

impl Found {
    /// Whether flows across would be far slower if they shared a card with those inside that are
    /// measured beside them, of this site; with fair shares, or less for those across.
    pub fn is_squeezed(&self, across: &Rated, card: f64, site: usize) -> bool {
        let inside = inside_beside(across, card);
        // Messages of one pair may wait for each other.
        let at_once = match self.pairs_repeat {
            Some(true) => inside,
            _ => inside.min(self.members(site).len() - 1),
        };
        let share = card / (at_once + across.flows.len()) as f64;
        share < SQUEEZED * across.each.value
    }

    /// The most that the first host of a site was seen to send to another site, or to receive, by
    /// flows that had half the rate of a single one at least: others limit each other already.
    pub fn across(&self, site: usize, out: bool) -> Option<&Rated> {
        let several = if out { Kind::FromOne } else { Kind::ToOne };
        let ways = (0..self.sites.len()).filter(|other| *other != site).flat_map(|other| {
            let (from, to) = if out { (site, other) } else { (other, site) };
            let one = self.way(Kind::Pairs, from, to).next().map_or(0.0, |pair| pair.each.value);
            let rows = [Kind::Pairs, several].into_iter();
            let rows = rows.flat_map(move |kind| self.way(kind, from, to));
            rows.filter(move |rated| rated.each.value >= one / 2.0)
        });
        let rank = self.hosts[*self.members(site).first()?].rank;
        let is_own = |flow: &Flow| if out { flow.from == rank } else { flow.to == rank };
        let own = ways.filter(|rated| rated.flows.iter().all(is_own));
        own.max_by(|one, other| one.sum().total_cmp(&other.sum()))
    }
}
