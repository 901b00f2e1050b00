//! What disturbs traffic and breaks nothing: a busy machine, and a full queue.

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

/// Threads for each core.
const CROWD: usize = 2;
/// Bytes of a packet of others, and the discard port, at which no socket listens.
const PACKET: usize = 1400;
const DISCARD: u16 = 9;
/// Packets of one socket at a time, at most.
const MOST_PACKETS: usize = 256;
/// No more sockets than this: each may have a few hundred kilobytes in a queue.
const MOST_SOCKETS: usize = 512;

/// Has more threads than cores compute for so long.
pub fn keep_busy(lasts: Duration) {
    let cores = thread::available_parallelism().map_or(2, |cores| cores.get());
    let end = Instant::now() + lasts;
    thread::scope(|scope| {
        for _ in 0..CROWD * cores {
            scope.spawn(|| while Instant::now() < end {});
        }
    });
}

/// Keeps `bytes` bytes waiting on the way from one address to another, for so long. Called in the
/// sender's namespace.
pub fn fill_queue(from: IpAddr, to: IpAddr, bytes: usize, lasts: Duration) -> io::Result<()> {
    let (target, packet) = (SocketAddr::new(to, DISCARD), [0; PACKET]);
    // A socket that has enough in the queue refuses more.
    let fill = |socket: &UdpSocket| {
        (0..MOST_PACKETS).take_while(|_| socket.send_to(&packet, target).is_ok()).count()
    };
    let (mut sockets, mut waits) = (Vec::new(), 0);
    while waits < bytes && sockets.len() < MOST_SOCKETS {
        let socket = UdpSocket::bind(SocketAddr::new(from, 0))?;
        socket.set_nonblocking(true)?;
        waits += PACKET * fill(&socket);
        sockets.push(socket);
    }
    let end = Instant::now() + lasts;
    while Instant::now() < end {
        if sockets.iter().map(fill).sum::<usize>() == 0 {
            thread::sleep(Duration::from_micros(200));
        }
    }
    Ok(())
}
