//! The stopping rule of MPIBlib: how large the error of a mean may be, as a share of the mean.

use crate::distribution::t_quantile;
use crate::interval::is_level;
use crate::summary::mean_and_stddev;

/// Half of Student's interval over the mean: `t(1 - alpha/2, n - 1) * s / sqrt(n) / mean`. A
/// measurement stops once this is at most the precision asked for. It is kept to compare with the
/// papers; it trusts the mean, which one slow sample moves, so [`crate::sequential`] is the better
/// rule. `None` below two samples, and where the mean is 0.
pub fn student_error(samples: &[f64], alpha: f64) -> Option<f64> {
    if samples.len() < 2 || !is_level(alpha) {
        return None;
    }
    let (mean, stddev) = mean_and_stddev(samples)?;
    let count = samples.len() as f64;
    let t = t_quantile(1.0 - alpha / 2.0, count - 1.0)?;
    let error = t * stddev / count.sqrt() / mean.abs();
    error.is_finite().then_some(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_case_by_hand() {
        // Mean 3, standard deviation sqrt(2.5), and t(0.975, 4) from the tables.
        let error = student_error(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.05).expect("five samples");
        assert!((error - 2.7764451051977987 * 0.5f64.sqrt() / 3.0).abs() < 1e-12, "{error}");
    }

    #[test]
    fn what_has_no_answer() {
        assert_eq!(student_error(&[1.0], 0.05), None);
        assert_eq!(student_error(&[-1.0, 1.0], 0.05), None);
        assert_eq!(student_error(&[1.0, f64::NAN], 0.05), None);
        assert_eq!(student_error(&[1.0, 2.0], 0.0), None);
        assert_eq!(student_error(&[4.0, 4.0], 0.05), Some(0.0));
    }
}
