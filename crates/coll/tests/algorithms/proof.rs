//! Every registered algorithm, proved for 1 to 64 ranks, all roots, equal, skewed and empty blocks.

use crate::support::{Cut, settings, shape};
use laneway_coll::{Algorithm, all, check};
use laneway_core::{Collective, Shape};
use laneway_needs::amount;

/// Which of the variations of a shape are tried.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effort {
    /// All settings, apart and in place, commutative and not.
    Thorough,
    /// The default setting; apart or in place, commutative or not, in turn by this number.
    Turn(u32),
}

/// Checks one shape in its variations. A refusal counts as an answer only where it is known.
fn prove(algorithm: &Algorithm, shape: &Shape, effort: Effort) -> u64 {
    let mut proved = 0;
    let mut settings = settings(algorithm);
    if effort != Effort::Thorough {
        settings.truncate(1);
    }
    for params in settings {
        for variant in 0..4u32 {
            let can_place = algorithm.in_place;
            let can_order = shape.collective.reduces() && algorithm.ordered;
            let (in_place, unordered) = (variant & 1 != 0, variant & 2 != 0);
            let turn = match effort {
                Effort::Thorough => true,
                Effort::Turn(number) => {
                    in_place == (can_place && number & 1 != 0)
                        && unordered == (can_order && number & 2 != 0)
                }
            };
            if !turn || (in_place && !can_place) || (unordered && !can_order) {
                continue;
            }
            let mut shape = shape.clone();
            (shape.commutative, shape.in_place) = (!unordered, in_place);
            let spelled = algorithm.spelled(&params);
            match algorithm.schedule(&shape, &params) {
                Ok(schedule) => {
                    if let Err(fault) = check(&shape, &*schedule) {
                        panic!("{spelled}: {fault}\n{shape:?}");
                    }
                    proved += 1;
                }
                Err(refusal) => {
                    let known = refuses(algorithm, &shape);
                    assert!(known, "{spelled} refuses: {refusal}\n{shape:?}");
                }
            }
        }
    }
    proved
}

/// The shapes that algorithms are known not to serve; everything else they must.
fn refuses(algorithm: &Algorithm, shape: &Shape) -> bool {
    match (algorithm.family, algorithm.name) {
        (Collective::Allgather, "neighbour") => shape.ranks % 2 == 1,
        (Collective::Alltoall, _) => shape.validate().is_err(),
        _ => false,
    }
}

fn prove_family(family: Collective) {
    let forms: Vec<Collective> =
        Collective::ALL.into_iter().filter(|form| form.family() == family).collect();
    for algorithm in all().filter(|algorithm| algorithm.family == family) {
        let mut proved = 0;
        for ranks in 1..=64u32 {
            let roots = if family.has_root() { ranks } else { 1 };
            for root in 0..roots {
                // Every rank count and root; a few of them in every way.
                let near_power = [0u32, 1].iter().any(|more| (ranks + more).is_power_of_two());
                let thorough = match family.has_root() {
                    true => ranks <= 8 || root < 2 || root == ranks - 1,
                    false => ranks <= 16 || near_power,
                };
                // Of the other roots, a short run takes every eighth.
                if !thorough && family.has_root() && root % amount(8, 1) != ranks % amount(8, 1) {
                    continue;
                }
                let effort = if thorough { Effort::Thorough } else { Effort::Turn(root + ranks) };
                // A vector has no blocks that could be skewed.
                let cuts: &[Cut] = match (thorough, family) {
                    (true, _) => &[Cut::Equal, Cut::Skewed, Cut::Empty],
                    (false, Collective::Bcast | Collective::Reduce) => &[Cut::Equal],
                    (false, _) => &[Cut::Equal, Cut::Skewed],
                };
                for &form in &forms {
                    for &cut in cuts {
                        let seed = u64::from(ranks * 64 + root);
                        proved += prove(algorithm, &shape(form, ranks, root, cut, seed), effort);
                    }
                }
            }
        }
        assert!(proved >= 64, "{} was proved only {proved} times", algorithm.name);
    }
}

macro_rules! families {
    ($($name:ident: $family:ident),* $(,)?) => {
        $(#[test]
        fn $name() {
            prove_family(Collective::$family);
        })*

        #[test]
        fn every_family_is_proved() {
            let tested = [$(Collective::$family),*];
            for algorithm in all() {
                assert!(tested.contains(&algorithm.family), "{}", algorithm.family.name());
            }
        }
    };
}

families! {
    barrier: Barrier,
    bcast: Bcast,
    scatter: Scatter,
    gather: Gather,
    reduce: Reduce,
    allreduce: Allreduce,
    allgather: Allgather,
    alltoall: Alltoall,
    reduce_scatter: ReduceScatter,
    scan: Scan,
    exscan: Exscan,
}
