//! Every algorithm still does what it says when the ranks change places.

use laneway_coll::{all, check, permuted};
use laneway_core::{Collective, Shape};
use laneway_stats::SplitMix64;

use crate::support::{Cut, shape};

fn shuffled(ranks: u32, random: &mut SplitMix64) -> Vec<u32> {
    let mut places: Vec<u32> = (0..ranks).collect();
    random.shuffle(&mut places);
    places
}

#[test]
fn ranks_may_change_places() {
    let mut random = SplitMix64::new(7);
    let mut proved = 0;
    for algorithm in all() {
        for form in Collective::ALL.into_iter().filter(|c| c.family() == algorithm.family) {
            for ranks in 1..=13 {
                for cut in [Cut::Equal, Cut::Skewed] {
                    for in_place in [false, true] {
                        let root = if form.has_root() { ranks / 2 } else { 0 };
                        let shape = shape(form, ranks, root, cut, u64::from(ranks));
                        let shape = shape.with_in_place(in_place);
                        let places = shuffled(ranks, &mut random);
                        let params = algorithm.defaults();
                        let Ok(schedule) = permuted(algorithm, &shape, &params, &places) else {
                            continue;
                        };
                        if let Err(fault) = check(&shape, &*schedule) {
                            panic!("{} {places:?}: {fault}\n{shape:?}", algorithm.name);
                        }
                        proved += 1;
                    }
                }
            }
        }
    }
    assert!(proved > 300, "{proved}");
}

#[test]
fn impossible_places_are_refused() {
    let algorithm = all().find(|a| a.name == "binomial").expect("it is registered");
    let shape = Shape::new(algorithm.family, 3, 8);
    for places in [&[0, 1][..], &[0, 1, 1], &[0, 1, 3], &[0, 1, 2, 3]] {
        assert!(permuted(algorithm, &shape, &algorithm.defaults(), places).is_err());
    }
}
