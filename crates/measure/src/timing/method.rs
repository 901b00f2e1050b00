//! The timing methods by their names.

/// The methods by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    Root,
    Maximum,
    Global,
    #[default]
    StartTime,
    Loop,
    Tasks,
}

impl Method {
    pub const ALL: [Method; 6] = [
        Method::Root,
        Method::Maximum,
        Method::Global,
        Method::StartTime,
        Method::Loop,
        Method::Tasks,
    ];

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

    pub fn sentence(self) -> &'static str {
        match self {
            Method::Root => "on the root alone, until the others have confirmed, less that time",
            Method::Maximum => "on every rank by its own clock; the longest counts",
            Method::Global => "from the first entry to the last exit on one clock, after a barrier",
            Method::StartTime => "all ranks begin at an agreed instant; first entry to last exit",
            Method::Loop => "a series without isolation, its total over its length, as IMB does",
            Method::Tasks => {
                "each rank's part alone, acknowledged: linear and binomial bcast, scatter"
            }
        }
    }
}
