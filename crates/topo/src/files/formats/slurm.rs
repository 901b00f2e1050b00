//! Slurm's `topology.conf`: which hosts are near each other, as a tree.
//!
//! The tree is made of what is left when the switches farthest from hosts are taken away: pods of a
//! three-level tree are pieces of their own, vertex switches of a mesh are all equally far.

use std::collections::BTreeMap;
use std::fmt::Write;

use laneway_core::node_list::{compress, expand};

use super::{Builder, Discovered, Node, ReadError};
use crate::wiring::graph::levels;
use crate::wiring::{End, MOST_PORTS, Port, Switch, Wiring};

/// What the second word of a host's name begins with where it is an adapter's: `node1 mlx5_0`.
const ADAPTERS: [&str; 8] = ["HCA-", "hfi", "ib", "ipath", "mlx", "mthca", "qib", "roce"];

/// The node that a host is an adapter of: its own name, or what is before the adapter's.
fn node(name: &str) -> &str {
    match name.split_once(' ') {
        Some((node, adapter))
            if !adapter.contains(' ') && ADAPTERS.iter().any(|own| adapter.starts_with(own)) =>
        {
            node
        }
        _ => name,
    }
}

/// A name of Slurm: what is before the first space, other letters than its own replaced.
fn word(name: &str) -> String {
    let own = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    let first = name.split_whitespace().next().unwrap_or(name);
    first.chars().map(|letter| if own(letter) { letter } else { '-' }).collect()
}

/// The first host of each word: two nodes must not have the same.
#[derive(Default)]
struct Nodes(BTreeMap<String, String>);

impl Nodes {
    /// The word of a host's node; `None` if the node is known by another adapter.
    fn word(&mut self, host: &str) -> Result<Option<String>, String> {
        let word = word(host);
        match self.0.get(&word) {
            None => {
                self.0.insert(word.clone(), host.to_string());
                Ok(Some(word))
            }
            Some(known) if node(known) == node(host) => Ok(None),
            Some(known) => {
                Err(format!("the hosts `{known}` and `{host}` would both be `{word}` in Slurm"))
            }
        }
    }
}

/// Names that are taken, each with the number that another of the same name may have.
#[derive(Default)]
struct Taken(BTreeMap<String, u64>);

impl Taken {
    /// A name that no other switch has.
    fn unique(&mut self, name: &str) -> String {
        let word = word(name);
        let Some(mut number) = self.0.get(&word).copied() else {
            self.0.insert(word.clone(), 2);
            return word;
        };
        let free = loop {
            let numbered = format!("{word}-{number}");
            number += 1;
            if !self.0.contains_key(&numbered) {
                break numbered;
            }
        };
        self.0.extend([(word, number), (free.clone(), 2)]);
        free
    }
}

/// The pieces that leaves form over switches up to a level: for each switch the smallest leaf of
/// its piece, or none.
fn pieces(wiring: &dyn Wiring, levels: &[u32], most: u32) -> Vec<Option<Switch>> {
    let mut piece = vec![None; levels.len()];
    for leaf in (0..wiring.switches()).filter(|&switch| levels[switch as usize] == 0) {
        let mut open = vec![leaf];
        while let Some(switch) = open.pop() {
            if piece[switch as usize].is_some() {
                continue;
            }
            piece[switch as usize] = Some(leaf);
            for port in 0..wiring.ports(switch) as Port {
                if let End::Switch(other, _) = wiring.end(switch, port)
                    && levels[other as usize] <= most
                {
                    open.push(other);
                }
            }
        }
    }
    piece
}

/// Writes the tree, leaves first, and a group for each piece of the fabric last. Hosts that Slurm
/// could not distinguish are refused.
pub fn write(wiring: &dyn Wiring) -> Result<String, String> {
    let levels = levels(wiring);
    let highest = levels.iter().copied().filter(|&level| level != u32::MAX).max().unwrap_or(0);
    let mut text = String::from("# Written by laneway: TopologyPlugin=topology/tree\n");
    // The groups of the level below, by their smallest leaf. Writing to a String cannot fail.
    let mut below: BTreeMap<Switch, String> = BTreeMap::new();
    let (mut switches, mut hosts) = (Taken::default(), Nodes::default());
    for leaf in (0..wiring.switches()).filter(|&switch| levels[switch as usize] == 0) {
        let ends = (0..wiring.ports(leaf) as Port).map(|port| wiring.end(leaf, port));
        // A second adapter is not a second node.
        let nodes = ends.filter_map(|end| match end {
            End::Host(host) => hosts.word(&wiring.host_name(host)).transpose(),
            _ => None,
        });
        let nodes = nodes.collect::<Result<Vec<String>, String>>()?;
        let name = switches.unique(&wiring.switch_name(leaf));
        if !nodes.is_empty() {
            let _ = writeln!(text, "SwitchName={name} Nodes={}", compress(&nodes));
            below.insert(leaf, name);
        }
    }
    // Leaves may have cables to each other, so that they are a level too.
    for level in 0..=highest {
        let piece = pieces(wiring, &levels, level);
        let mut groups: BTreeMap<Switch, Vec<(Switch, String)>> = BTreeMap::new();
        for (leaf, name) in &below {
            if let Some(first) = piece[*leaf as usize] {
                groups.entry(first).or_default().push((*leaf, name.clone()));
            }
        }
        // A level that joins nothing says nothing.
        if groups.len() == below.len() {
            continue;
        }
        let mut above = BTreeMap::new();
        for (number, (first, members)) in groups.into_iter().enumerate() {
            let name = switches.unique(&format!("group-{level}-{number}"));
            let members: Vec<String> = members.into_iter().map(|(_, name)| name).collect();
            let members = compress(&members);
            let _ = writeln!(text, "SwitchName={name} Switches={members}");
            above.insert(first, name);
        }
        below = above;
    }
    Ok(text)
}

/// Words of a line at most: Slurm knows four.
const MOST_WORDS: usize = 32;

/// The words that Slurm knows, in any case.
const KEYS: [&str; 4] = ["SwitchName", "Switches", "Nodes", "LinkSpeed"];

/// A line's words, by the keys as we write them: `SwitchName=s0 Nodes=n[0-3] LinkSpeed=100`.
fn words(number: usize, line: &str) -> Result<BTreeMap<&'static str, &str>, ReadError> {
    if line.split_whitespace().nth(MOST_WORDS).is_some() {
        return Err(ReadError::new(number, format!("more than {MOST_WORDS} words")));
    }
    let mut all = BTreeMap::new();
    for word in line.split_whitespace() {
        let Some((key, value)) = word.split_once('=') else {
            return Err(ReadError::new(number, "a line is written SwitchName=s0 Nodes=n[0-3]"));
        };
        let Some(own) = KEYS.into_iter().find(|own| own.eq_ignore_ascii_case(key)) else {
            let what = format!("`{key}` is none of {}", KEYS.join(", "));
            return Err(ReadError::new(number, what));
        };
        if all.insert(own, value).is_some() {
            return Err(ReadError::new(number, format!("a second `{key}` in one line")));
        }
    }
    Ok(all)
}

/// What a line says is below a switch: the line, the switch, the names, and whether of hosts.
type Below = (usize, Switch, Vec<String>, bool);

/// Refuses a switch that is below itself, directly or by others.
fn refuse_cycles(builder: &Builder, below: &[Below]) -> Result<(), ReadError> {
    let switch = |name: &String| match builder.names.get(name) {
        Some(&Node::Switch(switch)) => Some(switch),
        _ => None,
    };
    let mut children: Vec<Vec<(usize, Switch)>> = Vec::new();
    children.resize(builder.fabric.switches() as usize, Vec::new());
    for (number, parent, names, _) in below.iter().filter(|(.., are_hosts)| !are_hosts) {
        let named = names.iter().filter_map(switch).map(|child| (*number, child));
        children[*parent as usize].extend(named);
    }
    // Depth first: those on the way down from a root, and those that are done with.
    let (mut is_above, mut is_done) = (vec![false; children.len()], vec![false; children.len()]);
    for root in 0..children.len() {
        let mut way = vec![(root, 0)];
        while let Some((parent, next)) = way.pop() {
            is_above[parent] = true;
            let Some(&(number, child)) = children[parent].get(next).filter(|_| !is_done[parent])
            else {
                (is_above[parent], is_done[parent]) = (false, true);
                continue;
            };
            if is_above[child as usize] {
                let name = builder.fabric.switch_name(child);
                return Err(ReadError::new(number, format!("`{name}` is below itself")));
            }
            way.extend([(parent, next + 1), (child as usize, 0)]);
        }
    }
    Ok(())
}

/// Reads a tree as a fabric: a cable for each host and each switch below another, ports in order.
pub fn read(text: &str) -> Result<Discovered, ReadError> {
    let mut builder = Builder::default();
    let mut below: Vec<Below> = Vec::new();
    let mut names_left = super::MOST_HOSTS;
    for (at, line) in text.lines().enumerate() {
        let (number, line) = (at + 1, line.split('#').next().unwrap_or("").trim());
        if line.is_empty() {
            continue;
        }
        let words = words(number, line)?;
        let Some(name) = words.get("SwitchName") else {
            return Err(ReadError::new(number, "`SwitchName` is missing"));
        };
        let switch = builder.switch(number, name, MOST_PORTS)?;
        for (key, is_host) in [("Nodes", true), ("Switches", false)] {
            let Some(list) = words.get(key) else { continue };
            let names = expand(list, super::MOST_HOSTS)
                .map_err(|error| ReadError::new(number, error.to_string()))?;
            names_left = names_left.checked_sub(names.len()).ok_or_else(|| {
                ReadError::new(number, format!("more than {} names", super::MOST_HOSTS))
            })?;
            below.push((number, switch, names, is_host));
        }
    }
    refuse_cycles(&builder, &below)?;
    let mut used = vec![0u32; builder.fabric.switches() as usize];
    let mut free = |number: usize, switch: Switch| {
        let port = used[switch as usize];
        used[switch as usize] += 1;
        let full = || ReadError::new(number, format!("more than {MOST_PORTS} cables at a switch"));
        Port::try_from(port).ok().filter(|_| port < MOST_PORTS).ok_or_else(full)
    };
    for (number, switch, names, is_host) in below {
        for name in names {
            let end = match (is_host, builder.names.get(&name)) {
                (true, None) => End::Host(builder.host(number, &name)?),
                (false, Some(&Node::Switch(other))) => End::Switch(other, free(number, other)?),
                (true, Some(_)) => {
                    return Err(ReadError::new(number, format!("a second `{name}`")));
                }
                (false, _) => {
                    return Err(ReadError::new(number, format!("unknown switch `{name}`")));
                }
            };
            let port = free(number, switch)?;
            builder.plug(number, (switch, port), end)?;
        }
    }
    Ok(builder.finish())
}
