//! The turns that a routing makes: from which port to which, at every switch.

use crate::routing::table::Table;
use crate::wiring::graph::Graph;
use crate::wiring::{NO_PORT, Port};

/// How many destinations make each turn.
pub(crate) struct Turns {
    /// Where the turns of each switch begin, and how many ports it has.
    begin: Vec<(usize, usize)>,
    counts: Vec<u32>,
}

impl Turns {
    pub fn none(graph: &Graph) -> Turns {
        let (mut begin, mut count) = (Vec::new(), 0);
        for switch in 0..graph.switches() as u32 {
            let ports = graph.cables(switch).last().map_or(0, |cable| usize::from(cable.port) + 1);
            begin.push((count, ports));
            count += ports * ports;
        }
        Turns { begin, counts: vec![0; count] }
    }

    /// The turns of a table, whatever the way comes from.
    pub fn of(graph: &Graph, table: &Table) -> Turns {
        let mut turns = Turns::none(graph);
        for switch in 0..graph.switches() as u32 {
            let row = table.row_of(switch);
            for cable in graph.cables(switch) {
                let (at, ports) = turns.begin[cable.to as usize];
                let from = at + usize::from(cable.its) * ports;
                for (&port, &next) in row.iter().zip(table.row_of(cable.to)) {
                    if port == cable.port && next != NO_PORT && usize::from(next) < ports {
                        turns.counts[from + usize::from(next)] += 1;
                    }
                }
            }
        }
        turns
    }

    /// Turns between two ports of a switch, in either direction.
    pub fn between(&self, switch: u32, one: Port, other: Port) -> u32 {
        let (at, ports) = self.begin[switch as usize];
        let (one, other) = (usize::from(one), usize::from(other));
        if one == other || one >= ports || other >= ports {
            return 0;
        }
        self.counts[at + one * ports + other] + self.counts[at + other * ports + one]
    }
}
