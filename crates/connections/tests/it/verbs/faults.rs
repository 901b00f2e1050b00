//! Ports of the stand-in that go down and come back, and connections that break.

use std::time::Duration;

use laneway_connections::verbs::{Addressed, VerbsOptions};
use laneway_connections::{NetError, Notice, Secret, Setup, What};
use laneway_path::{Cause, Event, MigrationState, PathId, QpState, Refusal, Retries, Why};

use super::standin::{Connected, connect, standin, two_ports};
use super::talk::{Talk, by_hand};

fn talk(pair: &mut Connected) -> Talk<'_> {
    let [a, b] = &mut pair.ends;
    Talk::new([&mut **a, &mut **b], pair.ids)
}

/// Keeps going from one port to the other, whichever end loses one, and arms what comes back.
#[test]
fn ports_that_fail_in_turn_lose_nothing() {
    let Some(standin) = standin() else { return };
    for device in ["ib0", "roce0"] {
        let mut pair = standin.pair(&two_ports(device), Setup::usual());
        let at = pair.at.clone();
        let mut talk = talk(&mut pair);
        for round in 0..6 {
            talk.until_armed();
            let (primary, end) = (talk.status(0).primary, round % 2);
            assert_eq!(talk.status(1).primary, primary);
            let port = at[end][usize::from(primary.0)];
            for _ in 0..30 {
                (0..2).for_each(|end| talk.say(end));
            }
            standin.set_port(&port, false);
            for _ in 0..30 {
                (0..2).for_each(|end| talk.listen(end));
            }
            talk.exchange(30);
            for end in 0..2 {
                let last = talk.migrations(end).pop();
                let last = last.expect("it has moved");
                assert_eq!((last.0, last.1), (primary, PathId(1 - primary.0)), "{device}");
                assert_eq!(talk.migrations(end).len(), round + 1, "{device}: once for each fault");
            }
            let down = What::Path { path: primary, is_up: false };
            talk.until("the port", |talk| talk.notices[end].iter().any(|n| n.what == down));
            standin.set_port(&port, true);
        }
        talk.until_armed();
    }
}

/// Where nothing is armed, messages wait for the retries, and come back.
#[test]
fn a_connection_without_alternate_breaks_with_its_path() {
    let Some(standin) = standin() else { return };
    let setup = Setup { retries: Retries::new(1).expect("small"), ..by_hand() };
    let mut pair = standin.pair(&two_ports("ib0"), setup);
    let (at, ids) = (pair.at.clone(), pair.ids);
    let mut talk = talk(&mut pair);
    talk.exchange(3);
    standin.set_port(&at[1][0], false);
    talk.listen(0);
    (0..200).for_each(|_| talk.say(0));
    talk.until("it breaks", |talk| talk.status(0).state == QpState::Error);
    talk.until("it is reported", |talk| {
        talk.events[0].contains(&Event::Failed { why: Why::Retries })
            && talk.events[0].len() == 200 + 1 + 1
    });
    let flushed = talk.events[0].iter().filter(|e| matches!(e, Event::SendFlushed { .. })).count();
    assert_eq!((flushed, talk.arrived[0]), (200, 3));
    let refused = |wanted| Err(NetError::Refused(Refusal::State { state: QpState::Error, wanted }));
    assert_eq!(talk.ends[0].send(ids[0], 1, vec![1]), refused("RTS or SQD"));
    assert_eq!(talk.ends[0].post_receive(ids[0], 1, vec![]), refused("INIT, RTR, RTS or SQD"));
    assert_eq!(talk.ends[0].specify(&[ids[0]], PathId(1)), refused("RTR, RTS or SQD"));
    assert_eq!(talk.ends[0].load(&[ids[0]]), refused("RTR, RTS or SQD"));
    assert_eq!(talk.ends[0].migrate(&[ids[0]]), refused("RTS or SQD"));
    talk.ends[0].close(ids[0]).expect("it is there");
}

/// The alternate path's port goes down: reported, without a migration.
#[test]
fn an_alternate_port_that_fails_is_reported() {
    let Some(standin) = standin() else { return };
    let mut pair = standin.pair(&two_ports("ib0"), Setup::usual());
    let at = pair.at.clone();
    let mut talk = talk(&mut pair);
    talk.until_armed();
    standin.set_port(&at[0][1], false);
    let unhealthy = Event::Unhealthy { path: PathId(1) };
    talk.until("reported", |talk| talk.events[0].contains(&unhealthy));
    standin.set_port(&at[0][0], false);
    talk.until("reported", |talk| talk.notices[0].len() >= 3);
    assert_eq!(talk.migrations(0), []);
    standin.set_port(&at[0][0], true);
    standin.set_port(&at[0][1], true);
    talk.exchange(20);
}

#[test]
fn a_message_longer_than_its_receive_breaks_both_ends() {
    let Some(standin) = standin() else { return };
    let mut pair = standin.pair(&two_ports("ib0"), by_hand());
    let ids = pair.ids;
    pair.ends[1].post_receive(ids[1], 7, Vec::with_capacity(10)).expect("posted");
    pair.ends[0].send(ids[0], 8, vec![1; 11]).expect("sent");
    let failed = What::Event(Event::Failed { why: Why::Message });
    for (end, flushed) in
        [Event::SendFlushed { id: 8 }, Event::ReceiveFlushed { id: 7 }].into_iter().enumerate()
    {
        while pair.ends[end].progress() {}
        let all: Vec<What> = std::iter::from_fn(|| pair.ends[end].poll()).map(|n| n.what).collect();
        assert_eq!(all, [What::Connected, What::Event(flushed), failed.clone()]);
    }
    let long = pair.ends[0].send(ids[0], 9, vec![0; (1 << 24) + 1]);
    assert_eq!(long, Err(NetError::Message { bytes: (1 << 24) + 1, most: 1 << 24 }));
}

/// More messages than a queue pair holds, before any receive.
#[test]
fn what_a_device_has_no_room_for_waits() {
    let Some(standin) = standin() else { return };
    for device in ["ib0", "roce0"] {
        let mut pair = standin.pair(&two_ports(device), by_hand());
        let mut talk = talk(&mut pair);
        (0..700).for_each(|_| talk.say(0));
        (0..50).for_each(|_| talk.step());
        (0..700).for_each(|_| talk.listen(1));
        talk.until("all", |talk| talk.received[1] == 700 && talk.arrived[0] == 700);
    }
}

/// A path that is specified while another is armed is not used before it is loaded.
#[test]
fn a_path_that_is_specified_anew_is_not_loaded() {
    let Some(standin) = standin() else { return };
    let paths = [two_ports("ib0"), vec![super::standin::path("ib0", 2, 1)]].concat();
    let mut pair = standin.pair(&paths, by_hand());
    let (at, ids) = (pair.at.clone(), pair.ids);
    let mut talk = talk(&mut pair);
    for (end, id) in talk.ends.iter_mut().zip(ids) {
        end.specify(&[id], PathId(1)).expect("possible");
        end.load(&[id]).expect("possible");
    }
    talk.until_armed();
    talk.ends[0].specify(&[ids[0]], PathId(2)).expect("possible");
    let status = talk.status(0);
    assert_eq!((status.migration, status.alternate), (MigrationState::Migrated, Some(PathId(2))));
    let refused = Refusal::NotArmed { migration: MigrationState::Migrated };
    assert_eq!(talk.ends[0].migrate(&[ids[0]]), Err(NetError::Refused(refused)));
    // The device still has the other one, and goes there when it must.
    standin.set_port(&at[1][0], false);
    talk.exchange(5);
    assert_eq!(talk.migrations(0), [(PathId(0), PathId(1), Cause::Failure)]);
    assert_eq!(talk.status(0).alternate, Some(PathId(2)));
}

/// Packets of another secret are dropped: nothing arrives, and nothing breaks at once.
#[test]
fn another_secret_gets_nothing_through_on_roce() {
    let Some(standin) = standin() else { return };
    let options = |secret: &[u8]| VerbsOptions {
        secret: Secret::from_bytes(secret).expect("long enough"),
        ..standin.options(two_ports("roce0"), by_hand())
    };
    let run = |secrets: [&[u8]; 2]| {
        let Connected { mut ends, ids, .. } = connect(secrets.map(options));
        ends[1].post_receive(ids[1], 1, Vec::with_capacity(9)).expect("posted");
        ends[0].send(ids[0], 1, b"a message".to_vec()).expect("sent");
        for _ in 0..200 {
            ends.iter_mut().for_each(|end| _ = end.wait(Duration::from_millis(1)));
        }
        let is_message =
            |notice: Notice| matches!(notice.what, What::Event(Event::Received { .. }));
        std::iter::from_fn(|| ends[1].poll()).any(is_message)
    };
    assert!(run([b"the secret of this job", b"the secret of this job"]));
    assert!(!run([b"the secret of this job", b"the secret of another"]));
}

#[test]
fn a_peer_that_closes_is_seen_on_roce() {
    let Some(standin) = standin() else { return };
    let Connected { mut ends, ids, .. } = standin.pair(&two_ports("roce0"), by_hand());
    ends[0].close(ids[0]).expect("open");
    let closed = |end: &mut Box<dyn Addressed + Send>| {
        end.progress();
        std::iter::from_fn(|| end.poll()).any(|notice| notice.what == What::Closed)
    };
    assert!(closed(&mut ends[1]));
    let gone = Err(NetError::UnknownConnection { number: ids[1].0 });
    assert_eq!(ends[1].send(ids[1], 1, vec![1]), gone);
}
