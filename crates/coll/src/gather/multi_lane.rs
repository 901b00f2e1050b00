//! The multi-lane paper's gather: the scatter's edges reversed, in two readings.

use laneway_core::{Collective, Placement, Schedule, Shape};

use crate::registry::{Algorithm, Counts, Parameter, Params, Refusal};
use crate::script::Scripted;
use crate::sites::{SiteTree, TreeGather};

/// The reading that fits the paper's figure 10.
pub const ALGORITHM: Algorithm = Algorithm {
    name: "multi-lane",
    sentence: "`lanes` groups cross at once to as many helpers, whose own blocks go ahead",
    build: |shape, params, placement| schedule(shape, params, placement, true),
    ..TOGETHER
};

/// The literal reversal, which takes half as long again with many lanes.
pub const TOGETHER: Algorithm = Algorithm {
    family: Collective::Gather,
    name: "multi-lane-together",
    sentence: "`lanes` groups cross at once to as many helpers, whose own blocks wait for them",
    source: "Chiba, Endo and Matsuoka: MPI_Scatter and MPI_Gather for grids; `lanes` of 0 is all",
    parameters: &[(Parameter::Lanes, 0), Parameter::BY_RANK],
    counts: Counts::All,
    build: |shape, params, placement| schedule(shape, params, placement, false),
    ..Algorithm::BASE
};

fn schedule(
    shape: &Shape,
    params: &Params,
    placement: &Placement,
    own_at_once: bool,
) -> Result<Box<dyn Schedule>, Refusal> {
    let tree = SiteTree::multi_lane(placement, shape.root, params.lanes())?;
    Ok(Box::new(Scripted::new(TreeGather { tree, blocks: shape.blocks(), own_at_once })))
}
