//! Messages between ranks over anything that brings frames to each peer in order: matching, short
//! messages that go at once, long ones that are offered first, and the communicator over them.
//!
//! A backend brings a [`Link`], which moves frames, and a [`World`], which knows the ranks of the
//! run; [`MessageComm::world`] makes a communicator of them. This crate must never know a process,
//! a socket or shared memory.
//!
//! Begin reading with `link` and `world` (what a backend brings), then `engine` (what joins
//! `matching`, `outbound` and `inbound`), then `comm`.

mod comm;
mod direct;
mod engine;
mod frame;
mod inbound;
mod link;
mod matching;
mod outbound;
mod queue;
mod slab;
mod world;

pub use comm::MessageComm;
pub use direct::{Direct, Stage};
pub use frame::{HEADER, Header, Kind, broken};
pub use link::Link;
pub use world::World;
