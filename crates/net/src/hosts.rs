//! The hosts of a run, as people write them, and the ranks that each of them gets.

use std::path::Path;

use laneway_processes::hostname;

use crate::error::RanksError;

/// A host and how many ranks it takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// As ssh or srun knows it.
    pub name: String,
    /// How many ranks it takes.
    pub slots: u32,
}

/// More than any host takes.
const MOST_SLOTS: u32 = 1 << 16;

impl Host {
    /// A name that a shell, or ssh, takes for nothing else, and a number of slots.
    pub fn new(name: &str, slots: u32) -> Result<Host, String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        if name.is_empty() || !name.chars().all(plain) || name.starts_with('-') {
            return Err(format!("`{name}` is not a host name"));
        }
        if !(1..=MOST_SLOTS).contains(&slots) {
            return Err(format!("{name} cannot have {slots} slots"));
        }
        Ok(Host { name: name.into(), slots })
    }

    /// `node1` or `node1:4`.
    fn parse(text: &str) -> Result<Host, String> {
        match text.split_once(':') {
            None => Host::new(text, 1),
            Some((name, slots)) => Host::new(name, number(slots)?),
        }
    }

    /// Whether its ranks are processes of this machine, which need no ssh.
    pub(crate) fn is_here(&self) -> bool {
        let own = hostname();
        let short = |name: &str| name.split('.').next().unwrap_or_default().to_string();
        self.name == "localhost" || self.name == own || self.name == short(&own)
    }
}

fn number(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| format!("`{text}` is not a number of slots"))
}

/// `node1,node2:4`.
pub fn parse_hosts(text: &str) -> Result<Vec<Host>, RanksError> {
    let hosts: Result<Vec<Host>, String> = text.split(',').map(Host::parse).collect();
    hosts.map_err(|why| RanksError::Hosts { text: text.into(), why })
}

/// Lines `node1`, `node1:4` or `node1 slots=4`; what follows `#` is not read.
pub fn parse_hostfile(text: &str) -> Result<Vec<Host>, String> {
    let mut hosts = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let numbered = |why: String| format!("line {}: {why}", at + 1);
        let words = line.split('#').next().unwrap_or_default();
        let words: Vec<&str> = words.split_whitespace().collect();
        match words[..] {
            [] => {}
            [host] => hosts.push(Host::parse(host).map_err(numbered)?),
            [name, slots] => {
                let slots = slots
                    .strip_prefix("slots=")
                    .ok_or_else(|| numbered(format!("`{slots}` is invalid; write slots=4")))?;
                let slots = number(slots).map_err(numbered)?;
                hosts.push(Host::new(name, slots).map_err(numbered)?);
            }
            _ => return Err(numbered("a line is a host and its slots".into())),
        }
    }
    if hosts.is_empty() { Err("it names no host".into()) } else { Ok(hosts) }
}

/// The hosts that a file names.
pub fn read_hostfile(path: &Path) -> Result<Vec<Host>, RanksError> {
    let file = path.display().to_string();
    match std::fs::read_to_string(path) {
        Ok(text) => parse_hostfile(&text).map_err(|why| RanksError::Hostfile { file, why }),
        Err(error) => Err(RanksError::HostfileUnread { file, why: error.to_string() }),
    }
}

/// The host of each rank: slots are filled in the order of the hosts.
pub(crate) fn place(ranks: u32, hosts: &[Host]) -> Result<Vec<Host>, RanksError> {
    if hosts.is_empty() {
        let here = Host { name: hostname(), slots: ranks };
        return Ok(vec![here; ranks as usize]);
    }
    let slots = hosts.iter().fold(0u32, |sum, host| sum.saturating_add(host.slots));
    if slots < ranks {
        return Err(RanksError::Slots { asked: ranks, slots });
    }
    let places = hosts.iter().flat_map(|host| std::iter::repeat_n(host, host.slots as usize));
    Ok(places.take(ranks as usize).cloned().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(hosts: &[Host]) -> Vec<String> {
        hosts.iter().map(|host| format!("{}:{}", host.name, host.slots)).collect()
    }

    #[test]
    fn lists_and_files_name_hosts_and_slots() {
        assert_eq!(names(&parse_hosts("a,b:2,c.d-e").expect("hosts")), ["a:1", "b:2", "c.d-e:1"]);
        let file = "# all\nnode0 slots=3\n\nnode1:2 # the second\n  node2\n";
        assert_eq!(names(&parse_hostfile(file).expect("hosts")), ["node0:3", "node1:2", "node2:1"]);
    }

    #[test]
    fn what_names_no_host_is_refused() {
        let bad =
            ["", ",", "a,,b", "a:0", "a:x", "a:-1", "-oProxyCommand=x", "a b", "a;b", "a:1:2"];
        for text in bad {
            assert!(matches!(parse_hosts(text), Err(RanksError::Hosts { .. })), "{text:?}");
        }
        for text in ["", "# none\n", "a slots=0", "a slots", "a 4", "a slots=1 b", "$(x)"] {
            assert!(parse_hostfile(text).is_err(), "{text:?}");
        }
        let missing = read_hostfile(Path::new("no/such/hostfile"));
        assert!(matches!(missing, Err(RanksError::HostfileUnread { .. })), "{missing:?}");
    }

    #[test]
    fn ranks_fill_slots_in_order() {
        let hosts = parse_hosts("a,b:2,c").expect("hosts");
        let of =
            |ranks| place(ranks, &hosts).map(|placed| placed.into_iter().map(|h| h.name).collect());
        assert_eq!(of(3), Ok(vec!["a".to_string(), "b".into(), "b".into()]));
        assert_eq!(of(5), Err(RanksError::Slots { asked: 5, slots: 4 }));
        assert!(place(3, &[]).expect("this host").iter().all(Host::is_here));
    }
}
