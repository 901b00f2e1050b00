//! What a launcher and a rank say to each other over the pipes of the rank's process: lines that
//! begin with one mark, which distinguishes them from what a shell prints on its way in.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::str::FromStr;
use std::time::Duration;

use laneway_core::Rank;

use crate::error::RanksError;

/// Begins every line; its number changes with what is said.
const MARK: &str = "laneway-net/2";

/// Which interfaces are paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Paths {
    /// Loopback alone: all ranks are on one host.
    Loopback,
    /// All interfaces that can be.
    Usable,
    Devices(Vec<String>),
}

/// The first message to a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Greeting {
    pub rank: Rank,
    pub size: u32,
    pub secret: String,
    pub limit: Duration,
    pub connections: usize,
    /// Whether a pair's connections begin with different paths.
    pub spread: bool,
    pub paths: Paths,
}

/// Where a rank is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seat {
    pub host: String,
    /// Ranks of one machine reach each other over loopback.
    pub machine: String,
    pub near: SocketAddr,
    /// Its address on each path; empty if all ranks are on one machine.
    pub far: Vec<SocketAddr>,
    /// The network of each path, if no devices were named.
    pub networks: Vec<String>,
}

/// What a rank says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    Seat(Seat),
    /// It has all its connections.
    Ready,
    Failed(RanksError),
}

/// What a launcher says after the greeting and the seats of all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    pub rank: Rank,
    pub how: String,
}

fn list<T: ToString>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<String>>().join(",")
}

fn items<T: FromStr>(text: &str) -> Option<Vec<T>> {
    text.split(',').filter(|item| !item.is_empty()).map(|item| item.parse().ok()).collect()
}

/// The kind of a line, and what follows it.
fn kind(line: &str) -> Option<(&str, &str)> {
    let rest = line.trim_end_matches(['\n', '\r']).strip_prefix(MARK)?.strip_prefix(' ')?;
    Some(rest.split_once(' ').unwrap_or((rest, "")))
}

fn fields(text: &str) -> BTreeMap<&str, &str> {
    text.split(' ').filter_map(|word| word.split_once('=')).collect()
}

impl Greeting {
    pub fn encode(&self) -> String {
        let Greeting { rank, size, secret, limit, connections, spread, paths } = self;
        let paths = match paths {
            Paths::Loopback => "loopback".into(),
            Paths::Usable => "usable".into(),
            Paths::Devices(devices) => format!("devices:{}", devices.join(",")),
        };
        let limit = limit.as_secs_f64();
        format!(
            "{MARK} greeting rank={rank} size={size} secret={secret} limit={limit} \
             connections={connections} spread={spread} paths={paths}\n"
        )
    }

    pub fn parse(line: &str) -> Option<Greeting> {
        let ("greeting", text) = kind(line)? else { return None };
        let fields = fields(text);
        let paths = match *fields.get("paths")? {
            "loopback" => Paths::Loopback,
            "usable" => Paths::Usable,
            devices => Paths::Devices(items(devices.strip_prefix("devices:")?)?),
        };
        let (rank, size) = (fields.get("rank")?.parse().ok()?, fields.get("size")?.parse().ok()?);
        let limit = Duration::try_from_secs_f64(fields.get("limit")?.parse().ok()?).ok()?;
        let connections = fields.get("connections")?.parse().ok()?;
        let spread = fields.get("spread")?.parse().ok()?;
        let secret = fields.get("secret")?.to_string();
        let greeting = Greeting { rank, size, secret, limit, connections, spread, paths };
        (rank < size).then_some(greeting)
    }
}

impl Seat {
    pub fn encode(&self) -> String {
        let Seat { host, machine, near, far, networks } = self;
        let (far, networks) = (list(far), list(networks));
        format!(
            "{MARK} seat host={host} machine={machine} near={near} far={far} \
             networks={networks}\n"
        )
    }

    pub fn parse(line: &str) -> Option<Seat> {
        let ("seat", text) = kind(line)? else { return None };
        let fields = fields(text);
        Some(Seat {
            host: fields.get("host")?.to_string(),
            machine: fields.get("machine")?.to_string(),
            near: fields.get("near")?.parse().ok()?,
            far: items(fields.get("far")?)?,
            networks: items(fields.get("networks")?)?,
        })
    }
}

impl Word {
    pub fn encode(&self) -> String {
        match self {
            Word::Seat(seat) => seat.encode(),
            Word::Ready => format!("{MARK} ready\n"),
            Word::Failed(error) => {
                let plain = |text: String| text.replace(['\t', '\n'], " ");
                format!("{MARK} failed {}\n", said(error).map(plain).join("\t"))
            }
        }
    }

    /// `None` for a line that is not part of the protocol.
    pub fn parse(line: &str) -> Option<Word> {
        let (kind, text) = kind(line)?;
        match kind {
            "seat" => Seat::parse(line).map(Word::Seat),
            "ready" => Some(Word::Ready),
            "failed" => heard(&text.split('\t').collect::<Vec<&str>>()).map(Word::Failed),
            _ => None,
        }
    }
}

/// The errors that a rank can have before it is one: their kind, and what they know.
fn said(error: &RanksError) -> [String; 5] {
    let known = match error {
        RanksError::Spread { what } => ["spread", what, "", "", ""],
        RanksError::Launcher { what } => ["launcher", what, "", "", ""],
        RanksError::Device { device, why } => ["device", device, why, "", ""],
        RanksError::NoAnswer { rank, host, addresses, seconds } => {
            let (rank, seconds) = (rank.to_string(), seconds.to_string());
            return ["no-answer".into(), rank, host.clone(), addresses.clone(), seconds];
        }
        RanksError::System { what, error } => ["system", what, error, "", ""],
        other => return ["system".into(), other.to_string(), other.cause(), "".into(), "".into()],
    };
    known.map(str::to_string)
}

/// The same, from what a rank says.
fn heard(words: &[&str]) -> Option<RanksError> {
    let text = |at: usize| words.get(at).map(|word| word.to_string());
    Some(match *words.first()? {
        "spread" => RanksError::Spread { what: text(1)? },
        "launcher" => RanksError::Launcher { what: text(1)? },
        "device" => RanksError::Device { device: text(1)?, why: text(2)? },
        "no-answer" => RanksError::NoAnswer {
            rank: text(1)?.parse().ok()?,
            host: text(2)?,
            addresses: text(3)?,
            seconds: text(4)?.parse().ok()?,
        },
        "system" => RanksError::System { what: text(1)?, error: text(2)? },
        _ => return None,
    })
}

impl Ended {
    pub fn encode(&self) -> String {
        format!("{MARK} ended {} {}\n", self.rank, self.how)
    }

    pub fn parse(line: &str) -> Option<Ended> {
        let ("ended", text) = kind(line)? else { return None };
        let (rank, how) = text.split_once(' ')?;
        Some(Ended { rank: rank.parse().ok()?, how: how.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_understood() {
        let limit = Duration::from_millis(1500);
        for paths in
            [Paths::Loopback, Paths::Usable, Paths::Devices(vec!["eth0".into(), "ib0.7".into()])]
        {
            let secret = "00ff".to_string();
            let (connections, spread) = (2, true);
            let greeting = Greeting { rank: 3, size: 4, secret, limit, connections, spread, paths };
            assert_eq!(Greeting::parse(&greeting.encode()), Some(greeting));
        }
        let far = vec!["10.0.0.1:7".parse().expect("address"), "[fd00::1]:9".parse().expect("one")];
        let seat = Seat {
            host: "a".into(),
            machine: "b/net:[1]".into(),
            near: "127.0.0.1:5".parse().expect("address"),
            far,
            networks: vec!["10.0.0.0/24".into()],
        };
        let alone = Seat { far: vec![], networks: vec![], ..seat.clone() };
        let system = |what: &str, error: &str| RanksError::system(what, error);
        let no_answer = RanksError::NoAnswer {
            rank: 3,
            host: "node3".into(),
            addresses: "10.0.0.3, 10.1.0.3".into(),
            seconds: 60,
        };
        let device = RanksError::Device { device: "`eth0/9`".into(), why: "it has 1 path".into() };
        let spread = RanksError::Spread { what: "one path".into() };
        for (said, heard) in [
            (Word::Seat(seat.clone()), Word::Seat(seat)),
            (Word::Seat(alone.clone()), Word::Seat(alone)),
            (Word::Ready, Word::Ready),
            (Word::Failed(system("a\tb", "c\nd")), Word::Failed(system("a b", "c d"))),
            (Word::Failed(no_answer.clone()), Word::Failed(no_answer)),
            (Word::Failed(device.clone()), Word::Failed(device)),
            (Word::Failed(spread.clone()), Word::Failed(spread)),
        ] {
            assert_eq!(Word::parse(&said.encode()), Some(heard));
        }
        let ended = Ended { rank: 7, how: "exited with code 0".into() };
        assert_eq!(Ended::parse(&ended.encode()), Some(ended));
    }

    #[test]
    fn foreign_lines_are_ignored() {
        for line in ["", "Welcome\n", "laneway-net/2", "laneway-net/1 ready", "ready", MARK] {
            assert_eq!((Word::parse(line), Greeting::parse(line)), (None, None), "{line:?}");
        }
        let wrong = format!(
            "{MARK} greeting rank=4 size=4 secret=a limit=1 connections=1 spread=false paths=usable"
        );
        assert_eq!(Greeting::parse(&wrong), None, "there is no such rank");
        assert_eq!(Seat::parse(&format!("{MARK} seat host=a near=nowhere")), None);
        assert_eq!(Ended::parse(&format!("{MARK} ended x y")), None);
    }
}
