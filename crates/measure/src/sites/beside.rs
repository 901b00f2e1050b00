//! What flows of different ways have at once: all ways of a site, and those of one host inside its
//! site and across.

use laneway_core::{CommError, Rank};

use super::course::{Course, MOST, MOST_FLOWS, NARROWER, fullest};
use super::flows::Flow;
use super::rated::Rated;
use super::{Found, Kind};

/// Flows across that have less than this part of the card inside would not show in what all have
/// together whose card it is.
const MATTERS: f64 = 0.04;
/// Flows across that would have less than this part of their rate on the card inside show it
/// themselves.
const SQUEEZED: f64 = 0.6;
/// No more messages than this are sent inside beside those across.
const MOST_INSIDE: usize = 512;

impl Course<'_> {
    /// All ways of one site at once, each with as many flows as brought the most across. Those of
    /// another way belong to other hosts of the site while there are any: what the cards of a few
    /// have would pass for what all share.
    pub(super) fn shared(&mut self, kind: Kind, site: usize) -> Result<(), CommError> {
        let members = self.found.members(site);
        let own: Vec<Rank> = members.into_iter().map(|host| self.rank(host)).collect();
        let place = |rank: Rank| own.iter().position(|one| *one == rank);
        let (mut flows, mut size, mut used) = (Vec::new(), 0, 0);
        for other in (0..self.found.sites.len()).filter(|other| *other != site) {
            let [from, to] = if kind == Kind::Out { [site, other] } else { [other, site] };
            let Some(best) = self.found.fullest(from, to) else { continue };
            let turned = |rank: Rank| place(rank).map_or(rank, |at| own[(at + used) % own.len()]);
            let turn = |flow: &Flow| Flow { from: turned(flow.from), to: turned(flow.to) };
            flows.extend(best.flows.iter().map(turn));
            size = size.max(self.lasting(best));
            let busy =
                |rank: &&Rank| best.flows.iter().any(|flow| [flow.from, flow.to].contains(*rank));
            used += own.iter().filter(busy).count();
        }
        self.add(kind, meeting(kind == Kind::Out, site), &flows, size).map(|_| ())
    }

    /// Several connections of the first host of a site to all other sites at once, where those to
    /// one site do not fill its card: too few hosts may be at each to show a card of its own.
    pub(super) fn first_to_all(&mut self, kind: Kind, site: usize) -> Result<(), CommError> {
        let out = kind == Kind::FromOne;
        let card = self.found.card_rates(self.found.members(site)[0])[usize::from(!out)];
        let ways = self.found.ways_of_first(site, out);
        if ways.len() < 2 || ways.iter().any(|way| way.sum() >= NARROWER * card) {
            return Ok(());
        }
        let flows = ways.iter().flat_map(|way| way.flows.iter().copied());
        let flows: Vec<Flow> = flows.take(MOST_FLOWS).collect();
        let size = ways.iter().map(|way| self.lasting(way)).max().unwrap_or(0);
        self.add(kind, meeting(out, site), &flows, size).map(|_| ())
    }

    /// Bytes of such flows among others that begin later: the short message, half of this, lasts
    /// until the last flow has begun.
    fn lasting(&self, rated: &Rated) -> usize {
        let latest = 4.0 * self.found.latencies.iter().copied().fold(0.0, f64::max);
        let lasting = 2.0 * latest * rated.each.value;
        rated.size.max(lasting.min(MOST as f64) as usize)
    }

    /// What the first host of a site sends or receives inside and across at once: more than its
    /// card inside has, where it has another one for other sites. As many flows are inside that
    /// they take twice as long as those across, which begin later: the last byte is one of theirs.
    pub(super) fn beside(&mut self, kind: Kind, site: usize) -> Result<(), CommError> {
        let out = kind == Kind::OutBeside;
        let hosts = self.found.members(site);
        let Some((&host, others)) = hosts.split_first() else { return Ok(()) };
        let card = self.found.card_rates(host)[usize::from(!out)];
        let Some(across) = self.found.across(site, out).cloned() else { return Ok(()) };
        let tells = across.least() >= MATTERS * card || self.found.is_squeezed(&across, card, site);
        if !across.is_measured() || others.is_empty() || !tells {
            return Ok(());
        }
        let inside = inside_beside(&across, card);
        if inside > MOST_INSIDE || self.found.at_once(inside, site) > MOST_FLOWS {
            return Ok(());
        }
        let inside = others.iter().cycle().take(inside).map(|&other| match out {
            true => self.flow(host, other),
            false => self.flow(other, host),
        });
        let flows: Vec<Flow> = inside.chain(across.flows.iter().copied()).collect();
        let size = self.lasting(&across);
        self.add(kind, meeting(out, site), &flows, size).map(|_| ())
    }
}

/// The ends of flows from a site to several, or from several to it.
fn meeting(out: bool, site: usize) -> [Option<usize>; 2] {
    if out { [Some(site), None] } else { [None, Some(site)] }
}

/// Flows inside that have as much as the card, at half the rate of the slowest flow across.
fn inside_beside(across: &Rated, card: f64) -> usize {
    (2.0 * card * across.flows.len() as f64 / across.least()).round() as usize
}

impl Found {
    /// Whether flows across would be far slower if they shared a card with those inside that are
    /// measured beside them, of this site; with fair shares, or less for those across.
    pub fn is_squeezed(&self, across: &Rated, card: f64, site: usize) -> bool {
        let at_once = self.at_once(inside_beside(across, card), site);
        let share = card / (at_once + across.flows.len()) as f64;
        share < SQUEEZED * across.each.value
    }

    /// Of a number of messages between one host and the others of its site, those that are under
    /// way at once: messages of one pair may wait for each other.
    fn at_once(&self, messages: usize, site: usize) -> usize {
        match self.pairs_repeat {
            Some(true) => messages,
            _ => messages.min(self.members(site).len() - 1),
        }
    }

    /// The most that the first host of a site was seen to send to other sites, or to receive, by
    /// flows that had half the rate of a single one at least: others limit each other already.
    pub fn across(&self, site: usize, out: bool) -> Option<&Rated> {
        let others = (0..self.sites.len()).filter(|other| *other != site);
        let ways = others.flat_map(|other| self.way_of_first(site, other, out));
        let free = |rated: &&Rated| rated.sum() >= self.alone(rated) / 2.0;
        let all = ways.chain(self.first_to_all(site, out)).filter(free);
        all.max_by(|one, other| one.least().total_cmp(&other.least()))
    }

    /// What the first host of a site has to all others at once, or from them, if it was measured.
    pub fn first_to_all(&self, site: usize, out: bool) -> Option<&Rated> {
        let kind = if out { Kind::FromOne } else { Kind::ToOne };
        self.meeting(kind, meeting(out, site))
    }

    /// The flows of the first host of a site that brought the most to each other site, or from it.
    pub fn ways_of_first(&self, site: usize, out: bool) -> Vec<&Rated> {
        let others = (0..self.sites.len()).filter(|other| *other != site);
        others.filter_map(|other| fullest(self.way_of_first(site, other, out).collect())).collect()
    }

    /// Flows of the first host of a site alone to another site, or from it.
    fn way_of_first(&self, site: usize, other: usize, out: bool) -> impl Iterator<Item = &Rated> {
        let (from, to, several) =
            if out { (site, other, Kind::FromOne) } else { (other, site, Kind::ToOne) };
        let rank = self.members(site).first().map(|first| self.hosts[*first].rank);
        let is_own = move |flow: &Flow| Some(if out { flow.from } else { flow.to }) == rank;
        let rows =
            [Kind::Pairs, several].into_iter().flat_map(move |kind| self.way(kind, from, to));
        rows.filter(move |rated| rated.flows.iter().all(is_own))
    }

    /// What flows would have if each had as much as one alone on its way.
    fn alone(&self, rated: &Rated) -> f64 {
        let site = |rank: Rank| self.hosts.iter().find(|host| host.rank == rank);
        let one = |flow: &Flow| {
            let (from, to) = site(flow.from).zip(site(flow.to))?;
            self.way(Kind::Pairs, from.site, to.site).next().map(|pair| pair.each.value)
        };
        rated.flows.iter().filter_map(one).sum()
    }
}
