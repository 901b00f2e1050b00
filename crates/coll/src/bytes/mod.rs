//! The checker of real bytes: calls with known contents on a real communicator, and every byte of
//! their answers compared with the definition of the collective.
//!
//! ```
//! use laneway_coll::bytes::{self, Plan};
//! use laneway_core::Collective;
//! use laneway_sim::{Program, platform::Platform};
//!
//! let platform = Platform::read("cluster:4").expect("a platform");
//! let end = Program::new(&platform, 4).run(|comm| {
//!     let plan = Plan::new(&[Collective::Bcast], &[], vec![0, 7, 1024]).expect("algorithms");
//!     let groups = plan.groups(comm.size(), false);
//!     bytes::run(comm, &groups, None, &mut |_| ()).expect("a cluster that works")
//! });
//! let report = &end.expect("an end").results[0];
//! assert!(report.tally.passed > 0 && report.tally.failed == 0);
//! assert_eq!(report.rows.len() as u64, report.tally.passed + report.tally.skipped);
//! ```

mod case;
mod content;
mod memory;
mod plan;
mod report;
mod tally;

pub use case::{Case, Outcome};
pub use content::{Content, difference};
pub use plan::{Group, Plan, UnknownAlgorithm};
pub use report::{Report, run};
pub use tally::Tally;

use laneway_core::{Comm, CommError};

/// Collective: every algorithm once, with blocks of `size` bytes.
pub fn one_of_each(comm: &dyn Comm, size: u64) -> Result<Tally, CommError> {
    let mut tally = Tally::default();
    for (mut group, number) in
        Plan::every(vec![size]).groups(comm.size(), false).into_iter().zip(0..)
    {
        group.cases.truncate(1);
        tally.add(&Tally::of(&group.run(comm, None, number, &mut |_| ())?));
    }
    Ok(tally)
}
