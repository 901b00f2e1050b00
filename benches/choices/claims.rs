//! What must hold over all calls, and the rows where it does least.

use laneway_stats::{median, quantile, sorted};

use crate::case::{Case, Known, Row};
use crate::draw::OPERATIONS;

/// The rows that are shown.
const WORST: usize = 10;
/// Bounds of two programs agree so far.
const AGREE: f64 = 3e-4;
/// A simulated time is rounded; a bound is above it by more.
const ROUNDING: f64 = 1e-6;
/// A choice that loses more was flagged rightly.
pub const LOSES: f64 = 0.03;

/// A sentence, and whether it is as it should be.
type Claim = (String, bool);

/// A row with its platform.
#[derive(Clone, Copy)]
struct Placed<'a> {
    case: &'a Case,
    row: &'a Row,
}

/// Prints the worst rows and the claims; whether all claims hold.
pub fn print(all: &[Case]) -> bool {
    let failures = || all.iter().flat_map(|case| case.failures.iter().map(move |why| (case, why)));
    for (case, why) in failures() {
        println!("{}: {why}", case.name);
    }
    for case in all {
        case.refusals.iter().for_each(|why| println!("{}: rightly {why}", case.name));
    }
    let count = failures().count();
    let mut claims = vec![(format!("{count} calls or files without a result"), count == 0)];
    let rows = || all.iter().flat_map(|case| case.rows.iter().map(move |row| Placed { case, row }));
    for known in [Known::True, Known::Measured] {
        let rows: Vec<Placed> = rows().filter(|placed| placed.row.known == known).collect();
        if rows.is_empty() {
            continue;
        }
        print_worst(known, &rows);
        print_by_operation(&rows);
        claims.extend(losses(known, &rows));
        if known == Known::Measured {
            claims.extend(predictions(&rows));
            claims.extend(flags(&rows));
        }
    }
    let rows: Vec<Placed> = rows().filter(|placed| placed.row.known == Known::True).collect();
    claims.extend(bounds(&rows));
    claims.extend(by_simgrid(all));
    println!();
    for (claim, holds) in &claims {
        println!("{claim}: {}", if *holds { "ok" } else { "MISSED" });
    }
    claims.iter().all(|(_, holds)| *holds)
}

fn print_worst(known: Known, rows: &[Placed]) {
    let mut rows = rows.to_vec();
    rows.sort_by(|one, other| other.row.loss().total_cmp(&one.row.loss()));
    println!("\nworst choices from the {} file", name(known));
    for Placed { case, row } in rows.iter().take(WORST) {
        println!("{}\n  {}", line(case, row), case.drawn.what);
    }
}

/// A row in words; with its seed it can be repeated.
pub fn line(case: &Case, row: &Row) -> String {
    let Row { call, ranks, chosen, time, predicted, best, best_time, bounds, .. } = row;
    let ms = |seconds: f64| format!("{:.4} ms", seconds * 1e3);
    let mut text = format!(
        "{}: {:+.2} %{}, {} file: {} on {ranks} ranks: {chosen} {}, predicted {}, best {best} {}",
        case.name,
        100.0 * row.loss(),
        if row.flagged { ", flagged" } else { "" },
        name(row.known),
        call.spelled(),
        ms(*time),
        ms(*predicted),
        ms(*best_time),
    );
    if let Some(bound) = bounds.library {
        text += &format!(", bound {}", ms(bound));
    }
    if let (Some(own), Some(two)) = (bounds.own, bounds.own_two_sites) {
        text += &format!(", own bound {}, without relays {}", ms(own.time), ms(two.time));
    }
    if let Some(simgrid) = &row.by_simgrid {
        let (time, best) = (ms(simgrid.time), ms(simgrid.best_time));
        text += &format!(", SimGrid {time}, its best {} {best}", simgrid.best);
    }
    text + &format!(", chosen in {:.2} s", row.choosing_seconds)
}

fn print_by_operation(rows: &[Placed]) {
    println!("operation        calls  loss > 3 %  median loss    worst  choosing, median    worst");
    for op in OPERATIONS {
        let of: Vec<&Row> =
            rows.iter().map(|placed| placed.row).filter(|row| row.call.op == op).collect();
        if of.is_empty() {
            continue;
        }
        let losses = ordered(of.iter().map(|row| row.loss()));
        let seconds = ordered(of.iter().map(|row| row.choosing_seconds));
        println!(
            "{:15} {:6} {:11} {:10.2} % {:6.1} % {:15.3} s {:6.2} s",
            op.name(),
            of.len(),
            losses.iter().filter(|loss| **loss > LOSES).count(),
            100.0 * median(&losses).unwrap_or(f64::NAN),
            100.0 * losses.last().copied().unwrap_or(f64::NAN),
            median(&seconds).unwrap_or(f64::NAN),
            seconds.last().copied().unwrap_or(f64::NAN),
        );
    }
}

fn ordered(values: impl Iterator<Item = f64>) -> Vec<f64> {
    sorted(&values.collect::<Vec<f64>>())
}

fn losses(known: Known, rows: &[Placed]) -> Vec<Claim> {
    let unflagged = rows.iter().filter(|placed| !placed.row.flagged);
    let losses = ordered(unflagged.map(|placed| placed.row.loss()));
    within(&format!("choices from the {} file", name(known)), &losses, limits(known))
}

/// The loss that most calls have at most, how many that are, and the most of all.
#[derive(Clone, Copy)]
struct Limits {
    usual: f64,
    part: f64,
    most: f64,
}

fn limits(known: Known) -> Limits {
    match known {
        Known::True => Limits { usual: 0.03, part: 0.99, most: 0.15 },
        Known::Measured => Limits { usual: 0.05, part: 0.95, most: 0.30 },
    }
}

fn within(what: &str, losses: &[f64], limits: Limits) -> Vec<Claim> {
    let Limits { usual, part, most } = limits;
    let count = losses.len();
    if count == 0 {
        return Vec::new();
    }
    let share = losses.iter().filter(|loss| **loss <= usual).count() as f64 / count as f64;
    let worst = losses.last().copied().unwrap_or(f64::NAN);
    let (share_percent, usual, asked) = (100.0 * share, 100.0 * usual, 100.0 * part);
    let first = format!(
        "{share_percent:.2} % of {count} {what} lose at most {usual:.0} % ({asked:.0} % asked)"
    );
    let second =
        format!("the worst of {what} loses {:.2} % ({:.0} % allowed)", 100.0 * worst, 100.0 * most);
    vec![(first, share >= part), (second, worst <= most)]
}

fn predictions(rows: &[Placed]) -> Vec<Claim> {
    let unflagged = rows.iter().filter(|placed| !placed.row.flagged);
    let errors = ordered(unflagged.map(|placed| placed.row.error()));
    let claim = |what: &str, part: f64, most: f64| {
        let error = quantile(&errors, part).unwrap_or(f64::NAN);
        let text = format!(
            "predictions from the measured file are off by {:.2} % ({what}; {:.0} % allowed)",
            100.0 * error,
            100.0 * most
        );
        (text, error <= most || errors.is_empty())
    };
    vec![claim("median", 0.5, 0.05), claim("95th percentile", 0.95, 0.15)]
}

fn flags(rows: &[Placed]) -> Vec<Claim> {
    let flagged: Vec<&Placed> = rows.iter().filter(|placed| placed.row.flagged).collect();
    let lose = flagged.iter().filter(|placed| placed.row.loss() > LOSES).count();
    let share = flagged.len() as f64 / rows.len() as f64;
    vec![
        (format!("{:.1} % of calls are flagged (10 % allowed)", 100.0 * share), share <= 0.1),
        (
            format!("{lose} of {} flagged choices lose more than 3 % (half asked)", flagged.len()),
            2 * lose >= flagged.len(),
        ),
    ]
}

/// The library's bound against that of the benchmark's own program, and both against times.
fn bounds(rows: &[Placed]) -> Vec<Claim> {
    let (mut compared, mut apart, mut above, mut without) = (0, 0, 0, 0);
    let (mut relays, mut three) = (0, 0);
    let mut worst: f64 = 0.0;
    for Placed { case, row } in rows {
        let Some(own) = row.bounds.own else { continue };
        let fastest = row.best_time * (1.0 + ROUNDING);
        if own.time.max(row.bounds.library.unwrap_or(0.0)) > fastest {
            above += 1;
            println!("a bound is above a simulated time: {}", line(case, row));
        }
        if case.drawn.wires.sites.len() > 2 {
            three += 1;
            let two = row.bounds.own_two_sites.map_or(own.time, |two| two.time);
            relays += usize::from(own.time < 0.95 * two);
        }
        match row.bounds.library {
            None => without += 1,
            Some(_) if !own.is_exact => {}
            Some(library) => {
                compared += 1;
                let off = (library / own.time - 1.0).abs();
                worst = worst.max(off);
                if off > AGREE {
                    apart += 1;
                    println!("bounds differ: {}", line(case, row));
                }
            }
        }
    }
    if compared + without == 0 {
        return Vec::new();
    }
    println!(
        "relays at third sites lower the bound by more than 5 % for {relays} of {three} calls on \
         three sites or more"
    );
    vec![
        (
            format!(
                "{apart} of {compared} bounds differ by more than 3e-4, the worst by {worst:.1e}"
            ),
            apart == 0,
        ),
        (format!("{above} bounds are above a simulated time"), above == 0),
        (format!("{without} scatters and gathers have no bound"), without == 0),
    ]
}

fn by_simgrid(all: &[Case]) -> Vec<Claim> {
    let mut claims = Vec::new();
    for known in [Known::True, Known::Measured] {
        let rows = || {
            let rows = all.iter().flat_map(|case| &case.rows);
            rows.filter(move |row| row.known == known && !row.flagged)
        };
        let losses = ordered(rows().filter_map(|row| Some(row.by_simgrid.as_ref()?.loss())));
        let what = format!("choices from the {} file, judged by SimGrid,", name(known));
        claims.extend(within(&what, &losses, limits(known)));
        if known == Known::True {
            let apart = rows().filter_map(|row| Some(row.time / row.by_simgrid.as_ref()?.time));
            let apart = ordered(apart.map(|ratio| (ratio - 1.0).abs()));
            let at = |part: f64| 100.0 * quantile(&apart, part).unwrap_or(f64::NAN);
            if !apart.is_empty() {
                println!(
                    "times of {} choices differ from SimGrid's by {:.4} % (median), {:.2} % (95th \
                     percentile), {:.2} % (worst)",
                    apart.len(),
                    at(0.5),
                    at(0.95),
                    at(1.0)
                );
            }
        }
    }
    claims
}

pub fn name(known: Known) -> &'static str {
    match known {
        Known::True => "true",
        Known::Measured => "measured",
    }
}
