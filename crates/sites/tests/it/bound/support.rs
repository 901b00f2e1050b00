//! Random platforms of a few sites, as files say them.

use laneway_sim::platform::{Layout, Platform};
use laneway_stats::SplitMix64;

pub fn layout(spec: &str) -> Layout {
    Platform::read(spec).expect(spec).layout().expect(spec)
}

/// What a random platform has.
#[derive(Clone, Copy)]
pub struct Drawn {
    pub most_hosts: usize,
    /// Whether all sites may share a rate.
    pub aggregate: bool,
}

/// A collective on a platform.
pub struct Case {
    pub platform: Platform,
    pub hosts: Vec<u32>,
    pub root: u32,
    pub blocks: Vec<u64>,
}

/// Draws a platform of up to three sites, and ranks on its hosts, some of them on the same one.
pub fn draw(seed: u64, drawn: Drawn) -> Case {
    let mut random = SplitMix64::new(seed);
    let text = text(&mut random, drawn);
    let platform = Platform::parse(&format!("seed {seed}"), &text).expect(&text);
    let there = platform.host_names().len();
    let ranks = there + random.index(3);
    let hosts = (0..ranks).map(|rank| match rank < there {
        true => rank as u32,
        false => random.index(there) as u32,
    });
    let mut hosts: Vec<u32> = hosts.collect();
    random.shuffle(&mut hosts);
    let block = |random: &mut SplitMix64| match random.index(5) {
        0 => 0,
        1 => 1 + random.index(100) as u64,
        _ => 1 + random.index(4_000_000) as u64,
    };
    let blocks = (0..ranks).map(|_| block(&mut random)).collect();
    Case { platform, hosts, root: random.index(ranks) as u32, blocks }
}

fn text(random: &mut SplitMix64, drawn: Drawn) -> String {
    let mut text = String::new();
    let sites = 1 + random.index(3);
    let hosts = sites.max(2) + random.index(drawn.most_hosts - sites.max(2) + 1);
    let rate = |random: &mut SplitMix64, what: &str| {
        format!("{what} = \"{}MB/s\"\n", [5, 10, 20, 40, 100, 125][random.index(6)])
    };
    for site in 0..sites {
        text += &format!("[[site]]\nname = \"site{site}\"\nlatency = \"{}us\"\n", random.index(90));
        for what in ["uplink-out", "uplink-in"] {
            if random.index(3) == 0 {
                text += &rate(random, what);
            }
        }
    }
    for host in 0..hosts {
        let site = if host < sites { host } else { random.index(sites) };
        text += &format!("[[host]]\nname = \"h{host}\"\nsite = \"site{site}\"\n");
        text += &rate(random, "rate-in");
        text += &rate(random, "rate-out");
        if random.index(3) == 0 {
            text += &rate(random, "wan-rate");
        }
    }
    text += &format!("[wan]\nlatency = \"{}us\"\n", 100 + random.index(20_000));
    if drawn.aggregate {
        text += &rate(random, "aggregate");
    }
    for (a, b) in [(0, 1), (0, 2), (1, 2)].into_iter().filter(|pair| pair.1 < sites) {
        text += &format!("[[between]]\nsites = [\"site{a}\", \"site{b}\"]\n");
        text += &format!("latency = \"{}us\"\n", 100 + random.index(20_000));
        if random.index(2) == 0 {
            text += &rate(random, "rate");
        }
        match random.index(3) {
            0 => text += &rate(random, "connection"),
            1 => text += "window = \"64K\"\n",
            _ => {}
        }
    }
    text
}
