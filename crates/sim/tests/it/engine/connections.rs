//! Several connections of two hosts: channels in turn, each in order.

use laneway_core::schedule::{Buf, Rank, Round, Schedule, Step, span};
use laneway_sim::platform::Platform;
use laneway_sim::simulate;

const BYTES: u64 = 1_250_000;

/// Rank 0 sends one message on each of this number of channels.
struct OnChannels(u16);

impl Schedule for OnChannels {
    fn ranks(&self) -> u32 {
        2
    }

    fn rounds(&self, _rank: Rank, _lane: u32) -> u64 {
        1
    }

    fn round(&self, rank: Rank, _lane: u32, _k: u64, out: &mut Round) {
        for chan in 0..self.0 {
            let (off, other) = (u64::from(chan) * BYTES, 1 - rank);
            out.steps.push(match rank {
                0 => Step::Send { to: other, chan, span: span(Buf::In, off, BYTES) },
                _ => Step::Recv { from: other, chan, span: span(Buf::Out, off, BYTES) },
            });
        }
    }
}

#[test]
fn each_connection_has_its_own_limit_and_all_share_the_card() {
    // A message takes 100 ms on a connection; the card carries ten of them.
    let time = |setting: &str, channels: u16| {
        let spec = format!("cluster:2,rate=1Gbit,latency=0us,connection=100Mbit{setting}");
        let platform = Platform::read(&spec).expect("a platform");
        simulate(&platform, &OnChannels(channels), None).expect("a run").finish
    };
    let close = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-9, "{a} s, {b} expected");
    close(time("", 1), 0.1);
    close(time("", 4), 0.4);
    close(time(",connections=4", 1), 0.1);
    close(time(",connections=4", 4), 0.1);
    // The fifth waits for the first, the sixth for the second.
    close(time(",connections=4", 6), 0.2);
    close(time(",connections=20", 20), 0.2);
}
