//! How the end of a loading request is noticed: by taking events, or by asking every pair.

use std::time::{Duration, Instant};

use laneway_path::MigrationState;
use laneway_stats::median;

use super::pairs::{Pairs, micros};
use super::{Bench, Found};
use crate::Claim;
use crate::error::PaperError;
use crate::part::brief;

/// Microseconds of one request on all pairs: the whole, and what noticing took of it.
struct Seen {
    whole: Vec<f64>,
    noticing: Vec<f64>,
}

fn by(pairs: &mut Pairs, repetitions: usize, query: bool) -> Result<Seen, PaperError> {
    let mut seen = Seen { whole: Vec::new(), noticing: Vec::new() };
    for repetition in 0..=repetitions {
        let (begun, mut noticing) = (Instant::now(), Duration::ZERO);
        let mut pending = pairs.ids().to_vec();
        pairs.request_loading()?;
        while !(pending.is_empty() || !query && pairs.are(MigrationState::Armed)) {
            pairs.go_on();
            let asked = Instant::now();
            if query {
                pairs.query(&mut pending);
                noticing += asked.elapsed();
            }
            // They must be taken in any case, or the next rest ends at once.
            pairs.take_events()?;
            if !query {
                noticing += asked.elapsed();
            }
        }
        if repetition > 0 {
            seen.whole.push(micros(begun.elapsed()));
            seen.noticing.push(micros(noticing));
        }
        pairs.until(MigrationState::Armed)?;
        pairs.migrate()?;
    }
    Ok(seen)
}

pub fn part(bench: &Bench) -> Result<Found, PaperError> {
    let (most, repetitions) = (bench.most(), bench.repetitions());
    if bench.request.is_over() {
        let missing = vec!["events and queries (the budget is spent)".to_owned()];
        return Ok(Found { missing, ..Found::default() });
    }
    let mut pairs = Pairs::open(&bench.hosts, most)?;
    let [events, queries] = [false, true].map(|query| by(&mut pairs, repetitions, query));
    let (events, queries) = (events?, queries?);
    let middle = |samples: &[f64]| median(samples).unwrap_or(f64::NAN);
    let each = |samples: &[f64]| 1e3 * middle(samples) / most as f64;
    let mut found = Found::default();
    for (name, seen) in [("events", &events), ("queries", &queries)] {
        found.claims.extend([
            Claim::of(format!("by {name}: the whole request"), "us", None, middle(&seen.whole)),
            Claim::of(format!("by {name}: noticing, a pair"), "ns", None, each(&seen.noticing)),
        ]);
    }
    let ratio = middle(&queries.noticing) / middle(&events.noticing);
    let claim = Claim::ratio_of("noticing by queries over events", None, ratio);
    let claim = claim.above(1.0, "the cost of querying is higher than that of the notification");
    found.claims.push(claim.known(5, 0.2, 1.0));
    let verdict = match ratio {
        ratio if ratio > 1.25 => "dearer, as in the paper",
        ratio if ratio < 0.8 => "cheaper, other than in the paper",
        _ => "neither dearer nor cheaper, other than in the paper",
    };
    found.remarks.push(format!(
        "Noticing by query costs {} times as much as by event, with {most} pairs: {verdict}. Here \
         a query is not a call into a driver but a look at memory; but each pair that is not armed \
         is asked again whenever something has arrived, and an event comes once.",
        brief(ratio)
    ));
    Ok(found)
}
