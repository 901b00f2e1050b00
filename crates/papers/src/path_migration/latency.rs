//! Figures 7 and 8: what messages there and back see of transitions, and of a fault.

use std::thread;
use std::time::{Duration, Instant};

use laneway_path::MigrationState;
use laneway_stats::{median, quantile, sorted};

use super::hosts::Hosts;
use super::pairs::{MOST_BYTES, Pairs, micros};
use super::{Bench, Found, Medians, powers};
use crate::error::PaperError;
use crate::part::brief;
use crate::{Bound, Claim, Printed};

/// Messages of a repetition that nothing disturbs, and those before all that are not counted.
const UNDISTURBED: usize = 100;
const WARM_UP: usize = 50;
/// Bytes of figure 7.
const BYTES: usize = 128;
const SIZES: [usize; 6] = [1, 4, 16, 64, 256, MOST_BYTES];
/// How long a fault may take to be noticed.
const NOTICED: Duration = Duration::from_secs(10);
/// paper: path-migration, figure 8: the end of the axis, below which all its curves are.
const AXIS_US: f64 = 400.0;
/// "Flat", "constant", "the same": a ratio that rounds to 1.
const SAME: Printed = Printed::new(1.0, 1.0);

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
    /// longer than 99 % of undisturbed ones; less as many as do so among the next ones, as many,
    /// which nothing disturbs: other programs slow messages, too.
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

fn undisturbed(pairs: &mut Pairs, bytes: usize, repetitions: usize) -> Result<Usual, PaperError> {
    let count = pairs.ids().len();
    trips(pairs, bytes, WARM_UP.max(count))?;
    let samples = trips(pairs, bytes, repetitions * UNDISTURBED.max(count))?;
    let means = samples.chunks(samples.len() / repetitions).map(mean).collect();
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
fn strike(pairs: &mut Pairs, hosts: &Hosts, bytes: usize) -> Result<Vec<f64>, PaperError> {
    let path = pairs.primary()?;
    if hosts.informs() {
        let begun = Instant::now();
        pairs.on_carrier(path, false);
        let mut samples = vec![micros(begun.elapsed()) + pairs.trip(bytes)?];
        while !pairs.are(MigrationState::Migrated) {
            samples.push(pairs.trip(bytes)?);
            noticed(begun)?;
        }
        pairs.on_carrier(path, true);
        return Ok(samples);
    }
    let (samples, fault) = thread::scope(|scope| {
        let striker = scope.spawn(|| hosts.strike(path));
        let (begun, mut samples) = (Instant::now(), Vec::new());
        while !pairs.are(MigrationState::Migrated) {
            let took = pairs.trip(bytes)?;
            if pairs.count(MigrationState::Migrated) > 0 {
                samples.push(took);
            }
            noticed(begun)?;
        }
        let fault = striker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        Ok::<_, PaperError>((samples, fault))
    })?;
    hosts.repair(fault)?;
    Ok(samples)
}

/// Refuses to wait any longer for a fault to be noticed.
fn noticed(begun: Instant) -> Result<(), PaperError> {
    if begun.elapsed() <= NOTICED {
        return Ok(());
    }
    let what = "the pairs did not leave a path without a carrier".into();
    Err(PaperError::Stuck { what, seconds: NOTICED.as_secs() })
}

/// Disturbs messages once, and adds what they saw. The pairs are in the state before it.
fn disturb(
    pairs: &mut Pairs,
    hosts: &Hosts,
    bytes: usize,
    what: Disturbance,
    usual: &Usual,
    seen: &mut Seen,
) -> Result<(), PaperError> {
    let samples = match what {
        Disturbance::Fault => strike(pairs, hosts, bytes)?,
        _ => request(pairs, bytes, what)?,
    };
    let after = trips(pairs, bytes, pairs.ids().len())?;
    let control = trips(pairs, bytes, samples.len() + after.len())?;
    let slow = |trips: &[f64]| trips.iter().filter(|took| **took > usual.p99).count() as f64;
    seen.means.push(mean(&samples));
    seen.messages.push(samples.len() as f64);
    seen.affected.push((slow(&samples) + slow(&after) - slow(&control)).max(0.0));
    Ok(())
}

fn middle(samples: &[f64]) -> f64 {
    median(samples).unwrap_or(f64::NAN)
}

/// One pair that no module was called for.
fn original(bench: &Bench, bytes: usize) -> Result<Usual, PaperError> {
    undisturbed(&mut Pairs::open(&bench.hosts, 1)?, bytes, bench.repetitions())
}

pub fn figure_7(bench: &Bench) -> Result<Found, PaperError> {
    let counts = powers(bench.most());
    let mut found = Found::default();
    let (mut quiet, mut loading, mut migration) =
        (Medians::default(), Medians::default(), Medians::default());
    let mut last = [Seen::default(), Seen::default()];
    bench.over("numbers of pairs, latency", &counts, &mut found, |count| {
        let (hosts, repetitions) = (&bench.hosts, bench.repetitions());
        let mut pairs = Pairs::open(hosts, count)?;
        let usual = undisturbed(&mut pairs, BYTES, repetitions)?;
        let [mut armed, mut migrated] = [Seen::default(), Seen::default()];
        for _ in 0..repetitions {
            disturb(&mut pairs, hosts, BYTES, Disturbance::Loading, &usual, &mut armed)?;
            disturb(&mut pairs, hosts, BYTES, Disturbance::Migration, &usual, &mut migrated)?;
        }
        quiet.add(count, &usual.means);
        loading.add(count, &armed.means);
        migration.add(count, &migrated.means);
        last = [armed, migrated];
        Ok(())
    })?;
    let Some(count) = quiet.points.last().map(|point| point.0) else { return Ok(found) };
    let alone = quiet.points.first().map_or(f64::NAN, |point| point.1);
    found.claims.push(Claim::of("one pair, 128 B, undisturbed", "us", None, alone));
    let all = [Disturbance::Loading, Disturbance::Migration];
    for ((what, medians), seen) in all.into_iter().zip([&loading, &migration]).zip(&last) {
        let name = what.name();
        let affected = middle(&seen.affected);
        found.claims.extend([
            Claim::of(format!("{name}: mean latency, all pairs"), "us", None, medians.last()),
            Claim::ratio_of(
                format!("{name}: mean latency over the undisturbed, all pairs"),
                None,
                medians.last() / quiet.last(),
            )
            .above(1.0, "requests add significant overhead to the ongoing communication")
            .known(3, 0.1, 1.0),
            Claim::ratio_of(format!("{name}: largest over smallest mean"), None, medians.range())
                .printed(SAME, "almost a flat curve")
                .known(3, 1.5, 100.0),
            Claim::ratio_of(
                format!("{name}: messages that it affects, all pairs"),
                Some(count as f64),
                affected,
            ),
            Claim::ratio_of(
                format!("{name}: affected messages over pairs, all pairs"),
                Some(1.0),
                affected / count as f64,
            )
            .printed(Printed::new(1.0, 0.1), "very close to the number of QPs")
            .known(3, 0.0, 0.95),
            Claim::ratio_of(
                format!("{name}: messages until the last event, all pairs"),
                None,
                middle(&seen.messages),
            ),
        ]);
    }
    found.remarks.push(format!(
        "The paper's card moves one pair after the other beside the messages, so that about as \
         many messages as there are pairs are slowed a little. Here {} of {count} messages are \
         slowed when paths are loaded and {} when they are changed.",
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

pub fn figure_8(bench: &Bench) -> Result<Found, PaperError> {
    let all = [Disturbance::Loading, Disturbance::Migration, Disturbance::Fault];
    let (mut alone, mut medians) = (Medians::default(), all.map(|_| Medians::default()));
    let mut found = Found::default();
    let (hosts, repetitions) = (&bench.hosts, bench.repetitions());
    let mut pairs = None;
    bench.over("sizes of messages, latency", &SIZES, &mut found, |bytes| {
        alone.add(bytes, &original(bench, bytes)?.means);
        let pairs = match &mut pairs {
            Some(pairs) => pairs,
            none => none.insert(Pairs::open(hosts, bench.most())?),
        };
        let usual = undisturbed(pairs, bytes, repetitions)?;
        let mut seen = all.map(|_| Seen::default());
        for _ in 0..repetitions {
            for (what, seen) in all.into_iter().zip(&mut seen) {
                if what == Disturbance::Fault {
                    pairs.load()?;
                }
                disturb(pairs, hosts, bytes, what, &usual, seen)?;
            }
        }
        for (medians, seen) in medians.iter_mut().zip(&seen) {
            medians.add(bytes, &seen.means);
        }
        Ok(())
    })?;
    if alone.points.is_empty() {
        return Ok(found);
    }
    let names = ["original"].into_iter().chain(all.map(Disturbance::name));
    for (name, medians) in names.zip([&alone].into_iter().chain(&medians)) {
        let figures: Vec<f64> = medians.points.iter().map(|point| point.1).collect();
        let claim = Claim::of(format!("{name}: mean latency"), "us", None, middle(&figures))
            .asked(Bound::AtMost(AXIS_US), "the paper's axis ends there");
        found.claims.push(match name {
            "network fault" => claim.known(6, AXIS_US, 100_000.0),
            _ => claim.known(3, AXIS_US, 10_000.0),
        });
        let what = format!("{name}: largest over smallest of all sizes");
        let claim = Claim::own_ratio(what, medians.range());
        found.claims.push(match name {
            "original" => claim,
            _ => claim
                .printed(SAME, "the overhead is almost the same with increasing message size")
                .known(4, 1.5, 100.0),
        });
        found.curves.push(medians.curve("latency", name));
    }
    found.remarks.push(format!(
        "A fault costs the message that it meets up to {} us: a device is asked every millisecond \
         while a message is under way, and all {} pairs move at once, not each when its turn \
         comes.",
        brief(medians[2].points.iter().map(|point| point.1).fold(0.0, f64::max)),
        bench.most(),
    ));
    Ok(found)
}
