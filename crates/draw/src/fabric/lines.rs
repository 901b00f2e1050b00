//! The cables of a panel as lines: coloured by their load, thin where they are many.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::layout::Spot;
use super::picture::{Panel, Style};

/// So many lines have room between two levels as wide as they are.
const ROOMY: f64 = 60.0;

/// Between which heights a line runs.
fn storey(a: &Spot, b: &Spot) -> (i64, i64) {
    let (a, b) = (a.y.round() as i64, b.y.round() as i64);
    (a.min(b), a.max(b))
}

/// How far to the side of its middle a line to another spot leaves one.
fn lean(spot: &Spot, other: &Spot) -> f64 {
    spot.half * ((other.x - spot.x) / 400.0).clamp(-1.0, 1.0)
}

/// How many lines run between the same two heights.
fn crowds(panel: &Panel) -> BTreeMap<(i64, i64), usize> {
    let mut crowds = BTreeMap::new();
    for &(a, b) in panel.wires.keys() {
        let (a, b) = (&panel.layout.spots[a], &panel.layout.spots[b]);
        *crowds.entry(storey(a, b)).or_default() += 1;
    }
    crowds
}

/// All lines, those that look alike as one path.
pub fn lines(panel: &Panel, style: Style) -> String {
    // Lines that look alike are one path: that keeps the file small. The hottest are drawn last.
    let mut paths: BTreeMap<(u32, u32, bool, String), String> = BTreeMap::new();
    let fewest = panel.wires.values().map(|wire| wire.cables).min().unwrap_or(1);
    let crowds = crowds(panel);
    for (&(a, b), wire) in &panel.wires {
        let (a, b) = (&panel.layout.spots[a], &panel.layout.spots[b]);
        let gone = wire.failed == wire.cables;
        let (colour, heat) = match style.scale {
            _ if gone => ("#9aa0a8".to_string(), 0.0),
            None => ("#8fa3b8".to_string(), 0.0),
            Some(scale) => (scale.colour(wire.load), scale.share(wire.load)),
        };
        let cold = style.scale.is_some() && wire.load <= 0.0;
        let width = if cold { 0.7 } else { 1.1 + 1.9 * heat };
        // A line of more cables than others is a little wider.
        let more = 0.25 * (f64::from(wire.cables) / f64::from(fewest)).log2().min(6.0);
        let rank = if cold { 0 } else { 1 + (heat * 100.0) as u32 };
        // Lines that are many side by side would close to a block of colour.
        let crowd = crowds.get(&storey(a, b)).copied().unwrap_or(1);
        let thin = (ROOMY / crowd as f64).powf(0.75).clamp(0.2, 1.0);
        let tenths = ((width + more) * thin * style.bold * 10.0).max(3.0) as u32;
        let path = paths.entry((rank, tenths, gone, colour)).or_default();
        // Nor do many leave a switch at the same point.
        let fan = if thin < 1.0 { 0.9 } else { 0.0 };
        let (from, to) = (a.x + fan * lean(a, b), b.x + fan * lean(b, a));
        // Writing to a string cannot fail.
        let _ = write!(path, "M{from:.1} {:.1}L{to:.1} {:.1}", a.y, b.y);
    }
    let mut text = String::new();
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
