//! The incomplete beta function, on which Student's and the binomial distribution stand.

use std::f64::consts::PI;

/// More steps than the continued fraction takes for parameters up to a million; it needs about the
/// square root of the larger one.
const STEPS: usize = 20_000;

/// The regularised incomplete beta function and its complement, `(I_x(a, b), 1 - I_x(a, b))`, both
/// exact in their relative error. `y` is `1 - x`, given apart because a small one would be lost.
pub(crate) fn incomplete_beta(a: f64, b: f64, x: f64, y: f64) -> (f64, f64) {
    if x <= 0.0 {
        return (0.0, 1.0);
    }
    if y <= 0.0 {
        return (1.0, 0.0);
    }
    // On this side of the mean the fraction converges fast, and the result is the smaller part.
    if x <= (a + 1.0) / (a + b + 2.0) {
        let low = (power_term(a, b, x, y) / fraction(a, b, x, y)).min(1.0);
        (low, 1.0 - low)
    } else {
        let high = (power_term(b, a, y, x) / fraction(b, a, y, x)).min(1.0);
        (1.0 - high, high)
    }
}

/// `x^a y^b / B(a, b)`. The logarithms of the three gamma functions would each be in the millions
/// and leave few digits; Stirling's main terms cancel by hand (Loader 2000, "Fast and Accurate
/// Computation of Binomial Probabilities"), and what remains is small.
pub(crate) fn power_term(a: f64, b: f64, x: f64, y: f64) -> f64 {
    let sum = a + b;
    let stirling = stirling_error(sum) - stirling_error(a) - stirling_error(b);
    let deviance = a * log_gap(sum * x / a) + b * log_gap(sum * y / b);
    (a * b / (2.0 * PI * sum)).sqrt() * (stirling - deviance).exp()
}

/// `r - 1 - ln(r)`, also for `r` near 1, where the difference would lose its digits.
fn log_gap(r: f64) -> f64 {
    let e = r - 1.0;
    if e.abs() > 0.1 {
        return e - r.ln();
    }
    // ln(1 + e) = 2 atanh(v) with v = e / (2 + e), and e - 2v = e v.
    let v = e / (2.0 + e);
    let square = v * v;
    let mut power = v * square;
    let mut series = 0.0;
    for odd in (3..25).step_by(2) {
        series += power / odd as f64;
        power *= square;
    }
    e * v - 2.0 * series
}

/// By how much the logarithm of the gamma function exceeds Stirling's formula.
fn stirling_error(mut z: f64) -> f64 {
    let mut below = 0.0;
    // The series wants a large argument; each step up costs one logarithm.
    while z < 16.0 {
        below += (z + 0.5) * (1.0 / z).ln_1p() - 1.0;
        z += 1.0;
    }
    let w = 1.0 / (z * z);
    let series = 1.0 / 1260.0 - w * (1.0 / 1680.0 - w / 1188.0);
    below + (1.0 / 12.0 - w * (1.0 / 360.0 - w * series)) / z
}

/// The continued fraction by which to divide the power term (DiDonato and Morris 1992, "Algorithm
/// 708", equation 9), by the method of Lentz. The more usual fraction starts from
/// `1 - x (a + b) / (a + 1)`, which has no digits left where `a` is large and `x` near 1, as for
/// Student's t with many degrees of freedom; this one uses `y`.
fn fraction(a: f64, b: f64, x: f64, y: f64) -> f64 {
    let lead = |m: f64| (a + m) * (a * y - b * x + 1.0 + m * (2.0 - x)) / (a + 2.0 * m + 1.0);
    let away_from_zero = |v: f64| if v.abs() < f64::MIN_POSITIVE { f64::MIN_POSITIVE } else { v };
    let mut value = away_from_zero(lead(0.0));
    let (mut c, mut d) = (value, 0.0);
    for step in 1..STEPS {
        let m = step as f64;
        let below = a + 2.0 * m - 1.0;
        let numerator = (m * (a + m - 1.0) / below) * ((a + b + m - 1.0) / below) * (b - m) * x * x;
        let denominator = m + m * (b - m) * x / below + lead(m);
        d = 1.0 / away_from_zero(denominator + numerator * d);
        c = away_from_zero(denominator + numerator / c);
        value *= c * d;
        if (c * d - 1.0).abs() < 4.0 * f64::EPSILON {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_parts_are_one_and_mirror_each_other() {
        for (a, b, x) in [(0.5, 2.5, 0.3), (50.0, 0.5, 0.99), (3000.0, 7000.0, 0.31)] {
            let (low, high) = incomplete_beta(a, b, x, 1.0 - x);
            let (mirror_high, mirror_low) = incomplete_beta(b, a, 1.0 - x, x);
            assert!((low + high - 1.0).abs() < 1e-15);
            assert!((low - mirror_low).abs() < 1e-12 * low && (high - mirror_high).abs() < 1e-12);
        }
    }

    /// With whole parameters the function is a short sum of powers.
    #[test]
    fn small_cases_by_hand() {
        let (low, _) = incomplete_beta(1.0, 1.0, 0.3, 0.7);
        assert!((low - 0.3).abs() < 1e-15, "{low}");
        let (low, _) = incomplete_beta(2.0, 3.0, 0.25, 0.75);
        assert!((low - 67.0 / 256.0).abs() < 1e-15, "{low}");
    }
}
