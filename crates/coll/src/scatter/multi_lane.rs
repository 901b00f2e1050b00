//! The multi-lane paper's scatter: P pairs of hosts cross at the same time.

use laneway_core::Collective;

use crate::registry::{Algorithm, Counts, Parameter};
use crate::script::Scripted;
use crate::sites::{SiteTree, TreeScatter};

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Scatter,
    name: "multi-lane",
    sentence: "`lanes` helpers get what their lane takes across, the far ends serve their groups",
    source: "Chiba, Endo and Matsuoka: MPI_Scatter and MPI_Gather for grids; `lanes` of 0 is all",
    // The paper's root sends one message after the other.
    parameters: &[(Parameter::Lanes, 0), (Parameter::Window, 1), Parameter::BY_RANK],
    counts: Counts::All,
    build: |shape, params, placement| {
        let tree = SiteTree::multi_lane(placement, shape.root, params.lanes())?;
        let (blocks, window) = (shape.blocks(), params.window());
        Ok(Box::new(Scripted::new(TreeScatter { tree, blocks, window })))
    },
    ..Algorithm::BASE
};
