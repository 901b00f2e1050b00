//! Every registered algorithm, proved for 1 to 64 ranks, all roots, equal, skewed and empty blocks.

use crate::support::{Cut, settings, shape};
use laneway_coll::{Algorithm, all, check};
use laneway_core::{Collective, Shape};

/// Checks one shape with each setting, apart and in place, commutative and not. A refusal counts as
/// an answer only where the algorithm declared it.
fn prove(algorithm: &Algorithm, shape: &Shape, all_settings: bool) -> u64 {
    let mut proved = 0;
    let settings = settings(algorithm);
    let settings = if all_settings { &settings[..] } else { &settings[..1] };
    for params in settings {
        for in_place in [false, true] {
            for commutative in [true, false] {
                let ordered = shape.collective.reduces() && algorithm.ordered;
                if (in_place && !algorithm.in_place) || !(commutative || ordered) {
                    continue;
                }
                let shape = shape.clone().with_in_place(in_place);
                let shape = Shape { commutative, ..shape };
                let spelled = algorithm.spelled(params);
                match algorithm.schedule(&shape, params) {
                    Ok(schedule) => {
                        if let Err(fault) = check(&shape, &*schedule) {
                            panic!("{spelled}: {fault}\n{shape:?}");
                        }
                        proved += 1;
                    }
                    Err(refusal) => {
                        assert!(
                            refuses(algorithm, &shape),
                            "{spelled} refuses: {refusal}\n{shape:?}"
                        );
                    }
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
        for ranks in 1..=64 {
            let roots = if family.has_root() { ranks } else { 1 };
            for root in 0..roots {
                // Every root with the plainest shape; a few roots with everything.
                let thorough = root < 2 || root == ranks - 1 || ranks <= 8;
                for &form in &forms {
                    for cut in [Cut::Equal, Cut::Skewed, Cut::Empty] {
                        let seed = u64::from(ranks * 64 + root);
                        proved += prove(algorithm, &shape(form, ranks, root, cut, seed), thorough);
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
