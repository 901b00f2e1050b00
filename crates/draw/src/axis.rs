//! The one scale of all charts: where a figure stands on the paper, and at which round figures
//! lines are drawn.

use laneway_core::units::format_size;
use laneway_report::table::significant;

/// The least round figure that is not below a rough one: a digit of these, which rise to below 10,
/// times a power of ten.
pub fn round_step(rough: f64, digits: &[f64]) -> f64 {
    let unit = 10f64.powf(rough.log10().floor());
    // Rounding must not ask for the next larger step.
    let fits = |digit: &&f64| **digit * unit >= rough * 0.999;
    unit * digits.iter().find(fits).unwrap_or(&10.0)
}

/// The unit in which a time of `us` microseconds is written, and its microseconds.
pub fn time_unit(us: f64) -> (&'static str, f64) {
    match us {
        us if us < 1e4 => ("µs", 1.0),
        us if us < 1e7 => ("ms", 1e3),
        _ => ("s", 1e6),
    }
}

/// How figures are spaced along an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Spacing {
    /// Equal steps from 0.
    Even,
    /// The same for sizes: steps are powers of two.
    EvenSizes,
    /// By powers of two, as sizes are; whether 0, which has no logarithm, stands at a half.
    Doubling { zero: bool },
    /// By powers of ten.
    Tenfold,
}

/// An axis from one place on the paper to another.
///
/// ```
/// use laneway_draw::axis::Axis;
///
/// let time = Axis::times([2.0, 600.0], (300.0, 20.0));
/// let labels: Vec<String> = time.ticks().into_iter().map(|tick| tick.label).collect();
/// assert_eq!(labels, ["2", "5", "10", "20", "50", "100", "200", "500"]);
/// assert!(time.at(2.0) > time.at(600.0));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The figures at both ends, or their logarithms.
    from: f64,
    to: f64,
    start: f64,
    end: f64,
    spacing: Spacing,
}

/// A line of a grid.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Tick {
    /// Where on the paper.
    pub place: f64,
    /// The figure that it stands for.
    pub label: String,
}

impl Axis {
    /// From 0 up to a figure, in equal steps; `ends` are the places of both on the paper.
    pub fn even(most: f64, ends: (f64, f64)) -> Axis {
        let most = if most > 0.0 { most } else { 1e-9 };
        Axis { from: 0.0, to: most, start: ends.0, end: ends.1, spacing: Spacing::Even }
    }

    /// From 0 up to a size in bytes, in equal steps.
    pub fn even_sizes(most: f64, ends: (f64, f64)) -> Axis {
        Axis { spacing: Spacing::EvenSizes, ..Axis::even(most.max(1.0), ends) }
    }

    /// Over sizes in bytes, by powers of two, with a little room at both ends.
    pub fn sizes(sizes: impl IntoIterator<Item = f64>, ends: (f64, f64)) -> Axis {
        let mut zero = false;
        let powers = sizes.into_iter().map(|size| {
            zero |= size < 0.5;
            size.max(0.5).log2()
        });
        let (from, to) = spread(powers);
        Axis { from, to, start: ends.0, end: ends.1, spacing: Spacing::Doubling { zero } }
    }

    /// Over times and other figures, by powers of ten; those that are not above 0 have no place of
    /// their own.
    pub fn times(figures: impl IntoIterator<Item = f64>, ends: (f64, f64)) -> Axis {
        let (from, to) = spread(figures.into_iter().filter(|f| *f > 0.0).map(f64::log10));
        Axis { from, to, start: ends.0, end: ends.1, spacing: Spacing::Tenfold }
    }

    /// The place of a figure; what a logarithm has no place for stands at the lower end.
    pub fn at(&self, figure: f64) -> f64 {
        self.place(match self.spacing {
            Spacing::Even | Spacing::EvenSizes => figure,
            Spacing::Doubling { .. } => figure.max(0.5).log2(),
            Spacing::Tenfold if figure > 0.0 => figure.log10(),
            Spacing::Tenfold => self.from,
        })
    }

    fn place(&self, power: f64) -> f64 {
        self.start + (power - self.from) / (self.to - self.from) * (self.end - self.start)
    }

    /// Where lines are drawn, and what they stand for.
    pub fn ticks(&self) -> Vec<Tick> {
        let ticks = match self.spacing {
            Spacing::Even => {
                let step = round_step(self.to / 6.0, &[1.0, 2.0, 2.5, 5.0]);
                // Sums of tenths are not quite tenths.
                self.even_ticks(step, |tick| ((tick * 1e9).round() / 1e9).to_string())
            }
            Spacing::EvenSizes => {
                let step = (self.to / 8.0).max(1.0).log2().ceil().exp2();
                self.even_ticks(step, |tick| format_size(tick as u64))
            }
            Spacing::Doubling { zero } => self.size_ticks(zero),
            Spacing::Tenfold => self.tenfold_ticks(),
        };
        let tick = |(power, label)| Tick { place: self.place(power), label };
        ticks.into_iter().map(tick).collect()
    }

    /// Multiples of a step.
    fn even_ticks(&self, step: f64, label: impl Fn(f64) -> String) -> Vec<(f64, String)> {
        let ticks = (0..=10).map(|number| f64::from(number) * step);
        let within = |tick: &f64| *tick <= self.to * (1.0 + 1e-9);
        ticks.take_while(within).map(|tick| (tick, label(tick))).collect()
    }

    /// At most ten, at equal steps of powers of two.
    fn size_ticks(&self, zero: bool) -> Vec<(f64, String)> {
        let (first, last) = (self.from.ceil().max(0.0) as u32, self.to.floor().max(0.0) as u32);
        let step = last.saturating_sub(first) / 10 + 1;
        let label = |power: u32| format_size(1u64.checked_shl(power).unwrap_or(u64::MAX));
        let sizes = (first.next_multiple_of(step)..=last).step_by(step as usize);
        let sizes = sizes.map(|power| (f64::from(power), label(power)));
        sizes.chain(zero.then(|| (-1.0, "0".to_owned()))).collect()
    }

    /// Powers of ten; over a short range also their double and fivefold, and over a shorter one
    /// round figures at equal steps.
    fn tenfold_ticks(&self) -> Vec<(f64, String)> {
        let span = self.to - self.from;
        let step = (span / 10.0).ceil().max(1.0) as usize;
        let multiples = |digits: &[f64]| -> Vec<f64> {
            let powers = (self.from.floor() as i32..=self.to.ceil() as i32).step_by(step);
            let ticks = powers
                .flat_map(|power| digits.iter().map(move |digit| digit.log10() + f64::from(power)));
            ticks.filter(|power| (self.from..=self.to).contains(power)).collect()
        };
        let mut ticks = if span > 3.0 { multiples(&[1.0]) } else { Vec::new() };
        if ticks.len() < 4 {
            ticks = multiples(&[1.0, 2.0, 5.0]);
        }
        if ticks.len() < 4 {
            let (low, high) = (10f64.powf(self.from), 10f64.powf(self.to));
            let step = round_step((high - low) / 5.0, &[1.0, 2.0, 2.5, 5.0]);
            let even = (0..8).map(|i| ((low / step).ceil() + f64::from(i)) * step);
            let even: Vec<f64> = even.filter(|tick| (low..=high).contains(tick)).collect();
            if even.len() > ticks.len() {
                ticks = even.into_iter().map(f64::log10).collect();
            }
        }
        ticks.into_iter().map(|power| (power, label_power(power))).collect()
    }
}

/// The least and the most, with a little room at both ends.
fn spread(powers: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = powers.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), power| {
        (low.min(power), high.max(power))
    });
    if low > high {
        return (0.0, 1.0);
    }
    let room = ((high - low) * 0.04).max(0.15);
    (low - room, high + room)
}

/// A figure by its power of ten, as short as it can be written.
fn label_power(power: f64) -> String {
    let (value, round) = (10f64.powf(power), (power - power.round()).abs() < 1e-9);
    if round && !(-4.0..=6.0).contains(&power) {
        return format!("1e{}", power.round());
    }
    let text = significant(value);
    // 1000 and 0.0100 read better without what four digits add.
    let short = if text.contains('.') { text.trim_end_matches('0') } else { &text };
    short.trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<String> {
        axis.ticks().into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn steps_are_round() {
        let steps = [0.03, 1.0, 2.1, 5.0, 70.0].map(|rough| round_step(rough, &[1.0, 2.0, 5.0]));
        for (step, wanted) in steps.into_iter().zip([0.05, 1.0, 5.0, 5.0, 100.0]) {
            assert!((step - wanted).abs() < 1e-12, "{steps:?}");
        }
    }

    #[test]
    fn ticks_are_round_figures() {
        let tenfold = |low: f64, high: f64| {
            let (from, to, spacing) = (low.log10(), high.log10(), Spacing::Tenfold);
            labels(&Axis { from, to, start: 0.0, end: 1.0, spacing })
        };
        assert_eq!(tenfold(0.09, 110.0), ["0.1", "1", "10", "100"]);
        assert_eq!(tenfold(0.9, 11.0), ["1", "2", "5", "10"]);
        let long = tenfold(105.0, 83_000.0);
        assert_eq!((long[0].as_str(), long.len()), ("200", 8), "{long:?}");
        let longer = tenfold(80.0, 95_000.0);
        assert_eq!((longer[0].as_str(), longer.len()), ("100", 9), "{longer:?}");
        assert_eq!(tenfold(310.0, 1300.0), ["400", "600", "800", "1000", "1200"]);
        assert_eq!(tenfold(19.8, 20.4), ["19.8", "20", "20.2", "20.4"]);
        assert_eq!(labels(&Axis::even(0.7, (0.0, 1.0))), ["0", "0.2", "0.4", "0.6"]);
        let kilobytes = labels(&Axis::even_sizes(102_400.0, (0.0, 1.0)));
        assert_eq!(kilobytes, ["0", "16K", "32K", "48K", "64K", "80K", "96K"]);
        assert_eq!(labels(&Axis::even(600.0, (0.0, 1.0))).last().map(String::as_str), Some("600"));
    }

    #[test]
    fn sizes_are_powers_of_two_and_nothing_is_at_a_half() {
        let axis = Axis::sizes([0.0, 1024.0], (0.0, 100.0));
        assert_eq!(labels(&axis).last().map(String::as_str), Some("0"));
        assert!(axis.at(0.0) < axis.at(1.0) && axis.at(0.0) > 0.0);
        assert!(!labels(&Axis::sizes([8.0], (0.0, 1.0))).contains(&"0".to_owned()));
    }

    #[test]
    fn nothing_to_show_is_an_axis_too() {
        for axis in [
            Axis::times([0.0, -1.0], (9.0, 0.0)),
            Axis::sizes([], (9.0, 0.0)),
            Axis::even(0.0, (9.0, 0.0)),
            Axis::even_sizes(0.0, (9.0, 0.0)),
        ] {
            assert!(axis.at(0.0).is_finite() && !axis.ticks().is_empty(), "{axis:?}");
        }
    }
}
