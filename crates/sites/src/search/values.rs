//! The values of a parameter: those of the first look, and the steps from one value to others.

use laneway_coll::{Parameter, Params};
use laneway_sim::Network;

use super::{Search, Setting};

/// Blocks are cut into at most so many pieces.
const MOST_PIECES: u64 = 16;
/// And into no more than so many.
const SHORTEST: u64 = 256;
/// Values of a parameter that is a choice among a few.
const FEW: u64 = 4;
/// A site serves fewer others than this, or all.
const MOST_FANS: u64 = 12;

/// 1, 2, 4, … below a number.
fn powers(most: u64) -> impl Iterator<Item = u64> {
    (0..63).map(|k| 1 << k).take_while(move |power| *power < most)
}

impl Search<'_, '_> {
    /// Hosts of the root's site.
    fn near(&self) -> u64 {
        let root = self.shape.root.min(self.shape.ranks - 1);
        self.sites.placement.neighbours(root).len() as u64
    }

    /// Blocks are cut into no shorter segments.
    pub(super) fn least_segment(&self) -> u64 {
        match self.shape.vector() {
            0 => (self.shape.blocks().longest(self.shape.ranks) / SHORTEST).max(1),
            _ => 1,
        }
    }

    /// All windows that are worth a look.
    pub(super) fn windows(&self) -> Vec<u64> {
        let ranks = u64::from(self.shape.ranks);
        let halves = powers(ranks).map(|power| 3 * power).filter(|window| *window < ranks);
        let mut windows: Vec<u64> = powers(ranks).chain(halves).chain([ranks]).collect();
        windows.sort_unstable();
        windows
    }

    /// Fans of a tree over sites; none where it has a single other site.
    pub(super) fn fans(&self) -> Vec<u64> {
        let others = u64::from(self.sites.placement.sites()).saturating_sub(1);
        match others {
            0 | 1 => Vec::new(),
            _ => (0..others.min(MOST_FANS)).chain([others]).collect(),
        }
    }

    /// Orders of the ranks; none where both are the same.
    fn orders(&self) -> Vec<u64> {
        if self.orders.len() > 1 { self.orders.clone() } else { Vec::new() }
    }

    /// A few values that are far from each other; every small radix, as trees differ much in which
    /// of their edges cross between sites.
    pub(super) fn first_values(&self, parameter: Parameter) -> Vec<u64> {
        let ranks = u64::from(self.shape.ranks);
        let mut values = match parameter {
            Parameter::Window => vec![1, 4, 16, ranks],
            Parameter::Near => vec![0, 4],
            Parameter::Lanes => vec![1, 2, 4, self.largest_site / 2, 0],
            Parameter::Radix => (2..=16).collect(),
            Parameter::Connections => vec![1, u64::from(self.sites.platform.connections())],
            Parameter::Own => vec![0, 100, 1000],
            Parameter::Stripes => vec![1, 4],
            Parameter::Fan => {
                let fans = self.fans();
                let last = fans.last().copied();
                fans.into_iter().filter(|fan| *fan < FEW || Some(*fan) == last).collect()
            }
            Parameter::Order => self.orders(),
            _ => (0..FEW).filter(|value| is_possible(parameter, *value)).collect(),
        };
        let most = match parameter {
            Parameter::Window | Parameter::Radix => ranks.max(2),
            Parameter::Lanes => self.largest_site,
            _ => u64::MAX,
        };
        values.retain(|value| *value <= most);
        values.sort_unstable();
        values.dedup();
        values
    }

    /// The values next to the one of a setting.
    pub(super) fn steps(&self, setting: &Setting, parameter: Parameter) -> Vec<u64> {
        let value = setting.params.get(parameter);
        let ranks = u64::from(self.shape.ranks);
        let longest = self.shape.blocks().longest(self.shape.ranks).max(self.shape.vector());
        let around = |value: u64| {
            vec![value.div_ceil(2), value * 2, value.saturating_sub(1), value + 1, value * 3 / 2]
        };
        let (least, most) = match parameter {
            Parameter::Window => (1, (2 * ranks).max(1 << 10)),
            Parameter::Radix => (2, ranks.max(2)),
            Parameter::Lanes => (1, self.largest_site),
            Parameter::Near => (0, 2 * self.near()),
            Parameter::Connections => (1, u64::from(self.sites.platform.connections())),
            Parameter::Stripes => (1, 16),
            Parameter::Own => (0, 1000),
            Parameter::Fan | Parameter::Order => (0, u64::MAX),
            Parameter::Segment => (self.least_segment(), longest.max(1)),
            _ => (0, FEW - 1),
        };
        let mut values = match parameter {
            Parameter::Lanes if value == 0 => vec![most, most.div_ceil(2), most.saturating_sub(1)],
            Parameter::Lanes => [around(value), vec![0]].concat(),
            Parameter::Near => [around(value), vec![0]].concat(),
            Parameter::Own => {
                let steps = [10, 30, 100];
                let less = steps.map(|step| value.saturating_sub(step));
                let more = steps.map(|step| value + step);
                [&less[..], &more[..], &[0, 500, 1000]].concat()
            }
            Parameter::Segment => {
                let eager = self.sites.platform.eager_bytes();
                let mut values = match self.shape.vector() {
                    // Pieces of a block are worth it where they are many.
                    0 => vec![longest.div_ceil(MOST_PIECES)],
                    _ => Vec::new(),
                };
                values.extend([value.div_ceil(2), value * 2, value * 3 / 4, value * 3 / 2]);
                // Pieces up to the eager limit need no answer before they leave.
                values.extend((eager < longest && eager * 64 >= longest).then_some(eager));
                // Some algorithms cut a vector into at most so many pieces, whatever the segment: a
                // step from there gains nothing.
                if self.shape.vector() > 0 {
                    values.extend((1..=4).map(|k| longest.div_ceil(1 << k)));
                }
                values
            }
            Parameter::Window | Parameter::Radix | Parameter::Connections | Parameter::Stripes => {
                around(value)
            }
            Parameter::Fan => self.fans(),
            Parameter::Order => self.orders(),
            _ => (0..FEW).filter(|value| is_possible(parameter, *value)).collect(),
        };
        values.retain(|one| {
            let is_all = parameter == Parameter::Lanes && *one == 0;
            *one != value && (is_all || (least..=most).contains(one))
        });
        let mut new = Vec::new();
        for value in values {
            if !new.contains(&value) {
                new.push(value);
            }
        }
        new
    }
}

/// Whether a parameter can have a value.
fn is_possible(parameter: Parameter, value: u64) -> bool {
    Params::default().set(parameter, value).is_ok()
}
