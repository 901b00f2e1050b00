//! The cards of LMO: what several messages of one host share.

use laneway_core::Rank;

use super::Lmo;
use crate::error::ModelError;
use crate::experiments::{Experiments, Kind, Timed};
use crate::network::Card;
use crate::parameter::{End, Parameter};
use crate::probe::{Direction, Fan};

/// What takes no longer than this beyond messages beside each other shares nothing.
const SHARED: f64 = 0.005;
/// No time is taken as known better than to such a part.
const SURE: f64 = 0.001;
/// What is known this much worse than another does not count beside it.
const DULL: f64 = 3.0;
/// No card is taken as known better than to such a part: beside others, the ends of an interval may
/// meet by chance.
const SHARPEST: f64 = 0.01;
/// A card that would have slowed a fan, which met no limit, by such a part is none.
const DENIED: f64 = 0.1;
/// Halvings until a card's rate is found.
const STEPS: u32 = 45;

/// Whether something takes longer than messages beside each other would.
pub(super) fn is_shared(measured: Parameter, beside: f64) -> bool {
    measured.value > beside * (1.0 + SHARED) && measured.low > beside
}

impl Lmo {
    /// The card that explains what fans took beyond messages beside each other.
    pub(crate) fn card(
        &self,
        fans: &[&Timed],
        direction: Direction,
        eager_bytes: u64,
    ) -> Result<Option<Parameter>, ModelError> {
        let (mut found, mut free) = (Vec::new(), Vec::new());
        for timed in fans {
            let fan = OneFan::of(self, timed, direction, eager_bytes);
            match is_shared(timed.time, fan.seconds(0.0, End::Value)?) {
                true => found.push((timed.ranks.len(), fan.card(timed.time)?)),
                false => free.push((timed, fan)),
            }
        }
        // A fan that met no limit denies a card with which it would have taken clearly longer.
        for (timed, fan) in free {
            let mut kept = Vec::new();
            for (ranks, card) in found {
                let seconds = fan.seconds(card.low, End::Low)?;
                if seconds <= timed.time.high * (1.0 + DENIED) {
                    kept.push((ranks, card));
                }
            }
            found = kept;
        }
        Ok(Parameter::middle(&surest(found)).map(Parameter::not_negative))
    }
}

/// A fan whose hub's card is not known.
struct OneFan {
    /// Of its ranks alone.
    lmo: Lmo,
    fan: Fan,
    eager_bytes: u64,
}

impl OneFan {
    fn of(lmo: &Lmo, timed: &Timed, direction: Direction, eager_bytes: u64) -> OneFan {
        let (ranks, bytes) = (timed.ranks.len() as u32, fan_bytes(timed).unwrap_or(0));
        let fan = Fan { ranks, members: (0..ranks).collect(), bytes, direction };
        OneFan { lmo: lmo.among(&timed.ranks), fan, eager_bytes }
    }

    /// What it takes with a card of `per_byte` seconds a byte.
    fn seconds(&self, per_byte: f64, end: End) -> Result<f64, ModelError> {
        let mut network = self.lmo.network(self.eager_bytes, end);
        let (rate, none) = (1.0 / per_byte, f64::INFINITY);
        let card = match self.fan.direction {
            Direction::Out => Card { out: rate, into: none },
            Direction::In => Card { out: none, into: rate },
        };
        network.set_card(0, card);
        network.run(&self.fan)
    }

    /// The card with which it takes this time.
    fn card(&self, time: Parameter) -> Result<Parameter, ModelError> {
        let all_bytes = self.fan.bytes as f64 * f64::from(self.fan.ranks - 1);
        invert(time, all_bytes, &|per_byte, end| self.seconds(per_byte, end))
    }
}

/// Those that are known about as well as the best of them: where a processor keeps the messages
/// apart, hardly anything follows for the card. And of these the ones with most messages: others
/// who delay one of two are taken for a slow card, and what they do to one of many is not.
fn surest(mut found: Vec<(usize, Parameter)>) -> Vec<Parameter> {
    let unsure = |card: &Parameter| card.half().max(SHARPEST * card.value);
    let best = found.iter().map(|(_, card)| unsure(card)).fold(f64::INFINITY, f64::min);
    found.retain(|(_, card)| unsure(card) <= DULL * best);
    let most = found.iter().map(|&(ranks, _)| ranks).max();
    found.retain(|&(ranks, _)| Some(ranks) == most);
    found.into_iter().map(|(_, card)| card).collect()
}

/// The seconds a byte of what is shared with which the reader says what was measured. It lasts at
/// least as long as all bytes take there.
pub(super) fn invert(
    measured: Parameter,
    all_bytes: f64,
    read: &dyn Fn(f64, End) -> Result<f64, ModelError>,
) -> Result<Parameter, ModelError> {
    let invert = |time: f64, end: End| -> Result<f64, ModelError> {
        let (mut least, mut most) = (0.0, time / all_bytes);
        for _ in 0..STEPS {
            let middle = (least + most) / 2.0;
            match read(middle, end)? < time {
                true => least = middle,
                false => most = middle,
            }
        }
        Ok((least + most) / 2.0)
    };
    let value = invert(measured.value, End::Value)?;
    // What the rest may be off is the share's as well; and where the time hardly depends on the
    // share, it does not tell it.
    let Parameter { low, high, .. } = measured;
    let [low, high] =
        [low.min(measured.value * (1.0 - SURE)), high.max(measured.value * (1.0 + SURE))];
    let ends = (invert(low, End::High)?, invert(high, End::Low)?);
    Ok(Parameter { value, low: ends.0.min(value), high: ends.1.max(value) })
}

/// Bytes of a fan.
fn fan_bytes(timed: &Timed) -> Option<u64> {
    match timed.kind {
        Kind::Fan { bytes, .. } => Some(bytes),
        _ => None,
    }
}

/// Bytes of the fans that tell cards: the longest.
pub(super) fn longest(experiments: &Experiments) -> u64 {
    experiments.fitted().filter_map(fan_bytes).max().unwrap_or(0)
}

/// Fans of shorter messages than those that tell cards.
pub(super) fn shorter_fans(experiments: &Experiments) -> impl Iterator<Item = &Timed> {
    let longest = longest(experiments);
    experiments.fitted().filter(move |timed| fan_bytes(timed).is_some_and(|bytes| bytes < longest))
}

/// The fans of the longest messages that a rank led.
pub(crate) fn fans_of(
    experiments: &Experiments,
    host: Rank,
    wanted: Direction,
) -> impl Iterator<Item = &Timed> {
    let longest = longest(experiments);
    experiments.fitted().filter(move |timed| {
        let led = timed.ranks.first() == Some(&host) && fan_bytes(timed) == Some(longest);
        led && matches!(timed.kind, Kind::Fan { direction, .. } if direction == wanted)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lmo::{Host, Pair};

    const HOSTS: u32 = 9;

    /// Ways of 100 MB/s.
    fn lmo() -> Lmo {
        let (byte, latency) = (Parameter::exact(1e-8), Parameter::exact(1e-6));
        let pair = Pair { there: byte, back: byte, latency, ..Pair::default() };
        Lmo {
            hosts: vec![Host::default(); HOSTS as usize],
            pairs: vec![pair; (HOSTS * (HOSTS - 1) / 2) as usize],
            in_order: true,
            sizes: Vec::new(),
            sizes_on_cards: true,
            overheads: Vec::new(),
            others: None,
        }
    }

    /// A fan to `hosts` hosts, and what it takes with a card.
    fn fan(hosts: u32, per_byte: f64) -> Timed {
        let kind = Kind::Fan { bytes: 1 << 20, direction: Direction::Out };
        let (ranks, time) = ((0..=hosts).collect(), Parameter::exact(0.0));
        let mut timed = Timed { kind, ranks, time, spread: 0.0, fastest: 0.0, held_back: false };
        let lmo = lmo();
        let one = OneFan::of(&lmo, &timed, Direction::Out, 0);
        timed.time = Parameter::exact(one.seconds(per_byte, End::Value).expect("it ends"));
        timed
    }

    #[test]
    fn fans_that_met_no_limit_deny_a_card() {
        let card = |fans: &[&Timed]| lmo().card(fans, Direction::Out, 0).expect("they end");
        let (two, eight) = (fan(2, 5.2e-9), fan(8, 5.2e-9));
        let found = card(&[&two, &eight]).expect("there is one");
        assert!((found.value / 5.2e-9 - 1.0).abs() < 0.01, "{found:?}");
        // Two were late, and eight were not.
        assert_eq!(card(&[&two, &fan(8, 0.0)]), None);
        // Two alone do not fill it, and eight do.
        assert!(card(&[&fan(2, 0.0), &eight]).is_some());
    }

    #[test]
    fn the_widest_of_the_sharp_fans_tells_the_card() {
        let card = |ranks: usize, value: f64, half: f64| {
            (ranks, Parameter { value, low: value - half, high: value + half })
        };
        let values = |found: Vec<(usize, Parameter)>| -> Vec<f64> {
            surest(found).iter().map(|card| card.value).collect()
        };
        assert_eq!(values(vec![card(3, 1.3, 0.1), card(9, 1.1, 0.2), card(5, 1.2, 0.1)]), [1.1]);
        assert_eq!(values(vec![card(3, 1.3, 0.1), card(9, 1.1, 0.4)]), [1.3]);
        assert_eq!(values(vec![card(3, 1.3, 0.1), card(3, 1.4, 0.1)]), [1.3, 1.4]);
        assert_eq!(values(vec![card(3, 1.4, 0.0), card(9, 1.2, 0.02)]), [1.2]);
        assert!(values(vec![]).is_empty());
    }
}
