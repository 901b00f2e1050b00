//! What a drill breaks, in the lab's words.

use laneway_stats::SplitMix64;

/// Seconds of the shortest outage, unless the longest is shorter.
const SHORTEST: f64 = 0.1;

/// A kind of fault. The path in use is struck, whichever it is then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// The sender's card loses its carrier.
    CarrierSender,
    /// The receiver's card loses its carrier.
    CarrierReceiver,
    /// Every packet is dropped without a sign, both ways.
    Drop,
    /// Packets of the sender are dropped.
    OneWayOut,
    /// Packets to the sender are dropped.
    OneWayBack,
    /// Of 100 packets 5 are dropped.
    Loss,
    /// The sender's card passes short packets only.
    Mtu,
    /// The carrier goes and comes three times, quickly.
    Flap,
    /// When one path is repaired the other one dies.
    Both,
    /// Nothing is broken: more threads than cores want to run.
    Busy,
    /// Nothing is broken: others fill the queue of the path in use.
    Queue,
}

/// One fault of the lab.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FaultStep {
    /// In the lab's words.
    pub fault: String,
    /// For how many seconds.
    pub lasts: f64,
}

impl Kind {
    /// Every kind, those that break nothing last.
    pub const ALL: [Kind; 11] = [
        Kind::CarrierSender,
        Kind::CarrierReceiver,
        Kind::Drop,
        Kind::OneWayOut,
        Kind::OneWayBack,
        Kind::Loss,
        Kind::Mtu,
        Kind::Flap,
        Kind::Both,
        Kind::Busy,
        Kind::Queue,
    ];

    /// The name that rows and users have for it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::CarrierSender => "carrier-sender",
            Kind::CarrierReceiver => "carrier-receiver",
            Kind::Drop => "drop",
            Kind::OneWayOut => "one-way-out",
            Kind::OneWayBack => "one-way-back",
            Kind::Loss => "loss",
            Kind::Mtu => "mtu",
            Kind::Flap => "flap",
            Kind::Both => "both",
            Kind::Busy => "busy",
            Kind::Queue => "queue",
        }
    }

    /// The kind of this name.
    pub fn by_name(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Faults of the lab that follow each other, with [`between`](Kind::between) as the pause; none
    /// lasts longer than `longest` seconds. `path` is the one in use, of two.
    pub fn steps(
        self,
        sender: &str,
        receiver: &str,
        path: u8,
        longest: f64,
        random: &mut SplitMix64,
    ) -> Vec<FaultStep> {
        let shortest = SHORTEST.min(longest);
        let lasts = shortest + (longest - shortest) * random.uniform();
        let (card, other) = (format!("eth{path}"), format!("eth{}", 1 - path.min(1)));
        let step = |fault: String, lasts: f64| FaultStep { fault, lasts };
        let once = |fault: String| vec![step(fault, lasts)];
        match self {
            Kind::CarrierSender => once(format!("carrier {sender}:{card}")),
            Kind::CarrierReceiver => once(format!("carrier {receiver}:{card}")),
            Kind::Drop => once(format!("drop {sender}:{card}")),
            Kind::OneWayOut => once(format!("drop {sender}:{card} out")),
            Kind::OneWayBack => once(format!("drop {sender}:{card} in")),
            Kind::Loss => once(format!("loss {sender}:{card} 5%")),
            Kind::Mtu => once(format!("mtu {sender}:{card} 1300")),
            Kind::Flap => {
                let down = |down: f64| step(format!("carrier {sender}:{card}"), down);
                (0..3).map(|_| down(0.02 + 0.05 * random.uniform())).collect()
            }
            // The other one dies when the first is back.
            Kind::Both => vec![
                step(format!("drop {sender}:{card}"), lasts),
                step(format!("drop {sender}:{other}"), lasts),
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
                for FaultStep { fault, lasts } in kind.steps(a, b, path, 0.4, &mut random) {
                    assert!(lasts > 0.0 && lasts <= 0.4);
                    parse_fault(&fault, &lab, &plan).expect("the lab's words");
                }
            }
        }
        assert_eq!(Kind::by_name("smoke"), None);
    }
}
