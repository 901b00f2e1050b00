//! Algorithms over ranks in the order of their sites and hosts ([`Parameter::Order`]).

use laneway_core::{Placement, Rank, Schedule, Shape};

use crate::permute::permuted;
use crate::registry::{Algorithm, Parameter, Params, Refusal};

/// The schedule with the ranks in the order of their sites and hosts, the root at the front of
/// each. Costs nothing where they are in it.
pub(crate) fn by_site(
    algorithm: &Algorithm,
    shape: &Shape,
    params: &Params,
    placement: &Placement,
) -> Result<Box<dyn Schedule>, Refusal> {
    let order = order(shape, placement, params.get(Parameter::Order));
    let params = params.with(Parameter::Order, 0);
    if is_by_rank(shape, &order) {
        return (algorithm.build)(shape, &params, placement);
    }
    let mut places = vec![0; order.len()];
    for (place, rank) in order.iter().enumerate() {
        places[*rank as usize] = place as u32;
    }
    let placement = placement.in_order(&order);
    let shape = shape.clone().with_placement(placement.into());
    permuted(algorithm, &shape, &params, &places)
}

/// All ranks in the order that a value of the parameter names, from the root if there is one.
fn order(shape: &Shape, placement: &Placement, value: u64) -> Vec<Rank> {
    let root = shape.collective.has_root().then_some(shape.root);
    match value {
        0 | 1 => placement.by_site(root),
        2 => placement.by_site_number(root),
        _ => placement.by_site_size(root),
    }
}

/// Whether an order is that of the ranks; algorithms with a root count from it.
fn is_by_rank(shape: &Shape, order: &[Rank]) -> bool {
    let root = if shape.collective.has_root() { shape.root } else { 0 };
    let (root, ranks) = (u64::from(root), u64::from(shape.ranks));
    let is_next = |(place, rank): (u64, &Rank)| u64::from(*rank) == (root + place) % ranks;
    (0..).zip(order).all(is_next)
}

/// The values of [`Parameter::Order`] that differ for a call whose ranks are here, the first of
/// which is that of the ranks; no other where the order is part of the result.
pub fn orders(shape: &Shape, placement: &Placement) -> Vec<u64> {
    let is_fixed = shape.collective.family().reduces() && !shape.commutative;
    let mut values = vec![0];
    let mut known: Vec<Vec<Rank>> = Vec::new();
    for value in (1..Parameter::Order.words().len() as u64).filter(|_| !is_fixed) {
        let order = order(shape, placement, value);
        if !is_by_rank(shape, &order) && !known.contains(&order) {
            values.push(value);
            known.push(order);
        }
    }
    values
}
