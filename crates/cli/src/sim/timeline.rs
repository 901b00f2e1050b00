//! A simulated run as a picture: a line for each rank, a bar for each message it sends, coloured by
//! the site that it goes to; below, how full the busiest links are over time.

use std::fmt::Write;

use laneway_report::svg;
use laneway_sim::{Delivery, Observer, Resource, ResourceId};

const WIDTH: f64 = 900.0;
const LEFT: f64 = 110.0;
const TOP: f64 = 44.0;
const LINE: f64 = 18.0;
/// Links that are shown, the busiest first.
const LINKS: usize = 16;
/// Sites that the legend names.
const SITES: usize = 6;
/// Parts of the time for which a link's use is averaged.
const BINS: usize = 300;

/// Everything that the picture shows.
#[derive(Default)]
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

/// The picture. Messages of a rank that overlap in time share its line, thinner.
pub fn drawing(
    title: &str,
    ranks: u32,
    recording: &Recording,
    resources: &[Resource],
    (site_names, site): (&[String], impl Fn(u32) -> u32),
) -> String {
    let seen = &recording.seen;
    let end = seen.iter().map(|d| d.end).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    let x = |time: f64| LEFT + time / end * WIDTH;
    let mut body = format!(
        "<text x=\"{LEFT}\" y=\"20\" font-weight=\"bold\">{}</text>\n",
        svg::escaped(title)
    );
    for (number, name) in site_names.iter().take(SITES).enumerate().filter(|_| site_names.len() > 1)
    {
        let left = LEFT + WIDTH - 90.0 * (site_names.len().min(SITES) - number) as f64;
        let (colour, name) = (svg::colour(number as u32), svg::escaped(name));
        let _ = writeln!(
            body,
            "<rect x=\"{left}\" y=\"11\" width=\"10\" height=\"10\" fill=\"{colour}\"/>\
             <text x=\"{}\" y=\"20\" fill=\"#777\">to {name}</text>",
            left + 14.0
        );
    }
    for rank in 0..ranks {
        let y = TOP + f64::from(rank) * LINE;
        let _ = writeln!(
            body,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\" fill=\"#777\">{rank}</text>\
             <line x1=\"{LEFT}\" y1=\"{3}\" x2=\"{2}\" y2=\"{3}\" stroke=\"#eee\"/>",
            LEFT - 8.0,
            y + LINE * 0.7,
            LEFT + WIDTH,
            y + LINE
        );
    }
    for (delivery, (row, rows)) in seen.iter().zip(rows(seen, ranks)) {
        let room = (LINE - 4.0) / f64::from(rows);
        let y = TOP + f64::from(delivery.from) * LINE + 2.0 + f64::from(row) * room;
        let colour = svg::colour(site(delivery.to));
        let _ = writeln!(
            body,
            "<rect x=\"{:.2}\" y=\"{y:.2}\" width=\"{:.2}\" height=\"{:.2}\" fill=\"{colour}\" \
             stroke=\"#fff\" stroke-width=\"0.4\"><title>{} to {}: {} B, {:.3} to {:.3} us\
             </title></rect>",
            x(delivery.start),
            (x(delivery.end) - x(delivery.start)).max(0.5),
            room.max(0.4),
            delivery.from,
            delivery.to,
            delivery.bytes,
            delivery.start * 1e6,
            delivery.end * 1e6
        );
    }
    let links = TOP + f64::from(ranks) * LINE + 26.0;
    let bottom = links + strips(&mut body, links, end, recording, resources) + 18.0;
    let (unit, per_second) = if end < 0.01 { ("us", 1e6) } else { ("ms", 1e3) };
    for fifth in 0..=5 {
        let time = end * f64::from(fifth) / 5.0;
        let _ = writeln!(
            body,
            "<text x=\"{:.1}\" y=\"{bottom}\" text-anchor=\"middle\" fill=\"#777\">{:.1} {unit}\
             </text>",
            x(time),
            time * per_second
        );
    }
    svg::document(LEFT + WIDTH + 60.0, bottom + 22.0, &body)
}

/// A strip for each of the busiest links, the darker the fuller; how high they are together.
fn strips(
    body: &mut String,
    top: f64,
    end: f64,
    recording: &Recording,
    resources: &[Resource],
) -> f64 {
    let uses = uses(recording, resources, end);
    let mean = |bins: &[f64]| bins.iter().sum::<f64>() / BINS as f64;
    let mut busiest: Vec<usize> = (0..uses.len()).filter(|&r| mean(&uses[r]) > 0.0).collect();
    busiest.sort_by(|&a, &b| mean(&uses[b]).total_cmp(&mean(&uses[a])).then(a.cmp(&b)));
    let more = busiest.len().saturating_sub(LINKS);
    busiest.truncate(LINKS);
    let more = if more > 0 { format!("; {more} more are not shown") } else { String::new() };
    let _ = writeln!(
        body,
        "<text x=\"{LEFT}\" y=\"{}\" fill=\"#777\">use of the busiest links{more}</text>",
        top - 6.0
    );
    let width = WIDTH / BINS as f64;
    for (row, &resource) in busiest.iter().enumerate() {
        let (y, bins) = (top + row as f64 * LINE, &uses[resource]);
        let name = svg::escaped(&resources[resource].name);
        let _ = writeln!(
            body,
            "<text x=\"{}\" y=\"{2}\" text-anchor=\"end\" fill=\"#777\">{name}</text>\
             <text x=\"{}\" y=\"{2}\" fill=\"#777\">{3:.0} %</text>",
            LEFT - 8.0,
            LEFT + WIDTH + 8.0,
            y + LINE * 0.7,
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
                    LEFT + bin as f64 * width,
                    y + 2.0,
                    same as f64 * width,
                    LINE - 4.0,
                    bins[bin]
                );
            }
            bin += same;
        }
    }
    busiest.len() as f64 * LINE
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

/// For each message: its row within its sender's line, and how many rows that line has.
fn rows(seen: &[Delivery], ranks: u32) -> Vec<(u32, u32)> {
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
    let of = |index: usize| free[seen[index].from as usize].len() as u32;
    placed.iter().enumerate().map(|(index, &row)| (row, of(index))).collect()
}
