//! The stop of path migration: a connection whose path dies under traffic.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use laneway_connections::{
    ConnectionId, Endpoint, LocalPath, NetError, Options, Secret, Setup, What,
};
use laneway_path::{Event, MigrationState, PathId};

use super::say;
use crate::failure::Failure;

const MESSAGES: u64 = 4000;
const BYTES: usize = 64;
/// How long the stop may take.
const LIMIT: Duration = Duration::from_secs(10);

fn failed(why: impl ToString) -> Failure {
    Failure::environment("the tour's connection failed", why.to_string(), "laneway path info")
}

/// Both ends in this process, over two loopback addresses: real sockets, and no root needed.
struct Pair {
    ends: [Endpoint; 2],
    ids: [ConnectionId; 2],
    /// Messages that came back, each once and in order, and the longest time between two.
    back: u64,
    last: Instant,
    longest: Duration,
    moved: u32,
}

/// Messages there and back, while the path in use is lost.
pub fn stop() -> Result<(), Failure> {
    say("9. A connection outlives its path\n")?;
    let mut pair = match Pair::open() {
        Ok(pair) => pair,
        Err(why) => return say(&format!("   Left out: {why}.\n")),
    };
    pair.until(|pair| (0..2).all(|end| pair.migration(end) == Some(MigrationState::Armed)))?;
    pair.send().map_err(failed)?;
    pair.until(|pair| pair.back >= MESSAGES / 2)?;
    pair.ends[0].on_carrier(PathId(0), false);
    pair.until(|pair| pair.back >= MESSAGES)?;
    say(&format!(
        "   {MESSAGES} messages of {BYTES} B there and back over 127.0.0.1. Half way its link is \
         taken away,\n   and the connection moves to 127.0.0.2 ({} of 2 ends): none lost, none \
         twice, all in order,\n   {:.2} ms without a message at most\n   (laneway \
         path drill breaks real links, with root)\n",
        pair.moved,
        1e3 * pair.longest.as_secs_f64(),
    ))
}

impl Pair {
    fn open() -> Result<Pair, NetError> {
        let path = |last: u8| LocalPath::at(SocketAddr::from(([127, 0, 0, last], 0)));
        let open = || {
            let paths = vec![path(1), path(2)];
            let (secret, setup) = (Secret::none(), Setup::usual());
            Endpoint::open(Options { paths, secret, accepts: true, setup })
        };
        let (mut one, mut other) = (open()?, open()?);
        let opened = one.begin_open(&other.addresses(), 1, LIMIT)?;
        let begun = Instant::now();
        loop {
            one.progress();
            other.progress();
            if let Some(notice) = other.poll() {
                let (ends, ids) = ([one, other], [opened, notice.connection]);
                let (last, longest) = (Instant::now(), Duration::ZERO);
                return Ok(Pair { ends, ids, back: 0, last, longest, moved: 0 });
            }
            if begun.elapsed() > LIMIT {
                let (peer, seconds) = ("127.0.0.1".to_string(), LIMIT.as_secs());
                return Err(NetError::NoAnswer { peer, seconds });
            }
        }
    }

    fn migration(&self, end: usize) -> Option<MigrationState> {
        self.ends[end].get(self.ids[end]).ok().map(|connection| connection.migration())
    }

    /// The next message, and room for it at both ends.
    fn send(&mut self) -> Result<(), NetError> {
        for (endpoint, id) in self.ends.iter_mut().zip(self.ids) {
            endpoint.post_receive(id, 0, Vec::with_capacity(BYTES))?;
        }
        let mut message = vec![7; BYTES];
        message[..8].copy_from_slice(&self.back.to_be_bytes());
        self.ends[0].send(self.ids[0], 0, message)?;
        self.last = Instant::now();
        Ok(())
    }

    fn until(&mut self, done: impl Fn(&Pair) -> bool) -> Result<(), Failure> {
        let begun = Instant::now();
        while !done(self) {
            if begun.elapsed() > LIMIT {
                return Err(failed("nothing came for ten seconds"));
            }
            for end in 0..2 {
                self.ends[end].progress();
                while let Some(notice) = self.ends[end].poll() {
                    if let What::Event(event) = notice.what {
                        self.on_event(end, event)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn on_event(&mut self, end: usize, event: Event) -> Result<(), Failure> {
        match event {
            Event::Received { message, .. } if end == 1 => {
                self.ends[1].send(self.ids[1], 0, message).map_err(failed)
            }
            Event::Received { message, .. } => {
                let number = message.first_chunk().map(|number| u64::from_be_bytes(*number));
                if number != Some(self.back) {
                    return Err(failed(format!("message {} came as {number:?}", self.back)));
                }
                self.back += 1;
                self.longest = self.longest.max(self.last.elapsed());
                self.send().map_err(failed)
            }
            Event::Migrated { .. } => {
                self.moved += 1;
                Ok(())
            }
            Event::Failed { why } => Err(failed(format!("{why:?}"))),
            _ => Ok(()),
        }
    }
}
