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
    if panels.iter().any(|panel| !panel.bundled.bundles.is_empty()) {
        words.push(bundled_words(scale.is_some()));
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
    if let Some((scale, _)) = scale.filter(|(scale, _)| !scale.whole && !scale.is_flat()) {
        words.push(format!(
            "the colours span at least 20 % to either side of the median, {:.2} messages",
            scale.median
        ));
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

fn bundled_words(is_loaded: bool) -> String {
    let what = "a bar between two levels is a bundle: each switch or pile below that has a line to \
                it is cabled to each above";
    match is_loaded {
        true => format!(
            "{what}; such a line has the load of its fullest cable, and the fullest cables of all \
             are drawn one by one where they are few"
        ),
        false => what.to_owned(),
    }
}

/// Whole loads as boxes where they are few; else a band from the lightest colour to the darkest,
/// with the least and the most that there is.
fn colours(scale: Scale, heat: &Heat, top: f64) -> String {
    let mut text = format!(
        "<text x=\"16\" y=\"{:.0}\" fill=\"#123\">{}</text>\n",
        top + 10.0,
        svg::escaped(&format!("{}; of a line, in its fullest cable and direction", heat.words))
    );
    text += &mark(top, 16.0, 28.0, heat::COLD, "0");
    if scale.is_flat() && scale.most > 0.0 {
        text += &mark(top, 46.0, 28.0, &scale.colour(scale.most), &format!("{:.2}", scale.most));
    } else if scale.whole && scale.most <= 12.0 {
        for load in 1..=scale.most as u32 {
            let x = 16.0 + 30.0 * f64::from(load);
            text += &mark(top, x, 28.0, &scale.colour(f64::from(load)), &load.to_string());
        }
    } else if scale.most > 0.0 {
        text += &band(scale, top);
    }
    text
}

/// A box of a colour, and what it stands for below it.
fn mark(top: f64, x: f64, wide: f64, fill: &str, label: &str) -> String {
    format!(
        "<rect x=\"{x:.1}\" y=\"{:.0}\" width=\"{wide:.1}\" height=\"12\" fill=\"{fill}\"/>\
         <text x=\"{:.1}\" y=\"{:.0}\" text-anchor=\"middle\" font-size=\"10\" \
         fill=\"#345\">{label}</text>\n",
        top + 16.0,
        x + wide / 2.0,
        top + 39.0
    )
}

/// The colours side by side, the loads at both ends beside them, and below them where the least
/// and the most are, unless they are those at the ends.
fn band(scale: Scale, top: f64) -> String {
    const STEPS: u32 = 60;
    const STEP: f64 = 4.0;
    const LEFT: f64 = 90.0;
    let wide = STEP * f64::from(STEPS);
    let mut text = String::new();
    for step in 0..STEPS {
        let share = (f64::from(step) + 0.5) / f64::from(STEPS);
        let x = LEFT + STEP * f64::from(step);
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "<rect x=\"{x:.0}\" y=\"{:.0}\" width=\"{:.1}\" height=\"12\" fill=\"{}\"/>",
            top + 16.0,
            STEP + 0.2,
            heat::colour(share)
        );
    }
    let figure = |load: f64| match scale.whole {
        true => format!("{load:.0}"),
        false => format!("{load:.2}"),
    };
    let mut write = |x: f64, y: f64, anchor: &str, what: &str| {
        let _ = writeln!(
            text,
            "<text x=\"{x:.1}\" y=\"{y:.0}\" text-anchor=\"{anchor}\" font-size=\"10\" \
             fill=\"#345\">{what}</text>"
        );
    };
    write(LEFT - 6.0, top + 26.0, "end", &figure(scale.low));
    write(LEFT + wide + 6.0, top + 26.0, "start", &figure(scale.high));
    let [least, most] = [scale.least, scale.most].map(|load| LEFT + wide * scale.share(load));
    // Two labels that would touch are one.
    if most - least < 34.0 && scale.least < scale.most {
        let both = format!("{} to {}", figure(scale.least), figure(scale.most));
        write((least + most) / 2.0, top + 39.0, "middle", &both);
    } else {
        let ends = [figure(scale.low), figure(scale.high)];
        let below = [(least, figure(scale.least)), (most, figure(scale.most))];
        for (x, label) in below.into_iter().filter(|(_, label)| !ends.contains(label)) {
            write(x, top + 39.0, "middle", &label);
        }
    }
    let _ = writeln!(
        text,
        "<path d=\"M{least:.1} {0:.0}v4M{most:.1} {0:.0}v4\" stroke=\"#345\"/>",
        top + 27.0
    );
    text
}
