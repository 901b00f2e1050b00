//! Three-level fat trees: pods of leaf and middle switches, and top switches above all pods.

use std::ops::Range;

use super::{Bisection, Kind, Topology};
use crate::routing::Routing;
use crate::traffic::order::Shift;
use crate::wiring::{End, Host, Port, Reach, Switch, Wiring};
use laneway_core::Phases;

/// What distinguishes the trees.
#[derive(Clone, Debug)]
pub struct Tree3 {
    kind: &'static Kind,
    degree: u32,
    pods: u32,
    /// Middle switches of a pod, and cables up from a leaf.
    middles: u32,
    /// Cables between a middle switch and each of its tops.
    parallel: u32,
}

/// Leaves are numbered pod by pod, then the middle switches pod by pod, then the tops: those of
/// middle switch 0 of all pods first. Every switch has its cables down at the first ports.
impl Tree3 {
    /// A tree of a number of pods with their middle switches each, and the cables from each to a
    /// leaf.
    pub fn new(kind: &'static Kind, degree: u32, pods: u32, middles: u32, parallel: u32) -> Tree3 {
        Tree3 { kind, degree, pods, middles, parallel }
    }

    /// The tops that a middle switch sees.
    fn tops_of_middle(&self) -> u32 {
        self.degree.div_ceil(self.parallel)
    }

    fn leaves(&self) -> u32 {
        self.pods * self.degree
    }

    fn first_top(&self) -> u32 {
        self.leaves() + self.pods * self.middles
    }

    fn role(&self, switch: Switch) -> Role {
        if switch < self.leaves() {
            return Role::Leaf { pod: switch / self.degree, leaf: switch % self.degree };
        }
        match switch.checked_sub(self.first_top()) {
            None => {
                let middle = switch - self.leaves();
                Role::Middle { pod: middle / self.middles, middle: middle % self.middles }
            }
            Some(top) => {
                let (middle, top) = (top / self.tops_of_middle(), top % self.tops_of_middle());
                Role::Top { middle, top }
            }
        }
    }
}

#[derive(Clone, Copy)]
enum Role {
    Leaf { pod: u32, leaf: u32 },
    Middle { pod: u32, middle: u32 },
    Top { middle: u32, top: u32 },
}

impl Wiring for Tree3 {
    fn hosts(&self) -> u32 {
        self.leaves() * self.degree
    }

    fn switches(&self) -> u32 {
        self.first_top() + self.middles * self.tops_of_middle()
    }

    fn ports(&self, _switch: Switch) -> u32 {
        2 * self.degree
    }

    fn end(&self, switch: Switch, port: Port) -> End {
        let (d, port) = (self.degree, u32::from(port));
        match self.role(switch) {
            Role::Leaf { .. } if port < d => End::Host(switch * d + port),
            Role::Leaf { pod, leaf } if port < d + self.middles => {
                let middle = self.leaves() + pod * self.middles + port - d;
                End::Switch(middle, leaf as Port)
            }
            Role::Leaf { .. } => End::Nothing,
            Role::Middle { pod, middle } if port < d => {
                End::Switch(pod * d + port, (d + middle) as Port)
            }
            Role::Middle { pod, middle } if port < 2 * d => {
                let (top, cable) = ((port - d) / self.parallel, (port - d) % self.parallel);
                let top = self.first_top() + middle * self.tops_of_middle() + top;
                End::Switch(top, (pod * self.parallel + cable) as Port)
            }
            Role::Top { middle, top } => {
                let (pod, cable) = (port / self.parallel, port % self.parallel);
                let up = top * self.parallel + cable;
                if pod >= self.pods || up >= d {
                    return End::Nothing;
                }
                End::Switch(self.leaves() + pod * self.middles + middle, (d + up) as Port)
            }
            Role::Middle { .. } => End::Nothing,
        }
    }

    fn attached(&self, host: Host) -> Option<(Switch, Port)> {
        Some((host / self.degree, (host % self.degree) as Port))
    }

    fn switch_name(&self, switch: Switch) -> String {
        match self.role(switch) {
            Role::Leaf { pod, leaf } => format!("leaf-{pod}-{leaf}"),
            Role::Middle { pod, middle } => format!("middle-{pod}-{middle}"),
            Role::Top { middle, top } => format!("top-{middle}-{top}"),
        }
    }

    fn reach(&self, switch: Switch, port: Port) -> Reach {
        match (self.role(switch), self.end(switch, port)) {
            (_, End::Host(_)) => Reach::Rack,
            (Role::Leaf { .. }, _) => Reach::Row,
            (Role::Middle { .. }, _) if u32::from(port) < self.degree => Reach::Row,
            _ => Reach::Hall,
        }
    }
}

impl Tree3 {
    /// The destination's number chooses the middle switch, its leaf the top: hosts that differ in
    /// either do not meet on the way up. With half the cables neighbours share one, which gives the
    /// all-to-all that the paper has.
    fn port_to(&self, role: Role, (to_pod, to_leaf, number): (u32, u32, u32)) -> Port {
        let d = self.degree;
        let port = match role {
            Role::Leaf { pod, leaf } if (pod, leaf) == (to_pod, to_leaf) => number,
            Role::Leaf { .. } => d + number * self.middles / d,
            Role::Middle { pod, .. } if pod == to_pod => to_leaf,
            Role::Middle { .. } => d + to_leaf,
            Role::Top { top, .. } => {
                let cable = to_leaf % self.parallel;
                // The last top of an odd tree has one cable to each pod.
                let cable = if top * self.parallel + cable < d { cable } else { 0 };
                to_pod * self.parallel + cable
            }
        };
        port as Port
    }
}

impl Routing for Tree3 {
    fn port(&self, switch: Switch, host: Host) -> Option<Port> {
        let (d, role) = (self.degree, self.role(switch));
        Some(self.port_to(role, (host / (d * d), host / d % d, host % d)))
    }

    /// Without a division for each host.
    fn row(&self, switch: Switch, row: &mut [Port]) {
        let (d, role) = (self.degree, self.role(switch));
        for (leaf, ports) in row.chunks_mut(d as usize).enumerate() {
            let (pod, leaf) = (leaf as u32 / d, leaf as u32 % d);
            for (number, port) in ports.iter_mut().enumerate() {
                *port = self.port_to(role, (pod, leaf, number as u32));
            }
        }
    }
}

impl Topology for Tree3 {
    fn kind(&self) -> &'static Kind {
        self.kind
    }

    fn d(&self) -> u32 {
        self.degree
    }

    fn order(&self) -> Box<dyn Phases + Send + Sync> {
        Box::new(Shift::new(self.hosts()))
    }

    fn bisection(&self) -> Bisection {
        let per_host = f64::from(self.middles) / f64::from(self.degree);
        Bisection { per_host, in_paper: (self.middles == self.degree).then_some(1.0) }
    }

    /// Cables and forwarding ask of two pods only whether they are the same, so that pods can
    /// change places: the first and second stand for all. Of a source they ask for its leaf alone;
    /// with two of each leaf every destination has one that it is not itself.
    fn standing(&self) -> Option<(Vec<Host>, Range<Host>)> {
        let d = self.degree;
        let mut sources: Vec<Host> = (0..d).flat_map(|leaf| [leaf * d, leaf * d + d - 1]).collect();
        sources.dedup();
        Some((sources, 0..self.hosts().min(2 * d * d)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{fat_tree_3, fat_tree_3_half, fat_tree_3_max};
    use super::*;
    use crate::proof::prove::{prove, prove_standing};
    use crate::routing::table::Table;

    /// The tree with two pods exchanged is the same tree: what [`Topology::standing`] rests on.
    #[test]
    fn pods_can_change_places() {
        let (full, most, half) = (&fat_tree_3::KIND, &fat_tree_3_max::KIND, &fat_tree_3_half::KIND);
        for (kind, d, pods, middles, parallel) in
            [(full, 3, 3, 3, 2), (most, 3, 6, 3, 1), (half, 4, 4, 2, 2)]
        {
            let tree = Tree3::new(kind, d, pods, middles, parallel);
            let built = (kind.build)(d);
            assert_eq!((tree.hosts(), tree.switches()), (built.hosts(), built.switches()));
            for (one, other) in [(0, 1), (1, pods - 1)] {
                exchanged(&tree, one, other);
            }
        }
    }

    /// The pairs that stand for all show what the proof of the whole table shows.
    #[test]
    fn pairs_that_stand_for_all_prove_it() {
        for spec in
            ["fat-tree-3:d=2", "fat-tree-3:d=3", "fat-tree-3-max:d=3", "fat-tree-3-half:d=4"]
        {
            let tree = crate::topology(spec).expect(spec);
            let found = prove_standing(&*tree, &()).expect("some stand for all");
            let proof = prove(&*tree, &Table::of(&*tree, &*tree));
            assert!(proof.holds() && found.lost.is_empty() && found.astray == 0, "{spec}");
            assert_eq!(found.longest, proof.longest, "{spec}");
            assert!(found.pairs <= proof.pairs, "{spec}: {found:?}");
        }
    }

    fn exchanged(tree: &Tree3, one: u32, other: u32) {
        let pod = |pod: u32| match pod {
            pod if pod == one => other,
            pod if pod == other => one,
            pod => pod,
        };
        let (d, leaves) = (tree.degree, tree.leaves());
        let host = |host: Host| pod(host / (d * d)) * d * d + host % (d * d);
        let switch = |switch: Switch| match tree.role(switch) {
            Role::Leaf { pod: own, leaf } => pod(own) * d + leaf,
            Role::Middle { pod: own, middle } => leaves + pod(own) * tree.middles + middle,
            Role::Top { .. } => switch,
        };
        let port = |switch: Switch, port: Port| match tree.role(switch) {
            Role::Top { .. } if u32::from(port) < tree.pods * tree.parallel => {
                let (own, cable) =
                    (u32::from(port) / tree.parallel, u32::from(port) % tree.parallel);
                (pod(own) * tree.parallel + cable) as Port
            }
            _ => port,
        };
        for from in 0..tree.switches() {
            for at in 0..tree.ports(from) as Port {
                let there = match tree.end(from, at) {
                    End::Nothing => End::Nothing,
                    End::Host(to) => End::Host(host(to)),
                    End::Switch(to, its) => End::Switch(switch(to), port(to, its)),
                };
                assert_eq!(tree.end(switch(from), port(from, at)), there);
            }
            for to in 0..tree.hosts() {
                let sent = tree.port(from, to).map(|at| port(from, at));
                assert_eq!(tree.port(switch(from), host(to)), sent, "switch {from} to {to}");
            }
        }
    }
}
