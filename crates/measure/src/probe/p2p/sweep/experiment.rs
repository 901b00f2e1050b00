//! What is measured between ranks: a pattern, or all parameters of LogGP and PLogP at once.

use super::super::pattern::Pattern;

/// One kind of figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Experiment {
    /// One pattern.
    Pattern(Pattern),
    /// Overheads, gap, latency and L.
    LogP,
}

impl Experiment {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Experiment> {
        Pattern::ALL.into_iter().map(Experiment::Pattern).chain([Experiment::LogP])
    }

    /// The one of this name.
    pub fn by_name(name: &str) -> Option<Experiment> {
        Experiment::all().find(|experiment| experiment.name() == name)
    }

    /// As it is asked for.
    pub fn name(self) -> &'static str {
        match self {
            Experiment::Pattern(pattern) => pattern.name(),
            Experiment::LogP => "logp",
        }
    }

    /// What it is.
    pub fn sentence(self) -> &'static str {
        match self {
            Experiment::Pattern(pattern) => pattern.sentence(),
            Experiment::LogP => "o_s, o_r, gap and L, as LogGP and PLogP need them",
        }
    }
}

impl From<Pattern> for Experiment {
    fn from(pattern: Pattern) -> Experiment {
        Experiment::Pattern(pattern)
    }
}
