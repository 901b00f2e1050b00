//! A straight line through points: by least squares, and by the median of slopes.

use std::f64::consts::PI;

use crate::summary::{mean_and_stddev, median};

/// `y = intercept + slope * x`, and how well it fits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// How much it rises for each unit.
    pub slope: f64,
    /// Its value at 0.
    pub intercept: f64,
    /// How far the points lie from the line.
    pub residual_stddev: f64,
    /// How far the slope may be off.
    pub slope_stderr: f64,
}

/// Beyond this number of points not every pair is used: their number grows with the square.
const ALL_PAIRS: usize = 2000;

impl Line {
    /// Least squares, around the mean of the points so that large coordinates cost no digits.
    /// `None` below three points, which leave nothing to judge the line by, and where all `x` are
    /// the same.
    pub fn fit(points: &[(f64, f64)]) -> Option<Line> {
        if points.len() < 3 {
            return None;
        }
        let ((xs, ys), spread) = (split(points), spread_of_x(points)?);
        let (x_mean, y_mean) = (mean_and_stddev(&xs)?.0, mean_and_stddev(&ys)?.0);
        let product: f64 = points.iter().map(|(x, y)| (x - x_mean) * (y - y_mean)).sum();
        let slope = product / spread;
        let squares: f64 =
            points.iter().map(|(x, y)| ((y - y_mean) - slope * (x - x_mean)).powi(2)).sum();
        let residual_stddev = (squares / (points.len() as f64 - 2.0)).sqrt();
        Line {
            slope,
            intercept: y_mean - slope * x_mean,
            residual_stddev,
            slope_stderr: residual_stddev / spread.sqrt(),
        }
        .finite()
    }

    /// Theil and Sen: the median of the slopes of all pairs of points, and the median of what is
    /// left as intercept. Up to 29 % of the points may be anything. Beyond 2,000 points each is
    /// paired with the one half of all further on only (Theil's incomplete method). The residual
    /// is the median absolute deviation, scaled to agree with the standard deviation of normal
    /// residuals, and the slope's error is the one that the rule has for these.
    pub fn robust(points: &[(f64, f64)]) -> Option<Line> {
        if points.len() < 3 {
            return None;
        }
        let spread = spread_of_x(points)?;
        let slope = median(&slopes(points))?;
        let left: Vec<f64> = points.iter().map(|(x, y)| y - slope * x).collect();
        let intercept = median(&left)?;
        let deviations: Vec<f64> = left.iter().map(|y| (y - intercept).abs()).collect();
        // 1 / the upper quartile of the normal distribution.
        let residual_stddev = 1.482_602_218_505_602 * median(&deviations)?;
        let slope_stderr = residual_stddev * (PI / 3.0).sqrt() / spread.sqrt();
        Line { slope, intercept, residual_stddev, slope_stderr }.finite()
    }

    /// Its value at `x`.
    pub fn at(&self, x: f64) -> f64 {
        self.intercept + self.slope * x
    }

    fn finite(self) -> Option<Line> {
        let all = [self.slope, self.intercept, self.residual_stddev, self.slope_stderr];
        all.iter().all(|figure| figure.is_finite()).then_some(self)
    }
}

fn split(points: &[(f64, f64)]) -> (Vec<f64>, Vec<f64>) {
    points.iter().copied().unzip()
}

/// The sum of squares of `x` around their mean; `None` where a coordinate is not finite or all `x`
/// are the same.
fn spread_of_x(points: &[(f64, f64)]) -> Option<f64> {
    let (xs, ys) = split(points);
    let stddev = mean_and_stddev(&xs)?.1;
    let differ = xs.iter().any(|x| *x != xs[0]);
    let finite = ys.iter().all(|y| y.is_finite());
    (differ && finite && stddev > 0.0).then_some(stddev * stddev * (xs.len() as f64 - 1.0))
}

fn slopes(points: &[(f64, f64)]) -> Vec<f64> {
    let mut points = points.to_vec();
    points.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let count = points.len();
    let half = count / 2;
    let mut slopes = Vec::new();
    for i in 0..count {
        let partners =
            if count <= ALL_PAIRS { i + 1..count } else { i + half..(i + half + 1).min(count) };
        for j in partners {
            let (run, rise) = (points[j].0 - points[i].0, points[j].1 - points[i].1);
            if run > 0.0 {
                slopes.push(rise / run);
            }
        }
    }
    slopes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SplitMix64;

    fn exact(count: usize) -> Vec<(f64, f64)> {
        (0..count).map(|i| (i as f64, 3.0 + 2.0 * i as f64)).collect()
    }

    #[test]
    fn a_perfect_line_is_found() {
        for line in [Line::fit(&exact(20)), Line::robust(&exact(20)), Line::robust(&exact(5000))] {
            let line = line.expect("a line");
            assert!((line.slope - 2.0).abs() < 1e-12 && (line.intercept - 3.0).abs() < 1e-9);
            assert!(line.residual_stddev < 1e-9 && (line.at(100.0) - 203.0).abs() < 1e-9);
        }
    }

    #[test]
    fn a_quarter_of_outliers_moves_only_least_squares() {
        for count in [40, 4000] {
            let mut points = exact(count);
            let mut draws = SplitMix64::new(5);
            (0..count / 4).for_each(|_| points[draws.index(count)].1 += 1e6 * draws.uniform());
            let robust = Line::robust(&points).expect("a line");
            assert!((robust.slope - 2.0).abs() < 1e-9, "{robust:?}");
            assert!((Line::fit(&points).expect("a line").slope - 2.0).abs() > 1.0);
        }
    }

    /// The error that each rule states is the one that it has, over many lines with noise.
    #[test]
    fn the_stated_error_of_the_slope_is_true() {
        let mut draws = SplitMix64::new(11);
        for rule in [Line::fit, Line::robust] {
            let (mut squares, mut stated) = (0.0, 0.0);
            for _ in 0..300 {
                let mut noise = || (0..12).map(|_| draws.uniform()).sum::<f64>() - 6.0;
                let points: Vec<_> = exact(40).iter().map(|(x, y)| (*x, y + noise())).collect();
                let line = rule(&points).expect("a line");
                squares += (line.slope - 2.0).powi(2) / 300.0;
                stated += line.slope_stderr / 300.0;
            }
            let ratio = stated / squares.sqrt();
            assert!((0.88..1.14).contains(&ratio), "stated over true error: {ratio}");
        }
    }

    #[test]
    fn points_without_a_line() {
        for rule in [Line::fit, Line::robust] {
            assert_eq!(rule(&[]), None);
            assert_eq!(rule(&exact(2)), None);
            assert_eq!(rule(&[(1.0, 1.0), (1.0, 2.0), (1.0, 3.0)]), None);
            assert_eq!(rule(&[(0.1, 1.0), (0.1, 2.0), (0.1, 3.0)]), None);
            assert_eq!(rule(&[(1.0, 1.0), (2.0, f64::NAN), (3.0, 3.0)]), None);
            assert_eq!(rule(&[(1.0, 1.0), (f64::INFINITY, 2.0), (3.0, 3.0)]), None);
        }
    }
}
