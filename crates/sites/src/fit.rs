//! The settings of relays that fit a platform, worked out from its rates.
//!
//! The root sends across itself what its card for other sites carries until the end; helpers take
//! the rest over as many connections as its rate needs, in pieces that keep all of them busy.

use laneway_coll::{Parameter, Params};
use laneway_core::{Collective, Rank, Shape};
use laneway_sim::platform::{CardRates, Layout, LayoutHost, Platform};
use laneway_sim::{HostId, Network, Route};

use crate::bound::Bound;

/// The factor of connections beyond what the rate needs: some are idle at the start and at the end.
const SPARE: f64 = 1.35;
/// Pieces of a connection, one after the other. At the start of a scatter a helper waits for the
/// first; at the end of a gather all helpers have their last one at the same time, and the root has
/// to take all of them.
const SCATTER_TURNS: u64 = 14;
const GATHER_TURNS: u64 = 20;
/// Pieces shorter than this are more work for hosts than they gain.
const LEAST_PIECE: u64 = 2 << 10;

/// What is known of a call.
pub struct Call<'a> {
    pub platform: &'a Platform,
    pub layout: &'a Layout,
    pub hosts: &'a [HostId],
    pub shape: &'a Shape,
    pub bound: &'a Bound,
}

/// What leaves the root's site, and how.
struct Far {
    ranks: u64,
    bytes: f64,
    /// The least latency.
    latency: f64,
    /// How many connections carry all of it in a second.
    connections: f64,
    /// That two hosts can have.
    each: f64,
    /// Bytes a second of all connections that the root can have.
    most: f64,
}

impl Call<'_> {
    /// Settings for a relay; `None` if all ranks are at one site.
    pub fn relay(&self, params: Params) -> Option<Params> {
        let far = self.far()?;
        let (time, across) = (self.least_time(), self.across(&far));
        let crossing = (time - far.latency).max(0.0);
        let own = f64::min(1.0, across * crossing / far.bytes);
        let connections = SPARE * (1.0 - own) * far.connections / crossing.max(f64::MIN_POSITIVE);
        let each = (connections / far.ranks as f64).ceil().clamp(1.0, far.each);
        let stripes = connections / each / far.ranks as f64;
        let stripes = stripes.ceil().clamp(1.0, far.ranks as f64);
        let longest = self.shape.blocks().longest(self.shape.ranks) as f64;
        let eager = match self.platform.eager_bytes() {
            0 => u64::MAX,
            eager => eager.max(LEAST_PIECE),
        };
        let turns = if self.is_gather() { GATHER_TURNS } else { SCATTER_TURNS };
        // Of a helper's connection, or of the root's.
        let load = f64::max((1.0 - own) / stripes, own) * longest;
        let segment =
            (load as u64 / turns).clamp(LEAST_PIECE, eager).next_multiple_of(512).min(eager);
        let settings = [
            (Parameter::Own, (1000.0 * own) as u64),
            (Parameter::Stripes, stripes as u64),
            (Parameter::Connections, each as u64),
            (Parameter::Segment, segment),
            (Parameter::Lanes, 0),
            // All of a helper's pieces, in case that they wait for their receivers.
            (Parameter::Window, turns * far.ranks),
            (Parameter::Near, u64::from(self.shape.ranks)),
        ];
        let set = |params: Params, (parameter, value)| params.with(parameter, value);
        Some(settings.into_iter().fold(params, set))
    }

    /// The bound, or what the root's two cards allow: the one for other sites is idle until the
    /// latency of the nearest is over.
    pub fn least_time(&self) -> f64 {
        let (host, far) = (self.root(), self.far());
        let (Some(card), Some(far)) = (self.rate(host.card), far) else { return self.bound.time };
        let Some(across) = host.wan_card.and_then(|card| self.rate(card)) else {
            return self.bound.time;
        };
        // Messages of one pair that wait for each other have its connections and no more.
        let across = if self.platform.in_order() { across.min(far.most) } else { across };
        let blocks = self.shape.blocks();
        let all = (0..self.shape.ranks).filter(|rank| *rank != self.shape.root);
        let all: f64 = all.map(|rank| blocks.len(rank) as f64).sum();
        let inside = self.layout.sites[host.site].latency;
        let alone = inside + all / card;
        let both = (all + card * inside + across * far.latency) / (card + across);
        self.bound.time.max(if alone < far.latency { alone } else { both })
    }

    fn root(&self) -> &LayoutHost {
        &self.layout.hosts[self.hosts[self.shape.root as usize] as usize]
    }

    /// Bytes a second that the root sends, or receives.
    fn rate(&self, card: CardRates) -> Option<f64> {
        if self.is_gather() { card.into } else { card.out }
    }

    fn is_far(&self, rank: Rank) -> bool {
        let site = |rank: Rank| self.layout.hosts[self.hosts[rank as usize] as usize].site;
        site(rank) != site(self.shape.root)
    }

    fn is_gather(&self) -> bool {
        self.shape.collective.family() == Collective::Gather
    }

    fn far(&self) -> Option<Far> {
        let blocks = self.shape.blocks();
        let mut far = Far {
            ranks: 0,
            bytes: 0.0,
            latency: f64::INFINITY,
            connections: 0.0,
            each: f64::from(self.platform.connections()),
            most: 0.0,
        };
        let root = self.hosts[self.shape.root as usize];
        for rank in (0..self.shape.ranks).filter(|rank| self.is_far(*rank)) {
            let (host, mut route) = (self.hosts[rank as usize], Route::default());
            route.most = f64::INFINITY;
            match self.is_gather() {
                true => self.platform.route(host, root, &mut route),
                false => self.platform.route(root, host, &mut route),
            }
            let bytes = blocks.len(rank) as f64;
            far.ranks += 1;
            far.bytes += bytes;
            far.latency = far.latency.min(route.latency);
            far.connections += bytes / route.most;
            far.most += far.each * route.most;
        }
        (far.bytes > 0.0).then_some(far)
    }

    /// Bytes a second that the root has across with all connections to each rank.
    fn across(&self, far: &Far) -> f64 {
        let card = self.root().wan_card.unwrap_or(self.root().card);
        let connections = far.each * far.bytes / far.connections * far.ranks as f64;
        self.rate(card).map_or(connections, |rate| rate.min(connections))
    }
}
