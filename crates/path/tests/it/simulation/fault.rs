//! Faults by chance: what breaks, for how long.

use laneway_path::Nanos;
use laneway_stats::SplitMix64;

use super::link::{MS, Trouble};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// A path drops everything in silence.
    Drop {
        path: usize,
    },
    /// One direction of it does: the one out of this end.
    OneWay {
        path: usize,
        end: usize,
    },
    /// The interfaces of these ends lose their carrier.
    Carrier {
        path: usize,
        ends: [bool; 2],
    },
    /// Every path is dead.
    Blackout,
    Trouble {
        path: usize,
        end: usize,
        trouble: Trouble,
    },
    /// An end does nothing, as if it computed.
    Pause {
        end: usize,
    },
    /// An end posts no receives.
    NotReady {
        end: usize,
    },
    /// These ends ask for a migration; their drivers may have what follows from it wait.
    Request {
        ends: [bool; 2],
    },
    /// A path holds back what leaves this end, until a lap of packet numbers has gone by.
    HeldBack {
        path: usize,
        end: usize,
    },
    /// Forged packets; over at once.
    Forged {
        end: usize,
    },
    /// The user of an end loads its alternate path again; its driver may have it wait.
    Reload {
        end: usize,
    },
    /// An end drains its send queue.
    Drain {
        end: usize,
    },
    /// The user of an end takes a path out of use for a while.
    DrainPath {
        path: usize,
        end: usize,
    },
}

/// The names of all kinds, for a count of what was tried.
pub const KINDS: [&str; 13] = [
    "drop",
    "one way",
    "carrier",
    "blackout",
    "trouble",
    "pause",
    "not ready",
    "request",
    "forged",
    "reload",
    "drain",
    "drain path",
    "held back",
];

impl Fault {
    pub fn kind(&self) -> usize {
        match self {
            Fault::Drop { .. } => 0,
            Fault::OneWay { .. } => 1,
            Fault::Carrier { .. } => 2,
            Fault::Blackout => 3,
            Fault::Trouble { .. } => 4,
            Fault::Pause { .. } => 5,
            Fault::NotReady { .. } => 6,
            Fault::Request { .. } => 7,
            Fault::Forged { .. } => 8,
            Fault::Reload { .. } => 9,
            Fault::Drain { .. } => 10,
            Fault::DrainPath { .. } => 11,
            Fault::HeldBack { .. } => 12,
        }
    }

    pub fn draw(random: &mut SplitMix64, paths: usize) -> Fault {
        let (path, end) = (random.index(paths), random.index(2));
        let ends = [[true, false], [false, true], [true, true]][random.index(3)];
        match random.index(18) {
            0..=2 => Fault::Drop { path },
            3 | 4 => Fault::OneWay { path, end },
            5 | 6 => Fault::Carrier { path, ends },
            7 => Fault::Blackout,
            8 | 9 => Fault::Trouble { path, end, trouble: trouble(random) },
            10 => Fault::Pause { end },
            11 => Fault::NotReady { end },
            12 | 13 => Fault::Request { ends },
            14 if random.index(2) == 0 => Fault::Forged { end },
            14 => Fault::Reload { end },
            15 => Fault::Drain { end },
            16 => Fault::HeldBack { path, end },
            _ => Fault::DrainPath { path, end },
        }
    }

    /// How long it lasts: from shorter than a handshake to many times a detection.
    pub fn lasts(&self, random: &mut SplitMix64) -> Nanos {
        let most = match self {
            Fault::Request { .. } | Fault::Forged { .. } | Fault::Reload { .. } => return 0,
            Fault::Blackout | Fault::Pause { .. } => 80.0,
            _ => 400.0,
        };
        (MS as f64 * 0.2 * (most / 0.2f64).powf(random.uniform())) as Nanos
    }
}

fn trouble(random: &mut SplitMix64) -> Trouble {
    let mut part = |most: f64| if random.index(2) == 0 { 0.0 } else { most * random.uniform() };
    Trouble {
        lost: part(0.5),
        doubled: part(0.5),
        jitter: part(3e6) as Nanos,
        late: part(5e8) as Nanos,
    }
}
