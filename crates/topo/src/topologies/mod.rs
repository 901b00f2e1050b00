//! The topologies that need no file: a name, a sentence, a source and a constructor for each.

pub mod fat_tree_2;
pub mod fat_tree_3;
pub mod fat_tree_3_half;
pub mod fat_tree_3_max;
pub mod mlfm;
pub mod tree_3;

use std::ops::Range;

use laneway_core::Phases;
use laneway_core::error::nearest;

use crate::error::{Error, ErrorKind};
use crate::routing::Routing;
use crate::routing::table::Table;
use crate::wiring::{Host, MOST_PORTS, Wiring};

/// A family of fabrics, one for each d: half the ports of a switch.
#[non_exhaustive]
pub struct Kind {
    /// How it is called.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub sentence: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// The smallest d that makes sense.
    pub least: u32,
    /// Whether d must be even.
    pub only_even: bool,
    /// Called through [`topology`], which has refused what cannot be.
    pub build: fn(u32) -> Box<dyn Topology>,
}

impl std::fmt::Debug for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// All of them.
pub static KINDS: &[&Kind] = &[
    &mlfm::KIND,
    &fat_tree_2::KIND,
    &fat_tree_3::KIND,
    &fat_tree_3_max::KIND,
    &fat_tree_3_half::KIND,
];

/// Cables between equal halves of the hosts, at least, for each host of a half.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Bisection {
    /// The exact number.
    pub per_host: f64,
    /// What the full-mesh paper gives, where it gives something.
    pub in_paper: Option<f64>,
}

/// A fabric by formula: cables, forwarding that suits it, and an all-to-all that suits both.
pub trait Topology: Wiring + Routing + Send {
    /// The family that it is of.
    fn kind(&self) -> &'static Kind;

    /// Half the ports of a switch.
    fn d(&self) -> u32;

    /// The order of the all-to-all on the whole machine, which is without conflict where one is.
    fn order(&self) -> Box<dyn Phases + Send + Sync>;

    /// The fewest cables between equal halves.
    fn bisection(&self) -> Bisection;

    /// A table of several paths to each host, where it has one that keeps them further apart than
    /// the general engine does.
    fn paths(&self, _count: u32) -> Option<Table> {
        None
    }

    /// Sources and destinations that stand for all pairs: any other pair is one of these with parts
    /// renamed, its cables and its forwarding alike. `None` if none are known.
    fn standing(&self) -> Option<(Vec<Host>, Range<Host>)> {
        None
    }

    /// How it is written on a command line.
    fn spec(&self) -> String {
        format!("{}:d={}", self.kind().name, self.d())
    }
}

/// The fabric that a word names: `mlfm:d=18`.
pub fn topology(spec: &str) -> Result<Box<dyn Topology>, Error> {
    let (name, detail) = spec.split_once(':').unwrap_or((spec, ""));
    let Some(kind) = KINDS.iter().find(|kind| kind.name == name) else {
        let names = KINDS.iter().map(|kind| kind.name);
        let near = nearest(name, names.clone()).unwrap_or(KINDS[0].name);
        let cause = format!(
            "the topologies are {}, and file:FABRIC.toml",
            names.collect::<Vec<_>>().join(", ")
        );
        let unknown = Error::new(ErrorKind::Topology, format!("unknown topology `{spec}`"), cause);
        return Err(unknown.with_hint(format!("{near}:d=8")));
    };
    let refused = |cause: String| {
        let what = format!("invalid topology `{spec}`");
        Error::new(ErrorKind::Topology, what, cause).with_hint(format!("{name}:d=8"))
    };
    let d = match detail.split_once('=') {
        Some(("d", d)) => {
            d.parse::<u32>().map_err(|_| refused(format!("`{d}` is not a number")))?
        }
        Some(("p", p)) => match p.parse::<u32>() {
            Ok(p) if p % 2 == 0 => p / 2,
            _ => {
                return Err(refused(format!(
                    "p, the ports of a switch, is an even number, not `{p}`"
                )));
            }
        },
        _ => return Err(refused("d, half the ports of a switch, is missing".into())),
    };
    let most = MOST_PORTS / 2;
    if !(kind.least..=most).contains(&d) {
        return Err(refused(format!("d lies between {} and {most}", kind.least)));
    }
    if kind.only_even && d % 2 == 1 {
        return Err(refused(format!("d must be even here, and {d} is not")));
    }
    Ok((kind.build)(d))
}
