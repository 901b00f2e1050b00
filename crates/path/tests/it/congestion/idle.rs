//! Windows that are not used.

use super::net::{MS, Net};

/// Sends bursts of messages of 64 KiB with pauses between them, then many; returns the bytes that
/// leave in the first round trip of 10 ms.
fn first_flight(bursts: usize, messages: usize, pause: u64) -> u64 {
    let mut net = Net::single(1.0, 10 * MS, 100 * MS, 1);
    net.flows[0].goes_on = false;
    for _ in 0..bursts {
        net.send(0, messages);
        net.pass(pause);
    }
    let before = net.links[0][0].carried_bytes;
    net.send(0, 64);
    net.pass(9 * MS);
    net.links[0][0].carried_bytes - before
}

#[test]
fn a_window_that_the_application_does_not_fill_does_not_grow() {
    let bytes = first_flight(200, 1, 20 * MS);
    println!("{bytes} bytes of 4 MiB leave at once after many messages of 64 KiB");
    assert!(bytes <= 256 << 10, "{bytes}");
}

#[test]
fn a_window_decays_while_nothing_is_sent() {
    let bytes = [20 * MS, 3000 * MS].map(|pause| first_flight(20, 32, pause));
    println!("{bytes:?} bytes leave at once after pauses of 20 ms and 3 s");
    assert!(bytes[0] >= 512 << 10, "a short pause changes nothing: {bytes:?}");
    assert!(bytes[1] <= 128 << 10, "{bytes:?}");
}
