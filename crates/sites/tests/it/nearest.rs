//! Choices for short messages on platforms whose nearest ways lead over third sites, and for calls
//! that need wide windows or blocks side by side.

use laneway_core::Collective;
use laneway_sim::platform::Platform;

use crate::order::{choice, time};

/// Three sites of six hosts in turn; from a to b it is 20 ms, and 2 ms over c.
fn triangle(eager: &str) -> Platform {
    let mut text = format!("{eager}[wan]\nlatency = \"1ms\"\n");
    for site in ["a", "b", "c"] {
        text += &format!("[[site]]\nname = \"{site}\"\nlatency = \"20us\"\n");
    }
    text += "[[between]]\nsites = [\"a\", \"b\"]\nlatency = \"20ms\"\n";
    for host in 0..18 {
        let site = ["a", "b", "c"][host % 3];
        text += &format!("[[host]]\nname = \"h{host}\"\nsite = \"{site}\"\nrate = \"1Gbit\"\n");
    }
    Platform::parse("triangle", &text).expect("a platform")
}

#[test]
fn short_blocks_take_the_nearest_way() {
    let platform = triangle("eager = 65536\n");
    for op in [Collective::Scatter, Collective::Gather] {
        for size in [1, 100, 10_000] {
            let choice = choice(&platform, op, size);
            let bound = choice.bound.as_ref().expect("a bound");
            let over = choice.best.time / bound.time;
            let spelled = choice.best.spelled();
            assert!(bound.direct > 5.0 * bound.time && over < 1.3, "{spelled} {size}: {over}");
        }
    }
}

#[test]
fn vectors_and_blocks_of_all_take_the_nearest_way() {
    let platform = triangle("eager = 65536\n");
    for op in [
        Collective::Bcast,
        Collective::Reduce,
        Collective::Allreduce,
        Collective::Allgather,
        Collective::ReduceScatter,
        Collective::Alltoall,
    ] {
        let best = choice(&platform, op, 64).best;
        // Two ways of a millisecond, there and back where ranks wait for each other.
        let most = if op == Collective::Allreduce { 4.5e-3 } else { 3e-3 };
        assert!(best.time < most, "{} {}: {}", op.name(), best.spelled(), best.time);
    }
}

#[test]
fn short_messages_have_wide_windows() {
    let platform = Platform::read("two-sites:16x16,latency=10ms,rate=1Gbit,wan=10Gbit");
    let platform = platform.expect("a platform");
    for (op, spelled) in [
        (Collective::Allgather, "linear:window=32"),
        (Collective::ReduceScatter, "pairwise:window=32"),
        (Collective::Alltoall, "linear:window=32"),
        (Collective::Bcast, "linear:window=32"),
    ] {
        let best = choice(&platform, op, 256).best;
        let wide = time(&platform, op, 256, spelled);
        assert!(best.time <= 1.01 * wide, "{} {}: {wide}", best.spelled(), best.time);
    }
}

/// Each message has 1,500 bytes of headers: blocks of a site in one of them are faster.
#[test]
fn blocks_of_ranks_in_turn_cross_side_by_side() {
    let platform = triangle("eager = 65536\nheader = 1500\n");
    for op in [Collective::Scatter, Collective::Gather] {
        let in_turn = time(&platform, op, 16, "single-lane-tree");
        let by_site = time(&platform, op, 16, "single-lane-tree:order=sites");
        assert!(by_site < in_turn, "{} {by_site} {in_turn}", op.name());
    }
}
