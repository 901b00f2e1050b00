//! Algorithms for several sites, proved for 1 to 64 ranks at 1 to 5 sites, ranks in blocks, in turn
//! and at random.

use laneway_coll::{Algorithm, Parameter, Params, all, check};
use laneway_core::{Collective, Location, Placement, Rank, Shape};

use crate::support::{Cut, Random, shape};

/// The names of those that ask where ranks are.
const NAMES: [&str; 6] =
    ["single-lane", "single-lane-tree", "multi-lane", "multi-lane-together", "far-first", "relay"];

fn placements(ranks: u32, sites: u32, seed: u64) -> Vec<Placement> {
    let sites = sites.min(ranks);
    let place = |site: &dyn Fn(Rank) -> u32| {
        let location = |rank| Location { site: site(rank), host: rank, wan_card: rank % 2 == 0 };
        Placement::new((0..ranks).map(location).collect())
    };
    let mut random = Random::new(seed);
    let drawn: Vec<u32> = (0..ranks).map(|_| random.below(u64::from(sites)) as u32).collect();
    vec![
        place(&|rank| rank * sites / ranks),
        place(&|rank| rank % sites),
        place(&|rank| drawn[rank as usize]).with_distances(|a, b| u64::from(a * 7 + b * 3)),
    ]
}

/// A few settings that differ, by a number.
fn setting(algorithm: &Algorithm, number: u64, most_lanes: u64) -> Params {
    let mut params = algorithm.defaults();
    for (parameter, _) in algorithm.parameters {
        let value = match parameter {
            Parameter::Lanes => number % (most_lanes + 1),
            Parameter::Window => 1 + number % 3,
            Parameter::Near => number % 3,
            Parameter::Segment => [1 << 20, 40, 9][number as usize % 3],
            Parameter::Own => [0, 10, 100, 55][number as usize % 4],
            Parameter::Radix => 2 + number % 3,
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
    for in_place in [false, true] {
        let shape = Shape { in_place, ..shape.clone() };
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
    assert!(own.len() >= 11);
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
