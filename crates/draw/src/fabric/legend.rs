//! What stands below a drawing: words for a person, and what its colours mean.

use std::fmt::Write;

use laneway_topo::Wiring;

use super::heat::{self, Heat, Scale};
use super::layout::dead;
use super::picture::Panel;
use super::subject::Subject;
use crate::svg;

/// Words and colours below the drawing, and how much room they take.
pub fn legend(
    panels: &[Panel],
    subject: &Subject,
    scale: Option<(Scale, &Heat)>,
    top: f64,
    wide: f64,
) -> (String, f64) {
    let mut words: Vec<String> = panels.first().map_or(vec![], |panel| panel.layout.words.clone());
    if panels.iter().any(|panel| !panel.ways.is_empty()) {
        let what = "bold lines: the messages of the first switch, a ring where each ends (at its \
                    turn, where it comes back to the same vertex in another layer)";
        words.push(what.to_string());
    }
    let (plan, left) = (subject.plan(), subject.left());
    let failed: u32 =
        panels.first().map_or(0, |panel| panel.wires.values().map(|wire| wire.failed).sum());
    let switches = dead(plan, left).len();
    let cut_off = |wiring: &dyn Wiring| {
        (0..wiring.hosts()).filter(|&host| wiring.attached(host).is_none()).count()
    };
    let hosts = cut_off(left) - cut_off(plan).min(cut_off(left));
    if failed > 0 || switches > 0 || hosts > 0 {
        let what = if subject.is_found() { "planned and not found" } else { "failed" };
        words.push(format!(
            "red cross: {what} (cables between switches: {failed}, switches: {switches}, hosts \
             cut off: {hosts})"
        ));
    }
    if subject.not_drawn() > 0 {
        let count = subject.not_drawn();
        words.push(format!("not drawn: {count} cables that were found where none is planned"));
    }
    let mut text = String::new();
    let mut y = top;
    if let Some((scale, heat)) = scale {
        text += &colours(scale, heat, y);
        y += 44.0;
    }
    for line in words.iter().flat_map(|words| svg::wrap(words, wide - 32.0, 11.0)) {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "<text x=\"16\" y=\"{:.0}\" fill=\"#345\">{}</text>",
            y + 12.0,
            svg::escaped(&line)
        );
        y += 16.0;
    }
    (text, y - top + 12.0)
}

/// Whole loads as boxes where they are few; else a band with its ends.
fn colours(scale: Scale, heat: &Heat, top: f64) -> String {
    let mut text = format!(
        "<text x=\"16\" y=\"{:.0}\" fill=\"#123\">{}</text>\n",
        top + 10.0,
        svg::escaped(&format!("{}; of a line, in its fullest cable and direction", heat.words))
    );
    let mut mark = |x: f64, wide: f64, fill: &str, label: &str| {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "<rect x=\"{x:.1}\" y=\"{:.0}\" width=\"{wide:.1}\" height=\"12\" fill=\"{fill}\"/>\
             <text x=\"{:.1}\" y=\"{:.0}\" text-anchor=\"middle\" font-size=\"10\" \
             fill=\"#345\">{label}</text>",
            top + 16.0,
            x + wide / 2.0,
            top + 39.0
        );
    };
    mark(16.0, 28.0, heat::COLD, "0");
    if scale.is_flat() {
        mark(46.0, 28.0, &scale.colour(scale.most), &format!("{:.2}", scale.most));
        return text;
    }
    if scale.whole && scale.most <= 12.0 {
        for load in 1..=scale.most as u32 {
            let x = 16.0 + 30.0 * f64::from(load);
            mark(x, 28.0, &scale.colour(f64::from(load)), &load.to_string());
        }
        return text;
    }
    for step in 0..60 {
        let share = f64::from(step) / 59.0;
        let load = scale.least + share * (scale.most - scale.least);
        let label = match step {
            0 | 30 | 59 => format!("{load:.2}"),
            _ => String::new(),
        };
        mark(50.0 + 4.0 * f64::from(step), 4.2, &heat::colour(share), &label);
    }
    text
}
