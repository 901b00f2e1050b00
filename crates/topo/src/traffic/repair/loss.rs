//! What a failure costs: hosts cut off, pairs apart, cables gone.

use crate::wiring::graph::Graph;
use crate::wiring::{Host, Switch, Wiring};

/// The loss of a damaged fabric against the whole one.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Loss {
    /// Hosts that have lost their cable or switch.
    pub hosts_cut_off: Vec<Host>,
    /// Ordered pairs of hosts that were connected and are not any more; those of hosts that are
    /// cut off are among them.
    pub pairs_apart: u64,
    /// Switches that have lost every cable.
    pub switches_gone: Vec<Switch>,
    /// Cables between switches that are gone, and that there were.
    pub cables_gone: u32,
    /// Cables between switches that there were.
    pub cables: u32,
    /// The switch with hosts that has lost most of its cables to other switches, and the share that
    /// is left: no all-to-all is faster than this part of what it was.
    pub narrowest: Option<(Switch, f64)>,
}

impl Loss {
    /// Whether nothing was lost.
    pub fn is_nothing(&self) -> bool {
        *self == Loss { cables: self.cables, ..Loss::default() }
    }
}

/// What is missing; the fabric is the whole one with parts taken out.
pub fn lost(whole: &dyn Wiring, damaged: &dyn Wiring) -> Loss {
    let (before, after) = (Graph::of(whole), Graph::of(damaged));
    let cut_off =
        |host: &Host| whole.attached(*host).is_some() && damaged.attached(*host).is_none();
    let both = before.switches().min(after.switches()) as Switch;
    let cables = |graph: &Graph| (0..both).map(|at| graph.cables(at).len() as u32).sum::<u32>() / 2;
    let used = |graph: &Graph, at: Switch| graph.cables(at).len() as u32 + graph.own[at as usize];
    let is_gone = |&at: &Switch| used(&before, at) > 0 && used(&after, at) == 0;
    let left = |at: Switch| {
        let share = after.cables(at).len() as f64 / before.cables(at).len() as f64;
        (share < 1.0).then_some((at, share))
    };
    let narrow = (0..both).filter(|&at| after.own[at as usize] > 0).filter_map(left);
    Loss {
        hosts_cut_off: (0..whole.hosts().min(damaged.hosts())).filter(cut_off).collect(),
        pairs_apart: connected(&before).saturating_sub(connected(&after)),
        switches_gone: (0..both).filter(is_gone).collect(),
        cables_gone: cables(&before).saturating_sub(cables(&after)),
        cables: cables(&before),
        narrowest: narrow.min_by(|a, b| a.1.total_cmp(&b.1)),
    }
}

/// Ordered pairs of different hosts that no cables connect; a host without a cable is in many.
pub fn disconnected_pairs(wiring: &dyn Wiring) -> u64 {
    let hosts = u64::from(wiring.hosts());
    hosts * hosts.saturating_sub(1) - connected(&Graph::of(wiring))
}

/// Ordered pairs of different hosts between which there is a way.
fn connected(graph: &Graph) -> u64 {
    let pieces = graph.pieces();
    let mut hosts = vec![0u64; graph.switches()];
    for (_, switch, _) in graph.plugged() {
        hosts[pieces[switch as usize] as usize] += 1;
    }
    hosts.iter().map(|&hosts| hosts * hosts.saturating_sub(1)).sum()
}
