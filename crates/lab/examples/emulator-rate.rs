//! How much one TCP stream carries through the emulator: two namespaces, 5 ms of delay.
//!
//! `emulator-rate [SECONDS [GBIT]]`: 3 seconds and no limit by default.

#[path = "../tests/emulator_sites/mod.rs"]
mod emulator_sites;

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use emulator_sites::{ADDRESSES, Sites, find};
use laneway_lab::emulator::{Pipe, Way};

const PORT: u16 = 7000;

fn main() -> io::Result<()> {
    let numbers: Vec<f64> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let seconds = numbers.first().copied().unwrap_or(3.0);
    // Both directions share it; 20 ms of waiting is four times what the delay holds.
    let pipe = |name: &str, gbit: f64| Pipe {
        name: name.into(),
        rate: gbit * 1e9 / 8.0,
        queue_bytes: (gbit * 1e9 / 8.0 * 0.020) as u64,
    };
    let pipes: Vec<Pipe> = numbers.get(1).map(|&gbit| pipe("limit", gbit)).into_iter().collect();
    let way = Way { delay: 0.005, pipes: (0..pipes.len()).collect(), ..Way::default() };
    let sites = Sites::new(way, pipes, 1)?;
    let (received, took) = stream(&sites, Duration::from_secs_f64(seconds))?;
    let shown = sites.command("show")?;
    let busy = sites.stop()?;
    let packets = ["0", "1"].map(|from| find(&shown, from, "left_packets"));
    println!("{:.2} Gbit/s of payload", received as f64 * 8e-9 / took);
    println!("{:.0} packets/s to the receiver", packets[0] / took);
    println!("{:.0} packets/s to the sender", packets[1] / took);
    println!("{:.2} processor seconds of the emulator per second", busy / took);
    println!("{:.2} us of the emulator per packet", busy * 1e6 / (packets[0] + packets[1]));
    println!("{shown}");
    Ok(())
}

/// One stream from site 0 to site 1: the bytes received and the seconds it took.
fn stream(sites: &Sites, time: Duration) -> io::Result<(u64, f64)> {
    let (ready, is_ready) = mpsc::channel();
    thread::scope(|scope| {
        let receiver = scope.spawn(move || {
            sites.enter(1)?;
            let listener = TcpListener::bind((ADDRESSES[1], PORT))?;
            // The sender waits as long as this thread lives.
            let _ = ready.send(());
            let (mut connection, _) = listener.accept()?;
            let start = Instant::now();
            let mut buffer = vec![0; 1 << 20];
            let mut received = 0;
            loop {
                match connection.read(&mut buffer)? {
                    0 => return Ok((received, start.elapsed().as_secs_f64())),
                    length => received += length as u64,
                }
            }
        });
        let sender = scope.spawn(move || {
            sites.enter(0)?;
            is_ready.recv().map_err(io::Error::other)?;
            let mut connection = TcpStream::connect((ADDRESSES[1], PORT))?;
            let start = Instant::now();
            let block = vec![7; 1 << 18];
            while start.elapsed() < time {
                connection.write_all(&block)?;
            }
            io::Result::Ok(())
        });
        sender.join().map_err(|_| io::Error::other("the sender panicked"))??;
        receiver.join().map_err(|_| io::Error::other("the receiver panicked"))?
    })
}
