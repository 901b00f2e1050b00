//! What flows of different ways have at once: all ways of a site, and those of each host across,
//! alone and beside what it has inside its site.

use laneway_core::{CommError, Rank};

use super::course::{Course, MOST, MOST_FLOWS, NARROWER};
use super::flows::Flow;
use super::rated::Rated;
use super::{End, Found, Host, Kind};

/// Flows across with less than this part of the card inside do not show, in the sum of all, which
/// card they pass. For the first host of a site, and for the others, which are like the first one
/// where they do not show it.
const MATTERS: f64 = 0.04;
const MATTERS_OF_OTHERS: f64 = 0.15;
/// Flows across that would have less than this part of their rate on the card inside show it
/// themselves.
const SQUEEZED: f64 = 0.6;
/// No more messages than this are sent inside beside those across.
const MOST_INSIDE: usize = 512;
/// An uplink gets no more than this many times the connections that fill it.
const MOST_TIMES: usize = 8;
/// Flows across could together have this multiple of a card's known rate.
const AMPLE: f64 = 1.5;
/// Connections beyond this multiple of a way's rate add no information.
const FILLED: f64 = 1.2;
/// Of flows across a host has no more bytes at once, and as many as this whatever they have.
const MOST_BYTES: usize = 64 << 20;
const FEWEST_FLOWS: usize = 8;
/// Of what flows across have, so much of the card inside is enough beside flows inside.
const HALF: f64 = 0.5;

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
        let end = if kind == Kind::Out { End::From } else { End::To };
        let rated = self.add(kind, end.meeting(site), &flows, size)?;
        let ways = |other: usize| {
            let [from, to] = end.way(site, other);
            self.found.fullest(from, to).map_or(0.0, Rated::sum)
        };
        let others = (0..self.found.sites.len()).filter(|other| *other != site);
        let all: f64 = others.map(ways).sum();
        let more = self.more_pairs(&flows, end);
        // Where the uplink may be full: whether it loses anything with more connections.
        if more.len() >= 2 * flows.len() && rated.sum() < NARROWER * all {
            self.add(kind, end.meeting(site), &more, size)?;
        }
        Ok(())
    }

    /// All ways at once, in both directions: half of each site's hosts send, the others receive.
    pub(super) fn all(&mut self) -> Result<(), CommError> {
        let sites = self.found.sites.len();
        let part = |site: usize, sends: bool| -> Vec<usize> {
            let members = self.found.members(site).into_iter().enumerate();
            members.filter(|(n, _)| (n + site).is_multiple_of(2) == sends).map(|(_, h)| h).collect()
        };
        let mut flows: Vec<Flow> = Vec::new();
        let mut size = 0;
        for by in 0..MOST_TIMES {
            for (from, to) in (0..sites).flat_map(|a| (0..sites).map(move |b| (a, b))) {
                let (senders, receivers) = (part(from, true), part(to, false));
                let most = senders.len().min(receivers.len());
                if from == to || by >= most || flows.len() >= MOST_FLOWS {
                    continue;
                }
                let Some(way) = self.found.fullest(from, to) else { continue };
                size = size.max(self.lasting(way));
                flows.push(self.flow(senders[by], receivers[(by + from) % receivers.len()]));
            }
        }
        let ends = |flow: &Flow| [flow.from, flow.to];
        let is_one_way = flows.iter().all(|flow| ends(flow)[0] == ends(&flows[0])[0])
            || flows.iter().all(|flow| ends(flow)[1] == ends(&flows[0])[1]);
        if flows.len() < 2 || is_one_way {
            return Ok(());
        }
        self.add(Kind::All, [None, None], &flows, size).map(|_| ())
    }

    /// Flows with the same hosts at one end, and each with several others of its site at the other.
    fn more_pairs(&self, flows: &[Flow], end: End) -> Vec<Flow> {
        let mut all = flows.to_vec();
        for by in 1..MOST_TIMES {
            for flow in flows {
                let far = end.other().of_flow(flow);
                let host = self.found.hosts.iter().find(|host| host.rank == far);
                let Some(site) = host.map(|host| host.site) else { continue };
                let members = self.found.members(site);
                let place = members.iter().position(|host| self.rank(*host) == far).unwrap_or(0);
                let other = self.rank(members[(place + by) % members.len()]);
                let more = match end {
                    End::From => Flow { to: other, ..*flow },
                    End::To => Flow { from: other, ..*flow },
                };
                if all.len() < MOST_FLOWS && !all.contains(&more) {
                    all.push(more);
                }
            }
        }
        all
    }

    /// Bytes of such flows among others that begin later: the short message, half of this, lasts
    /// until the last flow has begun. In virtual time all begin when they should.
    pub(super) fn lasting(&self, rated: &Rated) -> usize {
        if self.comm.clock().is_virtual() {
            return rated.size;
        }
        let latest = 4.0 * self.found.latencies.iter().copied().fold(0.0, f64::max);
        let lasting = 2.0 * latest * rated.each.value;
        rated.size.max(lasting.min(MOST as f64) as usize)
    }

    /// From one host to hosts of other sites, or from them to it: as many as could have more than
    /// its card is known to have, and twice as many as long as they have more.
    pub(super) fn across(&mut self, host: usize, end: End) -> Result<(), CommError> {
        let site = self.found.hosts[host].site;
        let (partners, able) = self.partners(host, end);
        let mut known = self.found.seen(host, end);
        let mut count = 0;
        while count < partners.len() {
            let target = AMPLE * known;
            let (mut enough, mut sum) = (0, 0.0);
            while enough < able.len() && (sum < target || enough <= count) {
                sum += able[enough];
                enough += 1;
            }
            count = enough;
            let flows: Vec<Flow> =
                partners[..count].iter().map(|&other| self.pair(host, other, end)).collect();
            let sites: Vec<usize> =
                partners[..count].iter().map(|other| self.found.hosts[*other].site).collect();
            let one_site = sites.windows(2).all(|two| two[0] == two[1]).then(|| sites[0]);
            let ends = one_site.map_or(end.meeting(site), |other| match end {
                End::From => [Some(site), Some(other)],
                End::To => [Some(other), Some(site)],
            });
            let fullest = |other: &usize| {
                let [from, to] = end.way(site, *other);
                self.found.fullest(from, to)
            };
            let size = sites.iter().filter_map(fullest).map(|way| match one_site {
                Some(_) => way.size,
                None => self.lasting(way),
            });
            let Some(size) = size.max() else { break };
            let kind = if end == End::From { Kind::FromOne } else { Kind::ToOne };
            let rated = self.add(kind, ends, &flows, size)?;
            if rated.sum() <= known / NARROWER {
                break;
            }
            known = rated.sum();
        }
        Ok(())
    }

    /// Hosts of other sites in the order in which a host sends to them, and what each could have:
    /// first those of the way that has the most, then of the next one.
    fn partners(&self, host: usize, end: End) -> (Vec<usize>, Vec<f64>) {
        let site = self.found.hosts[host].site;
        let others = (0..self.found.sites.len()).filter(|other| *other != site);
        let mut ways: Vec<(f64, Vec<usize>, Vec<f64>)> = Vec::new();
        for other in others {
            let [from, to] = end.way(site, other);
            let most = self.found.fullest(from, to).map_or(0.0, Rated::sum);
            let alone = self.found.alone(from, to);
            let hosts = self.found.fastest_first(&self.found.members(other), end.other());
            let able = |host: &usize| alone.min(self.found.seen(*host, end.other()));
            let (mut chosen, mut rates, mut sum) = (Vec::new(), Vec::new(), 0.0);
            let of_pair = self.found.connections_of_pair().min(MOST_FLOWS);
            for host in (0..of_pair).flat_map(|_| hosts.iter().copied()) {
                if sum >= FILLED * most {
                    break;
                }
                chosen.push(host);
                rates.push(able(&host));
                sum += able(&host);
            }
            ways.push((sum.min(most), chosen, rates));
        }
        ways.sort_by(|one, other| other.0.total_cmp(&one.0));
        let (mut partners, mut able) = (Vec::new(), Vec::new());
        for (_, hosts, rates) in ways {
            partners.extend(hosts);
            able.extend(rates);
        }
        let rows = self.found.rows.iter().filter(|row| row.from != row.to);
        let size = rows.map(|row| row.rated.size).max().unwrap_or(1).max(1);
        let most = (MOST_BYTES / size).clamp(FEWEST_FLOWS, MOST_FLOWS);
        partners.truncate(most);
        able.truncate(most);
        (partners, able)
    }

    /// What a host sends or receives inside and across at once: more than its card inside has,
    /// where it has another one for other sites. The flows inside take twice as long as those
    /// across, which begin later: the last byte is one of theirs.
    pub(super) fn beside(&mut self, host: usize, end: End) -> Result<(), CommError> {
        let site = self.found.hosts[host].site;
        let members = self.found.members(site);
        let others: Vec<usize> = members.iter().copied().filter(|other| *other != host).collect();
        let others = self.found.fastest_first(&others, end.other());
        let card = self.found.card_rates(host)[end as usize];
        let Some(across) = self.found.across(host, end).cloned() else { return Ok(()) };
        if !across.is_measured() || others.is_empty() {
            return Ok(());
        }
        let is_shown = self.found.shows_card(host, end);
        let is_first = members.first() == Some(&host);
        let matters = if is_first || !is_shown { MATTERS } else { MATTERS_OF_OTHERS };
        let is_visible = across.least() >= matters * card
            || is_first && self.found.is_squeezed(&across, card, site);
        if !is_visible {
            return Ok(());
        }
        let across = if is_shown { across.enough(HALF * card) } else { across };
        let inside = inside_beside(&across, card);
        if inside > MOST_INSIDE || self.found.at_once(inside, site) > MOST_FLOWS {
            return Ok(());
        }
        let inside = others.iter().cycle().take(inside).map(|&other| self.pair(host, other, end));
        let flows: Vec<Flow> = inside.chain(across.flows.iter().copied()).collect();
        let size = self.lasting(&across);
        let kind = if end == End::From { Kind::OutBeside } else { Kind::IntoBeside };
        self.add(kind, end.meeting(site), &flows, size).map(|_| ())
    }
}

/// Flows inside that have as much as the card, at half the rate of the slowest flow across.
fn inside_beside(across: &Rated, card: f64) -> usize {
    (2.0 * card * across.flows.len() as f64 / across.least()).round() as usize
}

impl Rated {
    /// The first of the flows that have so much together; all, where they have less.
    fn enough(&self, rate: f64) -> Rated {
        let mut sum = 0.0;
        let before = |one: &&f64| {
            let is_before = sum < rate;
            sum += **one;
            is_before
        };
        let count = self.rates.iter().take_while(before).count().max(1);
        self.first(count)
    }

    /// The first `count` flows, with the rates that they have beside the others.
    pub fn first(&self, count: usize) -> Rated {
        let mut first = self.clone();
        first.flows.truncate(count);
        first.rates.truncate(count);
        first.each.value = first.rates.iter().sum::<f64>() / first.rates.len().max(1) as f64;
        first
    }
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
        let others = self.members(site).len() - 1;
        messages.min(others.saturating_mul(self.connections_of_pair()))
    }

    /// Whether some partner inside had less from a host than it was seen to have: then the host's
    /// card is full.
    fn shows_card(&self, host: usize, end: End) -> bool {
        let Host { rank, site, .. } = self.hosts[host];
        let kinds = [Kind::Inside, Kind::FromOne, Kind::ToOne];
        let rows = kinds.iter().flat_map(|kind| self.way(*kind, site, site));
        let able = |rank: Rank| {
            let host = self.hosts.iter().position(|host| host.rank == rank);
            host.map_or(0.0, |host| self.card_rates(host)[end.other() as usize])
        };
        let flows = rows.flat_map(|rated| rated.flows.iter().zip(&rated.rates));
        flows
            .filter(|(flow, _)| end.of_flow(flow) == rank)
            .any(|(flow, rate)| *rate < NARROWER * able(end.other().of_flow(flow)))
    }

    /// What a host was seen to send to other sites alone, or to receive, where it had the most.
    pub fn across(&self, host: usize, end: End) -> Option<&Rated> {
        let rank = self.hosts[host].rank;
        let kinds = [Kind::Pairs, if end == End::From { Kind::FromOne } else { Kind::ToOne }];
        let rows = self.rows.iter().filter(|row| kinds.contains(&row.kind) && row.from != row.to);
        let own = |rated: &&Rated| rated.flows.iter().all(|flow| end.of_flow(flow) == rank);
        let all = rows.map(|row| &row.rated).filter(own);
        all.max_by(|one, other| one.least().total_cmp(&other.least()))
    }
}
