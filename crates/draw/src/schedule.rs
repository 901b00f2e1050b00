//! Pictures of a schedule: who sends to whom at each tick, as text and as SVG.
//!
//! ```
//! use laneway_coll::pace::Flight;
//! use laneway_draw::schedule;
//!
//! let flights = vec![Flight { tick: 0, from: 0, to: 1 }];
//! assert_eq!(schedule::text(&flights, 2), "    rank t0\n       0 >1\n       1 <\n");
//! assert!(schedule::draw(&[("one", flights)], 2).contains("one"));
//! ```

use std::fmt::Write;

use laneway_coll::pace::Flight;

use crate::svg;

/// A line for each rank, a column for each tick: `>4` sends to 4.
pub fn text(flights: &[Flight], ranks: u32) -> String {
    let ticks = flights.iter().map(|f| f.tick + 1).max().unwrap_or(0);
    let mut text = String::from("    rank");
    for tick in 0..ticks {
        let _ = write!(text, " {:<4}", format!("t{tick}"));
    }
    text = text.trim_end().to_owned() + "\n";
    for rank in 0..ranks {
        let mut line = format!("    {rank:>4}");
        for tick in 0..ticks {
            let sent = flights.iter().find(|f| f.tick == tick && f.from == rank);
            let got = flights.iter().any(|f| f.tick == tick && f.to == rank);
            let cell = match (sent, got) {
                (Some(flight), _) => format!(">{}", flight.to),
                (None, true) => "<".into(),
                (None, false) => "·".into(),
            };
            let _ = write!(line, " {cell:<4}");
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// Several schedules side by side: time runs down in ticks, a line from sender to receiver for each
/// message, coloured by sender.
pub fn draw(drawings: &[(&str, Vec<Flight>)], ranks: u32) -> String {
    let (step, tick_height, margin) = (26.0, 34.0, 34.0);
    let names = drawings.iter().map(|(name, _)| svg::width_of(name, 12.0) + 10.0);
    let wide = f64::from(ranks.saturating_sub(1)) * step + 2.0 * margin;
    let panel = names.fold(wide, f64::max);
    let ticks = drawings.iter().flat_map(|d| &d.1).map(|f| f.tick + 1).max().unwrap_or(1);
    let mut height = f64::from(ticks) * tick_height + margin + 30.0;
    let width = panel * drawings.len() as f64;
    let mut body = String::new();
    for (number, (name, flights)) in drawings.iter().enumerate() {
        let left = number as f64 * panel + (panel - wide) / 2.0 + margin;
        let x = |rank: u32| left + f64::from(rank) * step;
        let y = |tick: u32| margin + 18.0 + f64::from(tick) * tick_height;
        let middle = number as f64 * panel + panel / 2.0;
        let _ = writeln!(
            body,
            "<text x=\"{middle}\" y=\"16\" text-anchor=\"middle\" \
             font-weight=\"bold\">{}</text>",
            svg::escaped(name)
        );
        // From tick to tick, so that what runs at the same time is seen.
        for tick in 0..ticks {
            let (from, to, at) = (x(0), x(ranks.saturating_sub(1)), y(tick + 1));
            let _ = writeln!(
                body,
                "<path d=\"M{from} {at}H{to}\" stroke=\"#f0f0f0\"/><text x=\"{}\" y=\"{}\" \
                 text-anchor=\"end\" font-size=\"9\" fill=\"#999\">t{tick}</text>",
                from - 8.0,
                at - tick_height / 2.0 + 3.0
            );
        }
        for rank in 0..ranks {
            let (at, top, bottom) = (x(rank), y(0), y(ticks));
            let _ = writeln!(
                body,
                "<line x1=\"{at}\" y1=\"{top}\" x2=\"{at}\" y2=\"{bottom}\" stroke=\"#ddd\"/>\
                 <text x=\"{at}\" y=\"{}\" text-anchor=\"middle\" fill=\"#777\">{rank}</text>",
                top - 6.0
            );
        }
        for flight in flights {
            let (x1, y1, x2, y2) =
                (x(flight.from), y(flight.tick), x(flight.to), y(flight.tick + 1));
            let colour = svg::colour(flight.from);
            let _ = writeln!(
                body,
                "<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" stroke=\"{colour}\" \
                 stroke-width=\"1.6\"/>\
                 <circle cx=\"{x2}\" cy=\"{y2}\" r=\"2.6\" fill=\"{colour}\"/>"
            );
        }
    }
    let width = width.max(240.0);
    let says = "time runs down in ticks; a line for each message, from its sender to the dot at \
                its receiver";
    for line in svg::wrap(says, width - 20.0, 11.0) {
        height += 15.0;
        let y = height - 8.0;
        let _ = writeln!(body, "<text x=\"10\" y=\"{y}\" fill=\"#777\">{line}</text>");
    }
    svg::document(width, height, &body)
}
