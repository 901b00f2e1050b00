//! A simulated run as a picture: a line for each rank, a bar for each message it sends, with the
//! rank that it goes to; below, how full the busiest links are over time.
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

use std::fmt::Write;

use laneway_sim::{Delivery, Observer, Resource, ResourceId};

use crate::axis::{Axis, time_unit};
use crate::svg::{self, escaped};

const WIDTH: f64 = 900.0;
const LINE: f64 = 18.0;
/// Messages of a rank that overlap in time are so far below each other, where there is room for
/// that; and so much room there is.
const ROW: f64 = 11.0;
const MOST_HEIGHT: f64 = 2400.0;
/// All that a rank has where there is not.
const CROWDED: f64 = 36.0;
/// Letters of the ranks in bars.
const LETTERS: f64 = 8.5;
/// Names of links are cut beyond this.
const MOST_NAME: f64 = 220.0;
/// Links that are shown, the busiest first.
const LINKS: usize = 16;
/// Sites that the legend names.
const SITES: usize = 6;
/// Parts of the time for which a link's use is averaged.
const BINS: usize = 300;

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
    /// What the sites are called; one or none where there is but one.
    pub site_names: &'a [String],
    /// The site of each rank; ranks beyond are at the first.
    pub sites: Vec<u32>,
}

/// Where things stand on the paper.
struct Paper {
    left: f64,
    /// The top of each rank's line, and of what is below the last.
    tops: Vec<f64>,
    /// From row to row within each rank's line.
    rows: Vec<f64>,
    time: Axis,
    unit: &'static str,
    per_second: f64,
}

impl Paper {
    /// Whether the bars of a rank are high enough for text.
    fn has_letters(&self, rank: usize) -> bool {
        self.rows[rank] - 1.0 > LETTERS
    }

    fn x(&self, seconds: f64) -> f64 {
        self.time.at(seconds * self.per_second)
    }
}

impl Timeline<'_> {
    /// The whole picture.
    pub fn draw(&self, recording: &Recording) -> String {
        let seen = &recording.seen;
        let end = seen.iter().map(|d| d.end).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
        let (rows, depths) = rows(seen, self.ranks);
        let busiest = busiest(recording, self.resources, end);
        let paper = self.lay_out(end, &depths, &busiest);
        let mut body = self.draw_heading(&paper);
        let links = paper.tops.last().copied().unwrap_or(0.0) + 30.0;
        let bottom = links + busiest.shown.len() as f64 * LINE;
        body += &draw_ticks(&paper, bottom);
        body += &self.draw_ranks(&paper);
        for (delivery, &row) in seen.iter().zip(&rows) {
            body += &self.draw_bar(&paper, delivery, row);
        }
        body += &draw_links(&paper, links, &busiest, self.resources);
        let width = paper.left + WIDTH + 60.0;
        let title = paper.left + svg::width_of(&self.title, 13.0) + 20.0;
        svg::document(width.max(title).ceil(), bottom + 30.0, &body)
    }

    fn lay_out(&self, end: f64, depths: &[u32], busiest: &Busiest) -> Paper {
        let all: u32 = depths.iter().sum();
        let most = if f64::from(all) * ROW > MOST_HEIGHT { CROWDED } else { f64::INFINITY };
        let mut top = if self.site_names.len() > 1 { 76.0 } else { 60.0 };
        let (mut tops, mut rows) = (vec![top], Vec::new());
        for depth in depths.iter().copied().map(f64::from) {
            let row = (most / depth.max(1.0)).min(ROW);
            top += (depth * row + 4.0).max(LINE);
            tops.push(top);
            rows.push(row);
        }
        let names = busiest.shown.iter().map(|(link, _)| self.resources[*link].name.as_str());
        let longest = names.map(|name| svg::width_of(name, 11.0)).fold(50.0, f64::max);
        let left = longest.min(MOST_NAME) + 18.0;
        let (unit, unit_us) = time_unit(end * 1e6);
        let per_second = 1e6 / unit_us;
        let time = Axis::even(end * per_second, (left, left + WIDTH));
        Paper { left, tops, rows, time, unit, per_second }
    }

    /// The title, what the bars are, and the colours of the sites.
    fn draw_heading(&self, paper: &Paper) -> String {
        let left = paper.left;
        let mut body = format!(
            "<text x=\"{left:.1}\" y=\"20\" font-size=\"13\" font-weight=\"bold\">{}</text>\n\
             <text x=\"{left:.1}\" y=\"36\" fill=\"#555\">a line for each rank, a bar for each \
             message that it sends; {}</text>\n",
            escaped(&self.title),
            match (0..paper.rows.len()).all(|rank| paper.has_letters(rank)) {
                true => "in the bar, the rank that it goes to",
                false => "a bar that is pointed at tells the rank that it goes to",
            }
        );
        let mut x = left;
        let names = self.site_names.iter().take(SITES).enumerate();
        for (number, name) in names.filter(|_| self.site_names.len() > 1) {
            let _ = writeln!(
                body,
                "<rect x=\"{x:.1}\" y=\"43\" width=\"10\" height=\"10\" fill=\"{}\"/>\
                 <text x=\"{:.1}\" y=\"52\" fill=\"#555\">to {}</text>",
                svg::colour(number as u32),
                x + 14.0,
                escaped(name)
            );
            x += 40.0 + svg::width_of(name, 11.0) + 14.0;
        }
        body
    }

    fn draw_ranks(&self, paper: &Paper) -> String {
        let mut body = String::new();
        for rank in 0..self.ranks {
            let (top, bottom) = (paper.tops[rank as usize], paper.tops[rank as usize + 1]);
            let _ = writeln!(
                body,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"#555\">{}{rank}\
                 </text><path d=\"M{:.1} {bottom:.1}h{WIDTH}\" stroke=\"#e4e4e4\"/>",
                paper.left - 8.0,
                (top + bottom) / 2.0 + 4.0,
                if rank == 0 { "rank " } else { "" },
                paper.left
            );
        }
        body
    }

    fn draw_bar(&self, paper: &Paper, delivery: &Delivery, row: u32) -> String {
        let Delivery { from, to, bytes, .. } = *delivery;
        let apart = paper.rows[from as usize];
        let high = (apart - 1.0).max(apart * 0.8);
        let y = paper.tops[from as usize] + 2.0 + f64::from(row) * apart;
        let (x, end) = (paper.x(delivery.start), paper.x(delivery.end));
        let wide = (end - x).max(0.5);
        // Where there is but one site, colours tell receivers apart.
        let number = match self.site_names.len() > 1 {
            true => self.sites.get(to as usize).copied().unwrap_or(0),
            false => to,
        };
        let mut body = format!(
            "<rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{wide:.2}\" height=\"{high:.2}\" \
             fill=\"{}\" stroke=\"#fff\" stroke-width=\"0.4\"><title>{from} to {to}: {bytes} B, \
             {:.3} to {:.3} µs</title></rect>",
            svg::colour(number),
            delivery.start * 1e6,
            delivery.end * 1e6
        );
        let label = to.to_string();
        if paper.has_letters(from as usize) && wide > svg::width_of(&label, LETTERS) + 2.0 {
            let _ = write!(
                body,
                "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"{LETTERS}\" fill=\"{}\" \
                 text-anchor=\"middle\" pointer-events=\"none\">{label}</text>",
                x + (wide / 2.0).min(14.0),
                y + 8.0,
                svg::ink_on(number)
            );
        }
        body + "\n"
    }
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

/// The links that are shown, with the part of each that is used in every bin; and how many more
/// there are.
struct Busiest {
    shown: Vec<(usize, Vec<f64>)>,
    more: usize,
}

fn mean(bins: &[f64]) -> f64 {
    bins.iter().sum::<f64>() / BINS as f64
}

fn busiest(recording: &Recording, resources: &[Resource], end: f64) -> Busiest {
    let uses = uses(recording, resources, end).into_iter().enumerate();
    let mut shown: Vec<(usize, Vec<f64>)> = uses.filter(|(_, bins)| mean(bins) > 0.0).collect();
    // By whole percents: what differs by less stays in the order of the platform.
    shown.sort_by_key(|(link, bins)| (-(mean(bins) * 100.0).round() as i64, *link));
    let more = shown.len().saturating_sub(LINKS);
    shown.truncate(LINKS);
    Busiest { shown, more }
}

/// A strip for each of the busiest links, the darker the fuller.
fn draw_links(paper: &Paper, top: f64, busiest: &Busiest, resources: &[Resource]) -> String {
    let more = match busiest.more {
        0 => String::new(),
        more => format!("; {more} more not shown"),
    };
    let mut body = format!(
        "<text x=\"{:.1}\" y=\"{:.1}\" fill=\"#555\">use of the busiest links, the darker the \
         fuller, and on average{more}</text>\n",
        paper.left,
        top - 6.0
    );
    let width = WIDTH / BINS as f64;
    for (row, (resource, bins)) in busiest.shown.iter().enumerate() {
        let y = top + row as f64 * LINE;
        let name = &resources[*resource].name;
        let _ = writeln!(
            body,
            "<text x=\"{:.1}\" y=\"{2:.1}\" text-anchor=\"end\" fill=\"#555\">{3}</text>\
             <text x=\"{:.1}\" y=\"{2:.1}\" fill=\"#555\">{4:.0} %</text>",
            paper.left - 8.0,
            paper.left + WIDTH + 8.0,
            y + LINE * 0.7,
            escaped(&svg::shorten(name, MOST_NAME, 11.0)),
            mean(bins) * 100.0
        );
        let mut bin = 0;
        while bin < BINS {
            let same = bins[bin..].iter().take_while(|&&other| other == bins[bin]).count();
            if bins[bin] > 0.0 {
                let _ = writeln!(
                    body,
                    "<rect x=\"{:.2}\" y=\"{:.2}\" width=\"{:.2}\" height=\"{}\" \
                     fill=\"#333\" fill-opacity=\"{:.3}\"/>",
                    paper.left + bin as f64 * width,
                    y + 2.0,
                    same as f64 * width,
                    LINE - 4.0,
                    bins[bin]
                );
            }
            bin += same;
        }
    }
    body
}

/// For each resource the part of its rate that is used in each bin of the time.
fn uses(recording: &Recording, resources: &[Resource], end: f64) -> Vec<Vec<f64>> {
    let mut uses = vec![vec![0.0; BINS]; resources.len()];
    let mut last: Vec<(f64, f64)> = vec![(0.0, 0.0); resources.len()];
    let ends = (0..resources.len()).map(|resource| (end, resource as ResourceId, 0.0));
    for (at, resource, rate) in recording.loads.iter().copied().chain(ends) {
        let (since, load) = std::mem::replace(&mut last[resource as usize], (at, rate));
        let part = (load / resources[resource as usize].rate).min(1.0);
        // In bins, and as parts of them.
        let (from, to) = (since / end * BINS as f64, (at / end).min(1.0) * BINS as f64);
        let (skipped, reached) = (from.floor() as usize, to.ceil() as usize);
        let bins = uses[resource as usize].iter_mut().enumerate();
        for (bin, used) in bins.take(reached).skip(skipped) {
            let covered = to.min(bin as f64 + 1.0) - from.max(bin as f64);
            *used += part * covered.max(0.0);
        }
    }
    // Rounding must not cut a strip into many pieces.
    uses.iter_mut().flatten().for_each(|part| *part = (*part * 1000.0).round() / 1000.0);
    uses
}

/// For each message its row within its sender's line, and for each rank how many rows it has.
fn rows(seen: &[Delivery], ranks: u32) -> (Vec<u32>, Vec<u32>) {
    let mut free: Vec<Vec<f64>> = vec![Vec::new(); ranks as usize];
    let mut order: Vec<usize> = (0..seen.len()).collect();
    order.sort_by(|&a, &b| seen[a].start.total_cmp(&seen[b].start).then(a.cmp(&b)));
    let mut placed = vec![0; seen.len()];
    for index in order {
        let (delivery, rows) = (&seen[index], &mut free[seen[index].from as usize]);
        let row = rows.iter().position(|&until| until <= delivery.start).unwrap_or(rows.len());
        if row == rows.len() {
            rows.push(0.0);
        }
        rows[row] = delivery.end;
        placed[index] = row as u32;
    }
    (placed, free.iter().map(|rows| rows.len() as u32).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(from: u32, to: u32, start: f64, end: f64) -> Delivery {
        Delivery { from, to, bytes: 8, start, end }
    }

    #[test]
    fn messages_that_overlap_stand_below_each_other() {
        let seen = [sent(0, 1, 0.0, 2.0), sent(0, 2, 1.0, 3.0), sent(0, 3, 2.0, 4.0)];
        assert_eq!(rows(&seen, 2), (vec![0, 1, 0], vec![2, 0]));
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
    }

    #[test]
    fn links_that_are_as_busy_keep_their_order() {
        let resources: Vec<Resource> = (0..3)
            .map(|n| {
                let congestion = Default::default();
                Resource { name: format!("n{n}"), rate: 1.0, shared: true, congestion }
            })
            .collect();
        let mut recording = Recording::default();
        recording.delivered(&sent(0, 1, 0.0, 1.0));
        for (at, link, rate) in [(0.0, 2, 0.5), (0.0, 0, 0.4999), (0.0, 1, 0.9)] {
            recording.loaded(at, link, rate);
        }
        let shown: Vec<usize> =
            busiest(&recording, &resources, 1.0).shown.iter().map(|(link, _)| *link).collect();
        assert_eq!(shown, [1, 0, 2]);
    }
}
