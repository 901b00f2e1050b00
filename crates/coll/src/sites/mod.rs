//! What algorithms for several sites share: trees that cross from site to site, scatter and gather
//! along them, and the stretches into which what crosses is cut.

mod delivery;
mod far_first;
mod joining;
mod lanes;
mod relay;
mod stretch;
mod third;
mod tree;
mod tree_gather;
mod tree_scatter;
mod ways;

use laneway_core::{Placement, Shape};

use crate::even::whole_elements;
use crate::registry::Parameter;

pub use delivery::{Delivery, Gate, Route};
pub use far_first::FarFirst;
pub use joining::{Joined, Joining, LANES as JOINING_LANES, PASS, Part, Sum, fold};
pub use lanes::Lanes;
pub use relay::Relay;
pub use third::{Routing, ThirdSites};
pub use tree::{Local, SiteTree};
pub use tree_gather::TreeGather;
pub use tree_scatter::TreeScatter;

/// Of algorithms that send pieces by lanes.
pub const PIPELINED: &[(Parameter, u64)] = &[
    (Parameter::Segment, 256 << 10),
    (Parameter::Lanes, 0),
    (Parameter::Window, 4),
    FAN,
    Parameter::BY_RANK,
];

/// Of algorithms whose pieces can pass from site to site.
pub const FAN: (Parameter, u64) = (Parameter::Fan, 0);

/// The largest number of pieces of a lane's data: more gain nothing, and each is a message
/// to every rank.
const MOST_TURNS: u64 = 16;

/// The number of parts into which data is cut: pieces of `segment`, as many for each
/// lane, and no more than there are.
pub fn parts(length: u64, segment: u64, lanes: u64) -> u32 {
    let turns = length.div_ceil(segment).div_ceil(lanes).clamp(1, MOST_TURNS);
    (turns * lanes).min(length.max(1)) as u32
}

/// The lanes that pieces of a vector have at the most: ranks of one site whose hosts are not slow.
pub fn most_lanes(placement: &Placement) -> u64 {
    Lanes::new(placement, 0).most()
}

/// The segment of blocks of which none is longer than this.
pub fn segment(shape: &Shape, segment: u64, longest: u64) -> u64 {
    let least = longest.div_ceil(MOST_TURNS).next_multiple_of(u64::from(shape.element));
    whole_elements(shape, segment.max(least), longest)
}
