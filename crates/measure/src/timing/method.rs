//! The timing methods by their names.

/// The methods by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Method {
    /// The root's clock, until the others have confirmed: [`Root`](super::Root).
    Root,
    /// The longest of all ranks' own times: [`Maximum`](super::Maximum).
    Maximum,
    /// First entry to last exit after a barrier: [`Global`](super::Global).
    Global,
    /// First entry to last exit after an agreed instant: [`StartTime`](super::StartTime).
    #[default]
    StartTime,
    /// The mean of calls without isolation: [`Series`](super::Series).
    Loop,
    /// Each rank's part alone, acknowledged: [`Tasks`](super::Tasks).
    Tasks,
}

impl Method {
    /// Every method, in the order in which help texts name them.
    pub const ALL: [Method; 6] = [
        Method::Root,
        Method::Maximum,
        Method::Global,
        Method::StartTime,
        Method::Loop,
        Method::Tasks,
    ];

    /// The word by which a person chooses it.
    pub fn name(self) -> &'static str {
        match self {
            Method::Root => "root",
            Method::Maximum => "maximum",
            Method::Global => "global",
            Method::StartTime => "start-time",
            Method::Loop => "loop",
            Method::Tasks => "tasks",
        }
    }

    /// What is timed, in half a sentence for help texts.
    pub fn sentence(self) -> &'static str {
        match self {
            Method::Root => "on the root, until all have confirmed, less the confirmation",
            Method::Maximum => "on every rank by its own clock; the longest counts",
            Method::Global => "from the first entry to the last exit on one clock, after a barrier",
            Method::StartTime => "all ranks begin at an agreed instant; first entry to last exit",
            Method::Loop => "mean of a series without isolation, as IMB does",
            Method::Tasks => {
                "each rank's part alone, acknowledged: linear and binomial bcast, scatter"
            }
        }
    }
}
