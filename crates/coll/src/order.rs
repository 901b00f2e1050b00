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
    let params = params.with(Parameter::Order, 0);
    let order = site_order(shape, placement);
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

/// All ranks by site and host, from the root if there is one.
fn site_order(shape: &Shape, placement: &Placement) -> Vec<Rank> {
    placement.by_site(shape.collective.has_root().then_some(shape.root))
}

/// Whether an order is that of the ranks; algorithms with a root count from it.
fn is_by_rank(shape: &Shape, order: &[Rank]) -> bool {
    let root = if shape.collective.has_root() { shape.root } else { 0 };
    let (root, ranks) = (u64::from(root), u64::from(shape.ranks));
    let is_next = |(place, rank): (u64, &Rank)| u64::from(*rank) == (root + place) % ranks;
    (0..).zip(order).all(is_next)
}

/// Whether [`Parameter::Order`] changes anything for a call whose ranks are here: they are in
/// another order than their sites and hosts, and the order is not part of the result.
pub fn order_matters(shape: &Shape, placement: &Placement) -> bool {
    let is_fixed = shape.collective.family().reduces() && !shape.commutative;
    !is_fixed && !is_by_rank(shape, &site_order(shape, placement))
}
