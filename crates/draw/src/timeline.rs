//! A simulated run as a picture: a line for each rank, a bar for each message it sends, with the
//! rank that it goes to; below, how full the busiest links are over time.
//!
//! Messages that paper cannot tell apart are one bar, hatched, with how many they are and to whom
//! they go (`timeline/blocks.rs`).
//!
//! ```
//! use laneway_draw::timeline::{Recording, Timeline};
//! use laneway_sim::{Delivery, Observer};
//!
//! // A `Recording` is what `Simulation::observed` takes.
//! let mut recording = Recording::default();
//! recording.delivered(&Delivery { from: 0, to: 1, bytes: 8, start: 0.0, end: 2e-6 });
//! let timeline = Timeline { title: "one message".into(), ranks: 2, ..Timeline::default() };
//! assert!(timeline.draw(&recording).contains("0 to 1: 8 B, 0.000 to 2.000 µs"));
//! ```

mod blocks;
mod lines;
mod links;

use std::fmt::Write;

use laneway_sim::{Delivery, Observer, Resource, ResourceId};

use crate::axis::{Axis, time_unit};
use crate::svg::{self, escaped};
use blocks::{Block, ranges};
use lines::{BELOW, Line, ROW, lines, squeeze, tops};
use links::{Busiest, MOST_NAME, busiest, draw_links};

const WIDTH: f64 = 900.0;
/// The least height of a rank's line.
const LINE: f64 = 18.0;
/// Lines as low as this do not show what arrives.
const NO_ARRIVALS: f64 = 8.0;
/// Letters of the ranks in bars.
const LETTERS: f64 = 8.5;
/// Sites that the legend names.
const SITES: usize = 6;

/// Everything that happened in a run; watches it as an [`Observer`].
#[derive(Clone, Debug, Default)]
pub struct Recording {
    seen: Vec<Delivery>,
    /// From when on which resource carries how much.
    loads: Vec<(f64, ResourceId, f64)>,
}

impl Observer for Recording {
    fn delivered(&mut self, delivery: &Delivery) {
        self.seen.push(*delivery);
    }

    fn loaded(&mut self, at: f64, resource: ResourceId, rate: f64) {
        self.loads.push((at, resource, rate));
    }

    fn loads(&self) -> bool {
        true
    }
}

/// What a recording is of.
#[derive(Clone, Debug, Default)]
pub struct Timeline<'a> {
    /// The heading.
    pub title: String,
    /// How many ranks there are.
    pub ranks: u32,
    /// The links of the platform, by the numbers that the recording has.
    pub resources: &'a [Resource],
    /// The names of the sites; may be empty if there is but one.
    pub site_names: &'a [String],
    /// The site of each rank; ranks beyond are at the first.
    pub sites: Vec<u32>,
}

/// Where things stand on the paper.
struct Paper {
    left: f64,
    /// The top of each line, and of what is below the last.
    tops: Vec<f64>,
    time: Axis,
    unit: &'static str,
    per_second: f64,
}

impl Paper {
    fn x(&self, seconds: f64) -> f64 {
        self.time.at(seconds * self.per_second)
    }

    fn height(&self, line: usize) -> f64 {
        self.tops[line + 1] - self.tops[line]
    }

    /// From row to row within a line.
    fn row(&self, line: usize, depth: u32) -> f64 {
        let height = self.height(line);
        ((height - BELOW.min(height * 0.3)) / f64::from(depth.max(1))).min(ROW)
    }

    /// Whether the bars of a line are high enough for text.
    fn has_letters(&self, line: usize, depth: u32) -> bool {
        self.row(line, depth) - 1.0 > LETTERS
    }
}

impl Timeline<'_> {
    /// The whole picture.
    pub fn draw(&self, recording: &Recording) -> String {
        let seen = &recording.seen;
        let end = seen.iter().map(|d| d.end).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
        let lines = lines(seen, self.ranks, end);
        let busiest = busiest(recording, self.resources, end);
        let left = self.left(&lines, &busiest);
        let (unit, unit_us) = time_unit(end * 1e6);
        let per_second = 1e6 / unit_us;
        let time = Axis::even(end * per_second, (left, left + WIDTH));
        let mut paper = Paper { left, tops: Vec::new(), time, unit, per_second };
        let (mut body, top) = self.draw_heading(&paper, &lines, seen.len());
        paper.tops = tops(&lines, top);
        let links = paper.tops.last().copied().unwrap_or(0.0) + 30.0;
        let bottom = links + busiest.shown.len() as f64 * LINE;
        let title = svg::width_of(&self.title, 13.0) * 1.1 + 20.0;
        let width = (left + title.max(WIDTH + 60.0)).ceil();
        if seen.is_empty() {
            let _ =
                writeln!(body, "<text x=\"{left:.1}\" y=\"{top:.1}\">no message is sent</text>");
            return svg::document(width, top + 14.0, &body);
        }
        body += &draw_ticks(&paper, bottom);
        for (number, line) in lines.iter().enumerate() {
            body += &draw_line(&paper, number, line);
            for block in &line.blocks {
                body += &self.draw_bar(&paper, number, line, block);
            }
        }
        body += &draw_links(&paper, links, &busiest, self.resources);
        svg::document(width, bottom + 30.0, &body)
    }

    /// The room for names left of the lines.
    fn left(&self, lines: &[Line], busiest: &Busiest) -> f64 {
        let names = busiest.shown.iter().map(|(link, _)| self.resources[*link].name.clone());
        let names = names.chain(lines.iter().map(Line::label));
        let longest = names.map(|name| svg::width_of(&name, 11.0)).fold(50.0, f64::max);
        longest.min(MOST_NAME) + 18.0
    }

    /// The title, what the bars are, and the colours of the sites; and where they end.
    fn draw_heading(&self, paper: &Paper, lines: &[Line], messages: usize) -> (String, f64) {
        let left = paper.left;
        let mut body = format!(
            "<text x=\"{left:.1}\" y=\"20\" font-size=\"13\" font-weight=\"bold\">{}</text>\n",
            escaped(&self.title)
        );
        let mut says = "a line for each rank, a bar for each message that it sends, in it the \
                        rank that it goes to where it fits"
            .to_owned();
        if squeeze(lines) * LINE > NO_ARRIVALS {
            says += "; the thin line below: a message to this rank is under way";
        }
        let bars: usize = lines.iter().map(|line| line.blocks.len()).sum();
        if bars < messages {
            body += HATCH;
            let within = match lines.iter().map(|line| line.alike).fold(0.0, f64::max) {
                0.0 => String::new(),
                alike => {
                    let alike = svg::round_step(alike * paper.per_second, &[1.0, 2.0, 5.0]);
                    format!(
                        " that begin and end within {} {}",
                        (alike * 1e9).round() / 1e9,
                        paper.unit
                    )
                }
            };
            let _ = write!(
                says,
                "; hatched: several messages{within}, with their number and receivers ({messages} \
                 messages in {bars} {})",
                if bars == 1 { "bar" } else { "bars" }
            );
        }
        let mut y = 36.0;
        for line in svg::wrap(&says, WIDTH + 40.0, 11.0) {
            let _ = writeln!(
                body,
                "<text x=\"{left:.1}\" y=\"{y}\" fill=\"#555\">{}</text>",
                escaped(&line)
            );
            y += 15.0;
        }
        if self.site_names.len() > 1 {
            body += &self.draw_sites(left, y);
            y += 16.0;
        }
        (body, y + 10.0)
    }

    fn draw_sites(&self, left: f64, y: f64) -> String {
        let (mut body, mut x) = (String::new(), left);
        for (number, name) in self.site_names.iter().take(SITES).enumerate() {
            let _ = writeln!(
                body,
                "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"10\" height=\"10\" fill=\"{}\"/>\
                 <text x=\"{:.1}\" y=\"{y:.1}\" fill=\"#555\">to {}</text>",
                y - 9.0,
                svg::colour(number as u32),
                x + 14.0,
                escaped(name)
            );
            x += 40.0 + svg::width_of(name, 11.0) + 14.0;
        }
        body
    }

    /// The number of a bar's colour: that of its receivers' site or, where there is but one site,
    /// of its receiver; `None` if they differ.
    fn colour_number(&self, block: &Block) -> Option<u32> {
        let number = |to: u32| match self.site_names.len() > 1 {
            true => self.sites.get(to as usize).copied().unwrap_or(0),
            false => to,
        };
        let first = number(*block.to.first()?);
        block.to.iter().all(|&to| number(to) == first).then_some(first)
    }

    fn draw_bar(&self, paper: &Paper, number: usize, line: &Line, block: &Block) -> String {
        let apart = paper.row(number, line.depth);
        let high = (apart - 1.0).max(apart * 0.8);
        let y = paper.tops[number] + 2.0_f64.min(apart / 4.0) + f64::from(block.row) * apart;
        let x = paper.x(block.start);
        let wide = (paper.x(block.end) - x).max(0.5);
        let (is_merged, colour) = (block.to.len() > 1, self.colour_number(block));
        let fill = colour.map_or(MIXED, svg::colour);
        let place = format!("x=\"{x:.2}\" y=\"{y:.2}\" width=\"{wide:.2}\" height=\"{high:.2}\"");
        // An edge would hide a bar that is as narrow.
        let edge = if wide > 2.0 { " stroke=\"#fff\" stroke-width=\"0.4\"" } else { "" };
        let title = title(block);
        let mut body = match is_merged {
            false => format!("<rect {place} fill=\"{fill}\"{edge}><title>{title}</title></rect>"),
            true => format!(
                "<rect {place} fill=\"{fill}\" fill-opacity=\"0.35\"/><rect class=\"merged\" \
                 {place} fill=\"url(#hatch)\" stroke=\"{fill}\" stroke-width=\"0.6\">\
                 <title>{title}</title></rect>"
            ),
        };
        let label = labels(block).into_iter().find(|label| {
            paper.has_letters(number, line.depth) && wide > svg::width_of(label, LETTERS) + 2.0
        });
        let Some(label) = label else { return body + "\n" };
        let half = svg::width_of(&label, LETTERS) / 2.0 + 2.0;
        let (ink, halo) = match (is_merged, colour) {
            (false, Some(number)) => (svg::ink_on(number), ""),
            _ => ("#111", " stroke=\"#fff\" stroke-width=\"2.4\" paint-order=\"stroke\""),
        };
        let _ = write!(
            body,
            "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"{LETTERS}\" fill=\"{ink}\"{halo} \
             text-anchor=\"middle\" pointer-events=\"none\">{label}</text>",
            x + (wide / 2.0).min(half.max(14.0)),
            y + high / 2.0 + 3.0,
        );
        body + "\n"
    }
}

/// What lies over the colour of a bar that is several messages.
const HATCH: &str = "<defs><pattern id=\"hatch\" width=\"5\" height=\"5\" \
     patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><path d=\"M1 0V5\" \
     stroke=\"#33404d\" stroke-opacity=\"0.4\"/></pattern></defs>\n";

/// The colour of a bar whose messages go to several.
const MIXED: &str = "#5d7288";

/// What a bar says to who points at it.
fn title(block: &Block) -> String {
    let Block { from, bytes, .. } = block;
    let times = format!("{:.3} to {:.3} µs", block.start * 1e6, block.end * 1e6);
    match block.to[..] {
        [to] => format!("{from} to {to}: {bytes} B, {times}"),
        _ => format!(
            "{from} to {}: {} messages, together {bytes} B, {times}",
            ranges(&block.to),
            block.to.len()
        ),
    }
}

/// What may be written in a bar, the longest first.
fn labels(block: &Block) -> Vec<String> {
    match block.to[..] {
        [to] => vec![to.to_string()],
        _ => {
            let count = block.to.len();
            vec![format!("{count} to {}", ranges(&block.to)), format!("{count}×")]
        }
    }
}

/// The name of a line, its lower edge, and when something is on its way to its rank.
fn draw_line(paper: &Paper, number: usize, line: &Line) -> String {
    let (top, bottom) = (paper.tops[number], paper.tops[number + 1]);
    let mut body = String::new();
    // Names of low lines would lie over each other.
    let every = (LINE * 0.7 / paper.height(number)).ceil().max(1.0) as usize;
    let every = every.next_power_of_two();
    if number.is_multiple_of(every) {
        let _ = write!(
            body,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"#555\">{}</text>",
            paper.left - 8.0,
            (top + bottom) / 2.0 + 4.0,
            line.label()
        );
    }
    let _ = writeln!(
        body,
        "<path d=\"M{:.1} {bottom:.1}h{WIDTH}\" stroke=\"#e4e4e4\" stroke-width=\"{}\"/>",
        paper.left,
        if paper.height(number) > 12.0 { 1.0 } else { 0.4 }
    );
    let mut path = String::new();
    for &(start, end) in line.arrivals.iter().filter(|_| paper.height(number) > NO_ARRIVALS) {
        let (from, to) = (paper.x(start), paper.x(end));
        let _ = write!(path, "M{from:.1} {:.1}H{:.1}", bottom - 2.5, to.max(from + 0.5));
    }
    if !path.is_empty() {
        let _ = writeln!(
            body,
            "<path class=\"arrivals\" d=\"{path}\" stroke=\"#8a8a8a\" stroke-width=\"1.6\"/>"
        );
    }
    body
}

/// Round times, with a line through everything for each.
fn draw_ticks(paper: &Paper, bottom: f64) -> String {
    let mut body = String::new();
    let top = paper.tops.first().copied().unwrap_or(0.0);
    for tick in paper.time.ticks() {
        let _ =
            write!(body, "<path d=\"M{0:.1} {top:.1}V{bottom:.1}\" stroke=\"#eee\"/>", tick.place);
        for y in [top - 5.0, bottom + 16.0] {
            let _ = writeln!(
                body,
                "<text x=\"{:.1}\" y=\"{y:.1}\" text-anchor=\"middle\" fill=\"#777\">{} {}</text>",
                tick.place, tick.label, paper.unit
            );
        }
    }
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(from: u32, to: u32, start: f64, end: f64) -> Delivery {
        Delivery { from, to, bytes: 8, start, end }
    }

    fn drawn(ranks: u32, seen: impl IntoIterator<Item = Delivery>) -> String {
        let mut recording = Recording::default();
        seen.into_iter().for_each(|delivery| recording.delivered(&delivery));
        let svg = Timeline { ranks, ..Timeline::default() }.draw(&recording);
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        svg
    }

    #[test]
    fn a_bar_names_its_receiver_and_times_are_round() {
        let mut recording = Recording::default();
        recording.delivered(&sent(0, 12, 0.0, 0.0769));
        recording.delivered(&sent(0, 13, 0.0, 0.0001));
        let timeline = Timeline { title: "a <title>".into(), ranks: 14, ..Timeline::default() };
        let svg = timeline.draw(&recording);
        assert!(svg.contains(">12</text>") && !svg.contains("none\">13</text>"), "{svg}");
        assert!(svg.contains(">20 ms<") && svg.contains("a &lt;title&gt;"), "{svg}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        assert!(!svg.contains("hatched") && !svg.contains("class=\"merged\""), "{svg}");
    }

    #[test]
    fn a_linear_all_to_all_is_a_bar_a_rank() {
        let all = (0..24).flat_map(|from| (0..24).map(move |to| (from, to)));
        let all = all.filter(|(from, to)| from != to);
        let svg = drawn(24, all.map(|(from, to)| sent(from, to, 5e-7 * f64::from(to), 0.012)));
        assert_eq!(svg.matches("class=\"merged\"").count(), 24);
        assert!(svg.contains(">23 to 1-23</text>") && svg.contains(">23 to 0-4,6-23</text>"));
        assert!(svg.contains("(552 messages in 24 bars)"), "{svg}");
        // A rank waits: something is on its way to every rank.
        assert_eq!(svg.matches("class=\"arrivals\"").count(), 24);
        // Few that overlap are all seen.
        let few = drawn(4, (1..4).map(|to| sent(0, to, 0.0, 1.0)));
        assert!(!few.contains("hatched") && few.matches("</title></rect>").count() == 3);
    }

    #[test]
    fn ranks_that_send_nothing_are_one_line_where_ranks_are_many() {
        let scatter = |ranks: u32| {
            let sent = |to: u32| sent(0, to, f64::from(to - 1), f64::from(to));
            drawn(ranks, (1..ranks).map(sent))
        };
        assert!(scatter(256).contains(">1-255 send nothing</text>"));
        assert!(!scatter(8).contains("send nothing"));
    }

    #[test]
    fn a_run_without_messages_has_no_time() {
        let svg = drawn(1, []);
        assert!(svg.contains("no message is sent") && !svg.contains("µs"), "{svg}");
        // Links are mentioned only if there are any.
        assert!(!drawn(2, [sent(0, 1, 0.0, 1.0)]).contains("use of the busiest links"));
    }

    #[test]
    fn a_ring_keeps_its_turns_in_a_line_that_is_low() {
        let turns = |from: u32| (0..400).map(move |turn| (from, f64::from(turn)));
        let ring = (0..200).flat_map(turns);
        let svg = drawn(200, ring.map(|(at, turn)| sent(at, (at + 1) % 200, turn, turn + 1.2)));
        assert!(!svg.contains("class=\"merged\""), "{}", svg.len());
    }

    #[test]
    fn a_picture_of_many_ranks_has_a_height_to_look_at() {
        for ranks in [1, 64, 1000] {
            let ring = (0..ranks).map(|from| sent(from, (from + 1) % ranks, 0.0, 1.0));
            let svg = drawn(ranks, ring);
            let size: Vec<f64> = svg
                .split('"')
                .nth(3)
                .expect("a box")
                .split(' ')
                .map(|word| word.parse().expect("a number"))
                .collect();
            assert!(size[3] < 6000.0, "{ranks}: {size:?}");
        }
    }
}
