//! Destination by destination, each by the shortest legal ways that are loaded least so far.
//!
//! After Hoefler, Schneider and Lumsdaine 2009 (single-source shortest paths over weights that
//! grow), within the turns that `up-down` allows, so that one virtual lane suffices.

use laneway_core::Observer;

use super::Engine;
use super::column::Look;
use super::up_down;
use crate::routing::table::Table;
use crate::wiring::Wiring;

/// The engine.
pub const ENGINE: Engine = Engine {
    name: "balanced",
    sentence: "up-down paths that avoid loaded links: no credit loop",
    route,
};

/// Makes the table.
pub fn route(wiring: &dyn Wiring, observer: &dyn Observer) -> Table {
    up_down::legal(wiring, Look::Way, observer)
}
