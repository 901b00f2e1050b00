//! How flows with ways of different lengths share a card: equally, or the shorter way first.
//!
//! Messages inside a site, or to a near one, and messages to another site pass the card of one host
//! at once. What each takes
//! is held against three explanations: equal parts, parts by latency, and another card for other
//! sites, on which they do not meet.

use laneway_core::CommError;

use super::course::{Course, MOST_FLOWS};
use super::flows::Flow;
use super::{End, Found, Kind, Row};

/// Times that differ by a smaller part tell no explanation from another.
const APART: f64 = 0.15;
/// Equal shares are distinguished from two cards if their times differ by this part.
const TWO_CARDS: f64 = 0.04;
/// Of those that differ, measured times are nearer than this part of it to the one that holds.
const NEAR: f64 = 0.4;
/// Ways are as long as each other where none has more than this many times the latency.
const AS_FAR: f64 = 1.1;
/// No more than this are tried, the clearest first.
const MOST_TRIALS: usize = 4;
/// Messages inside, and across.
const MOST_INSIDE: usize = 64;
const MOST_ACROSS: usize = 16;

/// Messages of one pair, one after the other.
#[derive(Clone, Debug)]
struct Stream {
    count: usize,
    /// Bytes a second that one has at most.
    most: f64,
    weight: f64,
    is_far: bool,
}

/// Seconds until the last message inside has arrived, and the last one across.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Times {
    near: f64,
    far: f64,
}

impl Times {
    /// By which part the times of two explanations differ at least in one of them.
    fn apart(self, other: Times) -> f64 {
        let apart = |a: f64, b: f64| if a > 0.0 && b > 0.0 { (a / b).ln().abs() } else { 0.0 };
        apart(self.near, other.near).max(apart(self.far, other.far))
    }
}

/// What messages inside and across would take.
#[derive(Clone, Copy, Debug)]
struct Explained {
    equal: Times,
    by_latency: Times,
    /// The ways across have a card of their own.
    apart: Times,
}

impl Explained {
    /// `streams` with their weights by latency share a card.
    fn new(card: f64, streams: &[Stream]) -> Explained {
        let mut equal = streams.to_vec();
        equal.iter_mut().for_each(|stream| stream.weight = 1.0);
        let part = |is_far: bool| -> Vec<Stream> {
            equal.iter().filter(|stream| stream.is_far == is_far).cloned().collect()
        };
        let far = times(f64::INFINITY, &part(true)).far;
        let apart = Times { near: times(card, &part(false)).near, far };
        Explained { equal: times(card, &equal), by_latency: times(card, streams), apart }
    }

    /// How far shares by latency are from both other explanations.
    fn clearness(&self) -> f64 {
        let Explained { equal, by_latency, apart } = *self;
        by_latency.apart(equal).min(by_latency.apart(apart))
    }

    /// The same, and how far equal shares are from two cards.
    fn tells_all(&self) -> f64 {
        self.clearness().min(self.equal.apart(self.apart))
    }

    /// Whether shares are by latency; `None` if the times are near to two cards, or to no
    /// explanation.
    fn answer(&self, measured: Times) -> Option<bool> {
        let Explained { equal, by_latency, apart } = *self;
        let [off_equal, off_latency, off_apart] =
            [equal, by_latency, apart].map(|times| measured.apart(times));
        match () {
            () if off_latency < NEAR * self.clearness() => Some(true),
            () if off_apart <= off_equal || equal.apart(apart) < TWO_CARDS => None,
            () if off_equal < NEAR * self.tells_all() => Some(false),
            () => None,
        }
    }
}

/// Messages of one byte each that begin together and share `card` by weight.
fn times(card: f64, streams: &[Stream]) -> Times {
    let mut left: Vec<(usize, f64)> = streams.iter().map(|stream| (stream.count, 1.0)).collect();
    let (mut now, mut all) = (0.0, Times { near: 0.0, far: 0.0 });
    loop {
        let active: Vec<usize> = (0..streams.len()).filter(|&at| left[at].0 > 0).collect();
        if active.is_empty() {
            return all;
        }
        let rates = shares(card, streams, &active);
        let over = |(&at, rate): (&usize, &f64)| left[at].1 / rate;
        let step = active.iter().zip(&rates).map(over).fold(f64::INFINITY, f64::min);
        if !step.is_finite() {
            return all;
        }
        now += step;
        for (&at, rate) in active.iter().zip(&rates) {
            let (count, bytes) = &mut left[at];
            *bytes -= step * rate;
            if *bytes <= 1e-9 {
                (*count, *bytes) = (*count - 1, 1.0);
                let last = if streams[at].is_far { &mut all.far } else { &mut all.near };
                *last = now;
            }
        }
    }
}

/// What some streams have of a card by weight, none more than it can.
fn shares(card: f64, streams: &[Stream], active: &[usize]) -> Vec<f64> {
    let mut rates = vec![f64::NAN; active.len()];
    let (mut rest, mut open) = (card, (0..active.len()).collect::<Vec<usize>>());
    while !open.is_empty() {
        let weights: f64 = open.iter().map(|&at| streams[active[at]].weight).sum();
        let fair = |at: usize| rest * streams[active[at]].weight / weights;
        let most = |at: usize| streams[active[at]].most;
        let full: Vec<usize> = open.iter().copied().filter(|&at| most(at) <= fair(at)).collect();
        if full.is_empty() {
            open.iter().for_each(|&at| rates[at] = fair(at));
            break;
        }
        full.iter().for_each(|&at| rates[at] = most(at));
        open.retain(|at| !full.contains(at));
        rest = (rest - full.iter().map(|&at| most(at)).sum::<f64>()).max(0.0);
    }
    rates
}

/// Messages that show it, and what they should take.
struct Trial {
    flows: Vec<Flow>,
    /// The first of them are inside.
    inside: usize,
    size: usize,
    explained: Explained,
}

impl Course<'_> {
    /// Whether flows with a long way have less of a full card that flows inside fill, too.
    pub(super) fn sharing(&mut self) -> Result<(), CommError> {
        let mut trials: Vec<Trial> = Vec::new();
        for ends in self.directions() {
            trials.extend(self.trial(ends, None, 1));
            trials.extend(self.trial(ends, None, MOST_INSIDE));
        }
        self.try_in_turn(trials)
    }

    /// The same of flows to two other sites, one of them farther: where these have another card.
    pub(super) fn sharing_across(&mut self) -> Result<(), CommError> {
        if self.found.by_latency.is_some() {
            return Ok(());
        }
        let mut trials: Vec<Trial> = Vec::new();
        for ends in self.directions() {
            for near in 0..self.found.sites.len() {
                trials.extend(self.trial(ends, Some(near), MOST_INSIDE));
            }
        }
        self.try_in_turn(trials)
    }

    /// Each site with each other one, in both directions.
    fn directions(&self) -> Vec<Ends> {
        let sites = self.found.sites.len();
        let pairs = (0..sites).flat_map(|site| (0..sites).map(move |far| (site, far)));
        let both = |(site, far)| [End::From, End::To].map(|end| Ends { site, far, end });
        pairs.filter(|(site, far)| site != far).flat_map(both).collect()
    }

    /// The clearest trials, until one tells.
    fn try_in_turn(&mut self, mut trials: Vec<Trial>) -> Result<(), CommError> {
        trials.retain(|trial| trial.explained.clearness() >= APART);
        let clearness = |trial: &Trial| trial.explained.tells_all();
        trials.sort_by(|one, other| clearness(other).total_cmp(&clearness(one)));
        for trial in trials.into_iter().take(MOST_TRIALS) {
            let rated = self.rate(&self.asked.rule, &trial.flows, trial.size)?;
            if !rated.is_measured() {
                continue;
            }
            let last = |rates: &[f64]| rates.iter().map(|rate| 1.0 / rate).fold(0.0, f64::max);
            let (near, far) = rated.rates.split_at(trial.inside.min(rated.rates.len()));
            let measured = Times { near: last(near), far: last(far) };
            self.found.by_latency = trial.explained.answer(measured);
            if self.found.by_latency.is_some() {
                break;
            }
        }
        Ok(())
    }

    /// The slowest host of a site sends to `partners` of the fastest ones there, or of a nearer
    /// site, and to another site, or receives from both. Both parts would take as long alone.
    fn trial(&self, ends: Ends, near: Option<usize>, partners: usize) -> Option<Trial> {
        let (found, Ends { site, far, end }) = (&self.found, ends);
        let near = near.unwrap_or(site);
        let ways = [end.way(site, near), end.way(site, far)];
        let [near_latency, far_latency] = ways.map(|[a, b]| found.wire_latency(a, b).max(1e-9));
        if near == far || near_latency >= far_latency {
            return None;
        }
        let host = *found.fastest_first(&found.members(site), end).last()?;
        let mut others = found.fastest_first(&found.members(near), end.other());
        others.retain(|other| *other != host);
        others.truncate(partners);
        let (card, single) = match near == site {
            true => (found.card_rates(host)[end as usize], found.most_inside(site)),
            false => (found.across(host, end)?.sum(), found.alone(ways[0][0], ways[0][1])),
        };
        let across = self.across_of(host, far, end, card)?;
        let able = |other: usize| card.min(found.seen(other, end.other())).min(single);
        let all: f64 = others.iter().map(|other| able(*other)).sum();
        let inside = (card.min(all) / across.most).round() as usize;
        let inside = inside.clamp(others.len(), MOST_INSIDE.max(others.len()));
        let mut flows: Vec<Flow> =
            others.iter().cycle().take(inside).map(|&near| self.pair(host, near, end)).collect();
        flows.extend(across.hosts.iter().map(|&other| self.pair(host, other, end)));
        if others.is_empty() || flows.len() > MOST_FLOWS + MOST_ACROSS {
            return None;
        }
        let stream =
            Stream { count: 1, most: across.most, weight: 1.0 / far_latency, is_far: true };
        let mut streams = vec![stream; across.hosts.len()];
        for (place, &other) in others.iter().enumerate() {
            let own = parts(inside, others.len(), place);
            let lanes = own.min(found.connections_of_pair());
            let (most, weight) = (able(other), 1.0 / near_latency);
            let near = |lane: usize| Stream {
                count: parts(own, lanes, lane),
                most,
                weight,
                is_far: false,
            };
            streams.extend((0..lanes).map(near));
        }
        let explained = Explained::new(card, &streams);
        Some(Trial { flows, inside, size: across.size, explained })
    }

    /// Messages across that would fill a host's card, as far as there are partners.
    fn across_of(&self, host: usize, far: usize, end: End, card: f64) -> Option<Across> {
        let found = &self.found;
        let [from, to] = end.way(found.hosts[host].site, far);
        let way = found.fullest(from, to)?;
        let partners = found.fastest_first(&found.members(far), end.other());
        let seen = found.seen(*partners.first()?, end.other());
        let first = found.alone(from, to).min(seen);
        let count = ((card / first).round() as usize).clamp(1, MOST_ACROSS);
        let count = count.min(partners.len().saturating_mul(found.connections_of_pair()));
        let most = first.min(way.sum() / count as f64);
        let hosts = partners.iter().copied().cycle().take(count).collect();
        Some(Across { hosts, most, size: self.lasting(way) })
    }
}

/// From a site to another one far from it, or to it.
#[derive(Clone, Copy, Debug)]
struct Ends {
    site: usize,
    far: usize,
    end: End,
}

/// Partners of messages across, and what each message has at most.
struct Across {
    hosts: Vec<usize>,
    most: f64,
    size: usize,
}

/// Of `all` things dealt to `count`, those that number `place` has.
fn parts(all: usize, count: usize, place: usize) -> usize {
    all / count + usize::from(place < all % count)
}

impl Found {
    /// The most that one flow has inside a site.
    pub(super) fn most_inside(&self, site: usize) -> f64 {
        let singles = self.way(Kind::Inside, site, site);
        singles.map(|rated| rated.each.value).fold(0.0, f64::max)
    }

    /// Whether a row's flows may have parts of a link that are not equal: their ways differ in
    /// length, and shares are not known to be equal.
    pub fn may_be_unequal(&self, row: &Row) -> bool {
        if self.by_latency == Some(false) || row.from.is_some() && row.to.is_some() {
            return false;
        }
        let site = |rank| self.hosts.iter().find(|host| host.rank == rank).map(|host| host.site);
        let ends = row.rated.flows.iter().filter_map(|flow| site(flow.from).zip(site(flow.to)));
        let mut ways: Vec<(usize, usize)> = ends.collect();
        ways.sort_unstable();
        ways.dedup();
        let far = |least: f64, (from, to): &(usize, usize)| least.min(self.latency(*from, *to));
        let least = ways.iter().fold(f64::INFINITY, far);
        ways.iter().any(|&(from, to)| self.latency(from, to) > AS_FAR * least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(count: usize, most: f64, weight: f64, is_far: bool) -> Stream {
        Stream { count, most, weight, is_far }
    }

    /// A card of 100 that one message fills, and another one across.
    #[test]
    fn equal_shares_shares_by_latency_and_two_cards_differ() {
        let streams = [stream(1, 100.0, 1e5, false), stream(1, 100.0, 1e2, true)];
        let explained = Explained::new(100.0, &streams);
        let near = |time: f64, expected: f64| (time / expected - 1.0).abs() < 1e-2;
        let Explained { equal, by_latency, apart } = explained;
        assert!(near(equal.near, 0.02) && near(equal.far, 0.02), "{equal:?}");
        assert!(near(by_latency.near, 0.01) && near(by_latency.far, 0.02), "{by_latency:?}");
        assert!(near(apart.near, 0.01) && near(apart.far, 0.01), "{apart:?}");
        assert!(explained.clearness() > 0.6);
        assert_eq!(explained.answer(equal), Some(false));
        assert_eq!(explained.answer(by_latency), Some(true));
        assert_eq!(explained.answer(apart), None);
    }

    /// Ten messages across have a tenth of the card each, and ten inside wait for each other.
    #[test]
    fn many_slow_messages_show_as_much() {
        let mut streams = vec![stream(10, 100.0, 1e5, false)];
        streams.extend(vec![stream(1, 10.0, 1e2, true); 10]);
        let explained = Explained::new(100.0, &streams);
        assert!(explained.clearness() > APART, "{explained:?}");
        assert_eq!(explained.answer(explained.by_latency), Some(true));
        assert_eq!(explained.answer(explained.equal), Some(false));
    }
}
