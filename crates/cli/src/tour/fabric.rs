//! The sixth stop: a fabric with fewer switches than a tree, and an all-to-all without conflict.

use laneway_topo::cost::Parts;
use laneway_topo::traffic::order::Shift;
use laneway_topo::{Counter, Fabric, Part, Topology, prove, repair, topology};

use super::say;
use crate::failure::Failure;

/// The largest mesh of 36-port switches, and the tree of the same switches beside it.
const MESH: &str = "mlfm:d=18";
const TREE: &str = "fat-tree-3:d=18";
/// One that is small enough to repair interactively.
const SMALL: &str = "mlfm:d=8";

pub fn stop() -> Result<(), Failure> {
    say("6. A fabric: fewer switches than a fat tree, and no conflicts\n")?;
    let (mesh, tree) = (topology(MESH)?, topology(TREE)?);
    for fabric in [&mesh, &tree] {
        let parts = Parts::of(&**fabric);
        say(&format!(
            "   {}: {} nodes, {} switches, {} cables between them",
            fabric.spec(),
            parts.hosts,
            parts.switches,
            parts.cables[1] + parts.cables[2]
        ))?;
    }
    conflicts(&*mesh)?;
    repaired()?;
    say("")
}

fn failed(cause: String) -> Failure {
    Failure::environment("the tour cannot plan a fabric", cause, "report this")
}

fn conflicts(mesh: &dyn Topology) -> Result<(), Failure> {
    let begun = std::time::Instant::now();
    let counter = Counter::new(mesh, mesh).map_err(failed)?;
    let native = counter.count(&*mesh.order());
    let took_ms = begun.elapsed().as_millis();
    let shift = counter.count(&Shift::new(mesh.hosts()));
    say(&format!(
        "   An all-to-all on the mesh, {} messages in {} phases, counted in {took_ms} \
         ms:\n   at most {} on a link, where the usual order has up to {} and takes {:.1} times \
         as long.",
        native.flows.iter().sum::<u64>(),
        native.phases.iter().sum::<u64>(),
        native.worst(),
        shift.worst(),
        shift.time() as f64 / native.time() as f64
    ))
}

fn repaired() -> Result<(), Failure> {
    let mesh = topology(SMALL)?;
    let mut left = Fabric::of(&*mesh);
    left.fail(Part::Link(0, mesh.d() as u8));
    let (table, repaired) = repair(&*mesh, &left).map_err(failed)?;
    let proof = prove(&left, &table);
    if !proof.holds() {
        return Err(failed("the forwarding after a failure does not hold".to_string()));
    }
    say(&format!(
        "   A cable dies on {SMALL}: {} pairs are reached again without a credit loop, and the \
         repaired\n   schedule takes {} phases for {} nodes; the lower bound over these tables \
         is {}.",
        proof.pairs, repaired.time, repaired.hosts, repaired.bound
    ))
}
