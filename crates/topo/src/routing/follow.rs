//! Follows the ways of one column of a table, each switch once.

use crate::proof::waits::Waits;
use crate::wiring::{End, Host, Port, Switch};

/// Where messages of a column go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Goal {
    Host(Host),
    /// The switch itself, which answers questions about itself.
    Switch(Switch),
}

/// Instead of a number of switches: not looked at yet, and no way.
const UNKNOWN: u32 = u32::MAX;
pub(crate) const NEVER: u32 = u32::MAX - 1;

pub(crate) struct Follow {
    /// Switches to the goal, for each switch; and those that have been looked at.
    far: Vec<u32>,
    pub seen: Vec<Switch>,
}

impl Follow {
    pub fn new(switches: u32) -> Follow {
        Follow { far: vec![UNKNOWN; switches as usize], seen: Vec::new() }
    }

    /// Forgets the column before.
    pub fn begin(&mut self) {
        for switch in self.seen.drain(..) {
            self.far[switch as usize] = UNKNOWN;
        }
    }

    /// How many switches a message passes from here, this one included; [`NEVER`] where it does not
    /// arrive.
    #[inline]
    pub fn follow(
        &mut self,
        waits: &Waits,
        from: Switch,
        goal: Goal,
        port: impl Fn(Switch) -> Port,
    ) -> u32 {
        let (first, mut switch) = (self.seen.len(), from);
        let end = loop {
            match self.far[switch as usize] {
                UNKNOWN => {}
                // What is on the way that is being followed comes round.
                far => break far,
            }
            self.far[switch as usize] = NEVER;
            self.seen.push(switch);
            if goal == Goal::Switch(switch) {
                break 0;
            }
            match waits.end(switch, port(switch)) {
                End::Host(other) if goal == Goal::Host(other) => break 0,
                End::Host(_) | End::Nothing => break NEVER,
                End::Switch(next, _) => switch = next,
            }
        };
        if end != NEVER {
            for (before, &switch) in self.seen[first..].iter().rev().enumerate() {
                self.far[switch as usize] = end + before as u32 + 1;
            }
        }
        self.far[from as usize]
    }

    /// Whether a switch that was looked at has a way.
    pub fn arrives(&self, switch: Switch) -> bool {
        self.far[switch as usize] < NEVER
    }

    /// What was followed lets links wait for the next ones; what does not arrive, too, as far as it
    /// comes.
    pub fn add_to(&self, waits: &mut Waits, goal: Goal, port: impl Fn(Switch) -> Port) {
        for &switch in self.seen.iter().filter(|&&switch| goal != Goal::Switch(switch)) {
            let own = port(switch);
            let End::Switch(next, _) = waits.end(switch, own) else { continue };
            if goal != Goal::Switch(next) {
                waits.add(switch, own, next, port(next));
            }
        }
    }
}
