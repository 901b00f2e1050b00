//! What must hold over all calls, and the rows where it does least.

use laneway_stats::{median, quantile, sorted};

use crate::case::{Case, Known, Row};

/// The rows that are shown.
const WORST: usize = 10;

/// A sentence, and whether it is as it should be.
type Claim = (String, bool);

/// A row with its seed.
type Seeded<'a> = (u64, &'a Row);

/// Prints the worst rows and the claims; whether all claims hold.
pub fn print(all: &[(u64, Case)]) -> bool {
    let mut claims = Vec::new();
    let failures = all.iter().flat_map(|(seed, case)| case.failures.iter().map(move |f| (seed, f)));
    let failures: Vec<_> = failures.collect();
    failures.iter().for_each(|(seed, why)| println!("seed {seed}: {why}"));
    claims.push((format!("{} calls without a choice", failures.len()), failures.is_empty()));
    for known in [Known::True, Known::Measured] {
        let rows: Vec<Seeded> = all
            .iter()
            .flat_map(|(seed, case)| case.rows.iter().map(|row| (*seed, row)))
            .filter(|(_, row)| row.known == known)
            .collect();
        if !rows.is_empty() {
            print_worst(known, &rows, all);
            print_by_operation(&rows);
            claims.extend(losses(known, &rows));
        }
    }
    for (claim, holds) in &claims {
        println!("{claim}: {}", if *holds { "ok" } else { "MISSED" });
    }
    claims.iter().all(|(_, holds)| *holds)
}

fn print_worst(known: Known, rows: &[Seeded], all: &[(u64, Case)]) {
    let mut rows = rows.to_vec();
    rows.sort_by(|one, other| other.1.loss().total_cmp(&one.1.loss()));
    println!("\nworst choices from the {} file", name(known));
    for (seed, row) in rows.iter().take(WORST) {
        let case = all.iter().find(|(one, _)| one == seed).map(|(_, case)| case);
        println!("{}", line(*seed, row));
        println!("  {}", case.map_or("", |case| &case.drawn.what));
    }
}

/// A row in words; with its seed it can be repeated.
pub fn line(seed: u64, row: &Row) -> String {
    let Row { call, ranks, chosen, time, predicted, best, best_time, bound, .. } = row;
    let ms = |seconds: f64| format!("{:.4} ms", seconds * 1e3);
    let bound = bound.map_or(String::new(), |bound| format!(", bound {}", ms(bound)));
    let flag = if row.flagged { ", flagged" } else { "" };
    format!(
        "seed {seed}: {:+.2} %{flag}: {} on {ranks} ranks: {chosen} {}, predicted {}, best {best} \
         {}{bound}, chosen in {:.2} s",
        100.0 * row.loss(),
        call.spelled(),
        ms(*time),
        ms(*predicted),
        ms(*best_time),
        row.choosing_seconds,
    )
}

fn print_by_operation(rows: &[Seeded]) {
    println!("operation        calls  loss > 3 %  median loss    worst  choosing, median    worst");
    for op in crate::draw::OPERATIONS {
        let of: Vec<&Row> =
            rows.iter().map(|(_, row)| *row).filter(|row| row.call.op == op).collect();
        if of.is_empty() {
            continue;
        }
        let losses = sorted(&of.iter().map(|row| row.loss()).collect::<Vec<f64>>());
        let seconds = sorted(&of.iter().map(|row| row.choosing_seconds).collect::<Vec<f64>>());
        println!(
            "{:15} {:6} {:11} {:10.2} % {:6.1} % {:15.3} s {:6.2} s",
            op.name(),
            of.len(),
            losses.iter().filter(|loss| **loss > 0.03).count(),
            100.0 * median(&losses).unwrap_or(f64::NAN),
            100.0 * losses.last().copied().unwrap_or(f64::NAN),
            median(&seconds).unwrap_or(f64::NAN),
            seconds.last().copied().unwrap_or(f64::NAN),
        );
    }
}

fn losses(known: Known, rows: &[Seeded]) -> Vec<Claim> {
    let (usual, part, most) = match known {
        Known::True => (0.03, 0.99, 0.15),
        Known::Measured => (0.05, 0.95, 0.30),
    };
    let losses: Vec<f64> =
        rows.iter().filter(|(_, row)| !row.flagged).map(|(_, row)| row.loss()).collect();
    let losses = sorted(&losses);
    let within = losses.iter().filter(|loss| **loss <= usual).count();
    let share = within as f64 / losses.len().max(1) as f64;
    let worst = quantile(&losses, 1.0).unwrap_or(f64::NAN);
    let name = name(known);
    vec![
        (
            format!(
                "{:.2} % of {} choices from the {name} file lose at most {:.0} % ({:.0} % asked)",
                100.0 * share,
                losses.len(),
                100.0 * usual,
                100.0 * part
            ),
            share >= part,
        ),
        (
            format!(
                "the worst choice from the {name} file loses {:.2} % ({:.0} % allowed)",
                100.0 * worst,
                100.0 * most
            ),
            worst <= most,
        ),
    ]
}

pub fn name(known: Known) -> &'static str {
    match known {
        Known::True => "true",
        Known::Measured => "measured",
    }
}
