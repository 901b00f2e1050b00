//! Faults by chance: what breaks, for how long.

use laneway_path::Nanos;
use laneway_stats::SplitMix64;

use super::link::{MS, Trouble, US};

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
    /// A path passes packets of up to this length, in both directions.
    Mtu {
        path: usize,
        bytes: usize,
    },
    /// A path loses a part of the packets, in both directions.
    Loss {
        path: usize,
        part: f64,
    },
    /// Packets of a path take up to so much longer, and overtake each other.
    Reorder {
        path: usize,
        most: Nanos,
    },
    /// A path has a longer round trip.
    Slower {
        path: usize,
        trip: Nanos,
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
    /// A path delays the packets of this end until 2^24 packet numbers later.
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
pub const KINDS: [&str; 17] = [
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
    "mtu",
    "loss",
    "reorder",
    "slower",
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
            Fault::Mtu { .. } => 13,
            Fault::Loss { .. } => 14,
            Fault::Reorder { .. } => 15,
            Fault::Slower { .. } => 16,
        }
    }

    pub fn draw(random: &mut SplitMix64, paths: usize) -> Fault {
        let (path, end) = (random.index(paths), random.index(2));
        let ends = [[true, false], [false, true], [true, true]][random.index(3)];
        match random.index(22) {
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
            17 => Fault::Mtu { path, bytes: 100 + random.index(1400) },
            18 => Fault::Loss { path, part: 0.01 + 0.29 * random.uniform() },
            19 => Fault::Reorder { path, most: US + (random.uniform() * 499e3) as Nanos },
            20 => Fault::Slower { path, trip: (random.uniform() * 50e6) as Nanos },
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
