//! How many messages each cable carries, and the colour for it.

use laneway_core::{Observer, Phases, Stage};
use laneway_topo::{Counter, Links, Port, Switch};

/// Messages on every link, of a phase or on average over phases.
#[derive(Clone, Debug)]
pub struct Heat {
    links: Links,
    loads: Vec<f64>,
    /// What was counted, for a person.
    pub(super) words: String,
    /// Whether the loads are whole numbers.
    pub(super) whole: bool,
}

impl Heat {
    /// Of one phase.
    pub fn of_phase(counter: &Counter, hosts: u32, order: &dyn Phases, phase: u64) -> Heat {
        let words = format!("messages on a cable in phase {phase}");
        let heat = Heat::over(counter, hosts, order, phase..phase + 1, words, &());
        Heat { whole: true, ..heat }
    }

    /// The mean over phases; the words say what was counted.
    pub fn over(
        counter: &Counter,
        hosts: u32,
        order: &dyn Phases,
        phases: std::ops::Range<u64>,
        words: String,
        observer: &dyn Observer,
    ) -> Heat {
        let count = counter.links().count();
        let mut sums = vec![0u64; count as usize];
        let many = (phases.end - phases.start) as f64;
        let mut partners = vec![0; hosts as usize];
        let stage = Stage::new(observer, "phases drawn", phases.end - phases.start);
        for phase in stage.over(phases) {
            order.partners(phase, &mut partners);
            let load = counter.load(&partners);
            for (link, sum) in (0..count).zip(&mut sums) {
                *sum += u64::from(load.on(link));
            }
        }
        let loads = sums.into_iter().map(|sum| sum as f64 / many).collect();
        Heat { links: counter.links().clone(), loads, words, whole: false }
    }

    /// The same in other words.
    pub fn described(self, words: String) -> Heat {
        Heat { words, ..self }
    }

    /// The load that leaves a switch by a port.
    pub fn on(&self, switch: Switch, port: Port) -> f64 {
        self.links.checked(switch, port).map_or(0.0, |link| self.loads[link as usize])
    }
}

/// The colours from a little to the most. Darker is more, so that a print without colours says the
/// same; the order of hues is that of the map "inferno", which most eyes can follow.
const HEATS: [[f64; 3]; 6] = [
    [253.0, 181.0, 36.0],
    [243.0, 120.0, 25.0],
    [221.0, 81.0, 58.0],
    [188.0, 55.0, 84.0],
    [101.0, 21.0, 110.0],
    [27.0, 12.0, 65.0],
];

/// Nothing runs here.
pub const COLD: &str = "#c9ced6";

/// Means that differ by less than this part of their median to either side have much the same
/// colour.
const SPAN: f64 = 0.2;

/// What the colours mean: loads from the lightest colour to the darkest.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    pub low: f64,
    pub high: f64,
    /// The least and the most that there is, and what lies in the middle of all.
    pub least: f64,
    pub most: f64,
    pub median: f64,
    pub whole: bool,
}

impl Scale {
    /// One message on a link is as it should be: the lightest colour, whatever the most is. Means
    /// span at least 20 % of their median to either side: differences that do not matter must not
    /// look as if they did.
    pub fn over(loads: impl Iterator<Item = f64>, whole: bool) -> Scale {
        let mut loads: Vec<f64> = loads.filter(|&load| load > 0.0).collect();
        loads.sort_by(f64::total_cmp);
        let at = |place: usize| loads.get(place).copied().unwrap_or(0.0);
        let (least, most) = (at(0), at(loads.len().saturating_sub(1)));
        let median = at(loads.len() / 2);
        let (low, high) = match whole {
            true => (1.0, most),
            false => (least.min(median * (1.0 - SPAN)), most.max(median * (1.0 + SPAN))),
        };
        Scale { low, high, least, most, median, whole }
    }

    /// Whether all loads are the same.
    pub fn is_flat(&self) -> bool {
        !self.whole && self.most - self.least <= 1e-9 * self.most
    }

    /// Where a load is between the lightest colour and the darkest.
    pub fn share(&self, load: f64) -> f64 {
        match !self.is_flat() && self.high > self.low {
            true => ((load - self.low) / (self.high - self.low)).clamp(0.0, 1.0),
            false => 0.0,
        }
    }

    pub fn colour(&self, load: f64) -> String {
        if load <= 0.0 {
            return COLD.to_string();
        }
        colour(self.share(load))
    }
}

pub fn colour(share: f64) -> String {
    let at = share.clamp(0.0, 1.0) * (HEATS.len() - 1) as f64;
    let low = (at as usize).min(HEATS.len() - 2);
    let mix = |part: usize| {
        let (from, to) = (HEATS[low][part], HEATS[low + 1][part]);
        (from + (to - from) * (at - low as f64)).round() as u8
    };
    format!("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn darker_is_more() {
        let light = |share: f64| {
            let text = colour(share);
            let part = |at: usize| u32::from_str_radix(&text[at..at + 2], 16).expect("a colour");
            2126 * part(1) + 7152 * part(3) + 722 * part(5)
        };
        let lights: Vec<u32> = (0..=20).map(|step| light(f64::from(step) / 20.0)).collect();
        assert!(lights.windows(2).all(|pair| pair[0] > pair[1]), "{lights:?}");
        let scale = Scale::over([0.0, 2.0, 4.0].into_iter(), true);
        assert_eq!(scale.colour(0.0), COLD);
        assert_eq!(scale.colour(1.0), colour(0.0));
        assert_eq!(scale.colour(4.0), colour(1.0));
        let even = Scale::over([0.7, 0.7].into_iter(), false);
        assert!(even.is_flat() && even.colour(0.7) == colour(0.0));
    }

    #[test]
    fn small_differences_look_small() {
        let near = Scale::over([0.0, 0.94, 1.0, 1.0].into_iter(), false);
        assert_eq!((near.low, near.high, near.least, near.most), (0.8, 1.2, 0.94, 1.0));
        assert!(near.share(1.0) - near.share(0.94) < 0.2);
        // What differs by more has the whole scale.
        let far = Scale::over([0.5, 1.0, 4.0].into_iter(), false);
        assert_eq!((far.low, far.high), (0.5, 4.0));
        let none = Scale::over([0.0].into_iter(), false);
        assert!(none.is_flat() && none.colour(0.0) == COLD);
    }
}
