//! The LMO model of heterogeneous clusters: what each host adds to a message and to a byte, and
//! latency and rate of each pair.
//!
//! paper: mpiblib 4: T_ij = C_i + C_j + L_ij + M (t_i + t_j + 1/B_ij). Two things are more than the
//! paper has, as predictions of windowed scatters and gathers need them:
//!
//! - C_i is two numbers, what a send costs and what a receive costs. The paper's is their mean.
//! - A host's card has a rate each way. Two messages that leave one host at the same time have
//!   M/B_ij each only while the card has room for both; else they part it. Point-to-two shows it:
//!   where it takes longer than the two messages would beside each other, the card is what they
//!   share. A card that no experiment could fill has no limit here.

use laneway_core::Rank;
use laneway_sim::{HostCost, Simulation};
use laneway_stats::distribution::t_quantile;

use crate::error::ModelError;
use crate::experiments::{Experiments, Kind, Timed};
use crate::network::{Card, ModelNetwork, Way};
use crate::parameter::{End, LEVEL, Parameter};
use crate::probe::{Direction, Fan};

/// What takes no longer than this beyond messages beside each other shares nothing.
const SHARED: f64 = 0.005;
/// A card's rate is found to this part.
const STEPS: u32 = 45;

/// What a host adds, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Host {
    /// To a message that it sends, and to one that it receives.
    pub send: Parameter,
    pub receive: Parameter,
    /// To a byte, on either side.
    pub per_byte: Parameter,
    /// Seconds a byte of its card, when several messages pass it; none where no limit was seen.
    pub card_out: Option<Parameter>,
    pub card_in: Option<Parameter>,
}

/// Between two hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pair {
    /// Seconds one way; the same both ways, as round trips cannot tell them apart.
    pub latency: Parameter,
    /// Seconds a byte of one message from the lower rank to the higher, and back.
    pub there: Parameter,
    pub back: Parameter,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lmo {
    pub hosts: Vec<Host>,
    /// Of ranks i < j, by i and then j.
    pub pairs: Vec<Pair>,
}

/// The pairs of so many ranks, in the order of [`Lmo::pairs`].
pub(crate) fn pairs(ranks: u32) -> impl Iterator<Item = [Rank; 2]> {
    (0..ranks).flat_map(move |i| (i + 1..ranks).map(move |j| [i, j]))
}

impl Lmo {
    pub fn pair(&self, one: Rank, other: Rank) -> &Pair {
        let (i, j, hosts) = (one.min(other) as usize, one.max(other) as usize, self.hosts.len());
        &self.pairs[i * (2 * hosts - i - 1) / 2 + j - i - 1]
    }

    /// Seconds a byte of one message.
    pub fn per_byte(&self, from: Rank, to: Rank) -> Parameter {
        let pair = self.pair(from, to);
        if from < to { pair.there } else { pair.back }
    }

    /// As the engine sees it.
    pub(crate) fn network(&self, eager_bytes: u64, end: End) -> ModelNetwork {
        let hosts = self.hosts.len() as u32;
        let cost = |host: &Host| HostCost {
            per_send: host.send.at(end),
            per_recv: host.receive.at(end),
            per_byte: host.per_byte.at(end),
        };
        let rate = |per_byte: Parameter| 1.0 / per_byte.at(end);
        let card = |host: &Host| Card {
            out: host.card_out.map_or(f64::INFINITY, rate),
            into: host.card_in.map_or(f64::INFINITY, rate),
        };
        let way = |from: Rank, to: Rank| match from == to {
            true => Way { latency: 0.0, most: f64::INFINITY },
            false => Way {
                latency: self.pair(from, to).latency.at(end),
                most: rate(self.per_byte(from, to)),
            },
        };
        let ways = (0..hosts).flat_map(|from| (0..hosts).map(move |to| way(from, to))).collect();
        let cards: Vec<Card> = self.hosts.iter().map(card).collect();
        ModelNetwork::new(self.hosts.iter().map(cost).collect(), &cards, ways, eager_bytes)
    }

    /// Fits every parameter to the experiments.
    pub fn fit(experiments: &Experiments) -> Result<Lmo, ModelError> {
        let ranks = experiments.ranks();
        if ranks < 3 {
            let experiment = "point-to-two";
            return Err(ModelError::TooFewRanks { ranks, needed: 3, experiment });
        }
        let mut lmo = Lmo::without_cards(experiments)?;
        for host in 0..ranks {
            for direction in [Direction::Out, Direction::In] {
                let fans: Vec<&Timed> = fans_of(experiments, host, direction).collect();
                if fans.is_empty() {
                    let what = match direction {
                        Direction::Out => "point-to-two",
                        Direction::In => "two-to-point",
                    };
                    let experiment = format!("{what} of rank {host}");
                    return Err(ModelError::Missing { experiment });
                }
                let card = lmo.card(&fans, direction, experiments.eager_bytes)?;
                let own = &mut lmo.hosts[host as usize];
                match direction {
                    Direction::Out => own.card_out = card,
                    Direction::In => own.card_in = card,
                }
            }
        }
        Ok(lmo)
    }

    /// All but the cards: from overheads and round trips.
    pub(crate) fn without_cards(experiments: &Experiments) -> Result<Lmo, ModelError> {
        let (ranks, sizes) = (experiments.ranks(), experiments.sizes()?);
        let hosts =
            (0..ranks).map(|rank| host(experiments, rank)).collect::<Result<Vec<_>, _>>()?;
        let pair = |[i, j]: [Rank; 2]| pair(experiments, &hosts, &sizes, [i, j]);
        let pairs = pairs(ranks).map(pair).collect::<Result<Vec<_>, _>>()?;
        Ok(Lmo { hosts, pairs })
    }

    /// The card that explains what fans took beyond messages beside each other.
    pub(crate) fn card(
        &self,
        fans: &[&Timed],
        direction: Direction,
        eager_bytes: u64,
    ) -> Result<Option<Parameter>, ModelError> {
        let mut found = Vec::new();
        for timed in fans {
            found.extend(self.card_of(timed, direction, eager_bytes)?);
        }
        Ok(Parameter::middle(&found).map(Parameter::not_negative))
    }

    fn card_of(
        &self,
        timed: &Timed,
        direction: Direction,
        eager_bytes: u64,
    ) -> Result<Option<Parameter>, ModelError> {
        let Kind::Fan { bytes, .. } = timed.kind else { return Ok(None) };
        let (members, hub) = (timed.ranks.clone(), timed.ranks[0] as usize);
        let fan = Fan { ranks: members.len() as u32, members, bytes, direction };
        let schedule = fan.alone();
        let read = |per_byte: f64, end: End| -> Result<f64, ModelError> {
            let mut network = self.network(eager_bytes, end);
            let (rate, none) = (1.0 / per_byte, f64::INFINITY);
            let card = match direction {
                Direction::Out => Card { out: rate, into: none },
                Direction::In => Card { out: none, into: rate },
            };
            network.set_card(hub, card);
            Ok(Simulation::new(&network).placed(&timed.ranks).run(&schedule)?.finish)
        };
        let beside = read(0.0, End::Value)?;
        let Parameter { value, low, high } = timed.time;
        if value <= beside * (1.0 + SHARED) || low <= beside {
            return Ok(None);
        }
        let invert = |time: f64, end: End| -> Result<f64, ModelError> {
            // A fan lasts at least as long as its bytes take on the card.
            let (mut least, mut most) =
                (0.0, time / (bytes as f64 * (fan.members.len() - 1) as f64));
            for _ in 0..STEPS {
                let middle = (least + most) / 2.0;
                match read(middle, end)? < time {
                    true => least = middle,
                    false => most = middle,
                }
            }
            Ok((least + most) / 2.0)
        };
        let value = invert(value, End::Value)?;
        // What the rest may be off is the card's as well.
        let ends = (invert(low, End::High)?, invert(high, End::Low)?);
        Ok(Some(Parameter { value, low: ends.0.min(value), high: ends.1.max(value) }))
    }
}

/// The fans that a rank led.
pub(crate) fn fans_of(
    experiments: &Experiments,
    host: Rank,
    wanted: Direction,
) -> impl Iterator<Item = &Timed> {
    experiments.fitted().filter(move |timed| {
        let led = timed.ranks.first() == Some(&host);
        led && matches!(timed.kind, Kind::Fan { direction, .. } if direction == wanted)
    })
}

/// What a host costs: overheads of empty messages, and what longer ones take beyond.
fn host(experiments: &Experiments, rank: Rank) -> Result<Host, ModelError> {
    let bytes = |kind: Kind, send: bool| match kind {
        Kind::SendOverhead { bytes } if send => Some(bytes),
        Kind::ReceiveOverhead { bytes } if !send => Some(bytes),
        _ => None,
    };
    let own = |send: bool| {
        experiments.fitted().filter_map(move |timed| {
            let bytes = bytes(timed.kind, send).filter(|_| timed.ranks[0] == rank)?;
            Some((bytes, timed))
        })
    };
    let mut slopes = Vec::new();
    let mut empty = |send: bool| -> Result<Parameter, ModelError> {
        let zero = |(bytes, timed): (u64, &Timed)| (bytes == 0).then_some(timed.time);
        let empty: Vec<Parameter> = own(send).filter_map(zero).collect();
        let what = if send { "send" } else { "receive" };
        let missing = || ModelError::Missing {
            experiment: format!("{what} overhead of an empty message at rank {rank}"),
        };
        let empty = Parameter::middle(&empty).ok_or_else(missing)?.not_negative();
        // Beyond the eager size a send keeps its caller until the message has arrived.
        let short = |bytes: u64| bytes > 0 && bytes <= experiments.eager_bytes;
        slopes.extend(own(send).filter(|(bytes, _)| short(*bytes)).map(|(bytes, timed)| {
            Parameter::sum(&[(1.0, timed.time), (-1.0, empty)]).scaled(1.0 / bytes as f64)
        }));
        Ok(empty)
    };
    let (send, receive) = (empty(true)?, empty(false)?);
    // Where nothing longer is eager, bytes are the way's alone.
    let per_byte = Parameter::middle(&slopes).unwrap_or_default().not_negative();
    Ok(Host { send, receive, per_byte, card_out: None, card_in: None })
}

/// What is left of round trips without what the hosts cost.
fn pair(
    experiments: &Experiments,
    hosts: &[Host],
    sizes: &[u64],
    ranks: [Rank; 2],
) -> Result<Pair, ModelError> {
    let trip = |out_bytes: u64, back_bytes: u64| {
        experiments.needed(Kind::RoundTrip { out_bytes, back_bytes }, &ranks)
    };
    let [one, other] = ranks.map(|rank| hosts[rank as usize]);
    let empty = trip(0, 0)?;
    let ends = [one.send, one.receive, other.send, other.receive].map(|cost| (-0.5, cost));
    let latency = Parameter::sum(&[&[(0.5, empty)], &ends[..]].concat());
    let per_byte = |back: bool| -> Result<Parameter, ModelError> {
        let mut slopes = Vec::new();
        for &size in sizes {
            let time = if back { trip(0, size)? } else { trip(size, 0)? };
            let part = 1.0 / size as f64;
            let bytes = [(-1.0, one.per_byte), (-1.0, other.per_byte)];
            let slope = Parameter::sum(&[(part, time), (-part, empty), bytes[0], bytes[1]]);
            let unsure = part * time.half().max(SURE * time.value);
            slopes.push((slope, unsure.max(f64::MIN_POSITIVE).powi(-2)));
        }
        Ok(over_sizes(&slopes).not_negative())
    };
    let (there, back) = (per_byte(false)?, per_byte(true)?);
    Ok(Pair { latency: latency.not_negative(), there, back })
}

/// A time is not known better than this part of it, however alike its samples are.
const SURE: f64 = 0.01;

/// The mean of slopes over sizes, each weighted as its time is known. Where they differ, messages
/// of this pair are no straight line, and the interval says so.
fn over_sizes(slopes: &[(Parameter, f64)]) -> Parameter {
    let total: f64 = slopes.iter().map(|(_, weight)| weight).sum();
    let terms: Vec<(f64, Parameter)> =
        slopes.iter().map(|(slope, weight)| (weight / total, *slope)).collect();
    let mean = Parameter::sum(&terms);
    let squares: f64 =
        terms.iter().map(|(part, slope)| part * (slope.value - mean.value).powi(2)).sum();
    let freedom = slopes.len() as f64 - 1.0;
    let t = t_quantile(0.5 + LEVEL / 2.0, freedom).unwrap_or(0.0);
    let spread = if freedom > 0.0 { t * (squares / freedom).sqrt() } else { 0.0 };
    Parameter::around(mean.value, mean.half().max(spread))
}
