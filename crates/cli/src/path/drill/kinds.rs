//! What a drill breaks, in the lab's words.

use laneway_stats::SplitMix64;

/// Seconds of the shortest outage, unless the longest is shorter.
const SHORTEST: f64 = 0.1;

/// A kind of fault. The path in use is struck, whichever it is then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    CarrierSender,
    CarrierReceiver,
    Drop,
    OneWayOut,
    OneWayBack,
    Loss,
    Flap,
    Both,
    /// Nothing is broken: more threads than cores want to run.
    Busy,
    /// Nothing is broken: others fill the queue of the path in use.
    Queue,
}

impl Kind {
    pub const ALL: [Kind; 10] = [
        Kind::CarrierSender,
        Kind::CarrierReceiver,
        Kind::Drop,
        Kind::OneWayOut,
        Kind::OneWayBack,
        Kind::Loss,
        Kind::Flap,
        Kind::Both,
        Kind::Busy,
        Kind::Queue,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Kind::CarrierSender => "carrier-sender",
            Kind::CarrierReceiver => "carrier-receiver",
            Kind::Drop => "drop",
            Kind::OneWayOut => "one-way-out",
            Kind::OneWayBack => "one-way-back",
            Kind::Loss => "loss",
            Kind::Flap => "flap",
            Kind::Both => "both",
            Kind::Busy => "busy",
            Kind::Queue => "queue",
        }
    }

    pub fn by_name(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Faults of the lab that follow each other without a pause: what is written, and for how many
    /// seconds, `longest` at most. `path` is in use, of two.
    pub fn steps(
        self,
        sender: &str,
        receiver: &str,
        path: u8,
        longest: f64,
        random: &mut SplitMix64,
    ) -> Vec<(String, f64)> {
        let shortest = SHORTEST.min(longest);
        let lasts = shortest + (longest - shortest) * random.uniform();
        let (card, other) = (format!("eth{path}"), format!("eth{}", 1 - path.min(1)));
        match self {
            Kind::CarrierSender => vec![(format!("carrier {sender}:{card}"), lasts)],
            Kind::CarrierReceiver => vec![(format!("carrier {receiver}:{card}"), lasts)],
            Kind::Drop => vec![(format!("drop {sender}:{card}"), lasts)],
            Kind::OneWayOut => vec![(format!("drop {sender}:{card} out"), lasts)],
            Kind::OneWayBack => vec![(format!("drop {sender}:{card} in"), lasts)],
            Kind::Loss => vec![(format!("loss {sender}:{card} 5%"), lasts)],
            // Down and up, three times.
            Kind::Flap => {
                let down = |down: f64| (format!("carrier {sender}:{card}"), down);
                (0..3).map(|_| down(0.02 + 0.05 * random.uniform())).collect()
            }
            // The other one dies when the first is back.
            Kind::Both => vec![
                (format!("drop {sender}:{card}"), lasts),
                (format!("drop {sender}:{other}"), lasts),
            ],
            Kind::Busy | Kind::Queue => Vec::new(),
        }
    }

    /// Whether paths work all the time: a connection that leaves its path does so for nothing.
    pub fn is_harmless(self) -> bool {
        matches!(self, Kind::Busy | Kind::Queue)
    }

    /// Seconds between two steps.
    pub fn between(self) -> f64 {
        match self {
            Kind::Flap => 0.04,
            Kind::Both => 0.3,
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use laneway_lab::{LabName, Options, Plan, parse_fault};
    use laneway_sim::platform::Platform;

    #[test]
    fn every_kind_is_read_by_the_lab() {
        let platform = Platform::read("cluster:2").expect("a platform");
        let plan = Plan::new(&platform, Options { cards: 2, ..Options::default() }).expect("plan");
        let lab = LabName::new("test").expect("a name");
        let (a, b) = (&plan.hosts[0].name, &plan.hosts[1].name);
        let mut random = SplitMix64::new(1);
        for kind in Kind::ALL {
            assert_eq!(Kind::by_name(kind.name()), Some(kind));
            for path in 0..2 {
                for (words, lasts) in kind.steps(a, b, path, 0.4, &mut random) {
                    assert!(lasts > 0.0 && lasts <= 0.4);
                    parse_fault(&words, &lab, &plan).expect("the lab's words");
                }
            }
        }
        assert_eq!(Kind::by_name("smoke"), None);
    }
}
