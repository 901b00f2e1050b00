//! What becomes of a connection's paths: the part that the paper gives to its asynchronous thread
//! (3.2, figure 4). It acts on events, and on times that it asked for; it never polls.
//!
//! One of the two ends leads: it chooses the alternate path, and tries the next where one does not
//! answer, for ever, more and more rarely. The other end takes what it is asked for. A path can be
//! preferred: the leader goes back to it when it has been armed for a while, and waits longer each
//! time that this was in vain. Where another path is armed instead, it is tried now and then. A
//! path can be drained by hand: it is not used until it is undrained.

use crate::connection::{Connection, Event};
use crate::state::{Cause, MigrationState};
use crate::{Nanos, PathId, Refusal};

/// The policy when the alternate path is armed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnArmed {
    /// Nothing; the user migrates.
    Nothing,
    /// Migrate at once.
    Migrate,
}

/// The policy after a migration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnMigrated {
    /// Specify another path and load it.
    Rearm,
    /// Specify another path; the user loads it.
    Specify,
    /// The user specifies and loads another path.
    Nothing,
}

/// The policy for a return to the preferred path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailBack {
    /// The preferred path.
    pub path: PathId,
    /// The time for which it must have been armed.
    pub hold: Nanos,
    /// The longest that this becomes, doubled each time that the path died soon after.
    pub most_hold: Nanos,
}

impl FailBack {
    /// A path that is taken again when it has been armed for a fifth of a second.
    pub fn to(path: PathId) -> FailBack {
        FailBack { path, hold: 200_000_000, most_hold: 30_000_000_000 }
    }
}

/// The policy of a connection's manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Exactly one of the two ends leads.
    pub leads: bool,
    /// The policy when an alternate path is armed.
    pub on_armed: OnArmed,
    /// The policy after a migration.
    pub on_migrated: OnMigrated,
    /// The policy for a return to a path; `None` for no return.
    pub fail_back: Option<FailBack>,
}

impl Policy {
    /// Keeps an alternate path armed, and never goes back by itself.
    pub fn keep_armed(leads: bool) -> Policy {
        let (on_armed, on_migrated) = (OnArmed::Nothing, OnMigrated::Rearm);
        Policy { leads, on_armed, on_migrated, fail_back: None }
    }
}

/// A path that does not answer is tried for so long at first, then the next one.
const TRY: Nanos = 300_000_000;
const MOST_TRY: Nanos = 10_000_000_000;
/// Each try lasts longer by this part: about a sixteenth of the time for which none has answered,
/// so that a path that was dead for ten seconds is found within one.
const RARER: Nanos = 16;
/// A preferred path that is neither in use nor the alternate one is tried after so long at first.
const LOOK: Nanos = 1_000_000_000;

/// Watches the paths of one connection, and applies its policy.
pub struct Manager {
    policy: Policy,
    drained: Vec<bool>,
    /// When the next path is tried if this one does not answer, and how long the one after.
    try_until: Option<Nanos>,
    try_for: Nanos,
    /// When the connection goes back to its preferred path, if it is armed until then.
    back_at: Option<Nanos>,
    hold: Nanos,
    went_back_at: Option<Nanos>,
    /// When the preferred path is tried in place of the alternate one, and how long until the next.
    look_at: Option<Nanos>,
    look_for: Nanos,
}

impl Manager {
    /// A manager for a connection with `paths` paths.
    pub fn new(policy: Policy, paths: u8) -> Manager {
        Manager {
            policy,
            drained: vec![false; usize::from(paths)],
            try_until: None,
            try_for: TRY,
            back_at: None,
            hold: policy.fail_back.map_or(0, |back| back.hold),
            went_back_at: None,
            look_at: None,
            look_for: LOOK,
        }
    }

    /// Every event of the connection must be shown.
    pub fn on_event(&mut self, now: Nanos, connection: &mut Connection, event: &Event) {
        match event {
            Event::Armed { path } => self.on_armed(now, connection, *path),
            Event::Migrated { from, cause, .. } => {
                self.on_migrated(now, connection, *from, *cause);
            }
            Event::Unhealthy { .. } => {
                (self.back_at, self.look_at) = (None, None);
                self.try_until = self.policy.leads.then_some(now + self.try_for);
            }
            Event::Wanted { path } => self.on_wanted(now, connection, *path),
            _ => {}
        }
    }

    fn on_armed(&mut self, now: Nanos, connection: &mut Connection, path: PathId) {
        (self.try_until, self.try_for) = (None, TRY);
        let drains = self.is_drained(connection.primary());
        if drains || self.policy.on_armed == OnArmed::Migrate {
            // Armed, as the event says.
            _ = connection.migrate(now);
            return;
        }
        (self.back_at, self.look_at) = (None, None);
        let Some(back) = self.policy.fail_back.filter(|_| self.policy.leads) else { return };
        if back.path == path {
            (self.back_at, self.look_for) = (Some(now + self.hold), LOOK);
        } else if back.path != connection.primary() && !self.is_drained(back.path) {
            self.look_at = Some(now + self.look_for);
        }
    }

    fn on_migrated(&mut self, now: Nanos, connection: &mut Connection, from: PathId, cause: Cause) {
        (self.back_at, self.look_at) = (None, None);
        if let Some(back) = self.policy.fail_back.filter(|back| back.path == from) {
            let soon = self.went_back_at.is_some_and(|at| now < at + 2 * self.hold);
            let in_vain = soon && cause != Cause::Request;
            self.hold = match cause {
                // Nothing shows whether it still loses packets before it is used.
                Cause::Loss => back.most_hold,
                _ if in_vain => (2 * self.hold).min(back.most_hold),
                _ => back.hold,
            };
        }
        if self.policy.on_migrated != OnMigrated::Nothing {
            self.choose(now, connection, from);
        }
    }

    /// The peer loads a path that is not the alternate one here.
    fn on_wanted(&mut self, now: Nanos, connection: &mut Connection, path: PathId) {
        let follows = !self.policy.leads || connection.alternate().is_none();
        if !follows {
            // It has not loaded the alternate path of this end, or not any more: it is asked again.
            if connection.migration() == MigrationState::Armed {
                self.try_until = Some(now + self.try_for);
                _ = connection.load(now);
            }
        } else if !self.is_drained(path) && connection.specify(path).is_ok() {
            _ = connection.load(now);
        }
    }

    /// The next path after `last` that can be the alternate one.
    fn choose(&mut self, now: Nanos, connection: &mut Connection, last: PathId) {
        let paths = self.drained.len();
        let after = |step: usize| PathId(((usize::from(last.0) + step) % paths) as u8);
        let usable = |path: &PathId| *path != connection.primary() && !self.is_drained(*path);
        // The one that was left comes first: it is most often repaired.
        let Some(path) = (0..paths).map(after).find(usable) else {
            connection.unload();
            self.try_until = None;
            return;
        };
        let specified = connection.specify(path);
        if specified.is_ok() && self.keeps_armed() {
            _ = connection.load(now);
            self.try_until = self.policy.leads.then_some(now + self.try_for);
        }
    }

    /// The time of the next [`Manager::on_timeout`].
    pub fn next_timeout(&self) -> Option<Nanos> {
        [self.try_until, self.back_at, self.look_at].into_iter().flatten().min()
    }

    /// Handles a timeout.
    pub fn on_timeout(&mut self, now: Nanos, connection: &mut Connection) {
        if self.back_at.is_some_and(|at| at <= now) {
            self.back_at = None;
            if connection.migrate(now).is_ok() {
                self.went_back_at = Some(now);
            }
        }
        if self.look_at.is_some_and(|at| at <= now) {
            self.look_at = None;
            self.look_for = (2 * self.look_for).min(MOST_TRY);
            if let Some(back) = self.policy.fail_back.filter(|_| self.keeps_armed()) {
                self.choose(now, connection, back.path);
            }
        }
        if self.try_until.is_some_and(|until| until <= now) {
            self.try_for = (self.try_for + self.try_for / RARER).min(MOST_TRY);
            self.try_until = Some(now + self.try_for);
            if connection.migration() == MigrationState::Rearm && self.drained.len() > 2 {
                let last = connection.alternate().unwrap_or(connection.primary());
                let next = PathId(((usize::from(last.0) + 1) % self.drained.len()) as u8);
                self.choose(now, connection, next);
            }
        }
    }

    fn keeps_armed(&self) -> bool {
        self.policy.on_migrated == OnMigrated::Rearm
    }

    fn is_drained(&self, path: PathId) -> bool {
        self.drained.get(usize::from(path.0)).copied().unwrap_or(true)
    }

    /// Takes all traffic off a path, now or as soon as another one is armed, and keeps it off.
    pub fn drain(
        &mut self,
        now: Nanos,
        connection: &mut Connection,
        path: PathId,
    ) -> Result<(), Refusal> {
        *self.place(path)? = true;
        if connection.primary() == path && connection.migration() == MigrationState::Armed {
            return connection.migrate(now);
        }
        if connection.alternate() == Some(path) {
            self.choose(now, connection, path);
        }
        Ok(())
    }

    /// Lets a path be used again.
    pub fn undrain(
        &mut self,
        now: Nanos,
        connection: &mut Connection,
        path: PathId,
    ) -> Result<(), Refusal> {
        *self.place(path)? = false;
        if connection.alternate().is_none() && self.policy.on_migrated != OnMigrated::Nothing {
            self.choose(now, connection, path);
            return Ok(());
        }
        let prefers = self.policy.leads && self.policy.fail_back.is_some_and(|b| b.path == path);
        let has = connection.primary() == path || connection.alternate() == Some(path);
        if prefers && !has {
            self.look_at = Some(now + LOOK);
        }
        Ok(())
    }

    fn place(&mut self, path: PathId) -> Result<&mut bool, Refusal> {
        self.drained.get_mut(usize::from(path.0)).ok_or(Refusal::UnknownPath { path })
    }
}
