//! Figures 5 and 6: how long all pairs take from one migration state to the next.

use laneway_stats::Line;

use super::pairs::Pairs;
use super::{Bench, Found, Medians, powers};
use crate::error::PaperError;
use crate::part::brief;
use crate::{Claim, Printed};

/// The most pairs of figure 5.
const FEW: usize = 32;
const PANEL: &str = "transitions";

/// Over numbers of pairs.
#[derive(Default)]
struct Times {
    armed: Medians,
    migrated: Medians,
    followed: Medians,
}

fn measure(bench: &Bench, counts: &[usize], found: &mut Found) -> Result<Times, PaperError> {
    let mut times = Times::default();
    bench.over("numbers of pairs that change state", counts, found, |count| {
        let mut pairs = Pairs::open(&bench.hosts, count)?;
        let (mut armed, mut migrated, mut followed) = (Vec::new(), Vec::new(), Vec::new());
        for repetition in 0..=bench.repetitions() {
            let (loading, [here, there]) = (pairs.load()?, pairs.migrate()?);
            // The first one finds cold caches and unknown neighbours.
            if repetition > 0 {
                armed.push(loading);
                migrated.push(here);
                followed.push(there);
            }
        }
        times.armed.add(count, &armed);
        times.migrated.add(count, &migrated);
        times.followed.add(count, &followed);
        Ok(())
    })?;
    Ok(times)
}

/// A straight line through the points: its slope, where it begins, and which part of their variance
/// it explains.
fn line(medians: &Medians) -> Option<(Line, f64)> {
    let points: Vec<(f64, f64)> =
        medians.points.iter().map(|(at, time)| (*at as f64, *time)).collect();
    let line = Line::fit(&points)?;
    let mean = points.iter().map(|point| point.1).sum::<f64>() / points.len() as f64;
    let total: f64 = points.iter().map(|point| (point.1 - mean).powi(2)).sum();
    let left: f64 = points.iter().map(|point| (point.1 - line.at(point.0)).powi(2)).sum();
    Some((line, 1.0 - left / total))
}

/// What the text says of one figure.
struct Said {
    /// Armed-Migrated over Migrated-Armed.
    ratio: Printed,
    middle: f64,
    words: &'static str,
    /// The ranges of known differences: the ratio's, and those of the growth of both transitions.
    known: [Known; 3],
}

/// The number of a reason, and its range.
type Known = (u8, f64, f64);

fn tell(times: &Times, said: &Said, found: &mut Found) {
    let all = [
        ("Migrated-Armed", &times.armed),
        ("Armed-Migrated", &times.migrated),
        ("Armed-Migrated, both ends", &times.followed),
    ];
    for (name, medians) in all {
        let (slope, start, fits) = line(medians).map_or((f64::NAN, f64::NAN, f64::NAN), |found| {
            (found.0.slope, found.0.intercept, found.1)
        });
        found.claims.extend([
            Claim::of(format!("{name}: time of all pairs"), "us", None, medians.last()),
            Claim::of(format!("{name}: for each pair more"), "us", None, slope),
            Claim::of(format!("{name}: where the line begins"), "us", None, start),
            Claim::ratio_of(format!("{name}: R2 of a straight line"), None, fits),
        ]);
        found.curves.push(medians.curve(PANEL, name));
    }
    let [ratio_known, growth @ ..] = said.known;
    for ((name, medians), (reason, low, high)) in all.into_iter().zip(growth) {
        let what = format!("{name}: time for a pair, most over an eighth of the pairs");
        let claim = Claim::ratio_of(what, Some(1.0), growth_of(medians));
        let claim = claim.printed(Printed::new(1.0, 1.0), "a linear trend");
        found.claims.push(claim.known(reason, low, high));
    }
    for (what, medians) in [("here", &times.migrated), ("at both ends", &times.followed)] {
        let ratio = medians.last() / times.armed.last();
        let what = format!("Armed-Migrated {what} over Migrated-Armed, all pairs");
        let claim = Claim::ratio_of(what, Some(said.middle), ratio);
        let (reason, low, high) = ratio_known;
        found.claims.push(match medians.points.is_empty() {
            true => claim,
            false => claim.printed(said.ratio, said.words).known(reason, low, high),
        });
    }
}

/// The time for a pair with the most pairs over that with an eighth of them: 1 where time grows as
/// their number.
fn growth_of(medians: &Medians) -> f64 {
    let Some((most, time)) = medians.points.last().copied() else { return f64::NAN };
    let few = medians.points.iter().find(|point| point.0 >= most.div_ceil(8));
    let (few, before) = few.copied().unwrap_or((most, time));
    (time / most as f64) / (before / few as f64)
}

pub fn figure_5(bench: &Bench) -> Result<Found, PaperError> {
    let mut counts: Vec<usize> = vec![1, 2, 4, 8, 12, 16, 20, 24, 28, FEW];
    counts.retain(|count| *count <= bench.most());
    let mut found = Found::default();
    let times = measure(bench, &counts, &mut found)?;
    let said = Said {
        ratio: Printed::new(1.30, 0.1),
        middle: 1.30,
        words: "around 30 % more time",
        known: [(1, 0.001, 1.25), (2, 0.05, 0.5), (2, 0.05, 10.0)],
    };
    tell(&times, &said, &mut found);
    found.remarks.push(format!(
        "Migrated-Armed takes {} us for one pair: a handshake with packets of full length in both \
         directions, twice, as the far end loads the path when it is asked. Armed-Migrated needs \
         no handshake here, so that the order is the other way round than in the paper, where both \
         are commands to a card.",
        brief(times.armed.points.first().map_or(f64::NAN, |point| point.1))
    ));
    Ok(found)
}

pub fn figure_6(bench: &Bench) -> Result<Found, PaperError> {
    let mut found = Found::default();
    let times = measure(bench, &powers(bench.most()), &mut found)?;
    let said = Said {
        ratio: Printed::new(1.16, 0.01),
        middle: 1.16,
        words: "around 16 %",
        known: [(1, 0.001, 1.25), (2, 0.05, 10.0), (2, 0.05, 10.0)],
    };
    tell(&times, &said, &mut found);
    found.remarks.push(format!(
        "A migration is {} here: it is a decision of one end, which informs the other one in a \
         packet; loading is a handshake with packets of full length in both directions, twice.",
        if times.followed.last() < times.armed.last() {
            "the cheaper one"
        } else {
            "the dearer one"
        }
    ));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_its_slope_and_its_fit() {
        let mut medians = Medians::default();
        for count in powers(64) {
            medians.add(count, &[20.0 + 3.0 * count as f64]);
        }
        let (line, fits) = line(&medians).expect("seven points");
        assert!((line.slope - 3.0).abs() < 1e-9 && (line.intercept - 20.0).abs() < 1e-9);
        assert!((fits - 1.0).abs() < 1e-9);
        assert_eq!(powers(5), [1, 2, 4]);
        let mut square = Medians::default();
        for count in powers(64) {
            square.add(count, &[(count * count) as f64]);
        }
        assert!(super::line(&square).expect("points").1 < 0.95);
        assert!((medians.range() - 212.0 / 23.0).abs() < 1e-9);
        // From 8 to 64: 212 / 64 over 44 / 8.
        assert!((growth_of(&medians) - 212.0 / 44.0 / 8.0).abs() < 1e-9);
        assert!((growth_of(&square) - 8.0).abs() < 1e-9, "it grows with the square");
        assert!(growth_of(&Medians::default()).is_nan());
    }
}
