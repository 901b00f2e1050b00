//! The LMO model of heterogeneous clusters: what each host adds to a message and to a byte, and
//! latency and rate of each pair.
//!
//! paper: mpiblib 4: T_ij = C_i + C_j + L_ij + M (t_i + t_j + 1/B_ij). Two things are more than the
//! paper has, as predictions of windowed scatters and gathers need them:
//!
//! - C_i and t_i are two numbers each, what a send costs and what a receive costs. The paper's are
//!   their means.
//! - A host's card has a rate each way. Two messages that leave one host at the same time have
//!   M/B_ij each only while the card has room for both; else they part it. Point-to-two shows it:
//!   where it takes longer than the two messages would beside each other, the card is what they
//!   share. A card that no experiment could fill has no limit here.
//!
//! And one of all pairs: whether messages of one pair go one after the other, as over every real
//! transport, or beside each other, as in SimGrid; and then what they have together.
//! And where messages of some sizes are no straight line, factors of these sizes.

mod card;
mod fit;
mod order;
mod overhead;
mod size;

use laneway_core::Rank;
use laneway_sim::HostCost;

pub(crate) use card::fans_of;
use card::{longest, shorter_fans};
pub(crate) use fit::SeenIn;
pub use overhead::OverheadFactor;
pub(crate) use overhead::at_overhead;
pub use size::SizeFactor;
pub(crate) use size::at_size;

use crate::network::{Card, ModelNetwork, Way};
use crate::parameter::{End, Parameter};
use crate::probe::Direction;

/// What a host adds, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Host {
    /// To a message that it sends, and to one that it receives.
    pub send: Parameter,
    /// To a message that it receives.
    pub receive: Parameter,
    /// To a byte that it sends, and to one that it receives.
    pub per_byte_sent: Parameter,
    /// To a byte that it receives.
    pub per_byte_received: Parameter,
    /// Seconds a byte of its card, when several messages pass it; `None` if no limit was seen.
    pub card_out: Option<Parameter>,
    /// The same for what comes in.
    pub card_in: Option<Parameter>,
    /// The part of its card that others take; 0 without other traffic.
    pub load_out: Parameter,
    /// The same for what comes in.
    pub load_in: Parameter,
}

/// Between two hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pair {
    /// Seconds one way; the same both ways, as round trips cannot tell them apart.
    pub latency: Parameter,
    /// Seconds a byte of one message from the lower rank to the higher, and back.
    pub there: Parameter,
    /// Seconds a byte from the higher rank to the lower.
    pub back: Parameter,
    /// Seconds a byte of one message without other traffic, there and back.
    pub free: [f64; 2],
    /// Seconds a byte of all messages that go there at once, and back; `None` if no limit was
    /// seen, and if they go one after the other.
    pub all_there: Option<Parameter>,
    /// The same back.
    pub all_back: Option<Parameter>,
}

/// LMO: what each host adds to a message and a byte, and each pair's way.
#[derive(Clone, Debug, PartialEq)]
pub struct Lmo {
    /// Of each rank's host.
    pub hosts: Vec<Host>,
    /// Of ranks i < j, by i and then j.
    pub pairs: Vec<Pair>,
    /// Messages of one pair go one after the other.
    pub in_order: bool,
    /// What depends on the size of a message, rising; nothing where a straight line serves all.
    pub sizes: Vec<SizeFactor>,
    /// What depends on the size takes from cards as well, as a protocol does; else messages that
    /// meet on a card share what it carries in the long run.
    pub sizes_on_cards: bool,
    /// What the overheads of hosts are multiplied by, rising in size; nothing where a straight line
    /// serves all.
    pub overheads: Vec<OverheadFactor>,
    /// Bytes of the messages that others send, where they load cards.
    pub others: Option<Parameter>,
}

impl Host {
    /// Seconds a byte of its card, if a limit was seen, and the part that others take of it.
    pub(crate) fn card(&self, direction: Direction) -> (Option<Parameter>, Parameter) {
        match direction {
            Direction::Out => (self.card_out, self.load_out),
            Direction::In => (self.card_in, self.load_in),
        }
    }

    /// Sets the card as without other traffic.
    fn unload(&mut self) {
        (self.load_out, self.load_in) = (Parameter::default(), Parameter::default());
    }
}

/// The pairs of `ranks` ranks, in the order of [`Lmo::pairs`].
pub(crate) fn pairs(ranks: u32) -> impl Iterator<Item = [Rank; 2]> {
    (0..ranks).flat_map(move |i| (i + 1..ranks).map(move |j| [i, j]))
}

impl Pair {
    /// As the other host sees it.
    pub(crate) fn turned(self) -> Pair {
        Pair {
            there: self.back,
            back: self.there,
            free: [self.free[1], self.free[0]],
            all_there: self.all_back,
            all_back: self.all_there,
            ..self
        }
    }
}

impl Lmo {
    /// The way between two ranks.
    pub fn pair(&self, one: Rank, other: Rank) -> &Pair {
        &self.pairs[self.number(one, other)]
    }

    fn number(&self, one: Rank, other: Rank) -> usize {
        let (i, j, hosts) = (one.min(other) as usize, one.max(other) as usize, self.hosts.len());
        i * (2 * hosts - i - 1) / 2 + j - i - 1
    }

    fn pair_mut(&mut self, one: Rank, other: Rank) -> &mut Pair {
        let number = self.number(one, other);
        &mut self.pairs[number]
    }

    /// These hosts alone, as ranks from 0 on.
    pub(crate) fn among(&self, ranks: &[Rank]) -> Lmo {
        let way = |[i, j]: [Rank; 2]| {
            let [one, other] = [i, j].map(|rank| ranks[rank as usize]);
            let pair = *self.pair(one, other);
            if one < other { pair } else { pair.turned() }
        };
        let hosts = ranks.iter().map(|&rank| self.hosts[rank as usize]).collect();
        let pairs = pairs(ranks.len() as u32).map(way).collect();
        Lmo {
            hosts,
            pairs,
            sizes: self.sizes.clone(),
            overheads: self.overheads.clone(),
            in_order: self.in_order,
            sizes_on_cards: self.sizes_on_cards,
            others: self.others,
        }
    }

    /// Seconds a byte of one message.
    pub fn per_byte(&self, from: Rank, to: Rank) -> Parameter {
        let pair = self.pair(from, to);
        if from < to { pair.there } else { pair.back }
    }

    /// Seconds a byte of one message without other traffic.
    pub fn free_per_byte(&self, from: Rank, to: Rank) -> f64 {
        let [there, back] = self.pair(from, to).free;
        if from < to { there } else { back }
    }

    /// Seconds a byte of all messages at once; `None` if no limit was seen.
    pub fn all_per_byte(&self, from: Rank, to: Rank) -> Option<Parameter> {
        let pair = self.pair(from, to);
        if from < to { pair.all_there } else { pair.all_back }
    }

    /// The least time of a byte from a host to any other, or to it from any other.
    pub(crate) fn fastest(&self, host: Rank, direction: Direction) -> Parameter {
        let others = (0..self.hosts.len() as Rank).filter(|&other| other != host);
        let way = |other: Rank| match direction {
            Direction::Out => self.per_byte(host, other),
            Direction::In => self.per_byte(other, host),
        };
        let least = |a: Parameter, b: Parameter| if b.value < a.value { b } else { a };
        others.map(way).reduce(least).unwrap_or_default()
    }

    /// As the engine sees it.
    pub(crate) fn network(&self, eager_bytes: u64, end: End) -> ModelNetwork {
        let hosts = self.hosts.len() as u32;
        let cost = |host: &Host| HostCost {
            per_send: host.send.at(end),
            per_recv: host.receive.at(end),
            per_byte_sent: host.per_byte_sent.at(end),
            per_byte_received: host.per_byte_received.at(end),
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
        let costs = self.hosts.iter().map(cost).collect();
        let network = ModelNetwork::new(costs, &cards, ways, eager_bytes)
            .by_size(&self.sizes, self.sizes_on_cards)
            .with_overheads(&self.overheads);
        if self.in_order {
            return network;
        }
        let all = |from: Rank, to: Rank| match from == to {
            true => f64::INFINITY,
            false => self.all_per_byte(from, to).map_or(f64::INFINITY, rate),
        };
        let rates = (0..hosts).flat_map(|from| (0..hosts).map(move |to| all(from, to)));
        network.sharing_pairs(&rates.collect::<Vec<f64>>())
    }
}
