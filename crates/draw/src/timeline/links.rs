//! The strips of a timeline: how full the busiest links are over time.

use std::fmt::Write;

use laneway_sim::{Resource, ResourceId};

use super::{LINE, Paper, Recording, WIDTH};
use crate::svg::{self, escaped};

/// Names of links are cut beyond this.
pub const MOST_NAME: f64 = 220.0;
/// Links that are shown, the busiest first.
const LINKS: usize = 16;
/// Parts of the time for which a link's use is averaged.
const BINS: usize = 300;

/// The links that are shown, with the part of each that is used in every bin; and how many more
/// there are.
pub struct Busiest {
    pub shown: Vec<(usize, Vec<f64>)>,
    pub more: usize,
}

fn mean(bins: &[f64]) -> f64 {
    bins.iter().sum::<f64>() / BINS as f64
}

pub fn busiest(recording: &Recording, resources: &[Resource], end: f64) -> Busiest {
    let uses = uses(recording, resources, end).into_iter().enumerate();
    let used: Vec<(usize, Vec<f64>)> = uses.filter(|(_, bins)| mean(bins) > 0.0).collect();
    let all = used.len();
    // Those that round to 0 % are shown only where there is nothing else.
    let most = used.iter().map(|(_, bins)| mean(bins)).fold(0.0, f64::max);
    let is_visible = |(_, bins): &(usize, Vec<f64>)| mean(bins) >= 0.005 || most < 0.005;
    let mut shown: Vec<(usize, Vec<f64>)> = used.into_iter().filter(is_visible).collect();
    // By whole percents: what differs by less stays in the order of the platform.
    shown.sort_by_key(|(link, bins)| (-(mean(bins) * 100.0).round() as i64, *link));
    shown.truncate(LINKS);
    let more = all - shown.len();
    Busiest { shown, more }
}

/// A strip for each of the busiest links, the darker the fuller.
pub fn draw_links(paper: &Paper, top: f64, busiest: &Busiest, resources: &[Resource]) -> String {
    if busiest.shown.is_empty() {
        return String::new();
    }
    let more = match busiest.more {
        0 => String::new(),
        more => format!("; {more} more not shown"),
    };
    let mut body = format!(
        "<text x=\"{:.1}\" y=\"{:.1}\" fill=\"#555\">use of the busiest links, from white (0 % of \
         the capacity) to black (100 %), and on average{more}</text>\n",
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

#[cfg(test)]
mod tests {
    use super::*;
    use laneway_sim::{Delivery, Observer};

    #[test]
    fn links_that_are_as_busy_keep_their_order() {
        let resources: Vec<Resource> = (0..3)
            .map(|n| {
                let congestion = Default::default();
                Resource { name: format!("n{n}"), rate: 1.0, shared: true, congestion }
            })
            .collect();
        let mut recording = Recording::default();
        let (from, to, bytes) = (0, 1, 8);
        recording.delivered(&Delivery { from, to, bytes, start: 0.0, end: 1.0 });
        for (at, link, rate) in [(0.0, 2, 0.5), (0.0, 0, 0.4999), (0.0, 1, 0.9)] {
            recording.loaded(at, link, rate);
        }
        let shown: Vec<usize> =
            busiest(&recording, &resources, 1.0).shown.iter().map(|(link, _)| *link).collect();
        assert_eq!(shown, [1, 0, 2]);
    }
}
