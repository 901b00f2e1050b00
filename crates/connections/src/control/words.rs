//! What a process says of its paths and connections, and how it is written in lines of text.

use std::fmt::Write;
use std::str::{FromStr, SplitWhitespace};

use laneway_path::{Counters, Histogram, MigrationState, QpState};

use crate::driver::kind::PathKind;
use crate::endpoint::{ConnectionStatus, Dropped, PathStatus, Status, Traffic};

/// An answer begins and ends with these lines: who reads it knows that it understands all of it.
const FIRST: &str = "laneway 2";
const LAST: &str = "end";
/// The first word of an answer that says why something is not done.
const REFUSED: &str = "refused ";

/// A path that was drained or undrained, and how many connections had and have it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// Its number, from 0.
    pub number: u8,
    /// Its device, or its address where it has none.
    pub name: String,
    /// Connections that used it before.
    pub primary_before: u64,
    /// Connections that use it now.
    pub primary_after: u64,
    /// Connections that have it as their alternate path now.
    pub alternate_after: u64,
}

impl Status {
    pub(super) fn encode(&self) -> String {
        let mut text = format!("{FIRST}\nprogram {}\n", one_line(&self.program));
        let mut line = |words: std::fmt::Arguments<'_>| {
            // A string takes everything.
            _ = writeln!(text, "{words}");
        };
        for path in &self.paths {
            let PathStatus { number, address, carrier, drained, sent, received, .. } = path;
            let device = path.device.as_ref().map_or("-".into(), |_| path.name());
            line(format_args!(
                "path {number} {address} {device} {carrier} {drained} {} {} {} {}",
                sent.packets, sent.bytes, received.packets, received.bytes
            ));
        }
        let Dropped { strange, misplaced, forged, refused } = self.dropped;
        line(format_args!("dropped {strange} {misplaced} {forged} {refused}"));
        let totals = numbers(&self.totals).map(|number| number.to_string());
        line(format_args!("totals {}", totals.join(" ")));
        for (kind, seen) in [("trips", &self.totals.trips), ("stalls", &self.totals.stalls)] {
            let counts = seen.counts.map(|count| count.to_string());
            line(format_args!("{kind} {} {}", seen.sum, counts.join(" ")));
        }
        for one in &self.connections {
            let ConnectionStatus { number, peer, state, migration, primary, .. } = one;
            let alternate = one.alternate.map_or("-".into(), |path| path.to_string());
            let trip = one.round_trip.map_or("-".into(), |trip| trip.to_string());
            line(format_args!(
                "connection {number} {peer} {state} {migration} {primary} {alternate} {} {} {} \
                 {trip} {}",
                one.waiting_messages,
                one.migrations,
                one.sent_again,
                one.kind.name()
            ));
        }
        line(format_args!("{LAST}"));
        text
    }

    pub(super) fn parse(answer: &str) -> Result<Status, String> {
        let mut status = Status {
            program: String::new(),
            paths: Vec::new(),
            connections: Vec::new(),
            dropped: Dropped::default(),
            totals: Counters::default(),
        };
        for line in body(answer)? {
            status.take(line).ok_or_else(|| format!("it said `{line}`"))?;
        }
        Ok(status)
    }

    fn take(&mut self, line: &str) -> Option<()> {
        let (kind, rest) = line.split_once(' ')?;
        let mut words = rest.split_whitespace();
        let words = &mut words;
        match kind {
            "program" => self.program = rest.to_string(),
            "path" => self.paths.push(path(words)?),
            "dropped" => {
                let [strange, misplaced, forged, refused] = all(words)?;
                self.dropped = Dropped { strange, misplaced, forged, refused };
            }
            "totals" => self.totals = counters(all(words)?),
            "trips" => self.totals.trips = histogram(words)?,
            "stalls" => self.totals.stalls = histogram(words)?,
            "connection" => self.connections.push(connection(words)?),
            _ => return None,
        }
        Some(())
    }
}

fn path(words: &mut SplitWhitespace<'_>) -> Option<PathStatus> {
    let (number, address) = (next(words)?, next(words)?);
    let name = Some(words.next()?).filter(|name| *name != "-");
    let name = name.map(|name| name.split_once('/').unwrap_or((name, "1")));
    let place = name.map_or(Some(1), |(_, place)| place.parse().ok())?;
    let device = name.map(|(device, _)| device.to_string());
    let (carrier, drained) = (next(words)?, next(words)?);
    let [sent, received, ..] = all::<4>(words)?
        .chunks(2)
        .map(|pair| Traffic { packets: pair[0], bytes: pair[1] })
        .collect::<Vec<_>>()[..]
    else {
        return None;
    };
    Some(PathStatus { number, address, device, place, carrier, drained, sent, received })
}

fn connection(words: &mut SplitWhitespace<'_>) -> Option<ConnectionStatus> {
    let (number, peer, state, migration) =
        (next(words)?, next(words)?, words.next()?, words.next()?);
    Some(ConnectionStatus {
        number,
        peer,
        state: QpState::ALL.into_iter().find(|known| known.name() == state)?,
        migration: MigrationState::ALL.into_iter().find(|known| known.name() == migration)?,
        primary: next(words)?,
        alternate: next_if_any(words)?,
        waiting_messages: next(words)?,
        migrations: next(words)?,
        sent_again: next(words)?,
        round_trip: next_if_any(words)?,
        kind: PathKind::by_name(words.next()?)?,
    })
}

impl Change {
    pub(super) fn encode(changes: &[Change]) -> String {
        let line = |change: &Change| {
            let Change { number, name, primary_before, primary_after, alternate_after } = change;
            format!("changed {number} {name} {primary_before} {primary_after} {alternate_after}\n")
        };
        let lines: String = changes.iter().map(line).collect();
        format!("{FIRST}\n{lines}{LAST}\n")
    }

    pub(super) fn parse(answer: &str) -> Result<Vec<Change>, String> {
        let change = |line: &str| {
            let mut words = line.strip_prefix("changed ")?.split_whitespace();
            let (number, name) = (next(&mut words)?, next(&mut words)?);
            let [primary_before, primary_after, alternate_after] = all(&mut words)?;
            Some(Change { number, name, primary_before, primary_after, alternate_after })
        };
        let read = |line| change(line).ok_or_else(|| format!("it said `{line}`"));
        body(answer)?.into_iter().map(read).collect()
    }
}

/// The answer to what cannot be done.
pub(super) fn refusal(why: &str) -> String {
    format!("{FIRST}\n{REFUSED}{}\n{LAST}\n", one_line(why))
}

/// Why a process refused, where it did.
pub(super) fn refused(answer: &str) -> Option<&str> {
    answer.lines().nth(1)?.strip_prefix(REFUSED)
}

/// The lines between the first and the last.
fn body(answer: &str) -> Result<Vec<&str>, String> {
    let mut lines: Vec<&str> = answer.lines().collect();
    if lines.first() != Some(&FIRST) {
        return Err("it uses another protocol: another version of laneway".into());
    }
    if lines.len() < 2 || lines.pop() != Some(LAST) {
        return Err("its answer is cut off".into());
    }
    lines.remove(0);
    Ok(lines)
}

fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

fn next<T: FromStr>(words: &mut SplitWhitespace<'_>) -> Option<T> {
    words.next()?.parse().ok()
}

fn next_if_any<T: FromStr>(words: &mut SplitWhitespace<'_>) -> Option<Option<T>> {
    match words.next()? {
        "-" => Some(None),
        word => word.parse().ok().map(Some),
    }
}

/// Exactly `N` numbers.
fn all<const N: usize>(words: &mut SplitWhitespace<'_>) -> Option<[u64; N]> {
    let read: Option<Vec<u64>> = words.map(|word| word.parse().ok()).collect();
    read?.try_into().ok()
}

fn histogram(words: &mut SplitWhitespace<'_>) -> Option<Histogram> {
    let sum = next(words)?;
    Some(Histogram { counts: all(words)?, sum })
}

fn numbers(totals: &Counters) -> [u64; 13] {
    let Counters { sent, received, sent_again, duplicates, malformed, .. } = *totals;
    let Counters { strange, replayed, unexpected, migrations, suspicions, .. } = *totals;
    let Counters { left_dead, left_short, left_lossy, .. } = *totals;
    [
        sent, received, sent_again, duplicates, malformed, strange, replayed, unexpected,
        migrations, suspicions, left_dead, left_short, left_lossy,
    ]
}

fn counters(numbers: [u64; 13]) -> Counters {
    let mut all = Counters::default();
    [
        all.sent,
        all.received,
        all.sent_again,
        all.duplicates,
        all.malformed,
        all.strange,
        all.replayed,
        all.unexpected,
        all.migrations,
        all.suspicions,
        all.left_dead,
        all.left_short,
        all.left_lossy,
    ] = numbers;
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status() -> Status {
        let address = "[fe80::1]:7471".parse().expect("an address");
        let path = PathStatus {
            number: 1,
            address,
            device: Some("eth1".into()),
            place: 2,
            carrier: true,
            drained: false,
            sent: Traffic { packets: 3, bytes: 4 },
            received: Traffic { packets: 5, bytes: 6 },
        };
        let connection = ConnectionStatus {
            number: 77,
            peer: address,
            state: QpState::Rts,
            migration: MigrationState::Armed,
            primary: 1,
            alternate: Some(0),
            waiting_messages: 2,
            migrations: 3,
            sent_again: 4,
            round_trip: Some(50_000),
            kind: PathKind::Stream,
        };
        let bare = ConnectionStatus { alternate: None, round_trip: None, ..connection.clone() };
        Status {
            program: "a program".into(),
            paths: vec![PathStatus { number: 0, device: None, place: 1, ..path.clone() }, path],
            connections: vec![connection, bare],
            dropped: Dropped { strange: 1, misplaced: 2, forged: 3, refused: 4 },
            totals: counters([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]),
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let status = status();
        assert_eq!(Status::parse(&status.encode()), Ok(status));
        let (number, name) = (1, "eth1".to_string());
        let change =
            Change { number, name, primary_before: 5, primary_after: 0, alternate_after: 2 };
        let changes = vec![change.clone(), change];
        assert_eq!(Change::parse(&Change::encode(&changes)), Ok(changes));
        assert_eq!(refused(&refusal("no\npath")), Some("no path"));
    }

    /// Every beginning of an answer, and every answer with a word less, is refused.
    #[test]
    fn what_is_cut_or_strange_is_refused() {
        let text = status().encode();
        for end in 0..text.trim_end().len() {
            assert!(Status::parse(&text[..end]).is_err(), "{}", &text[..end]);
        }
        for word in ["RTS ", "eth1/2 ", "77 ", " 50000", " 13\n", "true "] {
            assert!(Status::parse(&text.replacen(word, "", 1)).is_err(), "without {word}");
        }
        assert!(Status::parse(&text.replace("laneway 2", "laneway 3")).is_err());
        assert!(Change::parse(&text).is_err());
    }

    #[test]
    fn a_path_has_several_names() {
        let path = &status().paths[1];
        for word in ["eth1", "1", "fe80::1", "[fe80::1]:7471"] {
            assert!(path.is_called(word), "{word}");
        }
        assert!(!path.is_called("eth") && !path.is_called("0") && !path.is_called(""));
    }
}
