//! Commands in text that change and show the network while it runs.
//!
//! - `set FROM TO KEY VALUE` changes a way: its delay, jitter, connection, loss, duplicate,
//!   reorder, corrupt, down or queue
//! - `pipe NAME rate VALUE` and `pipe NAME queue VALUE` change a pipe
//! - `show` prints a line for each way and pipe, and one of all; `show FROM TO` that of one way
//! - `stop` ends the emulator
//!
//! Values are plain numbers: seconds, bytes a second, bytes, probabilities, 0 or 1. A connection
//! of 0 is not paced, and `inf` is a rate or a queue without limit.

use std::fmt::Write;

use super::{Count, Engine, PipeCounters, Way, WayCounters};

/// Packets that never reached the engine, or left it in vain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Strays {
    /// Not IPv4.
    pub ignored: u64,
    /// For an address of no site.
    pub unknown: u64,
    /// The destination's device did not take it.
    pub unwritten: u64,
}

/// What the emulator does after a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    GoOn(String),
    Stop,
}

pub(super) fn answer(engine: &mut Engine, strays: &Strays, now: u64, command: &[u8]) -> Answer {
    let text = String::from_utf8_lossy(command);
    let words: Vec<&str> = text.split_whitespace().collect();
    let done = match words[..] {
        ["stop"] => return Answer::Stop,
        ["show"] => Ok(show(engine, strays)),
        ["show", from, to] => show_one(engine, from, to),
        ["set", from, to, key, value] => set(engine, now, from, to, key, value),
        ["pipe", name, key, value] => set_pipe(engine, now, name, key, value),
        _ => Err("unknown command: set FROM TO KEY VALUE, pipe NAME rate|queue VALUE, \
                  show [FROM TO], stop"
            .into()),
    };
    Answer::GoOn(done.unwrap_or_else(|why| format!("error: {why}")))
}

fn set(
    engine: &mut Engine,
    now: u64,
    from: &str,
    to: &str,
    key: &str,
    value: &str,
) -> Result<String, String> {
    let (from, to) = (read_site(from)?, read_site(to)?);
    let number = read_number(value)?;
    let change: fn(&mut Way, f64) = match key {
        "delay" => |way, number| way.delay = number,
        "jitter" => |way, number| way.jitter = number,
        "connection" => |way, number| way.connection = (number != 0.0).then_some(number),
        "loss" => |way, number| way.loss = number,
        "duplicate" => |way, number| way.duplicate = number,
        "reorder" => |way, number| way.reorder = number,
        "corrupt" => |way, number| way.corrupt = number,
        "down" if number == 0.0 || number == 1.0 => |way, number| way.down = number == 1.0,
        "down" => return Err(format!("down is 0 or 1, not {value}")),
        "queue" if number >= 0.0 => |way, number| way.queue_bytes = number as u64,
        "queue" => return Err(format!("{value} is not a number of bytes")),
        _ => return Err(format!("a way has no {key:?}")),
    };
    engine.set(now, from, to, |way| change(way, number))?;
    Ok("ok".into())
}

fn set_pipe(
    engine: &mut Engine,
    now: u64,
    name: &str,
    key: &str,
    value: &str,
) -> Result<String, String> {
    let number = read_number(value)?;
    match key {
        "rate" => engine.set_pipe(now, name, |pipe| pipe.rate = number)?,
        "queue" if number >= 0.0 => {
            engine.set_pipe(now, name, |pipe| pipe.queue_bytes = number as u64)?;
        }
        "queue" => return Err(format!("{value} is not a number of bytes")),
        _ => return Err(format!("a pipe has no {key:?}")),
    }
    Ok("ok".into())
}

fn read_site(word: &str) -> Result<usize, String> {
    word.parse().map_err(|_| format!("{word:?} is not the number of a site"))
}

fn read_number(word: &str) -> Result<f64, String> {
    word.parse().map_err(|_| format!("{word:?} is not a number"))
}

fn show(engine: &Engine, strays: &Strays) -> String {
    let counters = engine.counters();
    let wan = engine.wan();
    let mut text = String::new();
    for (index, way) in wan.ways.iter().enumerate() {
        if let Some(way) = way {
            let (from, to) = (index / wan.sites, index % wan.sites);
            text += &show_way(from, to, way, &counters.ways[index]);
        }
    }
    for (pipe, counted) in wan.pipes.iter().zip(&counters.pipes) {
        let PipeCounters { most_waiting_bytes, dropped } = counted;
        text += &format!("pipe name={} rate={} queue={}", pipe.name, pipe.rate, pipe.queue_bytes);
        text += &format!(" most_waiting_bytes={most_waiting_bytes}");
        text += &show_count("dropped", dropped);
        text.push('\n');
    }
    let Strays { ignored, unknown, unwritten } = strays;
    text += &format!("all ignored={ignored} unknown={unknown} unwritten={unwritten}");
    text += &show_count("unrouted", &counters.unrouted);
    let left: u64 = counters.ways.iter().map(|way| way.left.packets).sum();
    let mean_late_ns = counters.late_ns / left.max(1);
    text + &format!(" mean_late_ns={mean_late_ns} most_late_ns={}", counters.most_late_ns)
}

fn show_one(engine: &Engine, from: &str, to: &str) -> Result<String, String> {
    let (from, to) = (read_site(from)?, read_site(to)?);
    let index = engine.wan().find_way(from, to);
    let found = index.and_then(|index| Some((index, engine.wan().ways[index].as_ref()?)));
    let (index, way) = found.ok_or_else(|| format!("there is no way from {from} to {to}"))?;
    Ok(show_way(from, to, way, &engine.counters().ways[index]).trim_end().into())
}

fn show_way(from: usize, to: usize, way: &Way, counters: &WayCounters) -> String {
    let mut text = format!("way from={from} to={to}");
    let numbers = [
        ("delay", way.delay),
        ("jitter", way.jitter),
        ("connection", way.connection.unwrap_or(0.0)),
        ("loss", way.loss),
        ("duplicate", way.duplicate),
        ("reorder", way.reorder),
        ("corrupt", way.corrupt),
    ];
    for (key, number) in numbers {
        // Writing to a string cannot fail.
        let _ = write!(text, " {key}={number}");
    }
    text += &format!(" down={} queue={}", u8::from(way.down), way.queue_bytes);
    let counts = [
        ("entered", &counters.entered),
        ("left", &counters.left),
        ("lost", &counters.lost),
        ("dropped", &counters.dropped),
        ("duplicated", &counters.duplicated),
        ("reordered", &counters.reordered),
        ("corrupted", &counters.corrupted),
    ];
    for (key, count) in counts {
        text += &show_count(key, count);
    }
    text + "\n"
}

fn show_count(key: &str, count: &Count) -> String {
    format!(" {key}_packets={} {key}_bytes={}", count.packets, count.bytes)
}

#[cfg(test)]
mod tests {
    use laneway_stats::SplitMix64;

    use super::super::{Pipe, Wan};
    use super::*;

    fn engine() -> Engine {
        let way = Way { delay: 0.005, pipes: vec![0], ..Way::default() };
        let pipe = Pipe { name: "uplink".into(), rate: 1e6, queue_bytes: 1000 };
        let ways = vec![None, Some(way), None, None];
        Engine::new(Wan { sites: 2, ways, pipes: vec![pipe], seed: 1 }).unwrap()
    }

    fn ask(engine: &mut Engine, command: &str) -> String {
        match answer(engine, &Strays::default(), 0, command.as_bytes()) {
            Answer::GoOn(text) => text,
            Answer::Stop => "stopped".into(),
        }
    }

    #[test]
    fn commands_change_what_is_shown() {
        let mut engine = engine();
        for (command, word) in [
            ("set 0 1 delay 0.25", "delay=0.25"),
            ("set 0 1 jitter 0.5", "jitter=0.5"),
            ("set 0 1 connection 125000", "connection=125000"),
            ("set 0 1 connection 0", "connection=0"),
            ("set 0 1 loss 0.125", "loss=0.125"),
            ("set 0 1 duplicate 0.1", "duplicate=0.1"),
            ("set 0 1 reorder 1", "reorder=1"),
            ("set 0 1 corrupt 1e-3", "corrupt=0.001"),
            ("set 0 1 down 1", "down=1"),
            ("set 0 1 queue 3000", "queue=3000"),
        ] {
            assert_eq!(ask(&mut engine, command), "ok", "{command}");
            let shown = ask(&mut engine, "show 0 1");
            assert!(shown.split(' ').any(|shown| shown == word), "{command}: {shown}");
        }
        assert_eq!(ask(&mut engine, "pipe uplink rate inf"), "ok");
        assert_eq!(ask(&mut engine, " pipe  uplink queue 5\n"), "ok");
        let shown = ask(&mut engine, "show");
        let kinds: Vec<&str> = shown.lines().filter_map(|line| line.split(' ').next()).collect();
        assert_eq!(kinds, ["way", "pipe", "all"]);
        assert!(shown.contains("pipe name=uplink rate=inf queue=5 "), "{shown}");
        assert_eq!(ask(&mut engine, "stop"), "stopped");
    }

    #[test]
    fn what_cannot_be_is_refused_and_changes_nothing() {
        let mut engine = engine();
        let before = ask(&mut engine, "show");
        for command in [
            "",
            "stop now",
            "set",
            "set 1 0 delay 1",
            "set 0 9 delay 1",
            "set 0 18446744073709551615 delay 1",
            "set -1 1 delay 1",
            "set 0 1 delay -1",
            "set 0 1 delay NaN",
            "set 0 1 delay inf",
            "set 0 1 loss 1.5",
            "set 0 1 connection -3",
            "set 0 1 queue NaN",
            "set 0 1 down 2",
            "set 0 1 pipes 0",
            "pipe downlink rate 1",
            "pipe uplink rate 0",
            "pipe uplink queue -1",
            "pipe uplink name 1",
            "show 1 0",
        ] {
            let said = ask(&mut engine, command);
            assert!(said.starts_with("error: "), "{command}: {said}");
        }
        assert_eq!(ask(&mut engine, "show"), before);
    }

    #[test]
    fn random_datagrams_do_no_harm() {
        let seed = 11;
        println!("seed {seed}");
        let mut draws = SplitMix64::new(seed);
        let mut engine = engine();
        let words: &[&[u8]] =
            &[b"set", b"pipe", b"show", b"0", b"1", b"delay", b"uplink", b"rate", b"1e400", b"-0"];
        for _ in 0..20_000 {
            let mut command = Vec::new();
            for _ in 0..draws.index(8) {
                match draws.index(4) {
                    0 => command.extend((0..draws.index(9)).map(|i| (i * 77) as u8 ^ 0xc3)),
                    1 => command.extend(draws.next_u64().to_le_bytes()),
                    _ => command.extend(words[draws.index(words.len())]),
                }
                command.push(b' ');
            }
            answer(&mut engine, &Strays::default(), 0, &command);
        }
    }
}
