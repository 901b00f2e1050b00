//! More ranks than cores, with real processes: one more than this machine has cores for.
//!
//! One test alone: each rank is this program again, and runs it too.

use laneway_core::{Comm, CommError};
use laneway_local::{Launch, Transport, attach};
use laneway_needs::{Need, cores_at_most};
use laneway_processes::GrantedCores;
use laneway_processes::crowded;
use laneway_sim::Program;
use laneway_sim::platform::Platform;

#[test]
fn every_rank_knows_of_the_crowd_and_part_of_them_are_none() {
    if let Some(comm) = attach().expect("a rank or none") {
        return find(&comm).expect("messages between the ranks");
    }
    let cores = GrantedCores::here().usable();
    if !Need::Cores.is_met(cores_at_most(64, cores)) {
        return;
    }
    let launch = Launch { ranks: cores + 1, transport: Transport::default(), limit: None };
    assert_eq!(launch.run().expect("the ranks start"), 0, "a rank failed");

    let platform = Platform::read("cluster:3").expect("a platform");
    let ended = Program::new(&platform, 3).run(|comm| crowded(comm)).expect("it ends");
    assert!(ended.results.into_iter().all(|crowd| crowd == Ok(None)), "virtual cores are enough");
}

fn find(comm: &dyn Comm) -> Result<(), CommError> {
    let crowd = crowded(comm)?.expect("more ranks than cores");
    assert_eq!((crowd.ranks, crowd.cores, crowd.others), (comm.size(), comm.size() - 1, 0));
    assert_eq!(Some(&crowd.host), comm.hosts()?.first());
    let one = comm.size() - 1;
    let part = comm.split((comm.rank() < one).then_some(0), comm.rank())?;
    match part {
        Some(part) => assert_eq!(crowded(&*part)?, None),
        None => assert_eq!(comm.rank(), one),
    }
    Ok(())
}
