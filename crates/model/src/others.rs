//! What others send while a call is under way: messages on the cards, at random times.
//!
//! A host's card has a load, the part of it that others take in the long run, and all of them send
//! messages of one length. Where many of these pass during a call, it has what the loads leave;
//! where few do, some calls meet them and others do not; and where all ranks wait for the last, the
//! one that met most decides. So a call is run several times, each time beside others who send at
//! other moments.

use laneway_core::{Rank, Schedule};
use laneway_sim::{Background, HostId, Traffic};
use laneway_stats::SplitMix64;

use crate::error::ModelError;
use crate::experiments::{Experiments, Timed};
use crate::lmo::{Host, Lmo, fans_of};
use crate::network::{Card, ModelNetwork};
use crate::parameter::{End, Parameter};
use crate::probe::Direction;

/// The number of runs of a call, and of the first ones if they agree to a part.
const FEW: usize = 3;
const TIMES: usize = 9;
const AGREED: f64 = 0.02;
/// The number of messages of others on a card during a call from which one run is like the other.
const MANY: f64 = 1000.0;
/// No more pass one card during a call: fewer and longer ones are the same then.
const MOST: f64 = 4000.0;
/// A card of less load tells nothing of those who load it.
const LOADED: f64 = 0.02;

/// Bytes of the messages that others send; `None` without other traffic. The widest fan of each
/// card gives them, by how much its times differ.
pub(crate) fn find(experiments: &Experiments, lmo: &Lmo) -> Option<Parameter> {
    let mut found = Vec::new();
    for (rank, host) in (0..).zip(&lmo.hosts) {
        for direction in [Direction::Out, Direction::In] {
            let card = host.free_card(direction).filter(|(_, load)| *load > LOADED);
            let fans = fans_of(experiments, rank, direction);
            let widest = fans.max_by_key(|timed| timed.ranks.len());
            let widest = widest.filter(|timed| timed.is_disturbed());
            let (Some((per_byte, load)), Some(fan)) = (card, widest) else { continue };
            found.push(Parameter::exact(seconds_each(fan, load) / per_byte));
        }
    }
    Parameter::middle(&found).map(Parameter::not_negative)
}

/// What one message of others takes on a card of which they have the part u. A fan that fills it
/// for T seconds has a variance of T u d / (1 - u)². Those that come in its last moments share the
/// card with all of its n messages, and are not over when it is: that is as if it were shorter by
/// 2/3 (n + 1) d.
fn seconds_each(fan: &Timed, load: f64) -> f64 {
    let (seconds, shares) = (fan.time.value, 2.0 / 3.0 * fan.ranks.len() as f64);
    let each = fan.spread.powi(2) * (1.0 - load).powi(2) / (load * seconds);
    let part = (4.0 * shares * each / seconds).min(1.0);
    seconds * (1.0 - (1.0 - part).sqrt()) / (2.0 * shares)
}

impl Lmo {
    /// The seconds of a call whose rank r is on host r, time after time beside others; nothing
    /// where nobody disturbs. `seconds` is about what it takes.
    pub(crate) fn times(
        &self,
        schedule: &dyn Schedule,
        eager_bytes: u64,
        seconds: f64,
    ) -> Result<Vec<f64>, ModelError> {
        let Some(bytes) = self.others else { return Ok(Vec::new()) };
        let (mut network, others) = (self.free(eager_bytes), self.senders(bytes.value, seconds));
        let passing = |other: &Background| match other.traffic {
            Traffic::Messages { every, .. } => seconds / every,
            Traffic::Steady { .. } => 0.0,
        };
        let few = if others.iter().any(|other| passing(other) > MANY) { 1 } else { FEW };
        let mut times: Vec<f64> = Vec::new();
        let mut seeds = SplitMix64::new(0);
        while times.len() < few || (times.len() < TIMES && !agree(&times)) {
            network.others = at_other_moments(&others, &mut seeds);
            times.push(network.run(schedule)?);
        }
        Ok(times)
    }

    /// As the engine sees it without other traffic.
    fn free(&self, eager_bytes: u64) -> ModelNetwork {
        let mut network = self.network(eager_bytes, End::Low);
        for (number, host) in self.hosts.iter().enumerate() {
            let rate = |way| host.free_card(way).map_or(f64::INFINITY, |(byte, _)| 1.0 / byte);
            let (out, into) = (rate(Direction::Out), rate(Direction::In));
            network.set_card(number, Card { out, into });
        }
        let hosts = self.hosts.len() as Rank;
        let ways = (0..hosts).flat_map(|from| (0..hosts).map(move |to| (from, to)));
        for (from, to) in ways.filter(|(from, to)| from != to) {
            let (free, mean) = (self.free_per_byte(from, to), self.per_byte(from, to).value);
            let (one, other) = (from as usize, to as usize);
            network.set_way(one, other, 1.0 / free);
            // Others slow down several messages as they do one.
            if let Some(all) = self.all_per_byte(from, to).filter(|_| mean > 0.0) {
                network.set_pair(one, other, mean / (free * all.value));
            }
        }
        network
    }

    /// The senders that load the cards during `seconds` seconds.
    fn senders(&self, bytes: f64, seconds: f64) -> Vec<Background> {
        let elsewhere = self.hosts.len() as HostId;
        let mut loaded = Vec::new();
        for (rank, host) in (0..).zip(&self.hosts) {
            for (way, ends) in
                [(Direction::Out, (rank, elsewhere)), (Direction::In, (elsewhere, rank))]
            {
                let card = host.free_card(way).filter(|&(byte, load)| byte > 0.0 && load > 0.0);
                loaded.extend(card.map(|(per_byte, load)| (ends, load / per_byte)));
            }
        }
        let most = loaded.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
        let bytes = bytes.max(most * seconds / MOST).round().max(1.0);
        let sender = |((from, to), rate): ((HostId, HostId), f64)| {
            let bytes_each = bytes as u64;
            let traffic = Traffic::Messages { bytes: bytes_each, every: bytes / rate, seed: None };
            Background { from, to, traffic, start: 0.0, until: f64::INFINITY }
        };
        loaded.into_iter().map(sender).collect()
    }
}

impl Host {
    /// Seconds a byte of its card without other traffic, and the part that others take of it;
    /// `None` if no limit was seen.
    fn free_card(&self, direction: Direction) -> Option<(f64, f64)> {
        let (card, load) = self.card(direction);
        card.map(|card| (card.value * (1.0 - load.value), load.value))
    }
}

fn at_other_moments(others: &[Background], seeds: &mut SplitMix64) -> Vec<Background> {
    let mut others = others.to_vec();
    for other in &mut others {
        if let Traffic::Messages { seed, .. } = &mut other.traffic {
            *seed = Some(seeds.next_u64());
        }
    }
    others
}

fn agree(times: &[f64]) -> bool {
    let least = times.iter().copied().fold(f64::INFINITY, f64::min);
    times.iter().all(|&time| time <= least * (1.0 + AGREED))
}

#[cfg(test)]
mod tests {
    use laneway_stats::median;

    use super::*;
    use crate::experiments::Kind;
    use crate::lmo::Pair;
    use crate::probe::{Fan, Shift};

    const HOSTS: u32 = 9;
    const LOAD: f64 = 0.2;
    /// Bytes of a message of others, and seconds a byte of a card.
    const THEIRS: f64 = 20e3;
    const CARD: f64 = 1e-8;

    /// Cards of 100 MB/s, of which others have a part.
    fn lmo() -> Lmo {
        let exact = Parameter::exact;
        let (card, load) = (Some(exact(CARD / (1.0 - LOAD))), exact(LOAD));
        let (card_out, card_in, load_out, load_in) = (card, card, load, load);
        let host = Host { card_out, card_in, load_out, load_in, ..Host::default() };
        let (there, back, free) = (exact(CARD), exact(CARD), [CARD; 2]);
        let pair = Pair { there, back, free, latency: exact(1e-6), ..Pair::default() };
        Lmo {
            hosts: vec![host; HOSTS as usize],
            pairs: vec![pair; (HOSTS * (HOSTS - 1) / 2) as usize],
            in_order: true,
            sizes: Vec::new(),
            sizes_on_cards: true,
            overheads: Vec::new(),
            others: Some(exact(THEIRS)),
        }
    }

    fn times(schedule: &dyn Schedule, seconds: f64) -> Vec<f64> {
        lmo().times(schedule, 1 << 20, seconds).expect("they end")
    }

    fn fan(bytes: u64) -> Fan {
        Fan { ranks: HOSTS, members: (0..HOSTS).collect(), bytes, direction: Direction::Out }
    }

    fn near(found: f64, expected: f64, part: f64) {
        assert!((found / expected - 1.0).abs() < part, "{found}, {expected}");
    }

    #[test]
    fn long_calls_have_what_the_loads_leave_and_short_ones_meet_no_contention() {
        let quiet = |bytes: u64| 8.0 * bytes as f64 * CARD;
        let long = times(&fan(1 << 20), quiet(1 << 20));
        near(median(&long).expect("some"), quiet(1 << 20) / (1.0 - LOAD), 0.03);
        let short = times(&fan(100), quiet(100));
        near(median(&short).expect("some"), quiet(100) + 2e-6, 0.01);
        let nobody = Lmo { others: None, ..lmo() };
        assert_eq!(nobody.times(&fan(100), 1 << 20, 1.0), Ok(Vec::new()));
    }

    #[test]
    fn all_wait_for_the_one_that_met_most() {
        let bytes = 50_000;
        let mean = bytes as f64 * CARD / (1.0 - LOAD).powi(2);
        let shift = times(&Shift { ranks: HOSTS, distance: 1, bytes }, mean);
        assert!(median(&shift).expect("some") > 1.2 * mean, "{shift:?}, {mean}");
    }

    #[test]
    fn a_fan_tells_what_one_message_of_others_takes() {
        for theirs in [4e3, 20e3, 80e3] {
            let (mut network, lmo) = (lmo().free(1 << 20), lmo());
            let mut seeds = SplitMix64::new(7);
            let others = lmo.senders(theirs, 0.0);
            let mut run = || {
                network.others = at_other_moments(&others, &mut seeds);
                network.run(&fan(1 << 18)).expect("it ends")
            };
            let times: Vec<f64> = (0..400).map(|_| run()).collect();
            let mean = times.iter().sum::<f64>() / 400.0;
            let square = times.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / 400.0;
            let kind = Kind::Fan { bytes: 1 << 18, direction: Direction::Out };
            let (ranks, time) = ((0..HOSTS).collect(), Parameter::exact(mean));
            let (spread, fastest, held_back) = (square.sqrt(), mean, false);
            let timed = Timed { kind, ranks, time, spread, fastest, held_back };
            // The longest of them share the card for a third of the fan.
            near(seconds_each(&timed, LOAD), theirs * CARD, 0.3);
        }
    }
}
