//! Every state and everything that can happen in it, as a reviewed text: `matrix.txt` is what
//! connections do, `drawing.txt` what their tables say. `LANEWAY_BLESS=1` writes both anew.

use std::fmt::Write;
use std::path::Path;

use laneway_path::state::{Attribute, MIGRATIONS, TRANSITIONS};
use laneway_path::wire::{Body, Counts, Echo, Header, write};
use laneway_path::{
    AckTimeout, Config, Connection, Event, MigrationState, Modify, NotReadyTimer, PathId, QpState,
    Refusal, Retries, Why,
};

use laneway_stats::SplitMix64;

const HERE: u32 = 1;
const THERE: u32 = 2;
const PRIMARY: PathId = PathId(0);
const ALTERNATE: PathId = PathId(1);

fn modify(from: QpState, to: QpState) -> Modify {
    let mut modify = Modify::to(to);
    match (from, to) {
        (QpState::Reset, QpState::Init) => modify.path = Some(PRIMARY),
        (QpState::Init, QpState::Rtr) => {
            modify.peer = Some(THERE);
            modify.receive_number = Some(0);
            modify.packet_bytes = Some(1000);
            modify.not_ready_timer = NotReadyTimer::new(1);
        }
        (QpState::Rtr, QpState::Rts) => {
            modify.send_number = Some(0);
            modify.ack_timeout = AckTimeout::new(14);
            modify.retries = Retries::new(7);
            modify.not_ready_retries = Retries::new(7);
        }
        _ => {}
    }
    modify
}

/// A packet of the peer.
fn packet(serial: u64, epoch: u32, primary: PathId, body: &Body<'_>) -> Vec<u8> {
    let header = Header {
        path: ALTERNATE,
        framed: false,
        to: HERE,
        serial,
        epoch,
        primary,
        diversions: 0,
        expects: 0,
    };
    let mut packet = Vec::new();
    write(&header, body, &mut packet);
    packet
}

fn arming() -> Vec<u8> {
    packet(0, 0, PRIMARY, &Body::Arming { bytes: 1000 })
}

/// A connection in a state; `None` if the state is not reachable.
fn reach(state: QpState, migration: MigrationState) -> Option<Connection> {
    let mut connection = Connection::new(Config { number: HERE, paths: 2 });
    let way: &[QpState] = match state {
        QpState::Reset => &[],
        QpState::Init => &[QpState::Init],
        QpState::Rtr => &[QpState::Init, QpState::Rtr],
        QpState::Rts => &[QpState::Init, QpState::Rtr, QpState::Rts],
        QpState::Sqd => &[QpState::Init, QpState::Rtr, QpState::Rts, QpState::Sqd],
        QpState::Error => &[QpState::Error],
    };
    for to in way {
        connection.modify(0, modify(connection.state(), *to)).ok()?;
    }
    if migration != MigrationState::Migrated {
        connection.specify(ALTERNATE).ok()?;
        connection.load(0).ok()?;
    }
    if migration == MigrationState::Armed {
        connection.on_packet(0, ALTERNATE, &arming());
    }
    let reached = (connection.state(), connection.migration());
    assert_eq!(reached, (state, migration));
    while connection.poll_event().is_some() {}
    Some(connection)
}

type Happens = fn(&mut Connection) -> Result<(), Refusal>;

/// What can happen, besides transitions that the user asks for.
const EVENTS: [(&str, Happens); 11] = [
    ("alternate specified", |c| c.specify(ALTERNATE)),
    ("primary specified", |c| c.specify(PRIMARY)),
    ("unknown specified", |c| c.specify(PathId(5))),
    ("load", |c| c.load(1)),
    ("migrate", |c| c.migrate(1)),
    ("send", |c| c.send(1, 7, vec![1])),
    ("post receive", |c| c.post_receive(7, Vec::with_capacity(10))),
    ("peer is arming", |c| {
        c.on_packet(1, ALTERNATE, &packet(1, 0, PRIMARY, &Body::Arming { bytes: 9 }));
        Ok(())
    }),
    ("peer has migrated", |c| {
        c.on_packet(1, ALTERNATE, &packet(1, 1, ALTERNATE, &Body::NotReady { timer: 1 }));
        Ok(())
    }),
    ("primary loses carrier", |c| {
        c.on_carrier(1, PRIMARY, false);
        Ok(())
    }),
    ("alternate loses carrier", |c| {
        c.on_carrier(1, ALTERNATE, false);
        Ok(())
    }),
];

/// What happened to a connection, in a few words.
fn outcome(connection: &Connection, before: &str, result: Result<(), Refusal>) -> String {
    let after = format!("{} {}", connection.state(), connection.migration());
    match result {
        Err(refusal) => {
            assert_eq!(after, before, "a refusal changes nothing");
            format!("refused: {refusal}")
        }
        Ok(()) if after == before => "stays".to_string(),
        Ok(()) => after,
    }
}

fn matrix() -> String {
    let mut text = String::new();
    for state in QpState::ALL {
        for migration in MigrationState::ALL {
            let before = format!("{state} {migration}");
            if reach(state, migration).is_none() {
                _ = writeln!(text, "{before}: cannot be\n");
                continue;
            }
            _ = writeln!(text, "{before}");
            for to in QpState::ALL {
                let mut connection = reach(state, migration).expect("reached above");
                let result = connection.modify(1, modify(state, to));
                let outcome = outcome(&connection, &before, result);
                _ = writeln!(text, "    {:<24} {outcome}", format!("modify to {to}"));
            }
            for (name, happens) in EVENTS {
                let mut connection = reach(state, migration).expect("reached above");
                let result = happens(&mut connection);
                let mut outcome = outcome(&connection, &before, result);
                while let Some(event) = connection.poll_event() {
                    _ = write!(outcome, ", {event:?}");
                }
                _ = writeln!(text, "    {name:<24} {outcome}");
            }
            text.push('\n');
        }
    }
    text
}

fn drawing() -> String {
    let names = |all: &[Attribute]| {
        let names: Vec<&str> = all.iter().map(|attribute| attribute.name()).collect();
        if names.is_empty() { "nothing".to_string() } else { names.join(", ") }
    };
    let mut text = String::from(
        "RESET --> INIT --> RTR --> RTS <--> SQD        any --> ERROR        any --> RESET\n\n",
    );
    for row in TRANSITIONS {
        let (needs, may) = (names(row.needs), names(row.may_carry));
        _ = writeln!(
            text,
            "{} --> {}\n    needs      {needs}\n    may carry  {may}",
            row.from, row.to
        );
    }
    text.push_str(
        "\n          load                loaded
MIGRATED ------> REARM ---------------> ARMED
    ^              ^                    |   |
    |              +--- load, unhealthy +   |
    +- request, failure, length, loss, peer +\n\n",
    );
    for (from, cause, to) in MIGRATIONS {
        _ = writeln!(text, "{from:<9} --{}--> {to}", cause.name());
    }
    text
}

fn compare(file: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/states").join(file);
    if std::env::var_os("LANEWAY_BLESS").is_some() {
        std::fs::write(&path, text).expect("the test folder can be written");
    }
    let reviewed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(reviewed == text, "{file} is not what connections do; LANEWAY_BLESS=1 writes it anew");
}

#[test]
fn every_state_and_event_is_as_reviewed() {
    compare("matrix.txt", &matrix());
}

#[test]
fn the_tables_are_as_drawn() {
    compare("drawing.txt", &drawing());
}

#[test]
fn attributes_are_checked_before_anything_changes() {
    let mut connection = reach(QpState::Init, MigrationState::Migrated).expect("INIT");
    let good = modify(QpState::Init, QpState::Rtr);
    let bad = [
        (Modify { peer: None, ..good }, "needs: peer"),
        (Modify { send_number: Some(1), ..good }, "cannot set: send number"),
        (Modify { packet_bytes: Some(0), ..good }, "packets of 0 bytes"),
        (Modify { packet_bytes: Some(70_000), ..good }, "packets of 70000 bytes"),
        (Modify { receive_number: Some(1 << 24), ..good }, "longer than 24 bits"),
        (Modify { alternate: Some(PRIMARY), ..good }, "is the primary path"),
        (Modify { alternate: Some(PathId(2)), ..good }, "path 2 is not known"),
        (Modify { load: true, ..good }, "no alternate path"),
    ];
    for (modify, words) in bad {
        let refused = connection.modify(0, modify).expect_err(words).to_string();
        assert!(refused.contains(words), "{refused}");
        assert_eq!(connection.state(), QpState::Init);
    }
    assert_eq!(connection.modify(0, good), Ok(()));
}

/// The number of the queue pair outlives its errors; what waits is given back.
#[test]
fn an_error_gives_everything_back_and_leaves_a_way_to_reset() {
    let mut connection = reach(QpState::Rts, MigrationState::Armed).expect("RTS");
    connection.post_receive(3, Vec::with_capacity(10)).expect("RTS");
    connection.send(0, 4, vec![1, 2]).expect("RTS");
    connection.modify(0, Modify::to(QpState::Error)).expect("from everywhere");
    let mut events = Vec::new();
    while let Some(event) = connection.poll_event() {
        events.push(format!("{event:?}"));
    }
    assert_eq!(
        events,
        ["SendFlushed { id: 4 }", "ReceiveFlushed { id: 3 }", "Failed { why: Asked }"]
    );
    assert_eq!(connection.poll_transmit(0, &mut Vec::new()), None);
    assert_eq!(connection.next_timeout(), None);
    connection.modify(0, Modify::to(QpState::Reset)).expect("from everywhere");
    assert_eq!((connection.number(), connection.state()), (HERE, QpState::Reset));
}

/// Packets with changed, missing and additional bytes: refused and counted, or read as something
/// that a peer could have sent; never the end of the program.
#[test]
fn bytes_of_any_kind_are_survived() {
    let mut random = SplitMix64::new(1);
    let mut connection = reach(QpState::Rts, MigrationState::Armed).expect("RTS");
    for round in 0..200_000 {
        if connection.state() == QpState::Error {
            connection = reach(QpState::Rts, MigrationState::Armed).expect("RTS");
        }
        if round % 16 == 0 {
            _ = connection.send(round, round, vec![0; random.index(5000)]);
            _ = connection.post_receive(round, Vec::with_capacity(random.index(5000)));
        }
        let body = match random.index(5) {
            0 => Body::Data { number: 0, first: true, last: false, ack_wanted: true, bytes: b"x" },
            1 => Body::Ack { echoes: vec![], early: vec![] },
            2 => Body::Probe { bytes: 1 },
            3 => {
                let (path, counts) = (ALTERNATE, Counts::default());
                let probe = Echo { path, serial: 0, delay_us: 3, arrived: round, counts };
                Body::Answer { probe, queued: false }
            }
            _ => Body::Arm { bytes: 10 },
        };
        let mut bytes = packet(round, 0, PRIMARY, &body);
        for _ in 0..random.index(4) {
            let at = random.index(bytes.len());
            bytes[at] = random.next_u64() as u8;
        }
        if random.index(4) == 0 {
            bytes.truncate(random.index(bytes.len() + 1));
        }
        connection.on_packet(1000 * round, ALTERNATE, &bytes);
        connection.on_timeout(1000 * round);
        let mut out = Vec::new();
        while connection.poll_transmit(1000 * round, &mut out).is_some() {}
        while connection.poll_event().is_some() {}
    }
    let counters = connection.counters();
    assert!(counters.malformed + counters.strange > 0 && counters.received > 0, "{counters:?}");
}

/// A message that waits and is longer than the receive that is posted for it, late or in time.
#[test]
fn a_receive_that_is_too_short_breaks_the_connection() {
    let bytes = [7; 40];
    for late in [false, true] {
        let mut connection =
            reach(QpState::Rts, MigrationState::Migrated).expect("a state that can be reached");
        let post = |connection: &mut Connection| {
            connection.post_receive(7, Vec::with_capacity(10)).expect("RTS takes receives");
        };
        if !late {
            post(&mut connection);
        }
        let data =
            Body::Data { number: 0, first: true, last: true, ack_wanted: true, bytes: &bytes };
        connection.on_packet(1, ALTERNATE, &packet(1, 0, PRIMARY, &data));
        if late {
            assert_eq!(connection.state(), QpState::Rts, "it waits for a receive");
            post(&mut connection);
        }
        let mut events = std::iter::from_fn(|| connection.poll_event());
        assert!(events.any(|event| event == Event::Failed { why: Why::Message }), "late: {late}");
        assert_eq!(connection.state(), QpState::Error);
    }
}
