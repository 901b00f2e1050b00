//! What verbs that prove a table say of the switches' own messages: management agents answer
//! whoever asks them.

use laneway_core::Row;
use laneway_topo::prove::Asked;
use laneway_topo::{Agents, Wiring};

use super::check::links;
use crate::output;

/// Pairs, circles, and links of a circle that are named; all are counted.
const NAMED: usize = 20;

/// Says which switches do not reach whom, and which circles only their messages close.
pub fn tell(wiring: &dyn Wiring, agents: &Agents) {
    for &(from, to) in agents.unreached.iter().take(NAMED) {
        let to = match to {
            Asked::Host(host, path) => format!("{}, path {path}", wiring.host_name(host)),
            Asked::Switch(switch) => wiring.switch_name(switch),
        };
        output::note(&format!("not reached: {} to {to}", wiring.switch_name(from)));
    }
    if agents.missed() > NAMED as u64 {
        let more = agents.missed() - NAMED as u64;
        output::note(&format!("and {more} more pairs of a switch and another part"));
    }
    for circle in agents.circles.iter().take(NAMED) {
        let links = links(wiring, circle);
        let more = if links.len() > NAMED { " …" } else { "" };
        let named = links[..links.len().min(NAMED)].join(" ");
        output::note(&format!(
            "what switches send themselves lets links wait for each other in a circle, which hosts \
             do not: {named}{more}"
        ));
    }
}

/// Two columns; empty where nothing was proved.
pub fn with_agents(row: Row, agents: Option<&Agents>) -> Row {
    row.with("switch_pairs_unreached", agents.map(Agents::missed))
        .with("switch_circles", agents.map(|agents| agents.circles.len() as u64))
}
