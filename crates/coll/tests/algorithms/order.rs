//! Every algorithm with `order=sites`: right wherever ranks are, and the same as by rank where they
//! are sorted.

use laneway_coll::{Algorithm, Parameter, all, check, find, orders};
use laneway_core::{Collective, Placement, Round, Schedule, Shape};

use crate::sites::{crossing, placements};
use crate::support::{Cut, settings, shape};

fn ordered() -> impl Iterator<Item = &'static Algorithm> {
    all().filter(|algorithm| algorithm.declares(Parameter::Order))
}

/// Every call of the ranks of a placement that an algorithm serves with its ranks by number.
fn prove(algorithm: &Algorithm, placement: &Placement, seed: u64) -> u32 {
    let mut proved = 0;
    let ranks = placement.ranks();
    for form in Collective::ALL.into_iter().filter(|form| form.family() == algorithm.family) {
        let all = settings(algorithm);
        let params = all[seed as usize % all.len()].with(Parameter::Order, 0);
        let cut = [Cut::Equal, Cut::Skewed, Cut::Empty][seed as usize % 3];
        let root = if form.has_root() { (seed % u64::from(ranks)) as u32 } else { 0 };
        let shape = shape(form, ranks, root, cut, seed).with_in_place(seed.is_multiple_of(2));
        if shape.validate().is_err() || algorithm.placed(&shape, &params, placement).is_err() {
            continue;
        }
        let params = params.with(Parameter::Order, 1 + seed % 3);
        let spelled = algorithm.spelled(&params);
        let schedule = algorithm.placed(&shape, &params, placement);
        let schedule = schedule.unwrap_or_else(|no| panic!("{spelled}: {no}\n{shape:?}"));
        if let Err(fault) = check(&shape, &*schedule) {
            panic!("{algorithm:?} {spelled}: {fault}\n{shape:?}\n{placement:?}");
        }
        proved += 1;
    }
    proved
}

#[test]
fn ranks_by_site_give_the_same_results() {
    let mut proved = 0;
    for ranks in 1..=17 {
        for sites in 1..=4 {
            let seed = u64::from(ranks * 4 + sites);
            for (turn, placement) in placements(ranks, sites, seed).iter().enumerate() {
                for algorithm in ordered() {
                    proved += prove(algorithm, placement, seed + turn as u64);
                }
            }
        }
    }
    assert!(ordered().count() > 25 && proved > 5_000, "{proved}");
}

#[test]
fn a_chain_by_site_crosses_once_to_each() {
    let [_, in_turn, drawn] = &placements(23, 4, 7)[..] else { panic!("three placements") };
    for placement in [in_turn, drawn] {
        for (op, spelled) in [
            (Collective::Bcast, "pipeline:order=sites"),
            (Collective::Reduce, "pipeline:order=sites"),
            (Collective::Bcast, "chain:radix=2:order=sites"),
        ] {
            let (algorithm, params) = find(op, spelled).expect("an algorithm");
            let shape = Shape::new(op, 23, 1000).with_root(9);
            let schedule = algorithm.placed(&shape, &params, placement).expect("a schedule");
            let crossed: u64 = (0..).zip(crossing(&*schedule, placement)).map(beside).sum();
            // The second of two chains begins in the middle of a site.
            let most = if spelled.starts_with("chain") { 5_000 } else { 3_000 };
            assert!((3_000..=most).contains(&crossed), "{spelled}: {crossed}");
        }
    }
}

/// What a site sends to others.
fn beside((site, bytes): (usize, Vec<u64>)) -> u64 {
    let others = bytes.iter().enumerate().filter(|(other, _)| *other != site);
    others.map(|(_, bytes)| bytes).sum()
}

#[test]
fn ranks_that_are_sorted_stay_where_they_are() {
    let [sorted, in_turn, _] = &placements(12, 3, 7)[..] else { panic!("three placements") };
    for algorithm in ordered() {
        let shape = Shape::new(algorithm.family, 12, 96).with_element(8, true);
        assert!(!orders(&shape, sorted).contains(&1) && orders(&shape, in_turn).contains(&1));
        let params = algorithm.defaults();
        let by_rank = algorithm.placed(&shape, &params, sorted);
        let by_site = algorithm.placed(&shape, &params.with(Parameter::Order, 1), sorted);
        let (Ok(by_rank), Ok(by_site)) = (by_rank, by_site) else { continue };
        assert_eq!(steps(&*by_rank), steps(&*by_site), "{algorithm:?}");
    }
}

fn steps(schedule: &dyn Schedule) -> Vec<String> {
    let mut all = Vec::new();
    for rank in 0..schedule.ranks() {
        for lane in 0..schedule.lanes(rank) {
            for k in 0..schedule.rounds(rank, lane) {
                let mut round = Round::default();
                schedule.round(rank, lane, k, &mut round);
                all.push(format!("{rank} {lane} {:?}", round.steps));
            }
        }
    }
    all
}

#[test]
fn operands_whose_order_counts_stay_in_it() {
    let [sorted, in_turn, _] = &placements(12, 3, 7)[..] else { panic!("three placements") };
    for family in [Collective::Reduce, Collective::Allreduce] {
        let shape = Shape::new(family, 12, 96).with_element(8, false);
        let spelled = if family == Collective::Reduce { "binomial" } else { "reduce-bcast" };
        let (algorithm, params) = find(family, spelled).expect("an algorithm");
        let params = params.with(Parameter::Order, 1);
        assert_eq!(orders(&shape, in_turn), [0]);
        assert!(algorithm.placed(&shape, &params, in_turn).is_err());
        let schedule = algorithm.placed(&shape, &params, sorted).expect("in their order already");
        check(&shape, &*schedule).expect("the order of the ranks");
    }
}
