//! A model as the simulator's engine sees it: what hosts cost, and the way of each pair.

use laneway_core::Schedule;
use laneway_sim::{Background, Congestion, HostCost, HostId, Network, Resource, Route, Simulation};

use crate::carrier::BySize;
use crate::error::ModelError;
use crate::lmo::{OverheadFactor, SizeFactor, at_overhead};

/// From one host to another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    pub latency: f64,
    /// The most bytes a second that a message may have; infinite without a limit.
    pub most: f64,
}

/// What a host's card carries, in bytes a second; infinite without a limit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Card {
    pub out: f64,
    pub into: f64,
}

#[derive(Clone, Debug)]
pub(crate) struct ModelNetwork {
    costs: Vec<HostCost>,
    /// The cards' ways out, host by host, then their ways in; then, where messages of a pair go
    /// beside each other, what they share, row by row.
    resources: Vec<Resource>,
    /// Row by row; nothing is asked of the diagonal.
    ways: Vec<Way>,
    eager_bytes: u64,
    in_order: bool,
    factors: Vec<SizeFactor>,
    /// Factors of bytes are factors of what cards carry.
    on_cards: bool,
    overheads: Vec<OverheadFactor>,
    /// What others send to or from a host behind all of these, which has no card.
    pub others: Vec<Background>,
}

impl ModelNetwork {
    pub fn new(
        costs: Vec<HostCost>,
        cards: &[Card],
        ways: Vec<Way>,
        eager_bytes: u64,
    ) -> ModelNetwork {
        let resource = |direction: &str, host: usize, rate: f64| Resource {
            name: format!("{direction} of host {host}"),
            rate,
            shared: true,
            congestion: Congestion::default(),
        };
        let out = cards.iter().enumerate().map(|(host, card)| resource("out", host, card.out));
        let into = cards.iter().enumerate().map(|(host, card)| resource("in", host, card.into));
        let resources = out.chain(into).collect();
        let (factors, overheads, others) = (Vec::new(), Vec::new(), Vec::new());
        let (in_order, on_cards) = (true, true);
        ModelNetwork {
            costs,
            resources,
            ways,
            eager_bytes,
            in_order,
            factors,
            on_cards,
            overheads,
            others,
        }
    }

    /// Messages from one host to another need not wait until the one before has arrived: something
    /// else keeps them in order.
    pub fn beside_each_other(mut self) -> ModelNetwork {
        self.in_order = false;
        self
    }

    /// Beside each other, with what the messages of each pair have together, row by row.
    pub fn sharing_pairs(mut self, rates: &[f64]) -> ModelNetwork {
        let hosts = self.costs.len();
        self.resources.extend(rates.iter().enumerate().map(|(pair, &rate)| Resource {
            name: format!("from host {} to host {}", pair / hosts, pair % hosts),
            rate,
            shared: true,
            congestion: Congestion::default(),
        }));
        self.beside_each_other()
    }

    /// With another rate of all messages of one pair; only where pairs share.
    pub fn set_pair(&mut self, from: usize, to: usize, rate: f64) {
        let hosts = self.costs.len();
        if let Some(pair) = self.resources.get_mut(2 * hosts + from * hosts + to) {
            pair.rate = rate;
        }
    }

    /// With latencies and rates that depend on the size of a message.
    pub fn by_size(mut self, factors: &[SizeFactor], on_cards: bool) -> ModelNetwork {
        (self.factors, self.on_cards) = (factors.to_vec(), on_cards);
        self
    }

    /// With costs of hosts that depend on the size of a message.
    pub fn with_overheads(mut self, overheads: &[OverheadFactor]) -> ModelNetwork {
        self.overheads = overheads.to_vec();
        self
    }

    /// The seconds of a schedule whose rank r is on host r.
    pub fn run(&self, schedule: &dyn Schedule) -> Result<f64, ModelError> {
        let mut carrier = BySize::new(&self.resources, &self.factors, self.on_cards);
        Ok(Simulation::new(self).run_on(schedule, &mut carrier)?.finish)
    }

    /// With another limit of each message of one pair.
    pub fn set_way(&mut self, from: usize, to: usize, most: f64) {
        let hosts = self.costs.len();
        self.ways[from * hosts + to].most = most;
    }

    /// With other rates of one card.
    pub fn set_card(&mut self, host: usize, card: Card) {
        let hosts = self.costs.len();
        self.resources[host].rate = card.out;
        self.resources[hosts + host].rate = card.into;
    }
}

impl Network for ModelNetwork {
    fn name(&self) -> String {
        "a model".to_string()
    }

    fn hosts(&self) -> u32 {
        self.costs.len() as u32 + u32::from(!self.others.is_empty())
    }

    fn resources(&self) -> &[Resource] {
        &self.resources
    }

    fn route(&self, from: HostId, to: HostId, route: &mut Route) {
        let hosts = self.costs.len() as u32;
        route.resources.clear();
        if from == hosts || to == hosts {
            route.resources.push(if from == hosts { hosts + to } else { from });
            (route.latency, route.most) = (0.0, f64::INFINITY);
            return;
        }
        let Way { latency, most } = self.ways[(from * hosts + to) as usize];
        route.resources.extend([from, hosts + to]);
        let pair = 2 * hosts + from * hosts + to;
        if self.resources.get(pair as usize).is_some_and(|pair| pair.rate.is_finite()) {
            route.resources.push(pair);
        }
        (route.latency, route.most) = (latency, most);
    }

    fn cost(&self, host: HostId) -> HostCost {
        self.costs.get(host as usize).copied().unwrap_or_default()
    }

    fn cost_of(&self, host: HostId, bytes: u64) -> Option<HostCost> {
        if self.overheads.is_empty() {
            return None;
        }
        let OverheadFactor { send, receive, .. } = at_overhead(&self.overheads, bytes);
        let cost = self.cost(host);
        Some(HostCost {
            per_send: send * cost.per_send,
            per_recv: receive * cost.per_recv,
            per_byte_sent: send * cost.per_byte_sent,
            per_byte_received: receive * cost.per_byte_received,
        })
    }

    fn background(&self) -> &[Background] {
        &self.others
    }

    fn eager_bytes(&self) -> u64 {
        self.eager_bytes
    }

    fn in_order(&self) -> bool {
        self.in_order
    }
}
