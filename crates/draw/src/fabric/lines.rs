//! The cables of a panel as lines: coloured by their load, bundled or thin where they are many.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::layout::{Spot, Wire};
use super::picture::{Panel, Style};

/// The number of lines that have room between two levels of usual width, and on a whole drawing.
const ROOMY: f64 = 60.0;
const ROOMY_PAGE: f64 = 240.0;

/// Between which heights a line runs.
pub fn storey(a: &Spot, b: &Spot) -> (i64, i64) {
    let (a, b) = (a.y.round() as i64, b.y.round() as i64);
    (a.min(b), a.max(b))
}

/// How far to the side of its middle a line to another spot leaves one.
fn lean(spot: &Spot, other: &Spot) -> f64 {
    spot.half * ((other.x - spot.x) / 400.0).clamp(-1.0, 1.0)
}

/// What a line is drawn with.
#[derive(Clone, Debug, PartialEq)]
pub struct Pen {
    /// The hottest are drawn last.
    pub rank: u32,
    pub colour: String,
    pub width: f64,
    /// Whether all of its cables are gone.
    pub gone: bool,
}

impl Pen {
    /// For a wire that is `more` times wider, by its cables, than the thinnest.
    pub fn of(wire: &Wire, style: Style, more: f64) -> Pen {
        let gone = wire.cables > 0 && wire.failed == wire.cables;
        let (colour, heat) = match style.scale {
            _ if gone => ("#9aa0a8".to_string(), 0.0),
            None => ("#8fa3b8".to_string(), 0.0),
            Some(scale) => (scale.colour(wire.load), scale.share(wire.load)),
        };
        let cold = style.scale.is_some() && wire.load <= 0.0;
        let width = if cold { 0.7 } else { 1.1 + 1.9 * heat };
        // A line of more cables than others is a little wider.
        let more = 0.25 * more.log2().min(6.0);
        let rank = if cold { 0 } else { 1 + (heat * 100.0) as u32 };
        Pen { rank, colour, width: (width + more) * style.bold, gone }
    }
}

/// All lines, those that look alike as one path, over the bundles that the others are in.
pub fn lines(panel: &Panel, style: Style) -> String {
    let (bundled, spots) = (&panel.bundled, &panel.layout.spots);
    let fewest = panel.wires.values().map(|wire| wire.cables).min().unwrap_or(1);
    let mut crowds: BTreeMap<(i64, i64), usize> = BTreeMap::new();
    for &(a, b) in &bundled.lines {
        *crowds.entry(storey(&spots[a], &spots[b])).or_default() += 1;
    }
    let page = (ROOMY_PAGE / bundled.lines.len().max(1) as f64).sqrt();
    // Lines that look alike are one path: that keeps the file small.
    let mut paths: BTreeMap<(u32, u32, bool, String), String> = BTreeMap::new();
    for (&(a, b), wire) in panel.wires.iter().filter(|(ends, _)| bundled.lines.contains(ends)) {
        let (a, b) = (&spots[a], &spots[b]);
        let pen = Pen::of(wire, style, f64::from(wire.cables) / f64::from(fewest));
        // Lines that are many side by side would close to a block of colour.
        let crowd = crowds.get(&storey(a, b)).copied().unwrap_or(1);
        let thin = (ROOMY / crowd as f64).powf(0.75).clamp(0.2, 1.0);
        let tenths = (pen.width * thin.min(page) * 10.0).max(3.0) as u32;
        let path = paths.entry((pen.rank, tenths, pen.gone, pen.colour)).or_default();
        // Nor do many leave a switch at the same point.
        let fan = if thin < 1.0 { 0.9 } else { 0.0 };
        let (from, to) = (a.x + fan * lean(a, b), b.x + fan * lean(b, a));
        // Writing to a string cannot fail.
        let _ = write!(path, "M{from:.1} {:.1}L{to:.1} {:.1}", a.y, b.y);
    }
    let mut text: String = bundled.bundles.iter().map(|bundle| bundle.draw(panel, style)).collect();
    for ((_, tenths, gone, colour), path) in paths {
        let dashes = if gone { " stroke-dasharray=\"4 4\"" } else { "" };
        let width = f64::from(tenths) / 10.0;
        let _ = writeln!(
            text,
            "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width:.1}\"\
             {dashes}/>"
        );
    }
    text
}

/// What bundles say, for above everything else.
pub fn labels(panel: &Panel, style: Style) -> String {
    panel.bundled.bundles.iter().map(|bundle| bundle.draw_label(panel, style)).collect()
}
