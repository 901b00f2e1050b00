//! All-to-all over third sites: blocks that reach their site earlier over another one are passed on
//! by ranks there.

use laneway_core::{Buf, Chan, Collective, Matrix, Placement, Rank, Shape, Span, span};

use crate::registry::{Algorithm, Counts, Parameter, Params};
use crate::script::{Lane, Script, Scripted};
use crate::sites::Routing;

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Alltoall,
    name: "third-site",
    sentence: "`window` blocks to each other site at a time; `lanes` ranks of a third site pass on \
               those that arrive earlier over it",
    source: "laneway; for sites with a slow way between them and fast ones to a third",
    parameters: &[(Parameter::Lanes, 0), (Parameter::Window, 8), Parameter::BY_RANK],
    in_place: false,
    counts: Counts::All,
    build: |shape, params, placement| {
        Ok(Box::new(Scripted::new(ThirdSite::new(shape, params, placement))))
    },
    ..Algorithm::BASE
};

/// With more ranks all blocks go directly: a relay is written down for each pair.
const MOST_RANKS: u32 = 4096;
/// Channels to a relay, from a relay, and of what goes directly.
const FIRST: Chan = 0;
const SECOND: Chan = 1;
const DIRECT: Chan = 2;

struct ThirdSite {
    placement: Placement,
    /// Where each rank stands among all by site and host.
    places: Vec<u32>,
    matrix: Matrix,
    window: u32,
    /// For each pair of ranks the one that passes the block on, row by row; empty without any.
    relays: Vec<Option<Rank>>,
    /// For each rank the blocks that it passes on, from whom and to whom.
    passed: Vec<Vec<(Rank, Rank)>>,
}

impl ThirdSite {
    fn new(shape: &Shape, params: &Params, placement: &Placement) -> ThirdSite {
        let (matrix, ranks) = (shape.matrix(), shape.ranks);
        let order = placement.by_site(None);
        let mut places = vec![0; ranks as usize];
        (0..).zip(&order).for_each(|(place, rank)| places[*rank as usize] = place);
        let mut relays = Vec::new();
        if placement.sites() > 2 && ranks <= MOST_RANKS {
            let mut routing = Routing::new(placement, params.lanes());
            let site = |rank: Rank| placement.location(rank).site;
            relays = vec![None; (ranks * ranks) as usize];
            // All pairs of sites fill up together.
            for far in 1..ranks {
                for place in 0..ranks {
                    let from = order[place as usize];
                    let to = order[((place + far) % ranks) as usize];
                    let len = matrix.len(from, to);
                    if site(from) != site(to) && len > 0 {
                        let relay = routing.relay(site(from), site(to), len);
                        relays[(from * ranks + to) as usize] = relay;
                    }
                }
            }
        }
        let (placement, window) = (placement.clone(), params.window());
        let passed = vec![Vec::new(); ranks as usize];
        let mut found = ThirdSite { placement, places, matrix, window, relays, passed };
        for from in (0..ranks).filter(|_| !found.relays.is_empty()) {
            let far: Vec<Rank> = found.order(from).collect();
            for to in far {
                if let Some(relay) = found.relay(from, to) {
                    found.passed[relay as usize].push((from, to));
                }
            }
        }
        found
    }

    fn relay(&self, from: Rank, to: Rank) -> Option<Rank> {
        let at = from as usize * self.ranks() as usize + to as usize;
        self.relays.get(at).copied().flatten()
    }

    /// The ranks of a site, beginning after a rank's own place, so that not all serve one first.
    fn turned(&self, rank: Rank, site: u32) -> impl Iterator<Item = Rank> {
        let members = self.placement.members(site);
        let first = self.places[rank as usize] as usize % members.len();
        members[first..].iter().chain(&members[..first]).copied()
    }

    /// What a rank passes on, from whom and to whom, with where it keeps it.
    fn passed_by(&self, rank: Rank) -> impl Iterator<Item = (Rank, Rank, Span)> {
        self.passed[rank as usize].iter().scan(0, |off, &(from, to)| {
            let len = self.matrix.len(from, to);
            *off += len;
            Some((from, to, span(Buf::Tmp, *off - len, len)))
        })
    }

    /// All ranks of other sites in the order in which a rank sends to them.
    fn order(&self, rank: Rank) -> impl Iterator<Item = Rank> {
        let others = self.placement.others(self.placement.location(rank).site);
        others.into_iter().flat_map(move |site| self.turned(rank, site))
    }
}

impl Script for ThirdSite {
    fn ranks(&self) -> u32 {
        self.placement.ranks()
    }

    fn tmp_len(&self, rank: Rank) -> u64 {
        self.passed_by(rank).map(|(.., kept)| kept.len).sum()
    }

    fn lanes(&self, rank: Rank) -> Vec<Lane> {
        let (mut take, mut pass, mut keep) = (Lane::default(), Lane::default(), Lane::default());
        let (mut near, mut far) = (Lane::default(), Lane::default());
        for (from, to, kept) in self.passed_by(rank) {
            take.round().recv_on(from, FIRST, kept);
            let out = pass.round();
            out.after(0, take.last());
            out.send_window(self.window);
            out.send_on(to, SECOND, kept);
        }
        let own = self.placement.location(rank).site;
        for from in (0..self.ranks()).filter(|from| *from != rank) {
            let block = self.matrix.received(from, rank);
            match self.relay(from, rank) {
                Some(relay) => keep.round().recv_on(relay, SECOND, block),
                None => keep.round().recv_on(from, DIRECT, block),
            }
        }
        for to in self.turned(rank, own).filter(|to| *to != rank) {
            let out = near.round();
            out.send_window(self.window);
            out.send_on(to, DIRECT, self.matrix.sent(rank, to));
        }
        near.round().copy(self.matrix.sent(rank, rank), self.matrix.received(rank, rank));
        // One lane, as a relay may be on the way to several sites.
        let window = self.window.saturating_mul(self.placement.sites().max(2) - 1);
        for to in self.order(rank) {
            let out = far.round();
            out.send_window(window);
            match self.relay(rank, to) {
                Some(relay) => out.send_on(relay, FIRST, self.matrix.sent(rank, to)),
                None => out.send_on(to, DIRECT, self.matrix.sent(rank, to)),
            }
        }
        vec![take, pass, keep, near, far]
    }
}
