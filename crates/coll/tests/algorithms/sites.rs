//! Algorithms for several sites, proved for 1 to 64 ranks at 1 to 5 sites, ranks in blocks, in turn
//! and at random.

use laneway_coll::{Algorithm, Parameter, Params, all, check};
use laneway_core::{Collective, Location, Placement, Rank, Round, Schedule, Shape, Step};
use laneway_stats::SplitMix64;

use crate::support::{Cut, shape};

/// Bytes that each site sends to each, row by row.
pub fn crossing(schedule: &dyn Schedule, placement: &Placement) -> Vec<Vec<u64>> {
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
        Collective::Reduce if placement.location(shape.root).site != to => 0,
        Collective::Bcast | Collective::Reduce | Collective::Allreduce => shape.vector(),
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
        Collective::Reduce,
        Collective::Allgather,
        Collective::Allreduce,
        Collective::ReduceScatter,
        Collective::Alltoall,
    ];
    let mut counted = 0;
    for (ranks, sites) in [(1, 1), (2, 2), (9, 2), (16, 2), (23, 3), (30, 5)] {
        for (turn, placement) in placements(ranks, sites, 7).iter().enumerate() {
            for algorithm in all().filter(|one| families.contains(&one.family)) {
                if !NAMES.contains(&algorithm.name) || algorithm.name == "third-site" {
                    continue;
                }
                let forms = Collective::ALL.into_iter();
                for form in forms.filter(|form| form.family() == algorithm.family) {
                    let shape = shape(form, ranks, ranks / 2, Cut::Skewed, turn as u64);
                    for number in 0..4 {
                        let params = setting(algorithm, number, 3).with(Parameter::Fan, 0);
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

/// Vectors that each site sends to others, and receives of them.
fn vectors(schedule: &dyn Schedule, placement: &Placement, vector: u64) -> Vec<[u64; 2]> {
    let crossing = crossing(schedule, placement);
    let sites = 0..crossing.len();
    let sum = |pairs: &dyn Fn(usize) -> u64| sites.clone().map(pairs).sum::<u64>() / vector;
    let site = |site: usize| {
        let out = sum(&|other| if other == site { 0 } else { crossing[site][other] });
        [out, sum(&|other| if other == site { 0 } else { crossing[other][site] })]
    };
    sites.clone().map(site).collect()
}

#[test]
fn with_a_fan_no_site_sends_a_copy_to_each_other_one() {
    for placement in &placements(28, 7, 7)[..2] {
        let wide = |a: u32, b: u32| if a.min(b) == 0 && a.max(b) > 2 { 10 } else { 1000 };
        let (equal, placement) = (placement, &placement.clone().with_rates(wide));
        for (op, fan) in [Collective::Bcast, Collective::Reduce]
            .into_iter()
            .flat_map(|op| [1, 2, 6].map(|fan| (op, fan)))
        {
            let shape = Shape::new(op, 28, 1 << 20).with_root(9).with_element(8, true);
            let spelled = format!("site-lanes:segment=4096:fan={fan}");
            let (algorithm, params) = laneway_coll::find(op, &spelled).expect("an algorithm");
            let schedule = algorithm.placed(&shape, &params, placement).expect("a schedule");
            let found = vectors(&*schedule, placement, 1 << 20);
            for [out, into] in found.iter().copied() {
                let (one, many) = if op == Collective::Bcast { (into, out) } else { (out, into) };
                assert!(one <= 1 && many <= fan, "{spelled}: {found:?}");
            }
        }
        // Twice six sevenths of a vector, rather than six vectors.
        let shape = Shape::new(Collective::Allreduce, 28, 1 << 20).with_element(8, true);
        let find = |spelled| laneway_coll::find(Collective::Allreduce, spelled).expect("known");
        for (spelled, least, most) in
            [("site-lanes", 6, 6), ("site-lanes:segment=4096:fan=6", 1, 2)]
        {
            let (algorithm, params) = find(spelled);
            let schedule = algorithm.placed(&shape, &params, equal).expect("a schedule");
            let found = vectors(&*schedule, equal, 1 << 20);
            let is_good = |sent: &[u64; 2]| sent.iter().all(|n| (least..=most).contains(n));
            assert!(found.iter().all(is_good), "{spelled}: {found:?}");
        }
    }
}

/// The names of those that ask where ranks are.
const NAMES: [&str; 8] = [
    "single-lane",
    "single-lane-tree",
    "multi-lane",
    "multi-lane-together",
    "far-first",
    "relay",
    "site-lanes",
    "third-site",
];

/// Whether it is one of those, or takes ranks in the order of their sites.
pub fn asks_for_sites(algorithm: &Algorithm) -> bool {
    NAMES.contains(&algorithm.name) || algorithm.declares(Parameter::Order)
}

/// The way over a third site is taken where the other one is slow, and no other.
#[test]
fn relays_at_third_sites_serve_where_they_are_faster() {
    for (ranks, sites) in [(5, 3), (12, 3), (23, 4), (40, 5)] {
        for equal in &placements(ranks, sites, 3)[..2] {
            let slow = equal.clone().with_rates(|a, b| if a + b == 1 { 100 } else { 900 });
            for (family, root) in [Collective::Scatter, Collective::Gather]
                .into_iter()
                .flat_map(|family| [(family, 0), (family, ranks - 1)])
            {
                let (algorithm, params) =
                    laneway_coll::find(family, "third-site:segment=7:window=2").expect("known");
                let shape = shape(family, ranks, root, Cut::Equal, 1);
                let relayed = |placement: &Placement| {
                    let schedule = algorithm.placed(&shape, &params, placement).expect("known");
                    check(&shape, &*schedule).unwrap_or_else(|fault| panic!("{fault} {shape:?}"));
                    let kept = (0..ranks).map(|rank| schedule.tmp_len(rank)).sum::<u64>();
                    (crossing(&*schedule, placement), kept)
                };
                let (_, kept) = relayed(equal);
                assert!(kept * 2 < 24 * u64::from(ranks), "{kept} though all are as fast");
                let (crossed, kept) = relayed(&slow);
                if slow.location(root).site < 2 {
                    let between = crossed[0][1] + crossed[1][0];
                    assert!(between < kept, "{crossed:?}");
                }
            }
        }
    }
}

pub fn placements(ranks: u32, sites: u32, seed: u64) -> Vec<Placement> {
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
        place(&|rank| drawn[rank as usize])
            // Up to 0.4 s: short blocks take less, and long ones more.
            .with_distances(|a, b| u64::from(a * 7 + b * 3) * 10_000_000_000)
            .with_rates(|a, b| 1 + u64::from((a * 5) ^ (b * 3)) % 7 * 100)
            .with_speeds(|rank| if rank % 3 == 1 { 100 } else { 1000 }),
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
            Parameter::Order => number % 2,
            Parameter::Fan => number % 4,
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
    assert!(own.len() >= 20);
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
