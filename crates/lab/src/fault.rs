//! Faults, as people write them: `drop n0:eth0 out for 200ms`. A fault is a list of actions to
//! begin it and a list to end it; which ones is decided here, without touching anything.

use laneway_sim::platform::{parse_rate, parse_time};

use crate::error::LabError;
use crate::filter::{filter, place};
use crate::name::{LabName, card, partition_switch, port, switch};
use crate::plan::{Host, Plan, Way};
use crate::up::{rate_class, rates_of, routes};

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultKind {
    /// Its first word.
    pub name: &'static str,
    /// How it is written.
    pub usage: &'static str,
    /// What it does.
    pub effect: &'static str,
}

const fn kind(name: &'static str, usage: &'static str, effect: &'static str) -> FaultKind {
    FaultKind { name, usage, effect }
}

/// Every kind of fault.
pub const KINDS: &[FaultKind] = &[
    kind(
        "carrier",
        "carrier HOST[:CARD] [switch|host]",
        "link down at the switch's end of the cable, or at the host's",
    ),
    kind("flap", "flap HOST[:CARD] PERIOD", "link down and up, half of the period each"),
    kind(
        "drop",
        "drop HOST[:CARD]|SITE>SITE|SITE-SITE [in|out]",
        "packets are dropped silently; the link stays up",
    ),
    kind(
        "loss",
        "loss HOST[:CARD]|SITE>SITE|SITE-SITE 5% [in|out]",
        "this share of packets is dropped, at random",
    ),
    kind("mtu", "mtu HOST[:CARD] BYTES", "longer packets do not pass the card, without a sign"),
    kind("slow", "slow HOST[:CARD]|SITE>SITE|SITE-SITE RATE [in|out]", "another bandwidth"),
    kind("delay", "delay SITE>SITE|SITE-SITE TIME", "another one-way latency"),
    kind("jitter", "jitter SITE>SITE|SITE-SITE TIME", "random additional latency, up to TIME"),
    kind("duplicate", "duplicate SITE>SITE|SITE-SITE 1%", "this share of packets is duplicated"),
    kind("reorder", "reorder SITE>SITE|SITE-SITE 1%", "this share of packets is reordered"),
    kind("corrupt", "corrupt SITE>SITE|SITE-SITE 1%", "this share of packets is corrupted"),
    kind(
        "partition",
        "partition HOST,HOST,...|SITE",
        "these hosts, or a site, are cut off from all others",
    ),
    kind("freeze", "freeze HOST", "all processes of a host stop (SIGSTOP)"),
    kind("kill", "kill HOST", "all processes of a host end (SIGKILL)"),
];

/// One thing to do to the system, with the names that it takes.
#[allow(missing_docs)]
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Action {
    /// A device goes up or down.
    Link { namespace: String, device: String, up: bool },
    /// Lines for `ip` or `tc`.
    Tool { tool: &'static str, namespace: String, lines: String },
    /// A command for the WAN.
    Wan(String),
    /// A signal for all processes of a host.
    Signal { host: String, signal: i32 },
}

/// A fault that was understood.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Fault {
    /// As it was written, without its length.
    pub words: String,
    /// What begins it.
    pub begin: Vec<Action>,
    /// What ends it.
    pub end: Vec<Action>,
    /// Seconds after which it ends by itself.
    pub length: Option<f64>,
    /// Seconds from down to down of a link that flaps.
    pub period: Option<f64>,
}

impl Fault {
    /// What begins it, or what ends it.
    pub(crate) fn actions(&self, begins: bool) -> &[Action] {
        if begins { &self.begin } else { &self.end }
    }
}

/// One direction of a card, or both.
#[derive(Clone, Copy, PartialEq)]
enum Direction {
    Out,
    In,
    Both,
}

fn refuse<T>(what: String) -> Result<T, LabError> {
    Err(LabError::Fault(what))
}

/// Reads a fault of a lab.
pub fn parse(text: &str, lab: &LabName, plan: &Plan) -> Result<Fault, LabError> {
    let mut words: Vec<&str> = text.split_whitespace().collect();
    let mut length = None;
    if let [.., "for", time] = words[..] {
        length = Some(seconds(time)?);
        words.truncate(words.len() - 2);
    }
    let Some((kind, rest)) = words.split_first() else {
        return refuse("no fault is named".to_string());
    };
    let Some(FaultKind { usage, .. }) = KINDS.iter().find(|known| known.name == *kind) else {
        let names: Vec<&str> = KINDS.iter().map(|known| known.name).collect();
        return refuse(format!("unknown fault `{kind}`; the faults are {}", names.join(", ")));
    };
    let reader = Reader { lab, plan };
    let mut period = None;
    let found = match (*kind, rest) {
        ("carrier", [at]) => reader.carrier(at, "switch"),
        ("carrier", [at, end]) => reader.carrier(at, end),
        ("flap", [at, time]) => {
            period = Some(seconds(time)?);
            reader.carrier(at, "switch")
        }
        ("drop", [at]) => reader.lose(at, None, Direction::Both),
        ("drop", [at, way]) => reader.lose(at, None, direction(way)?),
        ("loss", [at, part]) => reader.lose(at, Some(share(part)?), Direction::Both),
        ("loss", [at, part, way]) => reader.lose(at, Some(share(part)?), direction(way)?),
        ("mtu", [at, bytes]) => reader.mtu(at, bytes),
        ("slow", [at, rate]) => reader.slow(at, rate, Direction::Both),
        ("slow", [at, rate, way]) => reader.slow(at, rate, direction(way)?),
        ("delay", [at, time]) => reader.delay(at, seconds(time)?),
        ("jitter", [at, time]) => reader.set(at, "jitter", seconds(time)?, |_| 0.0),
        ("duplicate" | "reorder" | "corrupt", [at, part]) => {
            reader.set(at, kind, share(part)?, |_| 0.0)
        }
        ("partition", [of]) => reader.partition(of),
        ("freeze", [host]) => reader.signal(host, libc::SIGSTOP, Some(libc::SIGCONT)),
        ("kill", [host]) => reader.signal(host, libc::SIGKILL, None),
        _ => refuse(format!("`{text}` is not a fault; the syntax is {usage}")),
    };
    let (begin, end) = found?;
    if begin.is_empty() {
        return refuse(format!("`{text}` would do nothing in this lab"));
    }
    Ok(Fault { words: words.join(" "), begin, end, length, period })
}

fn seconds(word: &str) -> Result<f64, LabError> {
    parse_time(word).or_else(|_| refuse(format!("`{word}` is not a time; write 200ms or 1.5s")))
}

/// A part of all packets.
fn share(word: &str) -> Result<f64, LabError> {
    let part = match word.strip_suffix('%') {
        Some(percent) => percent.parse::<f64>().map(|percent| percent / 100.0),
        None => word.parse::<f64>(),
    };
    match part {
        Ok(part) if (0.0..=1.0).contains(&part) => Ok(part),
        _ => refuse(format!("`{word}` is not a share of packets; write 5% or 0.05")),
    }
}

fn direction(word: &str) -> Result<Direction, LabError> {
    match word {
        "in" => Ok(Direction::In),
        "out" => Ok(Direction::Out),
        _ => refuse(format!("`{word}` is not a direction; write in or out")),
    }
}

/// To begin, and to end.
type Actions = (Vec<Action>, Vec<Action>);

/// Understands targets by the plan.
struct Reader<'a> {
    lab: &'a LabName,
    plan: &'a Plan,
}

/// A device whose way out is one direction of a card: its namespace, its name, its rate.
type Device = (String, String, Option<f64>);

impl Reader<'_> {
    fn host(&self, name: &str) -> Result<(usize, &Host), LabError> {
        let found = self.plan.hosts.iter().enumerate().find(|(_, host)| host.name == name);
        found.map_or_else(|| refuse(format!("unknown host `{name}` in this lab")), Ok)
    }

    /// `n0:eth1`, or `n0` for its first card.
    fn card(&self, word: &str) -> Result<(usize, &Host, usize), LabError> {
        let (name, device) = word.split_once(':').unwrap_or((word, "eth0"));
        let (number, host) = self.host(name)?;
        let path = (0..self.plan.paths()).find(|path| card(*path) == device);
        match path {
            Some(path) => Ok((number, host, path)),
            None => refuse(format!("host {name} has no card `{device}`")),
        }
    }

    /// `a>b` is one way, `a-b` both; `None` if the word names no sites.
    fn ways(&self, word: &str) -> Result<Option<Vec<(usize, usize)>>, LabError> {
        let site = |name: &str| {
            let number = self.plan.site(name);
            number.map_or_else(|| refuse(format!("unknown site `{name}` in this lab")), Ok)
        };
        let (ways, both) = match word.split_once('>') {
            Some(two) => (two, false),
            None => {
                // A name may have dashes itself: the one between two sites tells.
                let cuts = word.match_indices('-');
                let mut two = cuts.map(|(at, _)| (&word[..at], &word[at + 1..]));
                let known = |name: &str| self.plan.site(name).is_some();
                match two.find(|(a, b)| known(a) && known(b)) {
                    Some(two) => (two, true),
                    None => return Ok(None),
                }
            }
        };
        let (a, b) = (site(ways.0)?, site(ways.1)?);
        let mut found = vec![(a, b)];
        found.extend(both.then_some((b, a)));
        match found.iter().all(|(a, b)| self.plan.way(*a, *b).is_some()) {
            true => Ok(Some(found)),
            false => refuse(format!("`{word}` is not a pair of connected sites")),
        }
    }

    fn needed_ways(&self, word: &str) -> Result<Vec<(usize, usize)>, LabError> {
        self.ways(word)?.map_or_else(
            || refuse(format!("`{word}` is not a pair of sites: write site0>site1 or site0-site1")),
            Ok,
        )
    }

    fn carrier(&self, word: &str, end: &str) -> Result<Actions, LabError> {
        let (number, host, path) = self.card(word)?;
        let (namespace, device) = match end {
            "switch" => (self.lab.site(host.site), port(number, path)),
            "host" => (self.lab.host(&host.name), card(path)),
            _ => return refuse(format!("`{end}` is not an end of a cable; write switch or host")),
        };
        let link = |up| Action::Link { namespace: namespace.clone(), device: device.clone(), up };
        let (down, mut up) = (link(false), link(true));
        if end == "host" {
            // A host forgets the ways of a card that it sets down itself.
            let ways = (0..self.plan.paths()).map(|path| routes(self.plan, host, path));
            let lines = format!("link set {device} up\n{}", ways.collect::<String>());
            up = Action::Tool { tool: "ip", namespace, lines };
        }
        Ok((vec![down], vec![up]))
    }

    fn devices(&self, word: &str, direction: Direction) -> Result<Vec<Device>, LabError> {
        let (number, host, path) = self.card(word)?;
        let (out, into) = rates_of(host, path);
        let mut found = Vec::new();
        if direction != Direction::In {
            found.push((self.lab.host(&host.name), card(path), out));
        }
        if direction != Direction::Out {
            found.push((self.lab.site(host.site), port(number, path), into));
        }
        Ok(found)
    }

    /// A filter loses a part of the packets, or all.
    fn lose(
        &self,
        word: &str,
        part: Option<f64>,
        direction: Direction,
    ) -> Result<Actions, LabError> {
        if let Some(ways) = self.ways(word)? {
            refuse_direction(direction)?;
            let set = |begins: bool| {
                let one = |(a, b): &(usize, usize)| match (part, begins) {
                    (None, begins) => format!("set {a} {b} down {}", u8::from(begins)),
                    (Some(part), true) => format!("set {a} {b} loss {part}"),
                    (Some(_), false) => format!("set {a} {b} loss 0"),
                };
                ways.iter().map(|way| Action::Wan(one(way))).collect::<Vec<_>>()
            };
            return Ok((set(true), set(false)));
        }
        let (mut begin, mut end) = (Vec::new(), Vec::new());
        for (namespace, device, _) in self.devices(word, direction)? {
            let filter = filter(&device, part);
            let lines = format!("filter replace {filter}\n");
            begin.push(Action::Tool { tool: "tc", namespace: namespace.clone(), lines });
            // What is not there cannot be deleted, so it is there before.
            let lines = format!("filter replace {filter}\nfilter del {}\n", place(&device, part));
            end.push(Action::Tool { tool: "tc", namespace, lines });
        }
        Ok((begin, end))
    }

    /// The longest packet of a card.
    fn mtu(&self, word: &str, bytes: &str) -> Result<Actions, LabError> {
        let (_, host, path) = self.card(word)?;
        let bytes = match bytes.parse() {
            Ok(bytes) if (LEAST_MTU..=MTU).contains(&bytes) => bytes,
            _ => return refuse(format!("`{bytes}` is not a length of packets; write 1300")),
        };
        let set = |bytes: u32| {
            let lines = format!("link set {} mtu {bytes}\n", card(path));
            vec![Action::Tool { tool: "ip", namespace: self.lab.host(&host.name), lines }]
        };
        Ok((set(bytes), set(MTU)))
    }

    fn slow(&self, word: &str, rate: &str, direction: Direction) -> Result<Actions, LabError> {
        let rate = parse_rate(rate)
            .or_else(|_| refuse(format!("`{rate}` is not a rate; write 10Mbit, 1Gbit or 5MB/s")))?;
        if let Some(ways) = self.ways(word)? {
            refuse_direction(direction)?;
            return self.slow_ways(&ways, rate);
        }
        let (mut begin, mut end) = (Vec::new(), Vec::new());
        for (namespace, device, usual) in self.devices(word, direction)? {
            let lines = rate_class("change", &device, Some(rate));
            begin.push(Action::Tool { tool: "tc", namespace: namespace.clone(), lines });
            let lines = rate_class("change", &device, usual);
            end.push(Action::Tool { tool: "tc", namespace, lines });
        }
        Ok((begin, end))
    }

    fn slow_ways(&self, ways: &[(usize, usize)], rate: f64) -> Result<Actions, LabError> {
        let of = ways.iter().filter_map(|(a, b)| self.plan.way(*a, *b));
        let mut pipes: Vec<usize> = of.flat_map(|way| way.pipes.iter().copied()).collect();
        pipes.sort();
        pipes.dedup();
        let others = self.plan.ways.iter().filter(|way| !ways.contains(&(way.from, way.to)));
        let shared: Vec<usize> = others.flat_map(|way| way.pipes.iter().copied()).collect();
        pipes.retain(|pipe| !shared.contains(pipe));
        if pipes.is_empty() {
            return refuse("no rate limits this way alone, so none can be lowered".to_string());
        }
        let set = |rate: &dyn Fn(usize) -> f64| {
            let one = |pipe: &usize| {
                let name = &self.plan.pipes[*pipe].name;
                Action::Wan(format!("pipe {name} rate {}", rate(*pipe)))
            };
            pipes.iter().map(one).collect::<Vec<_>>()
        };
        let usual = |pipe: usize| self.plan.pipes[pipe].rate;
        Ok((set(&|pipe| rate.min(usual(pipe))), set(&usual)))
    }

    fn delay(&self, word: &str, time: f64) -> Result<Actions, LabError> {
        let usual = |(a, b)| self.plan.way(a, b).map_or(0.0, |way| way.latency);
        self.set(word, "delay", time, usual)
    }

    /// A setting of ways, and what it is without a fault.
    fn set(
        &self,
        word: &str,
        key: &str,
        value: f64,
        usual: impl Fn((usize, usize)) -> f64,
    ) -> Result<Actions, LabError> {
        let ways = self.needed_ways(word)?;
        let set =
            |(a, b): (usize, usize), value: f64| Action::Wan(format!("set {a} {b} {key} {value}"));
        let begin = ways.iter().map(|way| set(*way, value)).collect();
        Ok((begin, ways.iter().map(|way| set(*way, usual(*way))).collect()))
    }

    /// A site loses all its ways; hosts get a switch of their own, with their links up.
    fn partition(&self, word: &str) -> Result<Actions, LabError> {
        if let Some(site) = self.plan.site(word) {
            let ways = self.plan.ways.iter().filter(|way| way.from == site || way.to == site);
            let set = |value: u8| {
                let one =
                    |way: &Way| Action::Wan(format!("set {} {} down {value}", way.from, way.to));
                ways.clone().map(one).collect::<Vec<_>>()
            };
            return Ok((set(1), set(0)));
        }
        let mut lines: Vec<(String, String, String)> = Vec::new();
        for name in word.split(',') {
            let (number, host) = self.host(name)?;
            let (mut leave, mut back) = (String::new(), String::new());
            for path in 0..self.plan.paths() {
                let usual = switch(if self.plan.options.one_switch { 0 } else { path });
                let (port, apart) = (port(number, path), partition_switch(path));
                leave.push_str(&format!("link set {port} master {apart}\n"));
                back.push_str(&format!("link set {port} master {usual}\n"));
            }
            let namespace = self.lab.site(host.site);
            match lines.iter_mut().find(|(known, ..)| *known == namespace) {
                Some((_, begin, end)) => {
                    begin.push_str(&leave);
                    end.push_str(&back);
                }
                None => lines.push((namespace, leave, back)),
            }
        }
        let tool = |namespace: &str, lines: &str| {
            let (namespace, lines) = (namespace.to_string(), lines.to_string());
            Action::Tool { tool: "ip", namespace, lines }
        };
        let begin = lines.iter().map(|(namespace, begin, _)| tool(namespace, begin)).collect();
        Ok((begin, lines.iter().map(|(namespace, _, end)| tool(namespace, end)).collect()))
    }

    fn signal(&self, name: &str, begin: i32, end: Option<i32>) -> Result<Actions, LabError> {
        let (_, host) = self.host(name)?;
        let action = |signal| Action::Signal { host: self.lab.host(&host.name), signal };
        Ok((vec![action(begin)], end.map(action).into_iter().collect()))
    }
}

/// The longest packet of a card, and the shortest that IPv6 allows for it.
const MTU: u32 = 1500;
const LEAST_MTU: u32 = 1280;

fn refuse_direction(direction: Direction) -> Result<(), LabError> {
    match direction {
        Direction::Both => Ok(()),
        _ => refuse("a way between sites has its direction in its name: a>b".to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Options;
    use laneway_sim::platform::Platform;

    fn fault(text: &str) -> Result<Fault, LabError> {
        let platform = Platform::read("two-sites:2x2,connection=25Mbit").expect("a platform");
        let options = Options { cards: 2, ..Options::default() };
        let plan = Plan::new(&platform, options).expect("a plan");
        parse(text, &LabName::new("t").expect("a name"), &plan)
    }

    #[test]
    fn every_kind_is_understood_and_ends_as_it_began() {
        for text in [
            "carrier s0n0",
            "carrier s0n1:eth1 host",
            "flap s1n0 100ms for 1s",
            "drop s0n0",
            "drop s0n0:eth1 in",
            "drop site0>site1",
            "loss s0n0 5%",
            "loss site0-site1 0.5 for 2s",
            "mtu s0n0:eth1 1300",
            "slow s0n0 10Mbit out",
            "slow site0-site1 10Mbit",
            "delay site1>site0 20ms",
            "jitter site0-site1 1ms",
            "duplicate site0>site1 1%",
            "reorder site0>site1 1%",
            "corrupt site0>site1 1%",
            "partition s0n0,s1n0",
            "partition site1",
            "freeze s0n0",
            "kill s1n1",
        ] {
            let found = fault(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert!(!found.begin.is_empty(), "{text}");
            assert_eq!(found.end.is_empty(), text.starts_with("kill"), "{text}");
        }
        assert_eq!(fault("drop s0n0 for 200ms").ok().and_then(|fault| fault.length), Some(0.2));
    }

    #[test]
    fn nonsense_is_refused_with_what_would_do() {
        for (text, word) in [
            ("", "no fault is named"),
            ("explode s0n0", "the faults are carrier"),
            ("carrier", "the syntax is carrier HOST"),
            ("carrier s9n9", "unknown host `s9n9`"),
            ("carrier s0n0:eth9", "no card `eth9`"),
            ("carrier s0n0 sky", "not an end of a cable"),
            ("drop site0>mars", "unknown site `mars`"),
            ("loss s0n0 200%", "not a share of packets"),
            ("loss s0n0 NaN", "not a share of packets"),
            ("mtu s0n0 60", "not a length of packets"),
            ("mtu s0n0 long", "not a length of packets"),
            ("slow s0n0 fast", "not a rate"),
            ("delay s0n0 5ms", "is not a pair of sites"),
            ("delay site0>site1 soon", "not a time"),
            ("flap s0n0 never", "not a time"),
            ("drop site0>site1 in", "direction in its name"),
            ("slow site0>site1 1Mbit in", "direction in its name"),
        ] {
            let refused = fault(text).expect_err(text).to_string();
            assert!(refused.contains(word), "{text}: {refused}");
        }
    }
}
