//! What algorithms for several sites share: trees that cross from site to site, scatter and gather
//! along them, and the stretches into which what crosses is cut.

mod far_first;
mod relay;
mod stretch;
mod tree;
mod tree_gather;
mod tree_scatter;

pub use far_first::FarFirst;
pub use relay::Relay;
pub use tree::{Local, SiteTree};
pub use tree_gather::TreeGather;
pub use tree_scatter::TreeScatter;
