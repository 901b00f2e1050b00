//! A layout as a drawing: lines, switches, hosts, what has failed, and what the colours mean.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use laneway_topo::cost::Parts;
use laneway_topo::{End, Host, Port, routing};

use super::bundles::{Bundled, bundle};
use super::heat::{Heat, Scale};
use super::layout::{Layout, Shape, Spot, Wires, dead};
use super::legend::legend;
use super::lines::{labels, lines};
use super::subject::Subject;
use crate::svg;

/// More switches than this have no text for who points at them: the file would grow.
const MOST_TITLES: usize = 400;

/// One layout with one heat.
pub struct Panel<'a> {
    pub title: String,
    /// A second line of the title.
    pub note: String,
    pub wires: Wires,
    /// The wires that are too many for a line each.
    pub bundled: Bundled,
    /// Ways of single messages, as spots.
    pub ways: Vec<Vec<usize>>,
    pub layout: &'a Layout<'a>,
}

impl<'a> Panel<'a> {
    pub fn new(
        subject: &Subject,
        layout: &'a Layout<'a>,
        heat: Option<&Heat>,
        title: String,
    ) -> Panel<'a> {
        let wires = layout.wires(subject, heat);
        let bundled = bundle(&layout.spots, &wires);
        Panel { title, note: String::new(), wires, bundled, ways: Vec::new(), layout }
    }

    /// Also the messages of the first switch that has hosts, one line each.
    pub fn with_messages(mut self, subject: &Subject, partners: &[Host]) -> Panel<'a> {
        let wiring = subject.wiring();
        let place = |host: Host| wiring.attached(host).map(|place| place.0);
        let Some(first) = (0..wiring.hosts()).find_map(place) else { return self };
        for (from, &to) in partners.iter().enumerate() {
            let from = from as Host;
            if place(from) != Some(first) || from == to {
                continue;
            }
            let mut switches = Vec::new();
            let arrived = routing::walk(wiring, subject.routing(), from, to, |hop| {
                switches.push(subject.planned_switch(hop.switch));
            });
            let switches: Option<Vec<_>> = switches.into_iter().collect();
            if let Some(switches) = switches.filter(|_| arrived.is_ok()) {
                let seat = |&switch| (self.layout.seat)(switch, switch);
                self.ways.push(switches.iter().map(seat).collect());
            }
        }
        self
    }

    pub fn most(&self) -> f64 {
        self.wires.values().map(|wire| wire.load).fold(0.0, f64::max)
    }
}

/// How large things are on a panel that is drawn smaller: lines and marks must not vanish.
#[derive(Clone, Copy)]
pub struct Style {
    pub scale: Option<Scale>,
    pub bold: f64,
    pub labels: bool,
}

/// A cross that is seen on any colour.
fn cross(x: f64, y: f64, half: f64) -> String {
    let path = format!(
        "M{:.1} {:.1}L{:.1} {:.1}M{:.1} {:.1}L{:.1} {:.1}",
        x - half,
        y - half,
        x + half,
        y + half,
        x - half,
        y + half,
        x + half,
        y - half
    );
    let width = half * 0.55;
    format!(
        "<path d=\"{path}\" stroke=\"#fff\" stroke-width=\"{:.1}\" stroke-linecap=\"round\"/>\
         <path d=\"{path}\" stroke=\"#d40000\" stroke-width=\"{width:.1}\" \
         stroke-linecap=\"round\"/>\n",
        width * 2.2
    )
}

fn crosses(panel: &Panel, subject: &Subject, style: Style) -> String {
    let mut text = String::new();
    for (&(a, b), wire) in panel.wires.iter().filter(|(_, wire)| wire.cut > 0) {
        let (a, b) = (&panel.layout.spots[a], &panel.layout.spots[b]);
        let (x, y) = ((a.x + b.x) / 2.0, (a.y + b.y) / 2.0);
        text += &cross(x, y, 6.0 * style.bold);
        if wire.cables > 1 {
            let what = format!("{} of {}", wire.cut, wire.cables);
            text += &count_failed(x, y - 10.0, &what, style);
        }
    }
    for (place, gone) in dead_at(panel, subject) {
        let spot = &panel.layout.spots[place];
        if spot.shape == Shape::Pile {
            // Of a pile only some: the others are there.
            let (x, y) = (spot.x + spot.half, spot.y - 14.0);
            text += &cross(x, y, 5.0 * style.bold);
            let what = format!("{gone} of {}", spot.label);
            text += &count_failed(x, y - 9.0, &what, style);
            continue;
        }
        text += &cross(spot.x, spot.y, (spot.half + 2.0).max(6.0) * style.bold.min(1.6));
    }
    text
}

/// How many of several have failed, beside their cross.
fn count_failed(x: f64, y: f64, what: &str, style: Style) -> String {
    if !style.labels {
        return String::new();
    }
    format!(
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\" fill=\"#d40000\" \
         stroke=\"#fff\" stroke-width=\"3\" paint-order=\"stroke\">{what}</text>\n"
    )
}

/// How many switches are dead at each spot. A switch may stand in several places: wherever a cable
/// of it ends.
fn dead_at(panel: &Panel, subject: &Subject) -> BTreeMap<usize, u32> {
    let plan = subject.plan();
    let mut dead_at = BTreeMap::new();
    for switch in dead(plan, subject.left()) {
        let ports = 0..plan.ports(switch) as Port;
        let places: BTreeSet<usize> = ports
            .filter_map(|port| match plan.end(switch, port) {
                End::Switch(other, _) => Some((panel.layout.seat)(switch, other)),
                _ => None,
            })
            .collect();
        places.into_iter().for_each(|place| *dead_at.entry(place).or_default() += 1);
    }
    dead_at
}

fn spots(panel: &Panel, style: Style) -> String {
    let titled = panel.layout.spots.len() <= MOST_TITLES && style.labels;
    let mut text = String::new();
    for spot in &panel.layout.spots {
        text += &hosts(spot, style);
        text += &marked(spot, titled);
        if style.labels && !spot.label.is_empty() {
            text += &label(spot);
        }
    }
    text
}

fn marked(spot: &Spot, titled: bool) -> String {
    let title = match titled {
        true => format!("<title>{}</title>", svg::escaped(&spot.title)),
        false => String::new(),
    };
    let (x, y, half) = (spot.x, spot.y, spot.half);
    let square = |x: f64, y: f64, high: f64| {
        format!(
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"{:.1}\" \
             fill=\"#e3f1ed\" stroke=\"#00798c\">{title}</rect>",
            x - half,
            y - high,
            2.0 * half,
            2.0 * high,
            high / 4.0
        )
    };
    match spot.shape {
        Shape::Disc => format!(
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{half:.1}\" fill=\"#1b4f7d\" stroke=\"#fff\">\
             {title}</circle>\n"
        ),
        // A written one is as wide as its words and not as high.
        Shape::Square if half > 8.0 => square(x, y, 8.0) + "\n",
        Shape::Square => square(x, y, half) + "\n",
        Shape::Pile => {
            square(x + 5.0, y - 5.0, 9.0)
                + &square(x + 2.5, y - 2.5, 9.0)
                + &square(x, y, 9.0)
                + "\n"
        }
    }
}

fn label(spot: &Spot) -> String {
    let (size, fill, down) = match spot.shape {
        Shape::Disc if spot.half >= 9.0 && spot.label.len() <= 2 => (11.0, "#fff", 4.0),
        Shape::Disc if spot.label.len() <= 2 => ((spot.half * 1.25).max(6.0), "#fff", 2.6),
        Shape::Disc => (9.0, "#234", spot.half + 22.0),
        _ if spot.half < 11.0 => (7.5, "#055", 2.8),
        _ => (9.0, "#055", 3.2),
    };
    format!(
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"{size:.1}\" \
         fill=\"{fill}\">{}</text>\n",
        spot.x,
        spot.y + down,
        svg::escaped(&spot.label)
    )
}

/// A mark for each host, in an arc; a number where there is no room.
fn hosts(spot: &Spot, style: Style) -> String {
    let Some((angle, count)) = spot.hosts.filter(|_| style.labels) else { return String::new() };
    let radius = spot.half + 9.0;
    if spot.shape == Shape::Pile || count > 40 {
        return format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"9\" \
             fill=\"#667\">{count}</text>\n",
            spot.x + angle.cos() * (radius + 8.0),
            spot.y + angle.sin() * (radius + 8.0) + 3.0
        );
    }
    let step = (2.2 / f64::from(count)).min(0.36);
    let mut path = String::new();
    for host in 0..count {
        let angle = angle + step * (f64::from(host) - f64::from(count - 1) / 2.0);
        let (across, down) = (angle.cos(), angle.sin());
        // Writing to a string cannot fail.
        let _ = write!(
            path,
            "M{:.1} {:.1}L{:.1} {:.1}",
            spot.x + across * spot.half,
            spot.y + down * spot.half,
            spot.x + across * radius,
            spot.y + down * radius
        );
    }
    format!("<path d=\"{path}\" stroke=\"#5b7c9d\" stroke-width=\"1.2\"/>\n")
}

/// Cold colours, for lines over the warm ones of a heat.
const WAYS: [&str; 5] = ["#1b6ca8", "#00798c", "#7b4a9e", "#2a9d6f", "#4f5d75"];

/// Messages of one switch: a line from switch to switch, a ring around the last.
fn ways(panel: &Panel, style: Style) -> String {
    let mut text = String::new();
    let at = |spot: usize| (panel.layout.spots[spot].x, panel.layout.spots[spot].y);
    for (number, way) in panel.ways.iter().enumerate() {
        let colour = WAYS[number % WAYS.len()];
        // A message that comes back to where it started, in another layer, ends at its turn.
        let back = way.len() > 2 && way.first() == way.last();
        let shown = if back { &way[..way.len() / 2 + 1] } else { &way[..] };
        let points: Vec<String> =
            shown.iter().map(|&spot| format!("{:.1},{:.1}", at(spot).0, at(spot).1)).collect();
        let Some(&last) = shown.last() else { continue };
        let ((x, y), radius) = (at(last), panel.layout.spots[last].half + 2.5 * style.bold);
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{:.1}\" \
             stroke-linejoin=\"round\"/><circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\" \
             fill=\"{colour}\"/>",
            points.join(" "),
            3.0 * style.bold
        );
    }
    text
}

fn draw_panel(panel: &Panel, subject: &Subject, style: Style) -> String {
    // On a small drawing what is behind would only be noise.
    let mut text = if style.labels { panel.layout.backdrop.clone() } else { String::new() };
    text += &lines(panel, style);
    text += &ways(panel, style);
    text += &spots(panel, style);
    text += &labels(panel, style);
    text + &crosses(panel, subject, style)
}

/// A page with one panel, or with many small ones.
pub fn page(panels: &[Panel], subject: &Subject, heat: Option<&Heat>) -> String {
    let Some(first) = panels.first() else { return svg::document(1.0, 1.0, "") };
    let loads = panels.iter().flat_map(|panel| panel.wires.values()).map(|wire| wire.load);
    let scale = heat.map(|heat| Scale::over(loads, heat.whole));
    let columns = match panels.len() {
        1 => 1,
        many => ((many as f64 * first.layout.height / first.layout.width).sqrt().ceil() as usize)
            .clamp(2, 6),
    };
    let (name, what) = (subject.name(), what_it_is(subject, first, columns));
    let named = 32.0 + svg::width_of(name, 19.0).max(svg::width_of(&what, 12.0));
    let page_wide = if columns == 1 { first.layout.width.max(620.0) } else { 1200.0 };
    let page_wide = page_wide.max(named).ceil();
    let wide = page_wide / columns as f64;
    let shrunk = if columns == 1 { 1.0 } else { (wide - 24.0) / first.layout.width };
    let high = first.layout.height * shrunk + if columns == 1 { 0.0 } else { 44.0 };
    let top = 56.0;
    let mut body = format!(
        "<text x=\"16\" y=\"28\" font-size=\"18\" font-weight=\"bold\" fill=\"#123\">{}</text>\n\
         <text x=\"16\" y=\"46\" font-size=\"12\" fill=\"#456\">{}</text>\n",
        svg::escaped(name),
        svg::escaped(&what)
    );
    let style = Style { scale, bold: (0.55 / shrunk).max(1.0), labels: columns == 1 };
    for (number, panel) in panels.iter().enumerate() {
        let (column, row) = (number % columns, number / columns);
        let (x, mut y) = (column as f64 * wide + 12.0, top + row as f64 * high);
        let x = if columns == 1 { (page_wide - first.layout.width) / 2.0 } else { x };
        if columns > 1 {
            // Writing to a string cannot fail.
            for (number, line) in [&panel.title, &panel.note].into_iter().enumerate() {
                let _ = writeln!(
                    body,
                    "<text x=\"{:.0}\" y=\"{:.0}\" font-size=\"12\" fill=\"#234\">{}</text>",
                    x + 4.0,
                    y + 16.0 + 14.0 * number as f64,
                    svg::escaped(&svg::shorten(line, wide - 16.0, 12.0))
                );
            }
            y += 34.0;
        }
        let _ = write!(
            body,
            "<g transform=\"translate({x:.1},{y:.1}) scale({shrunk:.3})\">\n{}</g>\n",
            draw_panel(panel, subject, style)
        );
    }
    let below = top + high * panels.len().div_ceil(columns) as f64 + 14.0;
    let (legend, height) = legend(panels, subject, scale.zip(heat), below, page_wide);
    svg::document(page_wide, below + height, &(body + &legend))
}

/// The line below the title: what one panel shows, or how large the fabric of all is.
fn what_it_is(subject: &Subject, first: &Panel, columns: usize) -> String {
    let counts = |parts: &Parts| {
        let links = parts.cables[1] + parts.cables[2];
        [u64::from(parts.hosts), u64::from(parts.switches), links]
    };
    let (plan, left) = (counts(&Parts::of(subject.plan())), counts(&Parts::of(subject.left())));
    let [hosts, switches, links] = [0, 1, 2].map(|of| match left[of] == plan[of] {
        true => plan[of].to_string(),
        false => format!("{} of {}", left[of], plan[of]),
    });
    let size = format!("{hosts} hosts, {switches} switches, {links} cables between switches");
    let note = if first.note.is_empty() { String::new() } else { format!(", {}", first.note) };
    match (first.title.is_empty() || columns > 1, subject.is_found()) {
        (false, _) => format!("{}{note}: {size}", first.title),
        (true, true) => format!("{}: {size}", subject.kind()),
        (true, false) => size,
    }
}
