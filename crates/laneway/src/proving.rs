//! Proves schedules and forwarding.

use laneway_coll::Proof;
use laneway_core::{Schedule, Shape};
use laneway_topo::{Checked, Machine};

use crate::error::Result;

/// Proves that a schedule does what its collective means: every send meets its receive, no byte is
/// read before it is written or touched while in flight, no rank waits for ever, and the result is
/// right. The error says which rank and step are wrong.
///
/// ```
/// use laneway::{Collective, Shape, find, prove};
///
/// let shape = Shape::new(Collective::Allreduce, 7, 1024);
/// let (algorithm, params) = find(Collective::Allreduce, "ring")?;
/// let proof = prove(&shape, &*algorithm.schedule(&shape, &params)?)?;
/// assert_eq!(proof.messages, 2 * 7 * 6);
/// # Ok::<(), laneway::Error>(())
/// ```
pub fn prove(shape: &Shape, schedule: &dyn Schedule) -> Result<Proof> {
    Ok(laneway_coll::check(shape, schedule)?)
}

/// Proves the forwarding of a fabric, by its name (`mlfm:d=8`) or from its file, without the parts
/// that are named: every pair of hosts is reached, and no credit loop can stop the traffic.
///
/// ```
/// let proved = laneway::prove_fabric("mlfm:d=4", &["link:vertex-0-0/5"])?;
/// assert!(proved.holds() && proved.unreached() == 0);
/// # Ok::<(), laneway::Error>(())
/// ```
pub fn prove_fabric(spec: &str, failed: &[&str]) -> Result<Checked<'static>> {
    /// What draws parts that are named by their kind alone.
    const SEED: u64 = 1;
    let machine = Machine::named(spec)?.fail(failed, SEED)?;
    let machine = if failed.is_empty() { machine } else { machine.route(None)? };
    Ok(laneway_topo::check(&machine).into_owned())
}
