//! Published and certified values: the data sets of NIST, tables of quantiles, worked examples.

mod nist;

use laneway_stats::distribution::{binomial_cdf, normal_cdf, normal_quantile, t_cdf, t_quantile};
use laneway_stats::{Line, Summary, hodges_lehmann, mann_whitney, median, quantile, sorted};

#[track_caller]
fn near(found: f64, expected: f64, relative: f64) {
    let error = (found - expected).abs();
    assert!(error <= relative * expected.abs(), "{found:e} is not {expected:e}");
}

/// NIST's NumAcc2 to NumAcc4: 0.1 above and below a value, five hundred times.
fn alternating(around: [f64; 3]) -> Vec<f64> {
    let [middle, below, above] = around;
    let mut samples = vec![middle];
    (0..500).for_each(|_| samples.extend([below, above]));
    samples
}

/// The certified means and standard deviations, to the digits that the samples themselves hold as
/// floating-point numbers.
#[test]
fn certified_summaries() {
    let acc2 = alternating([1.2, 1.1, 1.3]);
    let acc3 = alternating([1_000_000.2, 1_000_000.1, 1_000_000.3]);
    let acc4 = alternating([10_000_000.2, 10_000_000.1, 10_000_000.3]);
    let cases: [(&[f64], f64, f64, f64); 8] = [
        (&nist::LEW, -177.435, 277.332168044316, 1e-14),
        (&nist::LOTTERY, 518.95871559633, 291.699727470969, 1e-14),
        (&nist::MAVRO, 2.001856, 0.000429123454003053, 1e-12),
        (&nist::MICHELSO, 299.8524, 0.0790105478190518, 1e-12),
        (&[10_000_001.0, 10_000_003.0, 10_000_002.0], 10_000_002.0, 1.0, 0.0),
        (&acc2, 1.2, 0.1, 1e-14),
        (&acc3, 1_000_000.2, 0.1, 1e-9),
        (&acc4, 10_000_000.2, 0.1, 1e-8),
    ];
    for (samples, mean, stddev, relative) in cases {
        let found = Summary::of(samples).expect("finite samples");
        near(found.mean, mean, 1e-14);
        near(found.stddev, stddev, relative);
    }
}

#[test]
fn certified_line() {
    let line = Line::fit(&nist::NORRIS).expect("a line");
    near(line.slope, 1.00211681802045, 1e-13);
    near(line.intercept, -0.262323073774029, 1e-11);
    near(line.residual_stddev, 0.884796396144373, 1e-12);
    near(line.slope_stderr, 0.000429796848199937, 1e-12);
}

/// As `theilslopes` of scipy gives with both medians.
#[test]
fn robust_line() {
    let line = Line::robust(&nist::NORRIS).expect("a line");
    near(line.slope, 1.0021968365553604, 1e-13);
    near(line.intercept, -0.3010984182776848, 1e-11);
}

/// As `quantile` of R and numpy gives.
#[test]
fn quantiles_of_type_seven() {
    let ys: Vec<f64> = nist::NORRIS.iter().map(|point| point.1).collect();
    let sorted = sorted(&ys);
    for (q, value) in [(0.1, 0.3), (0.25, 90.9), (0.5, 394.1), (0.9, 888.4), (0.99, 998.5)] {
        near(quantile(&sorted, q).expect("samples"), value, 1e-14);
    }
    near(median(&ys).expect("samples"), 394.1, 1e-14);
}

/// Solved with forty digits for these very floating-point probabilities.
#[test]
fn quantiles_of_student() {
    for (p, df, t) in [
        (0.975, 9.0, 2.262157162798205),
        (0.995, 3.0, 5.840909309733355),
        (0.975, 1.0, 12.706204736174692),
        (0.95, 2.0, 2.9199855803537242),
        (0.75, 5.0, 0.7266868438004227),
        (0.6, 4.0, 0.27072229470759734),
        (0.9, 30.0, 1.3104150253913958),
        (0.975, 30.0, 2.0422724563012378),
        (0.99, 100.0, 2.3642173662384818),
        (0.999, 1000.0, 3.0984021639129224),
        (0.975, 1000000.0, 1.9599663568141068),
        (0.999999999, 1.0, 318309895.1862093),
        (0.999999999, 2.0, 22360.68005765849),
        (0.999999999, 10.0, 20.144697824931782),
        (0.999999999, 1000.0, 6.0536902768005225),
        (0.999999999, 1000000.0, 5.9978624603049715),
        (0.500001, 7.0, 2.59746027572368e-06),
        (0.51, 1000000.0, 0.02506891452987755),
        (0.995, 100000.0, 2.575878469908375),
        (0.9, 1.5, 2.196398417565538),
    ] {
        near(t_quantile(p, df).expect("an answer"), t, 1e-12);
        near(t_quantile(1.0 - p, df).expect("an answer"), -t, 1e-6);
        near(t_cdf(t, df).expect("an answer"), p, 1e-14);
    }
    assert_eq!(t_quantile(0.5, 3.0), Some(0.0));
    for (p, df) in [(0.0, 3.0), (1.0, 3.0), (f64::NAN, 3.0), (0.9, 0.0), (0.9, f64::NAN)] {
        assert_eq!(t_quantile(p, df), None);
    }
}

/// Over the whole range that is promised, there and back.
#[test]
fn student_there_and_back() {
    for df in [1.0, 1.7, 3.0, 17.0, 300.0, 5e3, 1e5, 1e6] {
        for tail in [0.4999, 0.3, 0.2501, 0.2499, 0.1, 1e-2, 1e-4, 1e-7, 1e-9, 1e-15, 1e-100] {
            let Some(t) = t_quantile(tail, df) else { panic!("no quantile of {tail} at {df}") };
            near(t_cdf(t, df).expect("an answer"), tail, 1e-10);
        }
    }
}

#[test]
fn probabilities_of_student() {
    for (t, df, p) in [
        (2.0, 5.0, 0.9490302605850708),
        (-2.0, 5.0, 0.05096973941492918),
        (0.0, 3.0, 0.5),
        (1.0, 1.0, 0.75),
        (10.0, 2.0, 0.9950737714883372),
        (-30.0, 4.0, 3.6764280488306612e-06),
        (1.96, 1000000.0, 0.9750019662073651),
        (0.1, 50.0, 0.539627893173515),
        (-5.0, 1000.0, 3.3836281823243153e-07),
    ] {
        near(t_cdf(t, df).expect("an answer"), p, 1e-12);
    }
    assert_eq!(t_cdf(f64::INFINITY, 3.0), Some(1.0));
    assert_eq!(t_cdf(f64::NAN, 3.0), None);
}

#[test]
fn the_normal_distribution() {
    for (p, x) in [
        (0.5000001, 2.506628273311648e-07),
        (0.6, 0.2533471031357997),
        (0.75, 0.6744897501960817),
        (0.9, 1.2815515655446006),
        (0.975, 1.9599639845400538),
        (0.995, 2.5758293035489004),
        (0.9995, 3.290526731491926),
        (0.999999999, 5.9978070196016375),
        (0.025, -1.9599639845400543),
        (1e-10, -6.361340902404057),
        (1e-100, -21.273453560965326),
        (1e-300, -37.0470962993612),
    ] {
        near(normal_quantile(p).expect("an answer"), x, 1e-13);
    }
    for (x, p) in [
        (-37.0, 5.725571222524577e-300),
        (-10.0, 7.619853024160525e-24),
        (-5.0, 2.866515718791939e-07),
        (-2.5, 0.006209665325776135),
        (-1.959964, 0.0249999990964424),
        (-1.0, 0.15865525393145705),
        (0.0, 0.5),
        (0.5, 0.6914624612740131),
        (1.0, 0.8413447460685429),
        (2.4, 0.9918024640754038),
        (2.6, 0.9953388119762813),
        (3.0, 0.9986501019683699),
        (6.0, 0.9999999990134123),
    ] {
        near(normal_cdf(x), p, 1e-13);
    }
    assert_eq!((normal_quantile(0.0), normal_quantile(1.0)), (None, None));
    assert_eq!((normal_cdf(f64::INFINITY), normal_cdf(f64::NEG_INFINITY)), (1.0, 0.0));
}

/// Summed term by term with forty digits.
#[test]
fn the_binomial_distribution() {
    for (k, n, p, expected) in [
        (0, 10, 0.5, 0.0009765625),
        (3, 10, 0.5, 0.171875),
        (5, 10, 0.25, 0.9802722930908203),
        (9, 10, 0.99, 0.09561792499119559),
        (40, 100, 0.5, 0.028443966820490395),
        (489, 1000, 0.5, 0.2533300213122265),
        (450, 1000, 0.5, 0.0008652680424881588),
        (49700, 100000, 0.5, 0.02909867655509687),
        (98950, 100000, 0.99, 0.05870091529906211),
        (99100, 100000, 0.99, 0.9994109510545189),
        (10, 100000, 0.0001, 0.5830397502972542),
        (48000, 100000, 0.5, 5.765469333361488e-37),
        (2, 6, 0.3, 0.74431),
    ] {
        near(binomial_cdf(k, n, p).expect("an answer"), expected, 1e-12);
    }
    assert_eq!(binomial_cdf(7, 7, 0.3), Some(1.0));
    assert_eq!(binomial_cdf(2, 7, 1.0), Some(0.0));
    assert_eq!(binomial_cdf(2, 7, 0.0), Some(1.0));
    assert_eq!(binomial_cdf(2, 7, 1.5), None);
}

/// The permeability constants of the placental membrane from the example of R's `wilcox.test`,
/// which gives 0.1272 for "greater".
#[test]
fn the_rank_test_of_rs_documentation() {
    let term = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
    let early = [1.15, 0.88, 0.90, 0.74, 1.21];
    let test = mann_whitney(&early, &term).expect("samples");
    assert_eq!(test.u, 35.0);
    near(test.p_slower, 0.1272061272061272, 1e-13);
    near(test.p_value, 0.2544122544122544, 1e-13);
    near(hodges_lehmann(&early, &term).expect("samples"), 0.305, 1e-14);
}

/// As `mannwhitneyu` of scipy gives: exact for larger lists, approximate with ties.
#[test]
fn other_rank_tests() {
    let old: Vec<f64> = (0..30).map(f64::from).collect();
    let new: Vec<f64> = (0..25).map(|i| f64::from(i) * 1.3 + 4.05).collect();
    let test = mann_whitney(&old, &new).expect("samples");
    assert_eq!(test.u, 488.0);
    near(test.p_slower, 0.028391082064247685, 1e-12);
    near(test.p_value, 0.05678216412849537, 1e-12);

    let old = [1.0, 2.0, 2.0, 3.0, 4.0, 4.0, 4.0, 5.0];
    let new = [2.0, 3.0, 4.0, 4.0, 5.0, 6.0, 6.0, 7.0, 8.0];
    let test = mann_whitney(&old, &new).expect("samples");
    assert_eq!(test.u, 56.0);
    near(test.p_slower, 0.028181147488431004, 1e-12);
    near(test.p_value, 0.05636229497686201, 1e-12);
}
