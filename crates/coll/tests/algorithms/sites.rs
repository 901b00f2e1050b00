//! Algorithms for several sites, proved for 1 to 64 ranks at 1 to 5 sites, ranks in blocks, in turn
//! and at random.

use laneway_coll::{Algorithm, Parameter, Params, all, check};
use laneway_core::{Collective, Location, Placement, Rank, Round, Schedule, Shape, Step};
use laneway_stats::SplitMix64;

use crate::support::{Cut, shape};

/// Bytes that each site sends to each, row by row.
fn crossing(schedule: &dyn Schedule, placement: &Placement) -> Vec<Vec<u64>> {
    let sites = placement.sites() as usize;
    let mut bytes = vec![vec![0; sites]; sites];
    let site = |rank: Rank| placement.location(rank).site as usize;
    let mut steps = Round::default();
    for rank in 0..schedule.ranks() {
        for lane in 0..schedule.lanes(rank) {
            (0..schedule.rounds(rank, lane))
                .for_each(|k| schedule.round(rank, lane, k, &mut steps));
        }
        for step in steps.steps.drain(..) {
            if let Step::Send { to, span, .. } = step {
                bytes[site(rank)][site(to)] += span.len;
            }
        }
    }
    bytes
}

/// What must cross from a site to another, and no more.
fn must_cross(shape: &Shape, placement: &Placement, from: u32, to: u32) -> u64 {
    let blocks = |site: u32| -> u64 {
        let blocks = shape.blocks();
        placement.members(site).iter().map(|rank| blocks.len(*rank)).sum()
    };
    match shape.collective.family() {
        Collective::Bcast if placement.location(shape.root).site != from => 0,
        Collective::Bcast | Collective::Allreduce => shape.vector(),
        Collective::Allgather => blocks(from),
        Collective::ReduceScatter => blocks(to),
        _ => {
            let (matrix, to) = (shape.matrix(), placement.members(to));
            let row = |a: &Rank| to.iter().map(|b| matrix.len(*a, *b)).sum::<u64>();
            placement.members(from).iter().map(row).sum()
        }
    }
}

#[test]
fn every_byte_crosses_once() {
    let families = [
        Collective::Bcast,
        Collective::Allgather,
        Collective::Allreduce,
        Collective::ReduceScatter,
        Collective::Alltoall,
    ];
    let mut counted = 0;
    for (ranks, sites) in [(1, 1), (2, 2), (9, 2), (16, 2), (23, 3), (30, 5)] {
        for (turn, placement) in placements(ranks, sites, 7).iter().enumerate() {
            for algorithm in all().filter(|one| families.contains(&one.family)) {
                if !NAMES.contains(&algorithm.name) {
                    continue;
                }
                let forms = Collective::ALL.into_iter();
                for form in forms.filter(|form| form.family() == algorithm.family) {
                    let shape = shape(form, ranks, ranks / 2, Cut::Skewed, turn as u64);
                    for number in 0..4 {
                        let params = setting(algorithm, number, 3);
                        let schedule = algorithm.placed(&shape, &params, placement);
                        let found = crossing(&*schedule.expect("a schedule"), placement);
                        for (from, row) in found.iter().enumerate() {
                            for (to, bytes) in row.iter().enumerate().filter(|(to, _)| *to != from)
                            {
                                let must = must_cross(&shape, placement, from as u32, to as u32);
                                let what = format!("{algorithm:?} {from} to {to}\n{shape:?}");
                                assert_eq!(*bytes, must, "{what}");
                                counted += 1;
                            }
                        }
                    }
                }
            }
        }
    }
    assert!(counted > 1_000, "{counted}");
}

/// The names of those that ask where ranks are.
const NAMES: [&str; 7] = [
    "single-lane",
    "single-lane-tree",
    "multi-lane",
    "multi-lane-together",
    "far-first",
    "relay",
    "site-lanes",
];

fn placements(ranks: u32, sites: u32, seed: u64) -> Vec<Placement> {
    let sites = sites.min(ranks);
    let place = |site: &dyn Fn(Rank) -> u32| {
        let location = |rank| Location { site: site(rank), host: rank, wan_card: rank % 2 == 0 };
        Placement::new((0..ranks).map(location).collect())
    };
    let mut random = SplitMix64::new(seed);
    let drawn: Vec<u32> = (0..ranks).map(|_| random.index(sites as usize) as u32).collect();
    vec![
        place(&|rank| rank * sites / ranks),
        place(&|rank| rank % sites),
        place(&|rank| drawn[rank as usize]).with_distances(|a, b| u64::from(a * 7 + b * 3)),
    ]
}

/// From this number of ranks on, calls are in place or apart in turn, and pieces are longer.
const MANY: u32 = 20;

/// A few settings that differ, by a number.
fn setting(algorithm: &Algorithm, number: u64, most_lanes: u64) -> Params {
    let mut params = algorithm.defaults();
    for (parameter, _) in algorithm.parameters {
        let value = match parameter {
            Parameter::Lanes => number % (most_lanes + 1),
            Parameter::Window => 1 + number % 3,
            Parameter::Near => number % 3,
            Parameter::Segment => [1 << 20, 40, 9][number as usize % 3],
            Parameter::Own => [0, 100, 1000, 550][number as usize % 4],
            Parameter::Stripes => [1, 2, 3, 16][number as usize % 4],
            Parameter::Connections => [1, 2, 5, 32][number as usize % 4],
            Parameter::Radix => 2 + number % 3,
            other => panic!("no values of {other:?} are proved"),
        };
        params = params.with(*parameter, value);
    }
    params
}

/// The most lanes that the paper's algorithm can have here.
fn most_lanes(placement: &Placement, root: Rank) -> u64 {
    let own = placement.location(root).site;
    let largest = placement.others(own).into_iter().map(|site| placement.members(site).len());
    largest.max().unwrap_or(1).min(placement.members(own).len()) as u64
}

fn prove(algorithm: &Algorithm, shape: &Shape, params: &Params, placement: &Placement) {
    let params = &match shape.ranks < MANY {
        true => *params,
        false => params.with(Parameter::Segment, 8 * params.segment()),
    };
    for in_place in [false, true] {
        if shape.ranks >= MANY && in_place == shape.ranks.is_multiple_of(2) && algorithm.in_place {
            continue;
        }
        let mut shape = shape.clone();
        shape.in_place = in_place;
        if in_place && (!algorithm.in_place || shape.validate().is_err()) {
            continue;
        }
        let spelled = algorithm.spelled(params);
        let schedule = algorithm.placed(&shape, params, placement);
        let schedule = schedule.unwrap_or_else(|no| panic!("{spelled}: {no}\n{shape:?}"));
        if let Err(fault) = check(&shape, &*schedule) {
            panic!("{algorithm:?} {spelled}: {fault}\n{shape:?}\n{placement:?}");
        }
    }
}

#[test]
fn algorithms_for_sites_are_right_wherever_ranks_are() {
    let own: Vec<&Algorithm> = all().filter(|one| NAMES.contains(&one.name)).collect();
    assert!(own.len() >= 17);
    let mut proved = 0;
    for ranks in 1..=64u32 {
        for sites in 1..=5u32 {
            let seed = u64::from(ranks * 5 + sites);
            for (turn, placement) in placements(ranks, sites, seed).iter().enumerate() {
                let number = seed + turn as u64;
                let root = (number * 7 % u64::from(ranks)) as Rank;
                let cut = [Cut::Equal, Cut::Skewed, Cut::Empty][number as usize % 3];
                for algorithm in &own {
                    let forms = Collective::ALL.into_iter();
                    for form in forms.filter(|form| form.family() == algorithm.family) {
                        let shape = shape(form, ranks, root, cut, seed);
                        let most = most_lanes(placement, root);
                        prove(algorithm, &shape, &setting(algorithm, number, most), placement);
                        proved += 1;
                    }
                }
            }
        }
    }
    assert!(proved > 10_000, "{proved}");
}

#[test]
fn more_lanes_than_hosts_are_refused() {
    let placement = &placements(10, 2, 1)[0];
    for family in [Collective::Scatter, Collective::Gather] {
        let (algorithm, params) = laneway_coll::find(family, "multi-lane:lanes=6").expect("known");
        let refusal = algorithm.placed(&Shape::new(family, 10, 8), &params, placement);
        let why = refusal.err().expect("a refusal").to_string();
        assert!(why.contains("6 lanes") && why.contains("5 ranks"), "{why}");
        let wrong = algorithm.placed(&Shape::new(family, 9, 8), &params, placement);
        assert!(wrong.is_err(), "a placement of other ranks");
    }
}
