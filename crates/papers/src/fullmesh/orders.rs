//! Figures 4, 7 and 8 and the equations behind them: who sends to whom in which phase.

use laneway_coll::MeshOrder;
use laneway_core::{Phases, Rank};
use laneway_topo::traffic::order::Shift;

use super::{DEGREES, TABLE, counted, printed};
use crate::Claim;
use crate::part::{Curve, Part};

/// The paper's example has switches of six ports.
const EXAMPLE: u32 = 3;

pub fn figure_4() -> Part {
    let printed = printed::lines(printed::FIGURE_4);
    let (claims, curves) = compared(&printed, 0, &Shift::new(9));
    Part {
        claims,
        curves,
        ..counted(
            "figure-4",
            "Figure 4: the shift, 9 nodes: destinations as printed, by phase and in all",
            TABLE,
        )
    }
}

pub fn figure_7() -> Part {
    let printed = printed::lines(printed::FIGURE_7);
    let (claims, curves) = compared(&printed, 0, &MeshOrder::new(EXAMPLE));
    Part {
        claims,
        curves,
        ..counted(
            "figure-7",
            "Figure 7: within the first layer, d = 3: destinations as printed, by phase and \
                  in all",
            TABLE,
        )
    }
}

pub fn figure_8() -> Part {
    let printed = printed::lines(printed::FIGURE_8);
    let (claims, curves) = compared(&printed, 12, &MeshOrder::new(EXAMPLE));
    Part {
        claims,
        curves,
        ..counted(
            "figure-8",
            "Figure 8: from the first layer to the second, d = 3: destinations as printed, by \
                  phase and in all",
            TABLE,
        )
    }
}

/// A printed table beside ours: how many destinations are the same, and both tables.
fn compared(printed: &[Vec<Rank>], first: u64, order: &dyn Phases) -> (Vec<Claim>, Vec<Curve>) {
    let mut claims = Vec::new();
    let mut all = 0.0;
    for (line, phase) in printed.iter().zip(first..) {
        let ours = |source: usize| order.partner(source as Rank, phase);
        let same = line.iter().enumerate().filter(|&(source, &to)| ours(source) == to).count();
        all += same as f64;
        let what = format!("phase {phase}");
        claims.push(Claim::ratio_of(what, Some(line.len() as f64), same as f64).equal());
    }
    let cells = printed.iter().map(Vec::len).sum::<usize>() as f64;
    claims.push(Claim::ratio_of("all phases", Some(cells), all).equal());
    let sources = printed.first().map_or(0, Vec::len);
    let table = |op: &'static str, to: &dyn Fn(usize, u64) -> Rank| -> Vec<Curve> {
        let column = |source: usize| {
            let phases = first..first + printed.len() as u64;
            let points = phases.map(|phase| (phase, f64::from(to(source, phase)))).collect();
            Curve::new(op, source.to_string(), points)
        };
        (0..sources).map(column).collect()
    };
    let theirs = |source: usize, phase: u64| printed[(phase - first) as usize][source];
    let ours = |source: usize, phase: u64| order.partner(source as Rank, phase);
    let mut curves = table("as printed: a line for each phase, a column for each source", &theirs);
    curves.extend(table("by our formula", &ours));
    (claims, curves)
}

/// Equations (2) and (3), letter by letter, in whole numbers.
fn as_printed(d: u64, source: u64, phase: u64) -> u64 {
    let (offset, block) = (source % d, phase / (d * (d + 1)));
    let inside = phase % (d * (d + 1)) < d * d;
    let base = match inside {
        true => (source / d + (offset + phase / d) % d + 1) % (d + 1) * d,
        false => source / d * d,
    };
    base + (offset + phase) % d + block * d * (d + 1)
}

/// What becomes of an order that may be none.
#[derive(Default)]
struct Faults {
    destinations: u64,
    /// Destinations that are no node.
    outside: u64,
    /// Other destinations than by the corrected form.
    wrong: u64,
    permutations: u64,
    phases: u64,
}

fn faults(d: u32, to: impl Fn(u64, u64) -> u64) -> Faults {
    let order = MeshOrder::new(d);
    let nodes = u64::from(order.nodes());
    let mut faults = Faults { phases: nodes, destinations: nodes * nodes, ..Faults::default() };
    let mut right = vec![0; nodes as usize];
    // The phase in which a node was last a destination.
    let mut seen = vec![u64::MAX; nodes as usize];
    for phase in 0..nodes {
        order.partners(phase, &mut right);
        let mut met = 0;
        for (source, &right) in right.iter().enumerate() {
            let to = to(source as u64, phase);
            faults.wrong += u64::from(to != u64::from(right));
            match seen.get_mut(to as usize) {
                None => faults.outside += 1,
                Some(seen) => met += u64::from(std::mem::replace(seen, phase) != phase),
            }
        }
        faults.permutations += u64::from(met == nodes);
    }
    faults
}

pub fn equations() -> Part {
    let mut claims = Vec::new();
    let printed = |d: u32| move |source, phase| as_printed(u64::from(d), source, phase);
    let found = faults(EXAMPLE, printed(EXAMPLE));
    let all = found.destinations as f64;
    let count = |what: String, ours: u64| Claim::own_ratio(what, ours as f64);
    claims.extend([
        Claim::ratio_of("d = 3, as printed: destinations as they must be", Some(all), {
            (found.destinations - found.wrong) as f64
        })
        .equal()
        .known(1, 540.0, 540.0),
        count("d = 3, as printed: wrong destinations".into(), found.wrong),
        count("d = 3, as printed: of these, no node at all".into(), found.outside),
        count(
            "d = 3, as printed: phases that are no permutation, of 36".into(),
            found.phases - found.permutations,
        ),
    ]);
    for d in DEGREES {
        let nodes = u64::from(MeshOrder::new(d).nodes());
        let reduced = faults(d, |source, phase| as_printed(u64::from(d), source, phase) % nodes);
        claims.push(count(
            format!("d = {d}, as printed, reduced mod n: phases that are no permutation"),
            reduced.phases - reduced.permutations,
        ));
    }
    for d in [EXAMPLE].into_iter().chain(DEGREES) {
        let order = MeshOrder::new(d);
        let found = faults(d, |source, phase| u64::from(order.partner(source as Rank, phase)));
        let what = format!("d = {d}, corrected: phases that are permutations");
        let phases = Some(found.phases as f64);
        claims.push(Claim::ratio_of(what, phases, found.permutations as f64).equal());
    }
    Part {
        claims,
        ..counted(
            "equations",
            "Equations (2) and (3): in print (2) forgets the source's layer, and neither \
                  wraps around after the last.\nCorrected, for node (l, v, o) in phase i, with \
                  k = i / d(d+1): layer l + k mod d, number o + i mod d, vertex\nv + ((o + i/d) \
                  mod d) + 1 mod d+1 while i mod d(d+1) < d^2, then v",
            TABLE,
        )
    }
}
