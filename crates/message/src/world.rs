//! What the engine and its communicators ask about the ranks of a run.

use laneway_core::{Clock, Rank};

/// The ranks of a run, as one of them knows them.
pub trait World {
    /// How many ranks there are.
    fn size(&self) -> u32;

    /// The clock of this rank.
    fn clock(&self) -> &dyn Clock;

    /// The host of a rank.
    fn host(&self, rank: Rank) -> String;

    /// What the backend is; see [`laneway_core::Comm::describe`].
    fn describe(&self) -> Vec<(&'static str, String)>;

    /// Whether any rank has ended; asked often, and before [`World::ended`].
    fn any_ended(&self) -> bool;

    /// How a rank ended, in words that follow "rank 3 died:"; `None` while it can still be reached.
    /// A rank to which the connection broke has ended for this one. What it sent before that is
    /// there for the link to take once this says so, or [`crate::Link::may_bring`] says otherwise.
    fn ended(&self, rank: Rank) -> Option<String>;

    /// Ends every rank of the run with `code`. `missed` is the rank whose end this one met with.
    fn abort(&self, code: i32, missed: Option<Rank>) -> !;
}
