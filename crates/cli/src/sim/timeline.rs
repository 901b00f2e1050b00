//! A simulated run as a picture: a line for each rank, a bar for each message it sends, coloured by
//! the site that it goes to.

use std::fmt::Write;

use laneway_report::svg;
use laneway_sim::schedule::Delivery;

const WIDTH: f64 = 900.0;
const LEFT: f64 = 60.0;
const TOP: f64 = 44.0;
const LINE: f64 = 18.0;

/// The picture. Messages of a rank that overlap in time share its line, thinner.
pub fn drawing(title: &str, ranks: u32, seen: &[Delivery], site: impl Fn(u32) -> u32) -> String {
    let end = seen.iter().map(|d| d.end).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    let height = TOP + f64::from(ranks) * LINE + 40.0;
    let x = |time: f64| LEFT + time / end * WIDTH;
    let mut body = format!(
        "<text x=\"{LEFT}\" y=\"20\" font-weight=\"bold\">{}</text>\n",
        svg::escaped(title)
    );
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
    let bottom = TOP + f64::from(ranks) * LINE + 18.0;
    for tenth in 0..=5 {
        let time = end * f64::from(tenth) / 5.0;
        let _ = writeln!(
            body,
            "<text x=\"{:.1}\" y=\"{bottom}\" text-anchor=\"middle\" fill=\"#777\">{:.1} us</text>",
            x(time),
            time * 1e6
        );
    }
    svg::document(LEFT + WIDTH + 40.0, height, &body)
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
