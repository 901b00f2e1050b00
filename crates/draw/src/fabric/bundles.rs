//! Cables between two levels that are too many to be seen one by one, as bundles: a bar between
//! the levels, with one line from each switch below and above it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::layout::{Spot, Wire, Wires};
use super::lines::{Pen, storey};
use super::picture::{Panel, Style};
use crate::svg;

/// The number of lines between two levels that can be followed by the eye.
const MOST_LINES: usize = 100;
/// The fullest cables of a bundle are drawn one by one too, unless they are more than this.
const MOST_FULLEST: usize = 24;

/// Spots of which each below has cables to each above.
#[derive(Clone, Debug, PartialEq)]
pub struct Bundle {
    pub below: Vec<usize>,
    pub above: Vec<usize>,
    /// The height of its bar.
    y: f64,
}

/// The bundles of a panel, and the wires that are drawn as lines: those in no bundle, those with a
/// cable that has failed, and the fullest.
#[derive(Clone, Debug, Default)]
pub struct Bundled {
    pub bundles: Vec<Bundle>,
    pub lines: BTreeSet<(usize, usize)>,
}

/// The ends of a wire, the lower first.
fn upright(spots: &[Spot], (a, b): (usize, usize)) -> (usize, usize) {
    if spots[a].y > spots[b].y { (a, b) } else { (b, a) }
}

/// Finds the bundles of wires between the same two levels, where they are many.
pub fn bundle(spots: &[Spot], wires: &Wires) -> Bundled {
    let mut storeys: BTreeMap<(i64, i64), Vec<(usize, usize)>> = BTreeMap::new();
    for &(a, b) in wires.keys() {
        storeys.entry(storey(&spots[a], &spots[b])).or_default().push((a, b));
    }
    let mut all = Bundled::default();
    for ((high, low), pairs) in storeys {
        all.lines.extend(pairs.iter().copied());
        if pairs.len() <= MOST_LINES || high == low {
            continue;
        }
        let mut own = groups(spots, &pairs);
        let count = own.len() as f64;
        for (number, bundle) in own.iter_mut().enumerate() {
            // Bars that are several have a height each.
            let part = (number as f64 + 1.0) / (count + 1.0);
            bundle.y = high as f64 + (low - high) as f64 * part;
            let inside = bundle.wires().filter(|wire| wires[wire].failed == 0);
            inside.for_each(|wire| _ = all.lines.remove(&wire));
        }
        all.bundles.append(&mut own);
    }
    all.lines.extend(fullest(wires, &all.bundles));
    all
}

/// Those below that have the same neighbours above, and more than one each way.
fn groups(spots: &[Spot], wires: &[(usize, usize)]) -> Vec<Bundle> {
    let mut above: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for &wire in wires {
        let (low, high) = upright(spots, wire);
        above.entry(low).or_default().push(high);
    }
    let mut alike: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
    for (low, mut highs) in above {
        highs.sort_unstable();
        alike.entry(highs).or_default().push(low);
    }
    let is_several = |(above, below): &(Vec<usize>, Vec<usize>)| above.len() > 1 && below.len() > 1;
    let groups = alike.into_iter().filter(is_several);
    groups.map(|(above, below)| Bundle { below, above, y: 0.0 }).collect()
}

/// The wires with the largest load of all, where they are few.
fn fullest(wires: &Wires, bundles: &[Bundle]) -> Vec<(usize, usize)> {
    let loads = || wires.values().map(|wire| wire.load);
    let most = loads().fold(0.0, f64::max);
    if most <= 0.0 || loads().all(|load| load >= most * 0.99) {
        return Vec::new();
    }
    let inside = bundles.iter().flat_map(Bundle::wires);
    let full: Vec<_> = inside.filter(|wire| wires[wire].load >= most * 0.99).collect();
    if full.len() <= MOST_FULLEST { full } else { Vec::new() }
}

impl Bundle {
    fn wires(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let pairs = self.below.iter().flat_map(|&a| self.above.iter().map(move |&b| (a, b)));
        pairs.map(|(a, b)| (a.min(b), a.max(b)))
    }

    /// What runs between one spot and all of the other side, as one line.
    fn stub(&self, panel: &Panel, at: usize) -> Wire {
        let mut stub = Wire::default();
        let own = self.wires().filter(|&(a, b)| a == at || b == at);
        for wire in own.map(|wire| &panel.wires[&wire]) {
            stub.cables += wire.cables;
            stub.load = stub.load.max(wire.load);
        }
        stub
    }

    /// The lines to the bar, and the bar.
    pub fn draw(&self, panel: &Panel, style: Style) -> String {
        let spots = &panel.layout.spots;
        let ends = || self.below.iter().chain(&self.above).copied();
        let (left, right) = self.sides(spots);
        let stub = |at: usize| (Pen::of(&self.stub(panel, at), style, 1.0), &spots[at]);
        let mut stubs: Vec<(Pen, &Spot)> = ends().map(stub).collect();
        stubs.sort_by_key(|(pen, _)| pen.rank);
        let mut text = String::new();
        for (pen, spot) in stubs {
            let Pen { colour, width, .. } = pen;
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "<path class=\"stub\" d=\"M{:.1} {:.1}V{:.1}\" stroke=\"{colour}\" \
                 stroke-width=\"{:.1}\"/>",
                spot.x,
                spot.y,
                self.y,
                width.max(0.5)
            );
        }
        let (thick, wide) = (5.0 * style.bold, right - left);
        let _ = writeln!(
            text,
            "<rect class=\"bundle\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{thick:.1}\" \
             rx=\"{:.1}\" fill=\"#8fa3b8\"/>",
            left - thick,
            self.y - thick / 2.0,
            wide + 2.0 * thick,
            thick / 2.0
        );
        text
    }

    fn sides(&self, spots: &[Spot]) -> (f64, f64) {
        let places = self.below.iter().chain(&self.above).map(|&at| spots[at].x);
        places.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, r), x| (l.min(x), r.max(x)))
    }

    /// What the bar says, on its left end and above all lines.
    pub fn draw_label(&self, panel: &Panel, style: Style) -> String {
        if !style.labels {
            return String::new();
        }
        let (left, _) = self.sides(&panel.layout.spots);
        let cables: u32 = self.wires().map(|wire| panel.wires[&wire].cables).sum();
        let what = format!("{cables} cables, each below with each above");
        format!(
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"18\" rx=\"9\" fill=\"#fff\" \
             stroke=\"#8fa3b8\"/><text x=\"{:.1}\" y=\"{:.1}\" fill=\"#234\">{what}</text>\n",
            left - 5.0,
            self.y - 9.0,
            svg::width_of(&what, 11.0) + 16.0,
            left + 3.0,
            self.y + 4.0
        )
    }
}
