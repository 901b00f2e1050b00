//! Reduce over sites by lanes: each site joins a piece at one of its lanes, the sums cross along a
//! tree of sites, and a rank of the root's site hands the root what all have.

use laneway_core::{Buf, Collective, Rank, Shape, Span, span};

use crate::even::Even;
use crate::registry::{Algorithm, Parameter, Params};
use crate::script::{Lane, Script, Scripted};
use crate::sites::{FAN, Joining, Lanes, Sum, parts};

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Reduce,
    name: "site-lanes",
    sentence: "trees within each site join pieces of `segment` at `lanes` ranks, which send the \
               sums across, to the root's site or along a tree of `fan` sites each",
    source: "laneway; after Kielmann et al. 1999 and Chiba, Endo, Matsuoka 2007",
    parameters: &[(Parameter::Segment, 256 << 10), (Parameter::Lanes, 0), FAN, Parameter::BY_RANK],
    ordered: false,
    build: |shape, params, placement| {
        let lanes = Lanes::new(placement, params.lanes()).with_fan(params.fan(), shape.vector());
        Ok(Box::new(Scripted::new(SiteLanes(joining(shape, params, lanes)))))
    },
    ..Algorithm::BASE
};

struct SiteLanes(Joining);

fn joining(shape: &Shape, params: &Params, lanes: Lanes) -> Joining {
    let element = u64::from(shape.element);
    let (root, most) = (shape.root, lanes.most());
    let segment = (params.segment() / element).max(1);
    let count = parts(shape.vector() / element, segment, most);
    let cut = Even::new(shape, count);
    // The root takes every sum, so others of its site join them.
    let lanes = lanes.without(root);
    let sum = |number: u64| {
        let Span { off, len, .. } = cut.part(Buf::In, number as u32);
        let heads: Vec<Rank> = (0..lanes.sites()).map(|of| lanes.head(of, number)).collect();
        Sum { off, len, heads, home: Some(root), turn: number / most }
    };
    let sums = (0..u64::from(count)).map(sum).filter(|sum| sum.len > 0).collect();
    Joining { lanes, sums }
}

impl Script for SiteLanes {
    fn ranks(&self) -> u32 {
        self.0.lanes.placement.ranks()
    }

    fn tmp_len(&self, rank: Rank) -> u64 {
        self.0.room(rank)
    }

    fn lanes(&self, rank: Rank) -> Vec<Lane> {
        let mut part = self.0.of(rank);
        for end in &part.ends {
            let sum = &self.0.sums[end.number];
            let out = part.lanes[end.gate.lane as usize].round();
            out.copy(end.at, span(Buf::Out, sum.off, sum.len));
        }
        part.lanes
    }
}
