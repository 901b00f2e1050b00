//! What most MPI libraries would take for a call: the thresholds that MPICH has published, rounded.
//! Defaults for clusters without measurements.

use laneway_core::{Collective, Shape};

use crate::registry::{Algorithm, Params, algorithms};

/// Bytes up to which latency matters more than bandwidth, for vectors and for blocks.
const SHORT_VECTOR: u64 = 12 << 10;
const SHORT_BLOCK: u64 = 1 << 10;

/// The names to try, the first that serves the shape counts.
fn names(shape: &Shape) -> &'static [&'static str] {
    let short = shape.vector() <= SHORT_VECTOR;
    let blocks = if shape.collective.family() == Collective::Alltoall { shape.ranks } else { 1 };
    let block = shape.in_len(0) / u64::from(blocks.max(1));
    match shape.collective.family() {
        Collective::Barrier => &["dissemination"],
        Collective::Bcast if short => &["binomial"],
        Collective::Bcast => &["scatter-ring", "binomial"],
        Collective::Scatter => &["binomial"],
        Collective::Gather => &["binomial"],
        Collective::Reduce if short => &["binomial", "in-order-binary"],
        Collective::Reduce => &["rabenseifner", "binomial", "in-order-binary"],
        Collective::Allreduce if short => &["recursive-doubling", "reduce-bcast"],
        Collective::Allreduce => &["rabenseifner", "recursive-doubling", "reduce-bcast"],
        Collective::Allgather if block <= SHORT_BLOCK => &["bruck", "ring"],
        Collective::Allgather => &["ring"],
        Collective::Alltoall if block <= SHORT_BLOCK => &["bruck", "pairwise"],
        Collective::Alltoall => &["pairwise"],
        Collective::ReduceScatter if short => &["recursive-halving", "pairwise"],
        Collective::ReduceScatter => &["pairwise"],
        Collective::Scan => &["recursive-doubling", "linear"],
        Collective::Exscan => &["recursive-doubling", "linear"],
        _ => &[],
    }
}

/// An algorithm that serves the shape and is usual for it; any other where none of those does.
pub fn default_algorithm(shape: &Shape) -> Option<(&'static Algorithm, Params)> {
    let serves =
        |algorithm: &&'static Algorithm| algorithm.schedule(shape, &algorithm.defaults()).is_ok();
    let named = names(shape)
        .iter()
        .filter_map(|name| algorithms(shape.collective).find(|algorithm| algorithm.name == *name));
    let found = named.chain(algorithms(shape.collective)).find(serves)?;
    Some((found, found.defaults()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_has_a_usual_algorithm_at_every_size() {
        for collective in Collective::ALL {
            for ranks in [1, 2, 7, 16] {
                for size in [0, 8, 1 << 10, 1 << 20] {
                    let size = if collective == Collective::Barrier { 0 } else { size };
                    let shape = Shape::new(collective, ranks, size).with_element(1, true);
                    let found = default_algorithm(&shape).expect("an algorithm");
                    // What the table names is what is taken, or it names something unknown.
                    let named = names(&shape).contains(&found.0.name);
                    assert!(named, "{} {ranks} {size}: {}", collective.name(), found.0.name);
                }
            }
        }
    }
}
