//! Where the switches of a fabric stand on a drawing, and which lines its cables make.

use std::collections::{BTreeMap, BTreeSet};

use laneway_topo::{End, Port, Switch, Wiring};

use super::heat::Heat;
use super::subject::Subject;

/// A place on the drawing; several switches may share one.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Spot {
    pub x: f64,
    pub y: f64,
    pub shape: Shape,
    /// Half its width.
    pub half: f64,
    pub label: String,
    /// For who points at it.
    pub title: String,
    /// Where its hosts hang, as an angle, and how many; one mark each.
    pub hosts: Option<(f64, u32)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shape {
    /// A switch with hosts.
    Disc,
    /// A switch between switches.
    Square,
    /// Several switches.
    Pile,
}

/// The spot of a switch, as a cable to that neighbour sees it.
pub type Seat<'a> = Box<dyn Fn(Switch, Switch) -> usize + 'a>;

/// A fabric laid out.
#[non_exhaustive]
pub struct Layout<'a> {
    pub width: f64,
    pub height: f64,
    pub spots: Vec<Spot>,
    pub seat: Seat<'a>,
    /// Drawn first, below all lines.
    pub backdrop: String,
    /// What a person must know to read it.
    pub words: Vec<String>,
}

/// The cables between two spots.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Wire {
    pub cables: u32,
    /// The largest load in either direction.
    pub load: f64,
    pub failed: u32,
    /// Of the failed ones, those whose switches are both there.
    pub cut: u32,
}

/// Wires by the spots at their ends, the lesser first.
pub type Wires = BTreeMap<(usize, usize), Wire>;

/// The switches that the plan has and the damaged fabric has not.
pub fn dead(plan: &dyn Wiring, left: &dyn Wiring) -> BTreeSet<Switch> {
    let bare = |wiring: &dyn Wiring, switch| {
        (0..wiring.ports(switch)).all(|port| wiring.end(switch, port as Port) == End::Nothing)
    };
    let all = 0..plan.switches();
    all.filter(|&switch| bare(left, switch) && !bare(plan, switch)).collect()
}

impl Layout<'_> {
    /// The lines to draw, by the spots at their ends.
    pub fn wires(&self, subject: &Subject, heat: Option<&Heat>) -> Wires {
        let (plan, left) = (subject.plan(), subject.left());
        let dead = dead(plan, left);
        let mut wires = Wires::new();
        for switch in 0..plan.switches() {
            for port in 0..plan.ports(switch) as Port {
                let End::Switch(other, its) = plan.end(switch, port) else { continue };
                if (switch, port) > (other, its) {
                    continue;
                }
                let (a, b) = ((self.seat)(switch, other), (self.seat)(other, switch));
                let wire = wires.entry((a.min(b), a.max(b))).or_default();
                let failed = left.end(switch, port) == End::Nothing;
                let gone = dead.contains(&switch) || dead.contains(&other);
                wire.cables += 1;
                wire.failed += u32::from(failed);
                wire.cut += u32::from(failed && !gone);
                if let Some(heat) = heat {
                    let loads = [(switch, port), (other, its)];
                    let loads = loads.map(|(switch, port)| subject.load(heat, switch, port));
                    wire.load = loads.into_iter().fold(wire.load, f64::max);
                }
            }
        }
        wires
    }
}
