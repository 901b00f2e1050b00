//! Whether a choice may depend on what was not looked for when its platform was measured.

use laneway_core::Shape;

use crate::choose::{Candidate, Choice, Sites};

/// Another algorithm that takes less than this part of the time is another choice.
const FASTER: f64 = 0.97;
/// The work of a search on the platform that may be the real one.
const WORK: u64 = 500_000;
/// What is this many times slower than the choice is not looked at.
const NEAR: f64 = 3.0;

/// The words of the platform's `not-looked-for` that this choice may depend on: with a likely value
/// of what they stand for, another algorithm is faster.
pub fn doubts(sites: &Sites<'_>, shape: &Shape, choice: &Choice) -> Vec<String> {
    let words = sites.platform.not_looked_for().iter();
    words.filter(|word| is_in_doubt(sites, shape, choice, word)).cloned().collect()
}

fn is_in_doubt(sites: &Sites<'_>, shape: &Shape, choice: &Choice, word: &str) -> bool {
    let Some(platform) = sites.platform.supposing(word) else { return false };
    let Ok(supposed) = Sites::new(&platform, sites.hosts.clone()) else { return false };
    let time = |one: &Candidate| {
        let outcome = supposed.simulate(shape, one.algorithm, &one.params).ok()?;
        Some(outcome.finish)
    };
    let Some(chosen) = time(&choice.best) else { return false };
    let near = choice.all.iter().filter(|one| one.time < NEAR * choice.best.time);
    // Settings of several connections are not among those that were tried with one, and those that
    // suit other shares are seldom the best of their algorithm with equal ones.
    let other = match word {
        "connections" | "sharing" => {
            supposed.choose_with(shape, WORK).ok().map(|other| other.best.time)
        }
        _ => None,
    };
    near.filter_map(time).chain(other).any(|other| other < FASTER * chosen)
}
