//! The normal, Student's and the binomial distribution: probabilities and quantiles.

use std::f64::consts::PI;

use crate::beta::{incomplete_beta, power_term};

/// The probability that a standard normal variable is at most `x`, to 13 digits also far out on the
/// left.
pub fn normal_cdf(x: f64) -> f64 {
    let half = normal_half(x.abs());
    if x < 0.0 { half.tail } else { 0.5 + half.body }
}

/// The inverse of [`normal_cdf`]; `None` outside 0 < p < 1.
pub fn normal_quantile(p: f64) -> Option<f64> {
    from_half(p, normal_half, |tail| (-2.0 * tail.ln()).sqrt())
}

/// The probability that Student's t with `df` degrees of freedom is at most `t`; `None` where `t`
/// is not a number or `df` is below 1.
pub fn t_cdf(t: f64, df: f64) -> Option<f64> {
    if t.is_nan() || !is_freedom(df) {
        return None;
    }
    let half = t_half(t.abs(), df);
    Some(if t < 0.0 { half.tail } else { 0.5 + half.body })
}

/// The inverse of [`t_cdf`], to 12 digits for `df` up to a million; `None` outside 0 < p < 1, and
/// where the answer is too large for a floating-point number.
pub fn t_quantile(p: f64, df: f64) -> Option<f64> {
    if !is_freedom(df) {
        return None;
    }
    let start = |tail: f64| normal_quantile(tail).map_or(1.0, f64::abs);
    from_half(p, |t| t_half(t, df), start)
}

/// The probability of at most `k` successes in `n` independent trials that succeed with
/// probability `p`; `None` where `p` is not a probability.
pub fn binomial_cdf(k: u64, n: u64, p: f64) -> Option<f64> {
    if !(0.0..=1.0).contains(&p) {
        return None;
    }
    if k >= n {
        return Some(1.0);
    }
    Some(incomplete_beta((n - k) as f64, k as f64 + 1.0, 1.0 - p, p).0)
}

fn is_freedom(df: f64) -> bool {
    df.is_finite() && df >= 1.0
}

/// The right half of a symmetric distribution, seen from a point of it.
#[derive(Clone, Copy)]
struct Half {
    /// Between the centre and the point.
    body: f64,
    /// Beyond the point.
    tail: f64,
    /// The density times the point: how fast both change when the point grows by a share.
    slope: f64,
}

fn normal_half(x: f64) -> Half {
    let density = (-0.5 * x * x).exp() / (2.0 * PI).sqrt();
    let square = x * x;
    if x < 2.5 {
        // x + x^3/3 + x^5/(3*5) + ...: all terms positive, nothing cancels.
        let (mut term, mut sum, mut odd) = (x, x, 1.0);
        while term > 1e-17 * sum {
            odd += 2.0;
            term *= square / odd;
            sum += term;
        }
        return Half { body: density * sum, tail: 0.5 - density * sum, slope: x * density };
    }
    // Mills' ratio as a continued fraction, from its far end; 120 terms suffice from 2.5 on.
    let ratio = (1..120).rev().fold(x, |below, k| x + k as f64 / below);
    let tail = density / ratio;
    Half { body: 0.5 - tail, tail, slope: x * density }
}

fn t_half(t: f64, df: f64) -> Half {
    // Two forms, since the square of a large ratio would overflow.
    let ratio = t / df.sqrt();
    let (near, far) = if ratio <= 1.0 {
        let square = ratio * ratio;
        (1.0 / (1.0 + square), square / (1.0 + square))
    } else {
        let square = 1.0 / (ratio * ratio);
        (square / (1.0 + square), 1.0 / (1.0 + square))
    };
    let (tail, body) = incomplete_beta(0.5 * df, 0.5, near, far);
    // The derivative of the incomplete beta function, taken along t, leaves just this.
    let slope = power_term(0.5 * df, 0.5, near, far);
    Half { body: 0.5 * body, tail: 0.5 * tail, slope }
}

/// Finds the point of a symmetric distribution that has `p` below it. `start` guesses from the
/// probability of the tail.
fn from_half(p: f64, half: impl Fn(f64) -> Half, start: impl Fn(f64) -> f64) -> Option<f64> {
    if !(p > 0.0 && p < 1.0) {
        return None;
    }
    let body = (p - 0.5).abs();
    if body == 0.0 {
        return Some(0.0);
    }
    let tail = p.min(1.0 - p);
    // Whichever part is smaller keeps its relative precision.
    let by_body = body < tail;
    let mut x = if by_body { body * (2.0 * PI).sqrt() } else { start(tail) };
    // Newton's method on the logarithms of both axes, where each of the two curves is concave: from
    // the second step on it walks to the solution from one side.
    for _ in 0..100 {
        let at = half(x);
        let step = if by_body {
            (at.body / body).ln() * at.body / at.slope
        } else {
            -(at.tail / tail).ln() * at.tail / at.slope
        };
        x *= (-step).exp();
        if !x.is_finite() {
            return None;
        }
        if step.abs() < 1e-14 {
            break;
        }
    }
    Some(if p < 0.5 { -x } else { x })
}
