//! How the end of a loading request is noticed: by taking events, or by asking every pair.

use std::time::{Duration, Instant};

use laneway_core::Observer;
use laneway_path::MigrationState;
use laneway_stats::median;

use super::Found;
use super::pairs::{Pairs, micros};
use crate::error::PaperError;
use crate::part::{Claim, brief};
use laneway_drill::Stage;

const REPETITIONS: usize = 11;

/// Microseconds of one request on all pairs: the whole, and what noticing took of it.
struct Seen {
    whole: Vec<f64>,
    noticing: Vec<f64>,
}

fn by(pairs: &mut Pairs, query: bool) -> Result<Seen, PaperError> {
    let mut seen = Seen { whole: Vec::new(), noticing: Vec::new() };
    for repetition in 0..=REPETITIONS {
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

pub fn part(stage: &Stage, most: usize, _observer: &dyn Observer) -> Result<Found, PaperError> {
    let mut pairs = Pairs::open(stage, most)?;
    let (events, queries) = (by(&mut pairs, false)?, by(&mut pairs, true)?);
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
    found.claims.push(Claim::ratio_of("noticing by queries over events", None, ratio));
    let verdict = match ratio {
        ratio if ratio > 1.25 => "dearer, as in the paper",
        ratio if ratio < 0.8 => "cheaper, other than in the paper",
        _ => "neither dearer nor cheaper, other than in the paper",
    };
    found.remarks.push(format!(
        "Noticing by query costs {} times as much as by event, with {most} pairs: {verdict}. Here \
         a query is no call into a driver but a look at memory; but each pair that is not armed is \
         asked again whenever something has arrived, and an event comes once.",
        brief(ratio)
    ));
    Ok(found)
}
