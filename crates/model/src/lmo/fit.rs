//! Fits LMO to experiments: overheads say what hosts cost, and round trips what is between them.

use laneway_core::Rank;
use laneway_stats::distribution::t_quantile;
use laneway_stats::median;

use super::overhead::{self, OverheadFactor};
use super::size::{self, SizeFactor, at_size};
use super::{Host, Lmo, Pair, fans_of, longest, pairs, shorter_fans};
use crate::error::ModelError;
use crate::experiments::{Experiments, Index, Kind, Timed};
use crate::model::Model;
use crate::others;
use crate::parameter::{LEVEL, Parameter};
use crate::probe::Direction;

/// In which repetitions it is seen what depends on the size of a message. Others who send long
/// messages now and then disturb long messages most, which is not a protocol: the fastest
/// repetitions are free of it. Those who send short ones all the time slow down long messages for
/// good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SeenIn {
    Middle,
    Fastest,
}

impl Lmo {
    /// Fits every parameter to the experiments. Intervals reach to what the fastest repetitions say
    /// alone: the truth of an undisturbed cluster lies there.
    pub(crate) fn fit(experiments: &Experiments, seen_in: SeenIn) -> Result<Lmo, ModelError> {
        let mut lmo = Lmo::fit_once(experiments, size_factors(experiments, seen_in)?)?;
        let undisturbed = experiments.undisturbed();
        let quiet = Lmo::fit_once(&undisturbed, lmo.sizes.clone())?;
        let least = least_per_byte(&undisturbed, &quiet)?;
        // What others take of ways they take of cards as well.
        let parts =
            lmo.pairs.iter().zip(&least).flat_map(|(pair, [there, back])| {
                [there / pair.there.value, back / pair.back.value]
            });
        let parts: Vec<f64> = parts.filter(|part| part.is_finite()).collect();
        let part = median(&parts).unwrap_or(1.0).min(1.0);
        lmo.find_loads(&quiet, &least);
        lmo.others = others::find(experiments, &lmo);
        if lmo.others.is_none() {
            // What is left are errors of the times.
            lmo.hosts.iter_mut().for_each(Host::unload);
        }
        let both = |own: Option<Parameter>, quiet: Option<Parameter>| {
            own.map(|own| quiet.map_or(own, |quiet| own.reaching(quiet.value)))
        };
        for (host, quiet) in lmo.hosts.iter_mut().zip(&quiet.hosts) {
            host.send = host.send.reaching(quiet.send.value);
            host.receive = host.receive.reaching(quiet.receive.value);
            host.per_byte_sent = host.per_byte_sent.reaching(quiet.per_byte_sent.value);
            host.per_byte_received = host.per_byte_received.reaching(quiet.per_byte_received.value);
            host.card_out = both(host.card_out, quiet.card_out);
            host.card_in = both(host.card_in, quiet.card_in);
            for card in [&mut host.card_out, &mut host.card_in].into_iter().flatten() {
                *card = card.reaching(part * card.low);
            }
        }
        for ((pair, quiet), [there, back]) in lmo.pairs.iter_mut().zip(&quiet.pairs).zip(least) {
            pair.latency = pair.latency.reaching(quiet.latency.value);
            if lmo.others.is_some() {
                // No host is slower alone.
                let free = |mean: Parameter, quiet: Parameter, least: f64| {
                    mean.value.min(quiet.value).min(least)
                };
                pair.free =
                    [free(pair.there, quiet.there, there), free(pair.back, quiet.back, back)];
            }
            let [there, back] = [there, back].map(|least| (1.0 - SURE) * least);
            pair.there = pair.there.reaching(quiet.there.value).reaching(there);
            pair.back = pair.back.reaching(quiet.back.value).reaching(back);
            pair.all_there = both(pair.all_there, quiet.all_there);
            pair.all_back = both(pair.all_back, quiet.all_back);
        }
        Ok(lmo)
    }

    /// What others take of the cards: the part by which they are slower in the mean than in the
    /// fastest repetitions, of all fans and of the fastest message alone.
    fn find_loads(&mut self, quiet: &Lmo, least: &[[f64; 2]]) {
        let mut alone = quiet.clone();
        for (pair, &[there, back]) in alone.pairs.iter_mut().zip(least) {
            pair.there.value = pair.there.value.min(there);
            pair.back.value = pair.back.value.min(back);
        }
        for rank in 0..self.hosts.len() as Rank {
            for direction in [Direction::Out, Direction::In] {
                let fastest = alone.fastest(rank, direction).value;
                let card = quiet.hosts[rank as usize].card(direction).0;
                let least = card.map_or(fastest, |card| card.value.min(fastest));
                let host = &mut self.hosts[rank as usize];
                let known = host.card(direction).0.filter(|card| card.low > 0.0);
                let Some(mean) = known else { continue };
                let part = |end: f64| (1.0 - least / end).clamp(0.0, MOST_LOAD);
                let [value, low, high] = [mean.value, mean.low, mean.high].map(part);
                // Less is an error of the times.
                let load = match value > LEAST_LOAD {
                    true => Parameter { value, low, high },
                    false => Parameter::default(),
                };
                match direction {
                    Direction::Out => host.load_out = load,
                    Direction::In => host.load_in = load,
                }
            }
        }
    }

    fn fit_once(experiments: &Experiments, sizes: Vec<SizeFactor>) -> Result<Lmo, ModelError> {
        let ranks = experiments.ranks();
        if ranks < 3 {
            let experiment = "point-to-two";
            return Err(ModelError::TooFewRanks { ranks, needed: 3, experiment });
        }
        let mut lmo = Lmo::of_sizes(experiments, sizes)?;
        lmo.find_cards(experiments)?;
        lmo.find_order(experiments)?;
        lmo.find_shares(experiments)?;
        Ok(lmo)
    }

    /// The cards; and whether what depends on the size takes from them, as fans of shorter messages
    /// say. Where there are none it does.
    fn find_cards(&mut self, experiments: &Experiments) -> Result<(), ModelError> {
        let shorter: Vec<&Timed> = shorter_fans(experiments).collect();
        if self.sizes.is_empty() || shorter.is_empty() {
            return self.fit_cards(experiments);
        }
        let mut best: Option<(f64, Lmo)> = None;
        for on_cards in [true, false] {
            let mut lmo = Lmo { sizes_on_cards: on_cards, ..self.clone() };
            lmo.fit_cards(experiments)?;
            let model = Model::Lmo(lmo);
            let mut off = 0.0;
            for timed in &shorter {
                let said = model.says(timed, experiments.eager_bytes)?;
                off += said.map_or(0.0, |said| (said / timed.time.value).ln().abs());
            }
            let Model::Lmo(lmo) = model else { continue };
            if best.as_ref().is_none_or(|(least, _)| off < *least) {
                best = Some((off, lmo));
            }
        }
        if let Some((_, lmo)) = best {
            *self = lmo;
        }
        Ok(())
    }

    fn fit_cards(&mut self, experiments: &Experiments) -> Result<(), ModelError> {
        let alone = self.as_fans(experiments)?;
        for host in 0..self.hosts.len() as Rank {
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
                let card = alone.card(&fans, direction, experiments.eager_bytes)?;
                // One message alone had as much at least.
                let fastest = alone.fastest(host, direction);
                let card = card.map(|card| card.at_most(fastest));
                let own = &mut self.hosts[host as usize];
                match direction {
                    Direction::Out => own.card_out = card,
                    Direction::In => own.card_in = card,
                }
            }
        }
        Ok(())
    }

    /// Sizes between two at which overheads are quite different; the largest difference first.
    pub(crate) fn overhead_steps(experiments: &Experiments) -> Result<Vec<u64>, ModelError> {
        let hosts = (0..experiments.ranks()).map(|rank| host(experiments, rank));
        let hosts = hosts.collect::<Result<Vec<_>, _>>()?;
        Ok(overhead::steps(&overhead::find(experiments, &hosts)))
    }

    fn by_size(&self) -> BySize<'_> {
        BySize { ways: &self.sizes, overheads: &self.overheads }
    }

    /// All but the cards and the order: from overheads and round trips.
    pub(crate) fn without_cards(
        experiments: &Experiments,
        seen_in: SeenIn,
    ) -> Result<Lmo, ModelError> {
        Lmo::of_sizes(experiments, size_factors(experiments, seen_in)?)
    }

    /// With the ways as messages of the fans' size alone say. A mean over sizes is off at every one
    /// of them, and what two messages take beyond it would be taken for a card.
    pub(crate) fn as_fans(&self, experiments: &Experiments) -> Result<Lmo, ModelError> {
        let bytes = longest(experiments);
        if !experiments.sizes()?.contains(&bytes) {
            return Ok(self.clone());
        }
        let index = experiments.index();
        let pair =
            |ranks| Ok(Trips::of(&index, &[bytes], ranks)?.without(&self.hosts, self.by_size()));
        let pairs =
            pairs(experiments.ranks()).map(pair).collect::<Result<Vec<Pair>, ModelError>>()?;
        Ok(Lmo { pairs, ..self.clone() })
    }

    /// The same, where it is known what depends on the size.
    fn of_sizes(experiments: &Experiments, factors: Vec<SizeFactor>) -> Result<Lmo, ModelError> {
        let (ranks, sizes) = (experiments.ranks(), experiments.sizes()?);
        let hosts = (0..ranks).map(|rank| host(experiments, rank));
        let mut hosts = hosts.collect::<Result<Vec<_>, _>>()?;
        let index = experiments.index();
        let trips = pairs(ranks).map(|ranks| Trips::of(&index, &sizes, ranks));
        let trips = trips.collect::<Result<Vec<_>, _>>()?;
        reconcile(&mut hosts, &trips);
        let overheads = overhead::find(experiments, &hosts);
        let by_size = BySize { ways: &factors, overheads: &overheads };
        let pairs = trips.iter().map(|trips| trips.without(&hosts, by_size)).collect();
        let (in_order, sizes_on_cards, others) = (true, true, None);
        Ok(Lmo { hosts, pairs, in_order, sizes: factors, sizes_on_cards, overheads, others })
    }
}

/// What depends on the size.
fn size_factors(experiments: &Experiments, seen_in: SeenIn) -> Result<Vec<SizeFactor>, ModelError> {
    let quiet = (seen_in == SeenIn::Fastest).then(|| experiments.undisturbed());
    let seen = quiet.as_ref().unwrap_or(experiments);
    let straight = Lmo::of_sizes(seen, Vec::new())?;
    Ok(size::find(seen, &straight))
}

/// The least time of a byte of each pair that a size says alone, there and back. Others who send
/// short messages slow down every repetition of a long one; a short one goes undisturbed at times.
fn least_per_byte(experiments: &Experiments, lmo: &Lmo) -> Result<Vec<[f64; 2]>, ModelError> {
    let (index, sizes) = (experiments.index(), experiments.sizes()?);
    let least = |(ranks, pair): ([Rank; 2], &Pair)| {
        let trips = Trips::of(&index, &sizes, ranks)?;
        let [one, other] = ranks.map(|rank| &lmo.hosts[rank as usize]);
        Ok([(0, one, other), (1, other, one)].map(|(way, from, to)| {
            let ends = from.per_byte_sent.value + to.per_byte_received.value;
            let slopes = trips.slopes(way, [from, to], pair.latency, lmo.by_size());
            let least = slopes.map(|known| known.slope.value - ends).fold(f64::INFINITY, f64::min);
            least.max(0.0)
        }))
    };
    pairs(experiments.ranks()).zip(&lmo.pairs).map(least).collect()
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
    let costs = |send: bool| -> Result<[Parameter; 2], ModelError> {
        let zero = |(bytes, timed): (u64, &Timed)| (bytes == 0).then_some(timed.time);
        let empty: Vec<Parameter> = own(send).filter_map(zero).collect();
        let what = if send { "send" } else { "receive" };
        let missing = || ModelError::Missing {
            experiment: format!("{what} overhead of an empty message at rank {rank}"),
        };
        let empty = Parameter::middle(&empty).ok_or_else(missing)?.not_negative();
        // Beyond the eager size a send keeps its caller until the message has arrived. Of the
        // others the longest tell what a byte costs.
        let short = |(bytes, _): &(u64, &Timed)| *bytes > 0 && *bytes <= experiments.eager_bytes;
        let longest = own(send).filter(short).map(|(bytes, _)| bytes).max();
        let of_longest = own(send).filter(|(bytes, _)| Some(*bytes) == longest);
        let slopes = of_longest.map(|(bytes, timed)| {
            Parameter::sum(&[(1.0, timed.time), (-1.0, empty)]).scaled(1.0 / bytes as f64)
        });
        // Where nothing longer is eager, bytes are the way's alone.
        let slopes: Vec<Parameter> = slopes.collect();
        Ok([empty, Parameter::middle(&slopes).unwrap_or_default().not_negative()])
    };
    let ([send, per_byte_sent], [receive, per_byte_received]) = (costs(true)?, costs(false)?);
    let (card_out, card_in) = (None, None);
    let (load_out, load_in) = (Parameter::default(), Parameter::default());
    Ok(Host {
        send,
        receive,
        per_byte_sent,
        per_byte_received,
        card_out,
        card_in,
        load_out,
        load_in,
    })
}

/// What depends on the size of a message: factors of ways and of overheads.
#[derive(Clone, Copy)]
struct BySize<'f> {
    ways: &'f [SizeFactor],
    overheads: &'f [OverheadFactor],
}

/// Round trips of two ranks.
struct Trips {
    ranks: [Rank; 2],
    /// Of empty messages, there and back.
    empty: Parameter,
    /// What a byte adds there, and back, by each size.
    per_byte: [Vec<Slope>; 2],
}

/// What a byte of messages of one size adds.
#[derive(Clone, Copy)]
struct Slope {
    bytes: u64,
    slope: Parameter,
    /// How well it is known.
    weight: f64,
}

impl Trips {
    fn of(index: &Index, sizes: &[u64], ranks: [Rank; 2]) -> Result<Trips, ModelError> {
        let trip = |out_bytes: u64, back_bytes: u64| {
            index.needed(Kind::RoundTrip { out_bytes, back_bytes }, &ranks)
        };
        let empty = trip(0, 0)?;
        let per_byte = |back: bool| -> Result<Vec<Slope>, ModelError> {
            let mut slopes = Vec::new();
            for &size in sizes {
                let time = if back { trip(0, size)? } else { trip(size, 0)? };
                let part = 1.0 / size as f64;
                let unsure = part * time.half().max(SURE * time.value);
                let slope = Parameter::sum(&[(part, time), (-part, empty)]);
                let weight = unsure.max(f64::MIN_POSITIVE).powi(-2);
                slopes.push(Slope { bytes: size, slope, weight });
            }
            Ok(slopes)
        };
        Ok(Trips { ranks, empty, per_byte: [per_byte(false)?, per_byte(true)?] })
    }

    /// What is left of them without what the hosts cost.
    fn without(&self, hosts: &[Host], by_size: BySize) -> Pair {
        let [one, other] = self.ranks.map(|rank| hosts[rank as usize]);
        let ends = [one.send, one.receive, other.send, other.receive].map(|cost| (-0.5, cost));
        let latency = Parameter::sum(&[&[(0.5, self.empty)], &ends[..]].concat());
        let latency = latency.not_negative();
        let [there, back] = [(0, one, other), (1, other, one)].map(|(way, from, to)| {
            let own = self.slopes(way, [&from, &to], latency, by_size);
            let slope = over_sizes(&own.collect::<Vec<Slope>>());
            let terms = [(1.0, slope), (-1.0, from.per_byte_sent), (-1.0, to.per_byte_received)];
            Parameter::sum(&terms).not_negative()
        });
        let (all_there, all_back) = (None, None);
        let free = [there.value, back.value];
        Pair { latency, there, back, free, all_there, all_back }
    }

    /// What a byte adds one way, by each size, without what depends on the size.
    fn slopes(
        &self,
        way: usize,
        [from, to]: [&Host; 2],
        latency: Parameter,
        by_size: BySize,
    ) -> impl Iterator<Item = Slope> {
        let ends = from.per_byte_sent.value + to.per_byte_received.value;
        self.per_byte[way].iter().map(move |known| {
            let factor = at_size(by_size.ways, known.bytes);
            let later = (factor.latency - 1.0) / known.bytes as f64;
            let costs = overhead::beyond_line(by_size.overheads, [from, to], known.bytes);
            let terms = [(1.0, known.slope), (-later, latency)];
            // The hosts' part does not belong to what depends on the size.
            let slope = Parameter::sum(&terms).shifted(-(1.0 - factor.per_byte) * ends);
            let slope = slope.shifted(-costs / known.bytes as f64);
            let slope = slope.scaled(1.0 / factor.per_byte);
            Slope { slope, weight: known.weight * factor.per_byte.powi(2), ..*known }
        })
    }
}

/// Where the two ends of a message work at the same time, as over shared memory, their overheads
/// are more than the whole message takes. What a host costs is then the part that fits, so that
/// nothing between hosts is below 0.
fn reconcile(hosts: &mut [Host], trips: &[Trips]) {
    let factor = |rank: usize, part: &dyn Fn(&Trips) -> Vec<f64>| -> f64 {
        let own = trips.iter().filter(|trips| trips.ranks.contains(&(rank as Rank)));
        let parts: Vec<f64> = own.flat_map(part).filter(|part| part.is_finite()).collect();
        median(&parts).unwrap_or(1.0).clamp(0.0, 1.0)
    };
    let known = hosts.to_vec();
    let ends = |trips: &Trips| trips.ranks.map(|rank| known[rank as usize]);
    let of_messages = |trips: &Trips| {
        let costs: f64 = ends(trips).iter().map(|h| h.send.value + h.receive.value).sum();
        vec![trips.empty.value / costs]
    };
    let of_bytes = |trips: &Trips| {
        let [one, other] = ends(trips);
        let costs = [(one, other), (other, one)]
            .map(|(from, to)| from.per_byte_sent.value + to.per_byte_received.value);
        let slopes = trips.per_byte.iter().map(|slopes| over_sizes(slopes).value);
        slopes.zip(costs).map(|(slope, costs)| slope / costs).collect()
    };
    let fitting = |cost: Parameter, factor: f64| match factor < 1.0 {
        true => Parameter { value: factor * cost.value, low: factor * cost.low, ..cost },
        false => cost,
    };
    for (rank, host) in hosts.iter_mut().enumerate() {
        let (message, byte) = (factor(rank, &of_messages), factor(rank, &of_bytes));
        host.send = fitting(host.send, message);
        host.receive = fitting(host.receive, message);
        host.per_byte_sent = fitting(host.per_byte_sent, byte);
        host.per_byte_received = fitting(host.per_byte_received, byte);
    }
}

/// Others take more of a card than this, or nothing.
const LEAST_LOAD: f64 = 1e-4;
/// Others take no more of a card than this.
const MOST_LOAD: f64 = 0.9;
/// A time is not known better than this part of it, however alike its samples are.
const SURE: f64 = 0.01;

/// The mean of slopes over sizes, each weighted as its time is known. Where they differ, messages
/// of this pair are no straight line, and the interval says so.
fn over_sizes(slopes: &[Slope]) -> Parameter {
    let total: f64 = slopes.iter().map(|known| known.weight).sum();
    let terms: Vec<(f64, Parameter)> =
        slopes.iter().map(|known| (known.weight / total, known.slope)).collect();
    let mean = Parameter::sum(&terms);
    let squares: f64 =
        terms.iter().map(|(part, slope)| part * (slope.value - mean.value).powi(2)).sum();
    let freedom = slopes.len() as f64 - 1.0;
    let t = t_quantile(0.5 + LEVEL / 2.0, freedom).unwrap_or(0.0);
    let spread = if freedom > 0.0 { t * (squares / freedom).sqrt() } else { 0.0 };
    Parameter::around(mean.value, mean.half().max(spread))
}
