//! How a connection is to be set up, and what is usual.

use std::time::Duration;

use laneway_path::{AckTimeout, FailBack, NotReadyTimer, PathId, Policy, Retries};

use super::kind::PathKind;
use super::seal::Security;
use crate::error::NetError;

/// How a connection is set up.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// What is done with its paths without being asked.
    pub policy: Policy,
    /// How long an acknowledgement is waited for.
    pub ack_timeout: AckTimeout,
    /// How often a packet is sent again.
    pub retries: Retries,
    /// How long the peer waits when no receive is posted here.
    pub not_ready_timer: NotReadyTimer,
    /// How often a message is offered to a peer that is not ready.
    pub not_ready_retries: Retries,
    /// What its packets are protected against, where it is not what the environment says; both ends
    /// must want the same.
    pub security: Option<Security>,
    /// What carries its data, where it is opened from here and this is not what the environment
    /// says; the peer follows.
    pub kind: Option<PathKind>,
    /// The path that it begins with, where it is opened from here.
    pub primary: PathId,
    /// Whether connections that are opened from here to one peer begin with different paths, in
    /// turn, so that their load goes over all of them. Each goes back to the path that it began
    /// with when that works again, after the times of the policy's `fail_back` or the usual ones.
    pub spread: bool,
    /// Whether an alternate path is loaded at once.
    pub arms: bool,
    /// Whether it is specified from INIT to RTR at least, for a later request to load it.
    pub specifies: bool,
}

impl Setup {
    /// Keeps an alternate path armed; gives up 30 s after the last packet of the peer.
    pub fn usual() -> Setup {
        Setup {
            policy: Policy::keep_armed(false),
            ack_timeout: AckTimeout::new(20).unwrap_or(AckTimeout::NEVER),
            retries: Retries::MOST,
            not_ready_timer: NotReadyTimer::USUAL,
            not_ready_retries: Retries::MOST,
            security: None,
            kind: None,
            primary: PathId(0),
            spread: false,
            arms: true,
            specifies: false,
        }
    }

    /// With connections that are given up when no path has worked for at least this long.
    pub fn lasting(self, time: Duration) -> Setup {
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        Setup { ack_timeout: AckTimeout::lasting(nanos, self.retries), ..self }
    }

    /// What packets are protected against.
    pub(crate) fn security(&self) -> Result<Security, NetError> {
        self.security.map_or_else(Security::from_env, Ok)
    }

    /// What carries the data of connections that are opened from here.
    pub(crate) fn kind(&self) -> Result<PathKind, NetError> {
        self.kind.map_or_else(PathKind::from_env, Ok)
    }

    /// For a connection that begins with this path.
    pub(crate) fn beginning_with(&self, primary: PathId) -> Setup {
        let mut setup = Setup { primary, ..*self };
        if self.spread {
            let times = self.policy.fail_back.unwrap_or(FailBack::to(primary));
            setup.policy.fail_back = Some(FailBack { path: primary, ..times });
        }
        setup
    }
}
