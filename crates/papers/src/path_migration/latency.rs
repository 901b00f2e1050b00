//! Figures 7 and 8: what messages there and back see of transitions, and of a fault.

use std::thread;
use std::time::{Duration, Instant};

use laneway_core::Observer;
use laneway_path::MigrationState;
use laneway_stats::{median, quantile, sorted};

use super::pairs::{MOST_BYTES, Pairs, micros};
use super::{Found, Medians, powers};
use crate::error::PaperError;
use crate::part::{Claim, brief};
use laneway_drill::Stage;

/// Messages of a repetition that nothing disturbs, and those before all that are not counted.
const UNDISTURBED: usize = 100;
const WARM_UP: usize = 50;
const REPETITIONS: usize = 11;
/// Bytes of figure 7.
const BYTES: usize = 128;
const SIZES: [usize; 6] = [1, 4, 16, 64, 256, MOST_BYTES];
/// How long a fault may take to be noticed.
const NOTICED: Duration = Duration::from_secs(10);
/// The end of the paper's axis.
const AXIS_US: f64 = 400.0;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Disturbance {
    Loading,
    Migration,
    Fault,
}

impl Disturbance {
    fn name(self) -> &'static str {
        match self {
            Disturbance::Loading => "Migrated-Armed, requested",
            Disturbance::Migration => "Armed-Migrated, requested",
            Disturbance::Fault => "network fault",
        }
    }
}

/// Repetitions of one disturbance.
#[derive(Default)]
struct Seen {
    /// Mean latency of the messages until the last event.
    means: Vec<f64>,
    /// How many these were, and how many of them and of as many as there are pairs after them took
    /// longer than 99 % of undisturbed ones.
    messages: Vec<f64>,
    affected: Vec<f64>,
}

fn trips(pairs: &mut Pairs, bytes: usize, count: usize) -> Result<Vec<f64>, PaperError> {
    (0..count).map(|_| pairs.trip(bytes)).collect()
}

/// Messages that nothing disturbs.
struct Usual {
    /// Of each repetition.
    means: Vec<f64>,
    /// 99 % of all took no longer.
    p99: f64,
}

fn undisturbed(pairs: &mut Pairs, bytes: usize) -> Result<Usual, PaperError> {
    let count = pairs.ids().len();
    trips(pairs, bytes, WARM_UP.max(count))?;
    let samples = trips(pairs, bytes, REPETITIONS * UNDISTURBED.max(count))?;
    let means = samples.chunks(samples.len() / REPETITIONS).map(mean).collect();
    let p99 = quantile(&sorted(&samples), 0.99).unwrap_or(f64::NAN);
    Ok(Usual { means, p99 })
}

fn mean(samples: &[f64]) -> f64 {
    samples.iter().sum::<f64>() / samples.len() as f64
}

/// The messages from a request until the last event of it.
fn request(pairs: &mut Pairs, bytes: usize, what: Disturbance) -> Result<Vec<f64>, PaperError> {
    let begun = Instant::now();
    let until = match what {
        Disturbance::Loading => {
            pairs.request_loading()?;
            MigrationState::Armed
        }
        _ => {
            pairs.request_migration()?;
            MigrationState::Migrated
        }
    };
    let call = micros(begun.elapsed());
    let mut samples = vec![call + pairs.trip(bytes)?];
    while !pairs.are(until) {
        samples.push(pairs.trip(bytes)?);
    }
    Ok(samples)
}

/// The messages from the one that met a fault until the last event of it; then it is repaired.
fn strike(pairs: &mut Pairs, stage: &Stage, bytes: usize) -> Result<Vec<f64>, PaperError> {
    let words = format!("carrier {}:eth{}", stage.sender(), pairs.primary()?.0);
    let samples = thread::scope(|scope| {
        let striker = scope.spawn(|| stage.fault(&words, true));
        let (begun, mut samples) = (Instant::now(), Vec::new());
        while !pairs.are(MigrationState::Migrated) {
            let took = pairs.trip(bytes)?;
            if pairs.count(MigrationState::Migrated) > 0 {
                samples.push(took);
            }
            if begun.elapsed() > NOTICED {
                let what = "the pairs did not leave a path without a carrier";
                let seconds = NOTICED.as_secs();
                return Err(PaperError::Stuck { what: what.into(), seconds });
            }
        }
        striker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        Ok(samples)
    })?;
    stage.fault(&words, false)?;
    Ok(samples)
}

/// Disturbs messages once, and adds what they saw. The pairs are in the state before it.
fn disturb(
    pairs: &mut Pairs,
    stage: &Stage,
    bytes: usize,
    what: Disturbance,
    usual: &Usual,
    seen: &mut Seen,
) -> Result<(), PaperError> {
    let samples = match what {
        Disturbance::Fault => strike(pairs, stage, bytes)?,
        _ => request(pairs, bytes, what)?,
    };
    let after = trips(pairs, bytes, pairs.ids().len())?;
    let affected = samples.iter().chain(&after).filter(|took| **took > usual.p99).count();
    seen.means.push(mean(&samples));
    seen.messages.push(samples.len() as f64);
    seen.affected.push(affected as f64);
    Ok(())
}

fn middle(samples: &[f64]) -> f64 {
    median(samples).unwrap_or(f64::NAN)
}

/// One pair that no module was called for.
fn original(stage: &Stage, bytes: usize) -> Result<Usual, PaperError> {
    undisturbed(&mut Pairs::open(stage, 1)?, bytes)
}

pub fn figure_7(stage: &Stage, most: usize, observer: &dyn Observer) -> Result<Found, PaperError> {
    let counts = powers(most);
    let alone = middle(&original(stage, BYTES)?.means);
    let (mut quiet, mut loading, mut migration) =
        (Medians::default(), Medians::default(), Medians::default());
    let mut last = [Seen::default(), Seen::default()];
    let what = "numbers of pairs, latency";
    for &count in laneway_core::Stage::new(observer, what, counts.len() as u64).over(&counts) {
        let mut pairs = Pairs::open(stage, count)?;
        let usual = undisturbed(&mut pairs, BYTES)?;
        let [mut armed, mut migrated] = [Seen::default(), Seen::default()];
        for _ in 0..REPETITIONS {
            disturb(&mut pairs, stage, BYTES, Disturbance::Loading, &usual, &mut armed)?;
            disturb(&mut pairs, stage, BYTES, Disturbance::Migration, &usual, &mut migrated)?;
        }
        quiet.add(count, &usual.means);
        loading.add(count, &armed.means);
        migration.add(count, &migrated.means);
        last = [armed, migrated];
    }
    let mut found = Found::default();
    found.claims.push(Claim::of("original: one pair, 128 B", "us", None, alone));
    let count = counts.last().copied().unwrap_or(1);
    let all = [Disturbance::Loading, Disturbance::Migration];
    for ((what, medians), seen) in all.into_iter().zip([&loading, &migration]).zip(&last) {
        let name = what.name();
        found.claims.extend([
            Claim::of(format!("{name}: mean latency, {count} pairs"), "us", None, medians.last()),
            Claim::ratio_of(format!("{name}: largest over smallest mean"), None, medians.range())
                .asked("at most 2: flat over the number of pairs", |ratio| ratio <= 2.0),
            Claim::ratio_of(
                format!("{name}: messages that it affects, {count} pairs"),
                Some(count as f64),
                middle(&seen.affected),
            ),
            Claim::ratio_of(
                format!("{name}: messages until the last event, {count} pairs"),
                None,
                middle(&seen.messages),
            ),
        ]);
    }
    found.remarks.push(format!(
        "The paper's card moves one pair after the other beside the messages, so that about as \
         many messages as there are pairs are slowed a little. Here a request for all pairs is \
         carried out at once by whoever sends the next message: {} of {count} messages are slowed \
         when paths are loaded and {} when they are changed, and the one that carries it \
         out pays for all of them.",
        brief(middle(&last[0].affected)),
        brief(middle(&last[1].affected)),
    ));
    found.curves = vec![
        quiet.curve("128 B", "undisturbed"),
        loading.curve("128 B", all[0].name()),
        migration.curve("128 B", all[1].name()),
    ];
    Ok(found)
}

pub fn figure_8(stage: &Stage, most: usize, observer: &dyn Observer) -> Result<Found, PaperError> {
    let all = [Disturbance::Loading, Disturbance::Migration, Disturbance::Fault];
    let (mut alone, mut medians) = (Medians::default(), all.map(|_| Medians::default()));
    let mut pairs = Pairs::open(stage, most)?;
    let what = "sizes of messages, latency";
    for bytes in laneway_core::Stage::new(observer, what, SIZES.len() as u64).over(SIZES) {
        alone.add(bytes, &original(stage, bytes)?.means);
        let usual = undisturbed(&mut pairs, bytes)?;
        let mut seen = all.map(|_| Seen::default());
        for _ in 0..REPETITIONS {
            for (what, seen) in all.into_iter().zip(&mut seen) {
                if what == Disturbance::Fault {
                    pairs.load()?;
                }
                disturb(&mut pairs, stage, bytes, what, &usual, seen)?;
            }
        }
        for (medians, seen) in medians.iter_mut().zip(&seen) {
            medians.add(bytes, &seen.means);
        }
    }
    let mut found = Found::default();
    let names = ["original"].into_iter().chain(all.map(Disturbance::name));
    for (name, medians) in names.zip([&alone].into_iter().chain(&medians)) {
        let figures: Vec<f64> = medians.points.iter().map(|point| point.1).collect();
        found.claims.extend([
            Claim::of(
                format!("{name}: mean latency, the paper's axis ends here"),
                "us",
                Some(AXIS_US),
                middle(&figures),
            ),
            Claim::ratio_of(format!("{name}: largest over smallest of all sizes"), None, {
                medians.range()
            })
            .asked("at most 2: constant in size", |ratio| ratio <= 2.0),
        ]);
        found.curves.push(medians.curve("latency", name));
    }
    found.remarks.push(format!(
        "A fault costs the message that it meets up to {} us: the device is asked every \
         millisecond while a message is under way, and all {most} pairs move at once, not each \
         when its turn comes.",
        brief(medians[2].points.iter().map(|point| point.1).fold(0.0, f64::max))
    ));
    Ok(found)
}
