//! Sends over a connection that migrates: its path dies half way, and nothing is lost.

use std::error::Error;
use std::time::{Duration, Instant};

use laneway_net::{Endpoint, LocalPath, Options, Secret, Setup, What};
use laneway_path::{Event, PathId};

/// One end, with two paths: here two addresses of this machine.
fn open() -> Result<Endpoint, Box<dyn Error>> {
    let paths = vec![LocalPath::at("127.0.0.1:0".parse()?), LocalPath::at("127.0.0.2:0".parse()?)];
    let (secret, setup) = (Secret::none(), Setup::usual());
    Ok(Endpoint::open(Options { paths, secret, accepts: true, setup })?)
}

pub fn main() -> Result<(), Box<dyn Error>> {
    let (mut here, mut there) = (open()?, open()?);
    let (limit, begun, mut received) = (Duration::from_secs(10), Instant::now(), 0);
    let id = here.begin_open(&there.addresses(), 1, limit)?;
    while received < 1000 && begun.elapsed() < limit {
        here.progress();
        there.progress();
        while let Some(notice) = here.poll() {
            match notice.what {
                // Both paths are ready: 1000 messages, and the first path dies.
                What::Event(Event::Armed { .. }) if received == 0 => {
                    (0..1000).try_for_each(|number| here.send(id, number, vec![7; 64]))?;
                    here.on_carrier(PathId(0), false);
                }
                What::Event(Event::Migrated { from, to, .. }) => println!("{from:?} to {to:?}"),
                _ => {}
            }
        }
        while let Some(notice) = there.poll() {
            received += u32::from(matches!(notice.what, What::Event(Event::Received { .. })));
            there.post_receive(notice.connection, 0, Vec::with_capacity(64))?;
        }
    }
    if received == 1000 { Ok(()) } else { Err(format!("{received} of 1000 arrived").into()) }
}
