//! Who meets whom when everybody sends to everybody: conflicts of an order on a machine.

use laneway_core::{Phases, Row};

use crate::conflicts::{Counter, Tally};
use crate::error::{Error, ErrorKind};
use crate::machine::Machine;
use crate::sample::follow_phases;
use crate::schedule::Named;
use crate::symmetry::prove_mesh;
use crate::wiring::Wiring;

/// Of a fabric that is too large to count: phases, and messages, that are followed.
pub const SAMPLED_PHASES: u64 = 4;
const SAMPLED_MESSAGES: u64 = 1_000_000;
/// Messages up to which each is counted while somebody waits: after a failure, and where symmetry
/// tells as much.
const MOST_MESSAGES: u64 = 1 << 30;

/// The conflicts of an order.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Counted {
    /// The order's name.
    pub schedule: String,
    /// Its phases, and those that would be enough if nothing met.
    pub phases: u64,
    /// None where that is not known.
    pub ideal_phases: Option<u64>,
    /// How many messages have how many conflicts.
    pub tally: Tally,
    /// Pairs that cables connect and the order leaves out.
    pub left_out: u64,
    /// Pairs that the forwarding does not connect, where all pairs are asked for.
    pub unreached: Option<u64>,
    /// What was counted.
    pub proof: String,
}

/// Counts every message; where they are too many, the mesh's symmetry proves the native order, and
/// of any other some phases are followed.
///
/// ```
/// use laneway_topo::schedule::Named;
/// use laneway_topo::{Machine, count};
///
/// let machine = Machine::named("mlfm:d=4")?;
/// let counted = count(&machine, &Named::new(&machine, "native", 1)?)?;
/// assert_eq!((counted.tally.worst(), counted.is_short()), (1, false));
/// # Ok::<(), laneway_topo::Error>(())
/// ```
pub fn count(machine: &Machine, order: &Named) -> Result<Counted, Error> {
    let (tally, proof) = tally(machine, &order.name, &*order.phases)?;
    Ok(Counted {
        schedule: order.name.clone(),
        phases: order.phases.count(),
        ideal_phases: order.ideal(machine).filter(|&ideal| ideal > 0),
        tally,
        left_out: order.left_out,
        unreached: order.unreached(machine),
        proof,
    })
}

fn tally(
    machine: &Machine,
    name: &str,
    order: &(dyn Phases + Sync),
) -> Result<(Tally, String), Error> {
    let messages = u64::from(machine.wiring().hosts()).pow(2);
    let is_symmetric = name == "native" && machine.mesh().is_some();
    let too_many = (machine.is_damaged() || is_symmetric) && messages > MOST_MESSAGES;
    let (wiring, routing, observer) = (machine.wiring(), machine.routing(), machine.observer());
    if !too_many && let Ok(counter) = Counter::observed(wiring, routing, observer) {
        return Ok((counter.count_observed(order, observer), "every message".to_string()));
    }
    let tally = follow_phases(wiring, routing, order, SAMPLED_PHASES, 1, observer);
    if let Some(mesh) = machine.mesh().filter(|_| name == "native") {
        let proved = prove_mesh(&mesh, SAMPLED_MESSAGES, 1, observer);
        if proved.holds() && tally.worst() == 1 && tally.lost == 0 {
            let (count, hosts) = (order.count(), u64::from(mesh.hosts()));
            let whole = Tally { phases: vec![0, count], flows: vec![0, count * hosts], lost: 0 };
            let proof = format!(
                "symmetry; {SAMPLED_MESSAGES} messages and {SAMPLED_PHASES} phases followed"
            );
            return Ok((whole, proof));
        }
        let cause = format!("{proved:?}");
        return Err(Error::new(ErrorKind::Conflict, "the schedule has a conflict", cause));
    }
    Ok((tally, format!("{SAMPLED_PHASES} phases of {}", order.count())))
}

impl Counted {
    /// Whether a message does not arrive.
    pub fn is_short(&self) -> bool {
        self.tally.lost + self.left_out + self.unreached.unwrap_or(0) > 0
    }

    /// All of it in one row.
    pub fn row(&self, machine: &Machine) -> Row {
        let seen = self.tally.phases.iter().sum::<u64>();
        // What was seen of it stands for all phases.
        let time = self.tally.time() as f64 * self.phases as f64 / seen.max(1) as f64;
        let is_known = self.tally.flows.iter().any(|&count| count > 0);
        Row::new()
            .with("topology", machine.spec.clone())
            .with("schedule", self.schedule.clone())
            .with("nodes", machine.wiring().hosts())
            .with("phases", self.phases)
            .with("ideal_phases", self.ideal_phases)
            .with("conflicts_max", self.tally.worst())
            .with("throughput_phase_mean", (seen > 0).then(|| self.tally.phase_mean()))
            .with("throughput_flow_mean", is_known.then(|| self.tally.flow_mean()))
            .with("time_over_ideal", self.ideal_phases.map(|ideal| time / ideal as f64))
            .with("lost", self.tally.lost + self.left_out)
            .with("unreached", self.unreached)
            .with("proof", self.proof.clone())
    }
}
