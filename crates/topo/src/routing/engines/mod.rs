//! Engines that make a forwarding table for any fabric: a name, a sentence and a function for each.
//!
//! What they share: `heights` is an order of the switches in which legal ways climb and then
//! descend, `column` finds such ways to one destination.

pub mod balanced;
pub(crate) mod column;
pub(crate) mod heights;
pub mod minimal;
pub(crate) mod peel;
pub mod several;
pub(crate) mod turns;
pub mod up_down;

use laneway_core::Observer;
use laneway_core::error::nearest;

pub use several::several;

use crate::error::{Error, ErrorKind};
use crate::routing::table::Table;
use crate::wiring::Wiring;

/// A routing engine.
#[non_exhaustive]
pub struct Engine {
    /// The name of the engine.
    pub name: &'static str,
    /// What the engine does, in one sentence.
    pub sentence: &'static str,
    /// Makes the table, with progress reports.
    pub route: fn(&dyn Wiring, &dyn Observer) -> Table,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// All engines.
pub static ENGINES: &[&Engine] = &[&minimal::ENGINE, &up_down::ENGINE, &balanced::ENGINE];

/// Finds an engine by its name.
pub fn engine(name: &str) -> Result<&'static Engine, Error> {
    let found = ENGINES.iter().find(|engine| engine.name == name).copied();
    found.ok_or_else(|| {
        let names = ENGINES.iter().map(|engine| engine.name);
        let near = nearest(name, names.clone()).unwrap_or(up_down::ENGINE.name);
        let cause = format!("the engines are {}", names.collect::<Vec<_>>().join(", "));
        let what = format!("unknown routing engine `{name}`");
        Error::new(ErrorKind::Engine, what, cause).with_hint(near)
    })
}
