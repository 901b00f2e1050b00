//! Performs a collective call with real data.

use laneway_core::{Buffers, Comm, Exec, Reduction, Schedule};

use crate::error::Result;

/// Collective: performs the call of a schedule once. `input` is what this rank contributes,
/// `output` what it gets, each as long as the schedule's shape says; a reduction says what joins
/// the contributions. For many calls keep an [`Exec`], which allocates only at first.
///
/// ```
/// use laneway::{Collective, Platform, Shape, find, perform, simulate};
///
/// let platform = Platform::read("cluster:3")?;
/// let all = simulate(&platform, 3, |comm| {
///     let shape = Shape::new(Collective::Allgather, comm.size(), 1);
///     let (algorithm, params) = find(Collective::Allgather, "ring")?;
///     let schedule = algorithm.schedule(&shape, &params)?;
///     let mut output = [0; 3];
///     perform(comm, &*schedule, &[10 * comm.rank() as u8], &mut output, None)?;
///     Ok::<_, laneway::Error>(output)
/// })?;
/// assert!(all.into_iter().all(|output| output.is_ok_and(|output| output == [0, 10, 20])));
/// # Ok::<(), laneway::Error>(())
/// ```
pub fn perform(
    comm: &dyn Comm,
    schedule: &dyn Schedule,
    input: &[u8],
    output: &mut [u8],
    reduction: Option<Reduction>,
) -> Result<()> {
    let mut tmp = vec![0; schedule.tmp_len(comm.rank()) as usize];
    let buffers = Buffers::new(input, output, &mut tmp);
    Ok(Exec::new(comm, schedule, buffers, reduction, 0)?.run()?)
}
