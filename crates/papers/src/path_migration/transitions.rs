//! Figures 5 and 6: how long all pairs take from one migration state to the next.

use laneway_core::Observer;
use laneway_stats::Line;

use super::pairs::Pairs;
use super::{Found, Medians, powers};
use crate::error::PaperError;
use crate::part::{Claim, brief};
use laneway_drill::Stage;

const REPETITIONS: usize = 11;
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

fn measure(stage: &Stage, counts: &[usize], observer: &dyn Observer) -> Result<Times, PaperError> {
    let mut times = Times::default();
    let what = "numbers of pairs that change state";
    for &count in laneway_core::Stage::new(observer, what, counts.len() as u64).over(counts) {
        let mut pairs = Pairs::open(stage, count)?;
        let (mut armed, mut migrated, mut followed) = (Vec::new(), Vec::new(), Vec::new());
        for repetition in 0..=REPETITIONS {
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
    }
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

fn tell(times: &Times, paper: f64, is_asked: bool) -> Found {
    let mut found = Found::default();
    let all = [
        ("Migrated-Armed", &times.armed),
        ("Armed-Migrated", &times.migrated),
        ("Armed-Migrated, both ends", &times.followed),
    ];
    for (name, medians) in all {
        let (slope, start, fits) = line(medians).map_or((f64::NAN, f64::NAN, f64::NAN), |found| {
            (found.0.slope, found.0.intercept, found.1)
        });
        let fits = Claim::ratio_of(format!("{name}: R2 of a straight line"), None, fits);
        found.claims.extend([
            Claim::of(format!("{name}: time of all pairs"), "us", None, medians.last()),
            Claim::of(format!("{name}: for each pair more"), "us", None, slope),
            Claim::of(format!("{name}: where the line begins"), "us", None, start),
            match is_asked {
                true => fits.asked("at least 0.95: linear", |fits| fits >= 0.95),
                false => fits,
            },
        ]);
        found.curves.push(medians.curve(PANEL, name));
    }
    for (what, medians) in [("here", &times.migrated), ("at both ends", &times.followed)] {
        let ratio = medians.last() / times.armed.last();
        let what = format!("Armed-Migrated {what} over Migrated-Armed, all pairs");
        found.claims.push(Claim::ratio_of(what, Some(paper), ratio));
    }
    found
}

pub fn figure_5(stage: &Stage, most: usize, observer: &dyn Observer) -> Result<Found, PaperError> {
    let mut counts: Vec<usize> = vec![1, 2, 4, 8, 12, 16, 20, 24, 28, FEW];
    counts.retain(|count| *count <= most);
    let times = measure(stage, &counts, observer)?;
    let mut found = tell(&times, 1.30, false);
    found.remarks.push(format!(
        "Migrated-Armed takes {} us even for one pair: the far end is not informed before, loads \
         the path when the first request arrives, and answers the next one, 2 ms later. \
         Armed-Migrated needs no handshake here, so that the order is the other way round than in \
         the paper, where both are commands to a card.",
        brief(times.armed.points.first().map_or(f64::NAN, |point| point.1))
    ));
    Ok(found)
}

pub fn figure_6(stage: &Stage, most: usize, observer: &dyn Observer) -> Result<Found, PaperError> {
    let times = measure(stage, &powers(most), observer)?;
    let mut found = tell(&times, 1.16, true);
    let each = |medians: &Medians, count: usize| {
        let at = medians.points.iter().find(|point| point.0 == count as u64);
        at.map_or(f64::NAN, |point| point.1 / count as f64)
    };
    let (few, many) = (most.div_ceil(8).next_power_of_two(), most.next_power_of_two());
    let many = if many > most { many / 2 } else { many };
    for (name, medians) in [("Migrated-Armed", &times.armed), ("Armed-Migrated", &times.migrated)] {
        let ratio = each(medians, many) / each(medians, few);
        let what = format!("{name}: time for a pair, {many} over {few} pairs");
        found.claims.push(Claim::ratio_of(what, None, ratio));
    }
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
    fn a_line_tells_its_slope_and_how_well_it_fits() {
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
    }
}
