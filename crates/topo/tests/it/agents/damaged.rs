//! Fabrics with failures, drawn from seeds.

use laneway_stats::SplitMix64;
use laneway_topo::{End, Fabric, Part, Topology, Wiring, topology};

/// What a seed draws from, in turns.
const KINDS: [&str; 6] = ["mesh", "tree", "regular", "irregular", "split mesh", "split tree"];

/// A fabric that something may have failed of; and the plan that it was, if it had one.
pub struct Damaged {
    pub whole: Option<Box<dyn Topology>>,
    pub fabric: Fabric,
}

const MESHES: [&str; 4] = ["mlfm:d=2", "mlfm:d=3", "mlfm:d=4", "mlfm:d=6"];
const TREES: [&str; 6] = [
    "fat-tree-2:d=2",
    "fat-tree-2:d=4",
    "fat-tree-3:d=3",
    "fat-tree-3:d=4",
    "fat-tree-3-max:d=2",
    "fat-tree-3-half:d=4",
];

/// The fabric of a seed.
pub fn draw(seed: u64) -> Damaged {
    let mut draws = SplitMix64::new(seed);
    let kind = KINDS[seed as usize % KINDS.len()];
    let specs: &[&str] = if kind.ends_with("mesh") { &MESHES } else { &TREES };
    let whole = topology(specs[draws.index(specs.len())]).expect("a topology");
    let mut drawn = match kind {
        "regular" => Damaged { whole: None, fabric: regular(&mut draws) },
        "irregular" => Damaged { whole: None, fabric: irregular(&mut draws) },
        _ => Damaged { fabric: Fabric::of(&*whole), whole: Some(whole) },
    };
    match kind {
        "split mesh" | "split tree" => split(&mut drawn.fabric, &mut draws),
        _ => cut(&mut drawn.fabric, draws.index(7), &mut draws),
    }
    drawn
}

/// The cables between switches, each once.
fn cables(fabric: &dyn Wiring) -> Vec<(u32, u8, u32)> {
    let mut all = Vec::new();
    for switch in 0..fabric.switches() {
        for port in 0..fabric.ports(switch) as u8 {
            match fabric.end(switch, port) {
                End::Switch(other, its) if (switch, port) < (other, its) => {
                    all.push((switch, port, other));
                }
                _ => {}
            }
        }
    }
    all
}

/// Cuts `count` cables between switches.
fn cut(fabric: &mut Fabric, count: usize, draws: &mut SplitMix64) {
    for _ in 0..count {
        let all = cables(fabric);
        if !all.is_empty() {
            let (switch, port, _) = all[draws.index(all.len())];
            fabric.fail(Part::Link(switch, port));
        }
    }
}

/// Cuts all cables between some switches and the others, and a few more.
fn split(fabric: &mut Fabric, draws: &mut SplitMix64) {
    let side: Vec<bool> = (0..fabric.switches()).map(|_| draws.index(4) == 0).collect();
    for (switch, port, other) in cables(fabric) {
        if side[switch as usize] != side[other as usize] {
            fabric.fail(Part::Link(switch, port));
        }
    }
    let few = draws.index(3);
    cut(fabric, few, draws);
}

/// Switches that all have as many cables to others, and some have hosts.
fn regular(draws: &mut SplitMix64) -> Fabric {
    let (switches, degree) = (2 * (3 + draws.index(9)), 3 + draws.index(3));
    let mut fabric = Fabric::default();
    for switch in 0..switches {
        fabric.add_switch(&format!("s{switch}"), degree as u32 + 2).expect("few ports");
        for port in 0..draws.index(3) {
            let host = fabric.add_host(&format!("h{}", fabric.hosts()));
            fabric.plug((switch as u32, (degree + port) as u8), End::Host(host)).expect("free");
        }
    }
    for port in 0..degree as u8 {
        // A perfect matching of the switches.
        let mut order: Vec<u32> = (0..switches as u32).collect();
        draws.shuffle(&mut order);
        for pair in order.chunks(2) {
            fabric.plug((pair[0], port), End::Switch(pair[1], port)).expect("free");
        }
    }
    fabric
}

/// Switches with any number of hosts and cables, some parallel, not all connected.
fn irregular(draws: &mut SplitMix64) -> Fabric {
    let mut fabric = Fabric::default();
    let switches = 4 + draws.index(20);
    let mut used = vec![0; switches];
    for (switch, used) in used.iter_mut().enumerate() {
        fabric.add_switch(&format!("s{switch}"), 14).expect("few ports");
        for _ in 0..draws.index(5) {
            let host = fabric.add_host(&format!("h{}", fabric.hosts()));
            fabric.plug((switch as u32, *used), End::Host(host)).expect("free");
            *used += 1;
        }
    }
    for _ in 0..switches + draws.index(2 * switches) {
        let (one, other) = (draws.index(switches), draws.index(switches));
        if one != other && used[one] < 14 && used[other] < 14 {
            let end = End::Switch(other as u32, used[other]);
            fabric.plug((one as u32, used[one]), end).expect("free");
            (used[one], used[other]) = (used[one] + 1, used[other] + 1);
        }
    }
    fabric
}
