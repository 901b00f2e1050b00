//! What disturbs traffic and breaks nothing: a busy machine, and a full queue.

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

/// So many threads for each core.
const CROWD: usize = 2;
/// Bytes of a packet of others, and the port that nobody listens at.
const PACKET: usize = 1400;
const NOBODY: u16 = 9;
/// A socket may have a few hundred kilobytes in a queue: so many fill one of some megabytes.
const SOCKETS: usize = 128;

/// More threads than cores compute for so long.
pub fn keep_busy(lasts: Duration) {
    let cores = thread::available_parallelism().map_or(2, |cores| cores.get());
    let end = Instant::now() + lasts;
    thread::scope(|scope| {
        for _ in 0..CROWD * cores {
            scope.spawn(|| while Instant::now() < end {});
        }
    });
}

/// Sends from one address to another for so long, more than the way between them carries. Called
/// in the sender's namespace.
pub fn fill_queue(from: IpAddr, to: IpAddr, lasts: Duration) -> io::Result<()> {
    let sockets: io::Result<Vec<UdpSocket>> = (0..SOCKETS)
        .map(|_| {
            let socket = UdpSocket::bind(SocketAddr::new(from, 0))?;
            socket.set_nonblocking(true)?;
            Ok(socket)
        })
        .collect();
    let (sockets, target, packet) = (sockets?, SocketAddr::new(to, NOBODY), [0; PACKET]);
    let end = Instant::now() + lasts;
    while Instant::now() < end {
        let mut sent = 0;
        for socket in &sockets {
            // A socket that has enough in the queue refuses more, which is what is wanted.
            while socket.send_to(&packet, target).is_ok() {
                sent += 1;
            }
        }
        if sent == 0 {
            thread::sleep(Duration::from_millis(1));
        }
    }
    Ok(())
}
