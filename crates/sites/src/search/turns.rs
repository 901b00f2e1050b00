//! Vectors that are sent in turns, a few of which tell what all take.

use laneway_coll::{Parameter, Params};
use laneway_core::Shape;
use laneway_sim::Network;

use super::{Search, Setting};

/// Algorithms with lanes cut what a lane carries into at most so many pieces.
pub(super) const TURNS_OF_LANES: u64 = 16;
/// The least number of turns of a part of a run before its rate is taken as steady.
const FIRST_TURNS: u64 = 6;
/// The least number of turns from which the rate is taken.
const STEADY_TURNS: u64 = 6;

/// A vector that is sent in turns: pieces for all lanes, one after the other.
#[derive(Clone, Copy)]
pub(super) struct Turns {
    /// With the segment that pieces really have.
    pub params: Params,
    /// Bytes of a turn.
    pub bytes: u64,
    pub count: u64,
}

impl Search<'_, '_> {
    /// The turns of two parts of a run whose difference is the steady rate.
    pub(super) fn parts(&self, setting: &Setting, turns: &Turns) -> [u64; 2] {
        // A turn of lanes has many pieces.
        let few = if setting.has(Parameter::Lanes) { 2 } else { 1 };
        let first = (FIRST_TURNS / few).max(self.waits(turns).saturating_add(2));
        [first, first.saturating_add((STEADY_TURNS / few).max(self.waits(turns)))]
    }

    /// A vector of the first turns.
    pub(super) fn part(&self, turns: Turns, count: u64) -> Shape {
        let mut shape = self.shape.clone();
        shape.layout = laneway_core::Layout::Vector(turns.bytes * count);
        shape
    }

    /// The turns after which a window is full, if messages wait for their receivers.
    pub(super) fn waits(&self, turns: &Turns) -> u64 {
        match turns.params.segment() <= self.sites.platform.eager_bytes() {
            true => 1,
            false => u64::from(turns.params.window()).max(1),
        }
    }

    /// The lanes of a setting; one where it has none.
    pub(super) fn lanes(&self, setting: &Setting) -> u64 {
        match u64::from(setting.params.lanes()) {
            _ if !setting.has(Parameter::Lanes) => 1,
            0 => self.most_lanes,
            lanes => lanes.min(self.most_lanes),
        }
    }

    /// Whether a setting cuts a vector into equal pieces, of which only the number matters.
    pub(super) fn has_turns_of_lanes(&self, setting: &Setting) -> bool {
        self.shape.vector() > 0 && setting.has(Parameter::Lanes)
    }

    /// The turns of a setting, with the parameters that settings of the same schedule have; none
    /// if it does not cut a vector into segments.
    pub(super) fn turns(&self, setting: &Setting) -> Option<Turns> {
        let (vector, params) = (self.shape.vector(), setting.params);
        let element = u64::from(self.shape.element);
        if vector == 0 || !setting.has(Parameter::Segment) || params.segment() == 0 {
            return None;
        }
        let lanes = self.lanes(setting);
        let (segment, params) = match self.has_turns_of_lanes(setting) {
            true => {
                let turns = vector.div_ceil(params.segment().saturating_mul(lanes));
                let all = if lanes == self.most_lanes { 0 } else { lanes };
                let segment = vector.div_ceil(turns.clamp(1, TURNS_OF_LANES) * lanes);
                (segment, params.with(Parameter::Lanes, all))
            }
            false => (params.segment().min(vector), params),
        };
        let segment = segment.next_multiple_of(element);
        let bytes = segment.saturating_mul(lanes);
        let params = params.with(Parameter::Segment, segment);
        Some(Turns { params, bytes, count: vector.div_ceil(bytes) })
    }
}
