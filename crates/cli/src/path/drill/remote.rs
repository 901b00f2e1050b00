//! A drill with another machine: somebody else breaks the paths.

use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use clap::ArgMatches;
use laneway_core::{Failure, Row};
use laneway_net::drill::{Client, Load, Outcome, State};
use laneway_net::now;

use crate::lab::stop::on_signal;
use crate::path::reach::{self, PeerPath};
use crate::progress::Progress;

/// Traffic with a server for so many seconds, and what it saw: a row, and whether all was right.
pub fn run(
    matches: &ArgMatches,
    peers: &[PeerPath],
    load: Load,
    spread: bool,
    seconds: u64,
) -> Result<(Row, bool), Failure> {
    let secret = reach::secret(matches)?;
    let endpoint = reach::endpoint(reach::paths_to(matches, peers)?, secret, false, spread)?;
    let to = peers.iter().map(|peer| peer.address(reach::port(matches)));
    let to = to.collect::<Result<Vec<SocketAddr>, Failure>>()?;
    let client = Client::open(endpoint, &to, None, load).map_err(reach::failure)?;
    let (state, begun, from) = (State::default(), Instant::now(), now());
    let stop = on_signal(&[libc::SIGINT, libc::SIGTERM]);
    let outcome = std::thread::scope(|scope| {
        let client = scope.spawn(|| client.run(&state));
        let mut progress = Progress::new(seconds as usize, true);
        let limit = Duration::from_secs(seconds);
        while begun.elapsed() < limit && !stop.load(Ordering::Acquire) && !client.is_finished() {
            std::thread::sleep(Duration::from_millis(20));
            let armed = if state.is_armed() { "armed" } else { "no alternate" };
            let what = format!("{}, {armed}", state.primary());
            progress.at(begun.elapsed().as_secs() as usize, &what);
        }
        state.stop();
        client.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    let seen = outcome.map_err(reach::failure)?;
    let is_sound = is_sound(&seen);
    Ok((row(&seen, load.bytes, from), is_sound))
}

fn is_sound(seen: &Outcome) -> bool {
    let checked = &seen.checked;
    let wrong = checked.duplicated + checked.reordered + checked.damaged;
    wrong + checked.lost(seen.sent) == 0 && !seen.broken
}

fn row(seen: &Outcome, bytes: usize, from: u64) -> Row {
    let (checked, until) = (&seen.checked, now());
    Row::new()
        .with("fault", "observed")
        .with("size_bytes", bytes as u64)
        .with("stall_max_ms", seen.longest_gap(from, until) as f64 / 1e6)
        .with("messages", seen.messages())
        .with("lost", checked.lost(seen.sent))
        .with("duplicated", checked.duplicated)
        .with("reordered", checked.reordered)
        .with("damaged", checked.damaged)
        .with("bandwidth", seen.rate(from, until) / 1e6)
        .with("migrations", seen.migrations)
}
