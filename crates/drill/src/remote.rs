//! Traffic with another machine, where the paths are broken by other means.

use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use laneway_connections::drill::{Client, Load, Outcome, State};
use laneway_connections::{Endpoint, NetError, now};
use laneway_core::Row;

/// Between two looks at traffic that runs.
const LOOKS: Duration = Duration::from_millis(20);

/// What traffic with a server has seen.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Observed {
    /// Bytes of a message.
    pub bytes: usize,
    /// Messages and what became of them.
    pub outcome: Outcome,
    /// When traffic began, in nanoseconds of [`laneway_connections::now`].
    pub begun: u64,
    /// When it ended.
    pub ended: u64,
}

/// Sends messages to a server (`laneway_connections::drill::serve`) at its addresses, and takes
/// them back. It goes on as long as `goes_on` says so, which is asked every 20 ms.
///
/// ```
/// use std::time::Duration;
///
/// use laneway_drill::{Load, observe};
/// use laneway_connections::drill::{State, serve};
/// use laneway_connections::{Endpoint, LocalPath, NetError, Options, Secret, Setup};
///
/// fn open(accepts: bool) -> Result<Endpoint, NetError> {
///     let paths = vec![LocalPath::at(([127, 0, 0, 1], 0).into())];
///     Endpoint::open(Options { paths, secret: Secret::none(), accepts, setup: Setup::usual() })
/// }
///
/// fn main() -> Result<(), NetError> {
///     let (server, state) = (open(true)?, State::default());
///     let to = server.addresses();
///     let load = Load { bytes: 64, connections: 1, computes: Duration::ZERO };
///     let seen = std::thread::scope(|scope| {
///         scope.spawn(|| serve(server, None, load.bytes, load.computes, &state));
///         let limit = Duration::from_millis(100);
///         let seen = open(false).and_then(|own| observe(own, &to, load, |past, _| past < limit));
///         state.stop();
///         seen
///     })?;
///     assert!(seen.is_sound() && seen.outcome.messages() > 0);
///     Ok(())
/// }
/// ```
pub fn observe(
    endpoint: Endpoint,
    to: &[SocketAddr],
    load: Load,
    mut goes_on: impl FnMut(Duration, &State) -> bool,
) -> Result<Observed, NetError> {
    let client = Client::open(endpoint, to, None, load)?;
    let (state, since, begun) = (State::default(), Instant::now(), now());
    let outcome = thread::scope(|scope| {
        let client = scope.spawn(|| client.run(&state));
        while !client.is_finished() && goes_on(since.elapsed(), &state) {
            thread::sleep(LOOKS);
        }
        state.stop();
        client.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })?;
    Ok(Observed { bytes: load.bytes, outcome, begun, ended: now() })
}

impl Observed {
    /// Whether every message came, once and in order, and no connection broke.
    pub fn is_sound(&self) -> bool {
        let checked = &self.outcome.checked;
        let wrong = checked.duplicated + checked.reordered + checked.damaged;
        wrong + checked.lost(self.outcome.sent) == 0 && !self.outcome.broken
    }

    /// The figures under their names.
    pub fn row(&self) -> Row {
        let (seen, from, until) = (&self.outcome, self.begun, self.ended);
        let checked = &seen.checked;
        Row::new()
            .with("fault", "observed")
            .with("size_bytes", self.bytes as u64)
            .with("stall_max_ms", seen.longest_gap(from, until) as f64 / 1e6)
            .with("unfinished", seen.unfinished().is_some())
            .with("messages", seen.messages())
            .with("lost", checked.lost(seen.sent))
            .with("duplicated", checked.duplicated)
            .with("reordered", checked.reordered)
            .with("damaged", checked.damaged)
            .with("bandwidth", seen.rate(from, until) / 1e6)
            .with("migrations", seen.migrations)
    }
}
