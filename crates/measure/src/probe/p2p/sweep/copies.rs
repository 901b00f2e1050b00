//! Copies within this process, the layer under all others.

use std::time::Instant;

use super::super::disjoint::Estimate;
use super::super::pattern::Pattern;
use super::error::Refusal;
use super::experiment::Experiment;
use super::figure::Figure;
use super::notes::Samples;
use super::options::PatternSweep;
use super::run::Figures;
use crate::cache::memcpy;

/// The time and bandwidth of copying each size of a sweep but 0, which takes no time.
pub fn copies(sweep: &PatternSweep) -> Result<Figures, Refusal> {
    let begun = Instant::now();
    let now = || begun.elapsed().as_secs_f64();
    // Many copies make a sample, so that no clock is too coarse.
    let mut figures = Figures::new(sweep, 0.0);
    for (place, &experiment) in sweep.experiments.iter().enumerate() {
        let Experiment::Pattern(pattern @ (Pattern::Latency | Pattern::Bandwidth)) = experiment
        else {
            return Err(Refusal::NoCopyOf { name: experiment.name() });
        };
        for &size in sweep.sizes.iter().filter(|&&size| size > 0) {
            let samples = memcpy(size as usize, sweep.cache, &sweep.rule, &now);
            let estimate = Estimate::of(&sweep.rule, &samples);
            let figure = Figure::new(pattern, &[0], size as usize, 1, estimate);
            let samples = Samples::of(&sweep.rule, sweep.keep, &samples);
            figures.add(place, vec![figure.with_samples(samples)]);
        }
    }
    Ok(figures)
}
