//! Shapes to try every algorithm with, from a seed that failures print.

use laneway_coll::{Algorithm, Parameter, Params};
use laneway_core::{Blocks, Collective, Matrix, Rank, Round, Schedule, Shape};
use laneway_stats::SplitMix64;

/// How long the blocks are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    Equal,
    /// Any length, many empty, one long.
    Skewed,
    Empty,
}

/// A shape with the given cut; lengths are multiples of the element.
pub fn shape(collective: Collective, ranks: u32, root: Rank, cut: Cut, seed: u64) -> Shape {
    let element: u64 = if collective.reduces() { 8 } else { 1 };
    let size = match cut {
        Cut::Empty => 0,
        Cut::Equal => 24 * element,
        Cut::Skewed => (1 + seed % 5) * element,
    };
    let shape = Shape::new(collective, ranks, size).with_root(root);
    let shape = shape.with_element(element as u32, true);
    if cut != Cut::Skewed {
        return shape;
    }
    let mut random = SplitMix64::new(seed + u64::from(ranks) * 1000);
    let mut length = move || match random.index(4) {
        0 => 0,
        1 => element * 100,
        _ => element * random.index(30) as u64,
    };
    match collective {
        Collective::Alltoallv => {
            let lengths: Vec<u64> = (0..ranks * ranks).map(|_| length()).collect();
            // Every other one is symmetric, so that it can also be exchanged in place.
            let symmetric = seed.is_multiple_of(2);
            let at = |s: Rank, d: Rank| {
                let (s, d) = if symmetric { (s.min(d), s.max(d)) } else { (s, d) };
                lengths[(s * ranks + d) as usize]
            };
            shape.with_matrix(Matrix::of_lengths(ranks, at).expect("small lengths"))
        }
        c if c.is_irregular() => {
            let lengths: Vec<u64> = (0..ranks).map(|_| length()).collect();
            shape.with_blocks(Blocks::of_lengths(&lengths).expect("small lengths"))
        }
        _ => shape,
    }
}

/// The defaults, and settings that make every parameter bind on small data.
pub fn settings(algorithm: &Algorithm) -> Vec<Params> {
    let mut all = vec![algorithm.defaults()];
    let mut with = |choose: &dyn Fn(Parameter) -> u64| {
        let mut params = algorithm.defaults();
        for &(parameter, _) in algorithm.parameters {
            params.set(parameter, choose(parameter)).expect("a value within its range");
        }
        if !all.contains(&params) {
            all.push(params);
        }
    };
    with(&|parameter| match parameter {
        Parameter::Radix => 3,
        Parameter::Segment => 40,
        Parameter::Window | Parameter::Lanes => 1,
        Parameter::Near => 0,
        Parameter::Own => 1000,
        Parameter::Stripes => 2,
        Parameter::Connections => 3,
        Parameter::Order | Parameter::Fan => 1,
        other => panic!("no values of {other:?} are proved"),
    });
    with(&|parameter| match parameter {
        Parameter::Radix => 5,
        Parameter::Segment => 9,
        Parameter::Window | Parameter::Near => 3,
        Parameter::Lanes => 2,
        Parameter::Own => 400,
        Parameter::Stripes => 3,
        Parameter::Connections => 2,
        Parameter::Order => 0,
        Parameter::Fan => 2,
        other => panic!("no values of {other:?} are proved"),
    });
    all
}

/// A schedule with one step taken out.
pub struct Without<'a> {
    pub schedule: &'a dyn Schedule,
    pub rank: Rank,
    pub lane: u32,
    pub round: u64,
    pub step: usize,
}

impl Schedule for Without<'_> {
    fn ranks(&self) -> u32 {
        self.schedule.ranks()
    }
    fn lanes(&self, rank: Rank) -> u32 {
        self.schedule.lanes(rank)
    }
    fn rounds(&self, rank: Rank, lane: u32) -> u64 {
        self.schedule.rounds(rank, lane)
    }
    fn round(&self, rank: Rank, lane: u32, k: u64, out: &mut Round) {
        let before = out.steps.len();
        self.schedule.round(rank, lane, k, out);
        if (rank, lane, k) == (self.rank, self.lane, self.round) {
            out.steps.remove(before + self.step);
        }
    }
    fn tmp_len(&self, rank: Rank) -> u64 {
        self.schedule.tmp_len(rank)
    }
}
