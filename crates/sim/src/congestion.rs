//! What a link loses when many connections press on it: the part of its rate that remains for all
//! of them together.

use std::fmt;

/// Points of a falling curve, each the number of flows and the part of the rate that they have
/// together. One flow has the whole rate; between two points is a line, and after the last nothing
/// changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Congestion(Vec<(u32, f64)>);

impl Congestion {
    /// Checks the points: more flows from one to the next, and never a larger part.
    pub fn new(points: Vec<(u32, f64)>) -> Result<Congestion, String> {
        let mut last = (1, 1.0);
        for &(flows, part) in &points {
            if flows <= last.0 {
                return Err(format!("{flows} connections: numbers rise, from 2 on"));
            }
            if !(part > 0.0 && part <= last.1) {
                let part = percent(part);
                return Err(format!("{part} with {flows} connections: parts are above 0 and fall"));
            }
            last = (flows, part);
        }
        Ok(Congestion(points))
    }

    /// Parses `4:100%+8:90%+16:70%`.
    pub fn parse(text: &str) -> Result<Congestion, String> {
        let wrong = || format!("`{text}`: write it like 4:100%+8:90%+16:70%");
        let point = |word: &str| {
            let (flows, part) = word.split_once(':')?;
            let part: f64 = part.strip_suffix('%')?.parse().ok()?;
            Some((flows.parse().ok()?, part / 100.0))
        };
        let points: Option<Vec<(u32, f64)>> = text.split('+').map(point).collect();
        Congestion::new(points.ok_or_else(wrong)?).map_err(|why| format!("`{text}`: {why}"))
    }

    /// Whether the rate is the same for any number of flows.
    pub fn is_none(&self) -> bool {
        self.0.last().is_none_or(|(_, part)| *part == 1.0)
    }

    /// The part of the rate that this number of flows has together.
    pub fn part(&self, flows: usize) -> f64 {
        let flows = flows as f64;
        let above = self.0.iter().position(|(count, _)| f64::from(*count) >= flows);
        let at = |place: usize| (f64::from(self.0[place].0), self.0[place].1);
        match above {
            None => self.0.last().map_or(1.0, |(_, part)| *part),
            Some(above) => {
                let (low, start) = if above == 0 { (1.0, 1.0) } else { at(above - 1) };
                let (high, end) = at(above);
                start + (end - start) * ((flows - low) / (high - low)).max(0.0)
            }
        }
    }
}

impl fmt::Display for Congestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = self.0.iter().map(|(flows, part)| format!("{flows}:{}", percent(*part)));
        f.write_str(&words.collect::<Vec<_>>().join("+"))
    }
}

fn percent(part: f64) -> String {
    format!("{}%", (part * 1e4).round() / 1e2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_falls_on_lines_between_points() {
        let curve = Congestion::parse("4:100%+8:80%+16:60%").expect("a curve");
        for (flows, part) in [(1, 1.0), (4, 1.0), (6, 0.9), (8, 0.8), (12, 0.7), (99, 0.6)] {
            assert!((curve.part(flows) - part).abs() < 1e-12, "{flows}");
        }
        let first = Congestion::parse("3:50%").expect("a curve");
        assert!((first.part(2) - 0.75).abs() < 1e-12 && first.part(1) == 1.0 && !first.is_none());
        assert!(Congestion::default().is_none() && Congestion::default().part(7) == 1.0);
        assert_eq!(curve.to_string(), "4:100%+8:80%+16:60%");
    }

    #[test]
    fn a_rising_curve_is_refused() {
        for text in ["", "4", "4:90", "x:90%", "1:90%", "4:0%", "4:-1%", "4:110%", "4:NaN%"] {
            assert!(Congestion::parse(text).is_err(), "{text}");
        }
        for text in ["8:90%+4:80%", "4:90%+4:80%", "4:80%+8:90%", "4:80%+", "4:inf%"] {
            assert!(Congestion::parse(text).is_err(), "{text}");
        }
    }
}
