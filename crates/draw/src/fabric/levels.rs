//! Any other fabric: switches with hosts at the bottom, each other one as high as it is far above.
//!
//! A level of many switches is drawn in piles of those that have the same neighbours: the leaves of
//! a pod, its middle switches, the tops that they share. The first pile of leaves and what stands
//! above it alone are spread out, so that one can see what is within.

use std::collections::{BTreeMap, BTreeSet};
use std::f64::consts::PI;
use std::fmt::Write;

use laneway_core::units::counted;
use laneway_topo::wiring::graph;
use laneway_topo::{End, Port, Switch, Wiring};

use super::layout::{Layout, Shape, Spot};

/// Spots of a level at most; and switches of the pile that is spread out at most.
const MOST_SPOTS: usize = 40;
const MOST_SPREAD: usize = 24;

const WIDE: f64 = 1000.0;
const STOREY: f64 = 190.0;
const TOP: f64 = 40.0;

struct Levels {
    /// By switch.
    level: Vec<u32>,
    hosts: Vec<u32>,
    neighbours: Vec<BTreeSet<Switch>>,
}

impl Levels {
    fn of(wiring: &dyn Wiring) -> Levels {
        let count = wiring.switches() as usize;
        let mut hosts = vec![0; count];
        let attached = (0..wiring.hosts()).filter_map(|host| wiring.attached(host));
        attached.for_each(|(switch, _)| hosts[switch as usize] += 1);
        let ends = |switch: Switch| {
            let ports = 0..wiring.ports(switch) as Port;
            ports.filter_map(move |port| match wiring.end(switch, port) {
                End::Switch(other, _) => Some(other),
                End::Host(_) | End::Nothing => None,
            })
        };
        let neighbours: Vec<BTreeSet<Switch>> =
            (0..count as Switch).map(|switch| ends(switch).collect()).collect();
        let mut level = graph::levels(wiring);
        // Those that no host can reach stand at the bottom too.
        level.iter_mut().filter(|level| **level == u32::MAX).for_each(|level| *level = 0);
        Levels { level, hosts, neighbours }
    }

    fn height(&self) -> u32 {
        self.level.iter().copied().max().unwrap_or(0)
    }

    /// The neighbours that distinguish switches of a level: those above a leaf, those below others.
    fn kin(&self, switch: usize) -> Vec<Switch> {
        let own = self.level[switch];
        let tells = |other: &&Switch| match own {
            0 => self.level[**other as usize] > 0,
            _ => self.level[**other as usize] < own,
        };
        self.neighbours[switch].iter().filter(tells).copied().collect()
    }

    /// The switches of a level in piles of kin; each alone where they are few.
    fn piles(&self, level: u32) -> Vec<Vec<usize>> {
        let all: Vec<usize> = (0..self.level.len()).filter(|&at| self.level[at] == level).collect();
        if all.len() <= MOST_SPOTS {
            return all.into_iter().map(|at| vec![at]).collect();
        }
        let mut kin: BTreeMap<Vec<Switch>, Vec<usize>> = BTreeMap::new();
        all.iter().for_each(|&at| kin.entry(self.kin(at)).or_default().push(at));
        let mut piles: Vec<Vec<usize>> = kin.into_values().collect();
        piles.sort_by_key(|pile| pile[0]);
        if piles.len() > MOST_SPOTS || piles.len() == 1 {
            // Nothing distinguishes them: as they are numbered.
            piles = all.chunks(all.len().div_ceil(MOST_SPOTS)).map(<[usize]>::to_vec).collect();
        }
        self.spread(piles)
    }

    /// Spreads out the first pile where it belongs to the first leaf alone.
    fn spread(&self, mut piles: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
        let first = self.level.iter().position(|&level| level == 0).unwrap_or(0);
        let near = |at: usize| at == first || self.neighbours[first].contains(&(at as Switch));
        if piles[0].len() <= MOST_SPREAD && piles[0].iter().any(|&at| near(at)) {
            let pile = piles.remove(0);
            piles.splice(0..0, pile.into_iter().map(|at| vec![at]));
        }
        piles
    }
}

pub fn layout(wiring: &dyn Wiring) -> Layout<'_> {
    let levels = Levels::of(wiring);
    let height = levels.height();
    let mut spots: Vec<Spot> = Vec::new();
    let mut seats = vec![0; levels.level.len()];
    let (mut backdrop, mut words) = (String::new(), Vec::new());
    let mut is_piled = false;
    for level in 0..=height {
        let y = TOP + STOREY * f64::from(height - level);
        let mut piles = levels.piles(level);
        // Above what they stand on, so that lines cross little.
        let middle = |pile: &Vec<usize>| {
            let below: Vec<f64> = pile
                .iter()
                .flat_map(|&at| &levels.neighbours[at])
                .filter(|&&other| levels.level[other as usize] < level)
                .map(|&other| spots[seats[other as usize]].x)
                .collect();
            (below.iter().sum::<f64>() / below.len().max(1) as f64 / 4.0).round() as i64
        };
        if level > 0 {
            piles.sort_by_cached_key(|pile| (middle(pile), pile[0]));
        }
        is_piled |= piles.iter().any(|pile| pile.len() > 1);
        let step = WIDE / piles.len() as f64;
        let count = levels.level.iter().filter(|own| **own == level).count();
        for (number, pile) in piles.into_iter().enumerate() {
            pile.iter().for_each(|&at| seats[at] = spots.len());
            let x = 110.0 + step * (number as f64 + 0.5);
            spots.push(spot(wiring, &levels, &pile, (x, y), step));
        }
        let hosts = match level {
            0 => format!(", {}", counted(wiring.hosts(), "host")),
            _ => String::new(),
        };
        let switches = counted(count as u64, "switch");
        // Writing to a string cannot fail.
        let _ = writeln!(
            backdrop,
            "<text x=\"8\" y=\"{:.0}\" font-size=\"12\" fill=\"#445\">level {}</text>\
             <text x=\"8\" y=\"{:.0}\" fill=\"#667\">{switches}</text>",
            y - 2.0,
            level + 1,
            y + 12.0
        );
        words.push(format!("level {}: {switches}{hosts}", level + 1));
    }
    let mut words = vec![words.join("; ")];
    if is_piled {
        let what = "a pile is several switches with the same neighbours, the number says how many; \
                    a line at a pile is several cables";
        words.push(what.to_string());
    }
    let seat = move |switch: Switch, _: Switch| seats[switch as usize];
    Layout {
        width: WIDE + 130.0,
        height: TOP + STOREY * f64::from(height) + 70.0,
        spots,
        seat: Box::new(seat),
        backdrop,
        words,
    }
}

fn spot(
    wiring: &dyn Wiring,
    levels: &Levels,
    pile: &[usize],
    (x, y): (f64, f64),
    step: f64,
) -> Spot {
    let hosts: u32 = pile.iter().map(|&at| levels.hosts[at]).sum();
    let name = wiring.switch_name(pile[0] as Switch);
    let half = (step * 0.36).clamp(3.0, 13.0);
    if pile.len() > 1 {
        let title = format!("{} switches, {name} and so on", pile.len());
        let label = pile.len().to_string();
        let shape = Shape::Pile;
        let hosts = (hosts > 0).then_some((PI / 2.0, hosts));
        return Spot { x, y, shape, half, label, title, hosts };
    }
    let shape = if levels.hosts[pile[0]] > 0 { Shape::Disc } else { Shape::Square };
    // What is behind the first dash: `leaf-0-3` is 0-3.
    let short = name.split_once('-').map_or(name.as_str(), |(_, rest)| rest).to_string();
    let fits = short.chars().count() as f64 * 5.2 <= step - 2.0;
    let label = if fits { short } else { String::new() };
    // Hosts hang around their switch, and must not reach those of its neighbour.
    let half = if hosts > 0 { half.min(step / 2.0 - 8.0).max(3.0) } else { half };
    Spot { x, y, shape, half, label, title: name, hosts: (hosts > 0).then_some((PI / 2.0, hosts)) }
}
