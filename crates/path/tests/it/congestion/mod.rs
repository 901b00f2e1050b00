//! How connections share a path, in virtual time.

mod beside_cubic;
mod cubic;
mod flow;
mod idle;
mod link;
mod many;
mod net;
mod reordering;
mod reroute;
