//! A list of senders and receivers: a pair of hosts a line, an empty line between phases.

use std::collections::BTreeMap;

use super::ReadError;
use crate::traffic::order::Listed;
use crate::wiring::{Host, Wiring};

/// Reads phases of pairs; hosts are names of the fabric or numbers from 0.
pub fn read(text: &str, wiring: &dyn Wiring) -> Result<Listed, ReadError> {
    let hosts = wiring.hosts();
    let names: BTreeMap<String, Host> =
        (0..hosts).map(|host| (wiring.host_name(host), host)).collect();
    let mut phases: Vec<Vec<(Host, Host)>> = vec![Vec::new()];
    let mut last = 0;
    for (at, line) in text.lines().enumerate() {
        last = at + 1;
        let line = line.split('#').next().unwrap_or("").trim();
        if line.is_empty() {
            if phases.last().is_some_and(|phase| !phase.is_empty()) {
                phases.push(Vec::new());
            }
            continue;
        }
        let words = line.split(|c: char| c.is_whitespace() || c == ',').filter(|w| !w.is_empty());
        // A third word is wrong already, however many follow.
        let words: Vec<&str> = words.take(3).collect();
        let &[from, to] = &words[..] else {
            return Err(ReadError::new(last, format!("`{line}` is not a pair of hosts")));
        };
        let host = |word: &str| {
            let number = word.parse::<Host>().ok().filter(|&host| host < hosts);
            let found = names.get(word).copied().or(number);
            found.ok_or_else(|| ReadError::new(last, format!("the fabric has no host `{word}`")))
        };
        let pair = (host(from)?, host(to)?);
        if let Some(phase) = phases.last_mut() {
            if phase.len() >= hosts as usize {
                return Err(ReadError::new(last, "more messages in a phase than hosts"));
            }
            phase.push(pair);
        }
    }
    phases.retain(|phase| !phase.is_empty());
    if phases.is_empty() {
        return Err(ReadError::new(last.max(1), "no pair of hosts at all"));
    }
    Listed::new(hosts, &phases).map_err(|what| ReadError::new(last, what))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology;
    use laneway_core::Phases;

    #[test]
    fn pairs_by_name_and_number() {
        let fabric = topology("fat-tree-2:d=2").expect("a tree");
        let order = read("0 1\nnode2, node3 # two\n\n\n1 0\n", &*fabric).expect("pairs");
        assert_eq!(order.count(), 2);
        assert_eq!((order.partner(0, 0), order.partner(2, 0), order.partner(1, 0)), (1, 3, 1));
        assert_eq!(order.partner(1, 1), 0);
    }

    #[test]
    fn bad_lines_are_named() {
        let fabric = topology("fat-tree-2:d=2").expect("a tree");
        for (text, line) in
            [("0 1\n0 9\n", 2), ("0\n", 1), ("", 1), ("0 1\n0 2\n", 2), ("0 1 2", 1)]
        {
            assert_eq!(read(text, &*fabric).map_err(|error| error.line), Err(line), "{text:?}");
        }
    }
}
