//! Contention of an all-to-all on a machine: conflicts of an order, phase by phase.

use laneway_core::units::{are, counted, grouped};
use laneway_core::{Phases, Row};

use crate::error::{Error, ErrorKind};
use crate::machine::Machine;
use crate::proof::symmetry::prove_mesh;
use crate::routing::Hop;
use crate::traffic::conflicts::{Counter, Tally};
use crate::traffic::sample::follow_phases;
use crate::traffic::schedule::Named;
use crate::wiring::{Host, Wiring};

/// Of a fabric that is too large to count: phases, and messages, that are followed.
pub const SAMPLED_PHASES: u64 = 4;
const SAMPLED_MESSAGES: u64 = 1_000_000;
/// What was counted where nothing was left out.
pub(crate) const EVERY_MESSAGE: &str = "every message";
/// Messages up to which each is counted interactively: after a failure, and where symmetry
/// gives as much.
const MOST_MESSAGES: u64 = 1 << 30;

/// The contention of an order.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Counted {
    /// The name of the order.
    pub schedule: String,
    /// The number of phases.
    pub phases: u64,
    /// `None` if that is not known.
    pub ideal_phases: Option<u64>,
    /// The messages by their number of conflicts.
    pub tally: Tally,
    /// The first phase with the largest conflict, and its fullest link; none without a conflict,
    /// and where not every message was counted.
    pub fullest: Option<(u64, Hop)>,
    /// Pairs that are connected by cables and missing in the order.
    pub left_out: u64,
    /// Pairs that are not connected by the forwarding, where all pairs are asked for.
    pub unreached: Option<u64>,
    /// The method of the count.
    pub proof: String,
}

/// Counts every message; where they are too many, the mesh's symmetry proves the native order, and
/// of any other some phases are followed.
///
/// ```
/// use laneway_topo::traffic::schedule::Named;
/// use laneway_topo::{Machine, count};
///
/// let machine = Machine::named("mlfm:d=4")?;
/// let counted = count(&machine, &Named::new(&machine, "native", 1)?)?;
/// assert_eq!((counted.tally.worst(), counted.is_short()), (1, false));
/// # Ok::<(), laneway_topo::Error>(())
/// ```
pub fn count(machine: &Machine, order: &Named) -> Result<Counted, Error> {
    let Tallied { tally, fullest, proof } = tally(machine, &order.name, &*order.phases)?;
    Ok(Counted {
        schedule: order.name.clone(),
        phases: order.phases.count(),
        ideal_phases: order.ideal(machine).filter(|&ideal| ideal > 0),
        tally,
        fullest,
        left_out: order.left_out,
        unreached: order.unreached(machine),
        proof,
    })
}

/// What was counted, and how.
struct Tallied {
    tally: Tally,
    fullest: Option<(u64, Hop)>,
    proof: String,
}

/// Counts every message of an order.
fn tally_all(machine: &Machine, counter: &Counter, order: &(dyn Phases + Sync)) -> Tallied {
    let (mut tally, mut fullest) = (Tally::default(), None);
    for (phase, one) in (0..).zip(counter.count_each(order, machine.observer())) {
        if one.worst() > tally.worst().max(1) {
            fullest = Some(phase);
        }
        tally.merge(&one);
    }
    let hosts = machine.wiring().hosts();
    let fullest =
        fullest.and_then(|phase| Some((phase, fullest_link(counter, order, phase, hosts)?)));
    Tallied { tally, fullest, proof: EVERY_MESSAGE.to_string() }
}

/// The link with the most messages of a phase.
fn fullest_link(counter: &Counter, order: &dyn Phases, phase: u64, hosts: Host) -> Option<Hop> {
    let mut partners = vec![0; hosts as usize];
    order.partners(phase, &mut partners);
    let load = counter.load(&partners);
    // The first of equals.
    let link = (0..load.links().count()).rev().max_by_key(|&link| load.on(link))?;
    Some(load.links().hop(link))
}

fn tally(machine: &Machine, name: &str, order: &(dyn Phases + Sync)) -> Result<Tallied, Error> {
    let messages = u64::from(machine.wiring().hosts()).pow(2);
    let is_symmetric = name == "native" && machine.mesh().is_some();
    let too_many = (machine.is_damaged() || is_symmetric) && messages > MOST_MESSAGES;
    let (wiring, routing, observer) = (machine.wiring(), machine.routing(), machine.observer());
    if !too_many && let Ok(counter) = Counter::observed(wiring, routing, observer) {
        return Ok(tally_all(machine, &counter, order));
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
            return Ok(Tallied { tally: whole, fullest: None, proof });
        }
        let cause = format!("{proved:?}");
        return Err(Error::new(ErrorKind::Conflict, "the schedule has a conflict", cause));
    }
    let proof = format!("{SAMPLED_PHASES} phases of {}", order.count());
    Ok(Tallied { tally, fullest: None, proof })
}

impl Counted {
    /// Whether a message does not arrive.
    pub fn is_short(&self) -> bool {
        self.tally.lost + self.left_out + self.unreached.unwrap_or(0) > 0
    }

    /// Phases that were counted.
    fn seen(&self) -> u64 {
        self.tally.phases.iter().sum()
    }

    /// The sum of the phases' largest conflicts over the ideal time; what was counted stands for
    /// all phases.
    fn time_over_ideal(&self) -> Option<f64> {
        let time = self.tally.time() as f64 * self.phases as f64 / self.seen().max(1) as f64;
        self.ideal_phases.map(|ideal| time / ideal as f64)
    }

    /// What was found, in words: whether messages share a link, and where and how many do.
    pub fn sentence(&self, machine: &Machine) -> String {
        let (worst, seen) = (self.tally.worst(), self.seen());
        let is_sampled = seen < self.phases;
        let mut text = if worst <= 1 && is_sampled {
            let rest = "nothing is known of the others";
            format!("No conflict in {seen} of {} phases; {rest}.", grouped(self.phases))
        } else if worst <= 1 {
            let how = match self.proof.as_str() {
                EVERY_MESSAGE => "every message counted".to_string(),
                other => format!("proven by {other}"),
            };
            format!("No conflict: {}, {how}.", self.messages(machine))
        } else {
            let several: u64 = self.tally.phases.iter().skip(2).sum();
            let of = if is_sampled { format!("{seen} followed") } else { grouped(self.phases) };
            let at = self.fullest.map_or(String::new(), |(phase, Hop { switch, port })| {
                let wiring = machine.wiring();
                let (from, to) = (wiring.port_name(switch, port), wiring.end_name(switch, port));
                format!(", first in phase {phase} on {from} to {to}")
            });
            format!(
                "Conflicts: in {} of {of} phases up to {worst} messages share a link{at}.",
                grouped(several)
            )
        };
        if let Some(time) = self.time_over_ideal().filter(|time| *time > 1.0005) {
            let phases = counted(self.phases, "phase");
            text += &format!(" It takes {phases} and {time:.2} times the ideal time.");
        }
        let lost = self.tally.lost + self.left_out;
        for (count, thing, what) in
            [(lost, "message", "lost"), (self.unreached.unwrap_or(0), "pair", "unreached")]
        {
            if count > 0 {
                let end = if count == 1 { "" } else { "s" };
                text += &format!(" {} {thing}{end} {} {what}.", grouped(count), are(count));
            }
        }
        text
    }

    /// The pairs of an all-to-all that are connected, or the messages of another pattern.
    fn messages(&self, machine: &Machine) -> String {
        match self.unreached {
            Some(unreached) => {
                let whole = u64::from(machine.whole().hosts()) - machine.never_plugged();
                let pairs = whole * whole.saturating_sub(1);
                format!("{} pairs", grouped(pairs.saturating_sub(unreached)))
            }
            None => format!("{} messages", grouped(self.tally.flows.iter().sum())),
        }
    }

    /// The result as a row.
    pub fn row(&self, machine: &Machine) -> Row {
        let seen = self.seen();
        let is_known = self.tally.flows.iter().any(|&count| count > 0);
        Row::new()
            .with("topology", machine.spec.clone())
            .with("schedule", self.schedule.clone())
            .with("nodes", machine.wiring().hosts())
            .with("phases", self.phases)
            .with("ideal_phases", self.ideal_phases)
            .with("messages_per_link_max", self.tally.worst())
            .with("throughput_phase_mean", (seen > 0).then(|| self.tally.phase_mean()))
            .with("throughput_flow_mean", is_known.then(|| self.tally.flow_mean()))
            .with("time_over_ideal", self.time_over_ideal())
            .with("lost", self.tally.lost + self.left_out)
            .with("unreached", self.unreached)
            .with("proof", self.proof.clone())
    }
}
