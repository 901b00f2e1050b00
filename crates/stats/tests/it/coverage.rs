//! How often the intervals hold the truth, over thousands of lists drawn from known distributions.

use std::f64::consts::TAU;

use laneway_stats::distribution::normal_quantile;
use laneway_stats::{
    SplitMix64, bootstrap, enough, mann_whitney, mean_interval, median, median_interval, next_look,
    quantile_interval, ratio_interval, sorted,
};

/// Distributions of times as they are met: one peak, a long tail, two peaks, a few huge values.
#[derive(Clone, Copy, Debug)]
enum Times {
    Normal,
    Skewed,
    TwoPeaks,
    Spiked,
}

const ALL: [Times; 4] = [Times::Normal, Times::Skewed, Times::TwoPeaks, Times::Spiked];

fn normal(draws: &mut SplitMix64) -> f64 {
    (-2.0 * draws.uniform().ln()).sqrt() * (TAU * draws.uniform()).cos()
}

impl Times {
    fn draw(self, draws: &mut SplitMix64) -> f64 {
        match self {
            Times::Normal => 100.0 + 10.0 * normal(draws),
            Times::Skewed => (0.5 * normal(draws)).exp() * 100.0,
            Times::TwoPeaks if draws.uniform() < 0.6 => 100.0 + 2.0 * normal(draws),
            Times::TwoPeaks => 130.0 + 2.0 * normal(draws),
            // The reciprocal of a uniform number has neither mean nor variance.
            Times::Spiked => 100.0 + 1.0 / draws.uniform(),
        }
    }

    fn quantile(self, q: f64) -> f64 {
        let z = |q: f64| normal_quantile(q).expect("a probability");
        match self {
            Times::Normal => 100.0 + 10.0 * z(q),
            Times::Skewed => (0.5 * z(q)).exp() * 100.0,
            // Fifteen deviations lie between the two peaks.
            Times::TwoPeaks if q < 0.6 => 100.0 + 2.0 * z(q / 0.6),
            Times::TwoPeaks => 130.0 + 2.0 * z((q - 0.6) / 0.4),
            Times::Spiked => 100.0 + 1.0 / (1.0 - q),
        }
    }

    fn list(self, count: usize, draws: &mut SplitMix64) -> Vec<f64> {
        (0..count).map(|_| self.draw(draws)).collect()
    }
}

/// The share of `trials` in which `one` holds the truth.
fn share(trials: usize, mut one: impl FnMut() -> bool) -> f64 {
    (0..trials).filter(|_| one()).count() as f64 / trials as f64
}

/// Four standard errors of a share near `level`: a wrong alarm once in 16,000 seeds.
fn slack(level: f64, trials: usize) -> f64 {
    4.0 * (level * (1.0 - level) / trials as f64).sqrt()
}

/// On both sides: the level that is stated is the level there is, not just a lower bound.
#[test]
fn quantile_intervals_cover_what_they_state() {
    const TRIALS: usize = 4000;
    let mut draws = SplitMix64::new(1);
    for times in ALL {
        for (count, q) in [(6, 0.5), (25, 0.5), (100, 0.5), (60, 0.9), (60, 0.2)] {
            let truth = times.quantile(q);
            let mut level = 0.0;
            let covered = share(TRIALS, || {
                let samples = sorted(&times.list(count, &mut draws));
                let found = quantile_interval(&samples, q, 0.95).expect("enough samples");
                level = found.level;
                found.holds(truth)
            });
            assert!((0.95..0.99).contains(&level), "{times:?} {count} {q}: {level}");
            let error = (covered - level).abs();
            assert!(error < slack(level, TRIALS), "{times:?} {count} {q}: {covered}, not {level}");
        }
    }
}

/// A coarse clock makes ties, which can only widen the coverage.
#[test]
fn ties_do_not_break_the_median_interval() {
    let mut draws = SplitMix64::new(2);
    let covered = share(4000, || {
        let samples: Vec<f64> =
            Times::Normal.list(30, &mut draws).iter().map(|x| (x / 5.0).round()).collect();
        median_interval(&sorted(&samples), 0.95).expect("enough samples").holds(20.0)
    });
    assert!(covered > 0.95, "{covered}");
}

#[test]
fn student_intervals_cover_normal_samples() {
    const TRIALS: usize = 4000;
    let mut draws = SplitMix64::new(3);
    for (count, level) in [(2, 0.95), (5, 0.8), (5, 0.95), (5, 0.99), (30, 0.95)] {
        let covered = share(TRIALS, || {
            let samples = Times::Normal.list(count, &mut draws);
            mean_interval(&samples, level).expect("two or more").holds(100.0)
        });
        let error = (covered - level).abs();
        assert!(error < slack(level, TRIALS), "{count} at {level}: {covered}");
    }
}

/// Samples until `stop` is content with them.
fn until<T>(
    times: Times,
    draws: &mut SplitMix64,
    next: fn(usize) -> usize,
    stop: impl Fn(&[f64]) -> Option<T>,
) -> T {
    let mut samples = Vec::new();
    loop {
        samples.extend(times.list(next(samples.len()) - samples.len(), draws));
        if let Some(answer) = stop(&samples) {
            return answer;
        }
    }
}

/// At least 0.95 over 30,000 lists each; fewer here, and so some room.
#[test]
fn sequential_stopping_keeps_the_coverage() {
    const TRIALS: usize = 3000;
    let mut draws = SplitMix64::new(4);
    for times in ALL {
        let truth = times.quantile(0.5);
        for precision in [0.1, 0.03] {
            let rule = |samples: &[f64]| enough(samples, 0.95, precision, 1.0);
            let covered = share(TRIALS, || until(times, &mut draws, next_look, rule).holds(truth));
            assert!(covered >= 0.94, "{times:?} at {precision}: {covered}");
        }
    }
}

/// Why the rule is as it is: the same interval, asked after every sample, stops by luck.
#[test]
fn looking_all_the_time_loses_coverage() {
    let mut draws = SplitMix64::new(8);
    let narrow = |samples: &[f64]| {
        let samples = sorted(samples);
        let found = median_interval(&samples, 0.95)?;
        (found.half_width() <= 0.03 * median(&samples)?).then_some(found)
    };
    let every = |count| count + 1;
    let covered = share(1000, || until(Times::Normal, &mut draws, every, narrow).holds(100.0));
    assert!((0.90..0.94).contains(&covered), "{covered}");
}

#[test]
fn ratios_of_medians_are_covered() {
    const TRIALS: usize = 3000;
    let mut draws = SplitMix64::new(5);
    for (old, new) in [
        (Times::Normal, Times::Normal),
        (Times::Skewed, Times::Normal),
        (Times::Skewed, Times::Skewed),
        (Times::Spiked, Times::Skewed),
        (Times::Normal, Times::TwoPeaks),
    ] {
        let truth = new.quantile(0.5) / old.quantile(0.5);
        for (few, many) in [(10, 10), (15, 40), (100, 100)] {
            let covered = share(TRIALS, || {
                let (old, new) = (old.list(few, &mut draws), new.list(many, &mut draws));
                ratio_interval(&old, &new, 0.95).expect("enough samples").holds(truth)
            });
            assert!(covered >= 0.95, "{old:?} {few} to {new:?} {many}: {covered}");
        }
    }
}

#[test]
fn the_bootstrap_covers_a_median_and_a_mean() {
    const TRIALS: usize = 400;
    let mut draws = SplitMix64::new(6);
    for (name, statistic, truth) in [
        ("median", (|x| median(x).expect("samples")) as fn(&[f64]) -> f64, 100.0),
        ("mean", |x| x.iter().sum::<f64>() / x.len() as f64, 100.0),
    ] {
        let covered = share(TRIALS, || {
            let samples = Times::Normal.list(60, &mut draws);
            let seed = draws.next_u64();
            bootstrap(&samples, 0.95, 400, seed, statistic).expect("samples").holds(truth)
        });
        assert!((0.95 - slack(0.95, TRIALS)..0.99).contains(&covered), "{name}: {covered}");
    }
}

/// Where nothing changed, a test at 5 % cries wolf in 5 % of the cases, and no more often.
#[test]
fn the_rank_test_keeps_its_level() {
    const TRIALS: usize = 4000;
    let mut draws = SplitMix64::new(7);
    for times in ALL {
        for (m, n) in [(8, 12), (60, 40)] {
            let (mut either, mut slower) = (0, 0);
            for _ in 0..TRIALS {
                let (old, new) = (times.list(m, &mut draws), times.list(n, &mut draws));
                let test = mann_whitney(&old, &new).expect("samples");
                either += usize::from(test.p_value <= 0.05);
                slower += usize::from(test.p_slower <= 0.05);
            }
            for alarms in [either, slower] {
                let share = alarms as f64 / TRIALS as f64;
                let range = 0.03..0.05 + slack(0.05, TRIALS);
                assert!(range.contains(&share), "{times:?} {m} {n}: {share}");
            }
        }
    }
}
