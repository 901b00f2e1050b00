//! Whatever the numbers are, there is an answer or none: no panic, and never "not a number".

use laneway_stats::distribution::{binomial_cdf, normal_quantile, t_cdf, t_quantile};
use laneway_stats::{
    Histogram, Interval, Line, SplitMix64, Summary, bootstrap, enough, hodges_lehmann,
    mann_whitney, mean_interval, median, median_interval, next_look, outliers, quantile,
    quantile_interval, ratio_interval, sorted, student_error, warm_up,
};

const ODD: [f64; 16] = [
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::MAX,
    f64::MIN,
    f64::MIN_POSITIVE,
    5e-324,
    -5e-324,
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    1e-200,
    1e200,
    1.0 + f64::EPSILON,
];

/// A list of 0 to 60 numbers out of a few odd ones, so that some lists have no bad number in them.
fn list(draws: &mut SplitMix64) -> Vec<f64> {
    let choice: Vec<f64> = (0..3).map(|_| ODD[draws.index(ODD.len())]).collect();
    (0..draws.index(61)).map(|_| choice[draws.index(choice.len())]).collect()
}

#[track_caller]
fn number(found: Option<f64>) {
    assert!(found.is_none_or(f64::is_finite), "{found:?}");
}

#[track_caller]
fn interval(found: Option<Interval>) {
    if let Some(found) = found {
        let finite = [found.low, found.high, found.level].iter().all(|x| x.is_finite());
        assert!(finite && found.low <= found.high, "{found:?}");
    }
}

#[test]
fn odd_samples() {
    let mut draws = SplitMix64::new(1);
    for _ in 0..3000 {
        let (samples, other) = (list(&mut draws), list(&mut draws));
        let ordered = sorted(&samples);
        let (share, level) = (ODD[draws.index(ODD.len())], [0.95, 0.5, 1.0][draws.index(3)]);
        if let Some(summary) = Summary::of(&samples) {
            number(Some(summary.mean));
            number(Some(summary.stddev));
            number(Some(summary.p99));
        }
        number(median(&samples));
        number(quantile(&ordered, share));
        number(student_error(&samples, share));
        number(student_error(&samples, 0.05));
        number(hodges_lehmann(&samples, &other));
        interval(median_interval(&ordered, level));
        interval(quantile_interval(&ordered, share, level));
        interval(mean_interval(&samples, level));
        interval(ratio_interval(&samples, &other, level));
        interval(enough(&samples, level, share, 1.0));
        interval(bootstrap(&samples, level, 50, 1, |x| x[0]));
        assert!(warm_up(&samples) <= samples.len() / 2);
        assert!(outliers(&ordered) <= samples.len());
        if let Some(test) = mann_whitney(&samples, &other) {
            assert!((0.0..=1.0).contains(&test.p_value) && (0.0..=1.0).contains(&test.p_slower));
        }
        let points: Vec<(f64, f64)> = samples.iter().copied().zip(other).collect();
        for line in [Line::fit(&points), Line::robust(&points)].into_iter().flatten() {
            number(Some(line.slope + line.intercept));
        }
        if let Some(histogram) = Histogram::of(&ordered, 20) {
            let inside: usize = histogram.counts.iter().sum();
            assert_eq!(inside + histogram.below + histogram.above, samples.len());
            (0..=histogram.counts.len()).for_each(|i| number(Some(histogram.edge(i))));
        }
    }
}

#[test]
fn odd_parameters() {
    for x in ODD {
        number(normal_quantile(x));
        for y in ODD.into_iter().chain([1e6, 1e9, 1e15]) {
            number(t_quantile(x, y));
            number(t_cdf(x, y));
        }
        for (k, n) in [(0, 0), (0, u64::MAX), (u64::MAX, 0), (5, 7), (1 << 40, 1 << 41)] {
            number(binomial_cdf(k, n, x));
        }
    }
    assert!(next_look(usize::MAX - 1) >= usize::MAX - 1);
}
