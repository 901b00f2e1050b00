//! Two endpoints of one process over loopback: what is sent arrives, and strangers get nowhere.

use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use laneway_connections::{
    ConnectionId, Endpoint, LocalPath, NetError, Options, Secret, Setup, What,
};
use laneway_path::{Event, MigrationState, PathId};
use laneway_stats::SplitMix64;

const LIMIT: Duration = Duration::from_secs(20);

fn options(paths: usize, secret: &[u8], v6: bool) -> Options {
    let local: SocketAddr = if v6 { "[::1]:0" } else { "127.0.0.1:0" }.parse().expect("address");
    Options {
        paths: vec![LocalPath::at(local); paths],
        secret: Secret::from_bytes(secret).expect("long enough"),
        accepts: true,
        setup: Setup::usual(),
    }
}

/// Two endpoints, and what each has seen.
struct Pair {
    ends: [Endpoint; 2],
    ids: [ConnectionId; 2],
    seen: [Vec<Event>; 2],
}

impl Pair {
    fn new(paths: usize, v6: bool) -> Pair {
        let secret = b"the secret of both endpoints";
        let mut ends =
            [(); 2].map(|()| Endpoint::open(options(paths, secret, v6)).expect("an endpoint"));
        let to = ends[1].addresses();
        let opened = ends[0].begin_open(&to, 42, LIMIT).expect("begun");
        let begun = Instant::now();
        let (mut connected, mut accepted) = (false, None);
        while !(connected && accepted.is_some()) {
            assert!(begun.elapsed() < LIMIT, "no connection");
            ends.iter_mut().for_each(|end| _ = end.progress());
            while let Some(notice) = ends[0].poll() {
                connected |= notice.what == What::Connected && notice.connection == opened;
            }
            while let Some(notice) = ends[1].poll() {
                if notice.what == (What::Accepted { label: 42 }) {
                    accepted = Some(notice.connection);
                }
            }
        }
        let ids = [opened, accepted.expect("accepted")];
        Pair { ends, ids, seen: [Vec::new(), Vec::new()] }
    }

    fn step(&mut self) {
        for (end, seen) in self.ends.iter_mut().zip(&mut self.seen) {
            end.progress();
            while let Some(notice) = end.poll() {
                match notice.what {
                    What::Event(event) => seen.push(event),
                    other => panic!("{other:?}"),
                }
            }
        }
    }

    fn until(&mut self, mut done: impl FnMut(&Pair) -> bool) {
        let begun = Instant::now();
        while !done(self) {
            assert!(
                begun.elapsed() < LIMIT,
                "{:?}",
                self.ends[0].get(self.ids[0]).map(|c| *c.counters())
            );
            self.step();
        }
    }

    fn migration(&self, end: usize) -> MigrationState {
        self.ends[end].get(self.ids[end]).expect("it is there").migration()
    }

    fn until_armed(&mut self) {
        self.until(|p| (0..2).all(|end| p.migration(end) == MigrationState::Armed));
    }
}

#[test]
fn messages_of_every_length_arrive_in_order_over_both_kinds_of_addresses() {
    for v6 in [false, true] {
        let mut pair = Pair::new(2, v6);
        let mut random = SplitMix64::new(7);
        let mut lengths = vec![0, 1, 255, 256, 257, 1424, 1425, 100_000, 1 << 20];
        lengths.extend((0..300).map(|_| random.index(20_000)));
        let message =
            |k: usize| -> Vec<u8> { (0..lengths[k]).map(|i| (i * 31 + k) as u8).collect() };
        for k in 0..lengths.len() {
            for end in 0..2 {
                let id = pair.ids[end];
                pair.ends[end]
                    .post_receive(id, k as u64, Vec::with_capacity(1 << 20))
                    .expect("room");
                pair.ends[end].send(id, k as u64, message(k)).expect("sent");
            }
        }
        let count = lengths.len();
        let arrived = |events: &[Event]| {
            events.iter().filter(|event| matches!(event, Event::Received { .. })).count()
        };
        pair.until(|pair| pair.seen.iter().all(|seen| arrived(seen) == count));
        for seen in &pair.seen {
            let mut next = 0;
            for event in seen {
                if let Event::Received { id, message: bytes } = event {
                    assert_eq!((*id, bytes), (next as u64, &message(next)));
                    next += 1;
                }
            }
        }
    }
}

#[test]
fn a_path_is_armed_taken_and_left_again_by_request_and_by_carrier() {
    let mut pair = Pair::new(2, false);
    pair.until_armed();
    let ids = pair.ids;
    pair.ends[0].migrate(&[ids[0]]).expect("armed");
    pair.until(|p| {
        (0..2).all(|end| p.ends[end].get(ids[end]).expect("there").primary() == PathId(1))
    });
    pair.until_armed();
    // The path in use loses its carrier at one end.
    pair.ends[1].on_carrier(PathId(1), false);
    pair.until(|p| {
        (0..2).all(|end| p.ends[end].get(ids[end]).expect("there").primary() == PathId(0))
    });
    let error = pair.ends[1].migrate(&[ids[1]]);
    assert!(matches!(error, Err(NetError::Refused(_))), "{error:?}: path 1 has no carrier");
    pair.ends[1].on_carrier(PathId(1), true);
    pair.until_armed();
    pair.ends[0].drain(PathId(0)).expect("known");
    pair.until(|p| p.ends[1].get(ids[1]).expect("there").primary() == PathId(1));
    assert!(matches!(pair.ends[0].drain(PathId(9)), Err(NetError::Refused(_))));
}

#[test]
fn strangers_are_dropped_and_counted() {
    let mut pair = Pair::new(1, false);
    let to = pair.ends[1].addresses()[0];
    let stranger = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let mut random = SplitMix64::new(3);
    let before = *pair.ends[1].get(pair.ids[1]).expect("there").counters();
    for round in 0..3000u32 {
        let mut bytes: Vec<u8> = (0..random.index(200)).map(|_| random.next_u64() as u8).collect();
        if bytes.len() > 8 && round % 2 == 0 {
            bytes[4..8].copy_from_slice(&pair.ids[1].0.to_be_bytes());
        }
        if round % 7 == 0 && !bytes.is_empty() {
            bytes[0] = 0x41 + (round % 5) as u8;
        }
        stranger.send_to(&bytes, to).expect("sent");
        pair.step();
    }
    pair.until(|pair| {
        let dropped = pair.ends[1].dropped();
        dropped.strange + dropped.misplaced + dropped.refused + dropped.forged == 3000
    });
    let after = *pair.ends[1].get(pair.ids[1]).expect("there").counters();
    assert_eq!(after, before);
    assert_eq!(pair.ends[1].dropped().forged, 0, "from no agreed address");
}

/// Another secret gets no connection, no state and no answer.
#[test]
fn another_secret_gets_no_answer() {
    let mut here = Endpoint::open(options(1, b"the secret of this job", false)).expect("endpoint");
    let mut there = Endpoint::open(options(1, b"the secret of another", false)).expect("endpoint");
    let to = here.addresses();
    let limit = Duration::from_millis(200);
    let id = there.begin_open(&to, 1, limit).expect("begun");
    let begun = Instant::now();
    let notice = loop {
        here.progress();
        there.progress();
        if let Some(notice) = there.poll() {
            break notice;
        }
        assert!(begun.elapsed() < LIMIT);
    };
    assert_eq!((notice.connection, notice.what), (id, What::NoAnswer));
    assert!(here.dropped().refused > 0);
    assert_eq!((here.connections().count(), here.poll()), (0, None));
    let error = there.connect(&to, 1, limit).expect_err("no peer answers");
    assert!(matches!(error, NetError::NoAnswer { .. }), "{error}");
}

/// A peer that is slow is greeted over both paths, and answers both: one of the answers counts, and
/// it is the same at both ends.
#[test]
fn a_connection_that_was_greeted_twice_carries_messages() {
    let secret = b"the secret of both endpoints";
    let [mut here, mut there] =
        [(); 2].map(|()| Endpoint::open(options(2, secret, false)).expect("an endpoint"));
    let id = here.begin_open(&there.addresses(), 1, LIMIT).expect("begun");
    std::thread::sleep(Duration::from_millis(60));
    here.progress();
    // Everything that one end has to say is said before the other one looks.
    let (begun, mut peer) = (Instant::now(), None);
    let mut connected = false;
    while !connected || peer.is_none() {
        assert!(begun.elapsed() < LIMIT, "no connection");
        (0..5).for_each(|_| _ = there.wait(Duration::ZERO));
        (0..5).for_each(|_| _ = here.wait(Duration::ZERO));
        connected |= here.poll().is_some_and(|notice| notice.what == What::Connected);
        peer = peer.or(there.poll().map(|notice| notice.connection));
    }
    there.post_receive(peer.expect("accepted"), 1, Vec::with_capacity(9)).expect("room");
    here.send(id, 1, b"a message".to_vec()).expect("sent");
    let is_message = |what: What| matches!(what, What::Event(Event::Received { .. }));
    while !there.poll().is_some_and(|notice| is_message(notice.what)) {
        assert!(begun.elapsed() < LIMIT, "nothing arrives: {:?}", there.dropped());
        here.progress();
        there.progress();
    }
    assert_eq!((here.dropped().forged, there.dropped().forged), (0, 0));
}

#[test]
fn a_peer_that_closes_is_seen_and_what_is_asked_after_is_refused() {
    let mut pair = Pair::new(2, false);
    let [here, there] = pair.ids;
    pair.ends[0].close(here).expect("open");
    let begun = Instant::now();
    loop {
        pair.ends[1].progress();
        match pair.ends[1].poll() {
            Some(notice) if notice.what == What::Closed => break,
            _ => assert!(begun.elapsed() < LIMIT),
        }
    }
    let gone = |number| NetError::UnknownConnection { number };
    assert_eq!(pair.ends[0].send(here, 1, vec![1]), Err(gone(here.0)));
    assert_eq!(pair.ends[1].send(there, 1, vec![1]), Err(gone(there.0)));
    assert_eq!(pair.ends[1].close(there), Err(gone(there.0)));
    // The place is used again under another number.
    let to = pair.ends[1].addresses();
    let next = pair.ends[0].begin_open(&to, 2, LIMIT).expect("begun");
    assert_ne!(next, here);
}

#[test]
fn what_cannot_be_opened_says_why() {
    let open = |paths: Vec<LocalPath>, secret| {
        Endpoint::open(Options { paths, secret, accepts: true, setup: Setup::usual() }).err()
    };
    let loopback = LocalPath::at("127.0.0.1:0".parse().expect("address"));
    let everywhere = LocalPath::at("0.0.0.0:0".parse().expect("address"));
    assert_eq!(open(vec![loopback.clone()], Secret::none()), None);
    let refused = open(vec![loopback.clone(), everywhere.clone()], Secret::none());
    assert_eq!(refused, Some(NetError::NoSecret { address: everywhere.address.ip() }));
    assert_eq!(open(vec![], Secret::none()), Some(NetError::Paths { count: 0 }));
    assert_eq!(open(vec![loopback.clone(); 9], Secret::none()), Some(NetError::Paths { count: 9 }));
    assert!(matches!(Secret::from_bytes(b"short"), Err(NetError::ShortSecret { bytes: 5 })));
    let device = LocalPath { device: Some("no-such-dev".into()), ..loopback };
    assert!(matches!(open(vec![device], Secret::none()), Some(NetError::System { .. })));
}

#[test]
fn a_path_that_is_drained_is_left_by_later_connections_too() {
    let mut pair = Pair::new(2, false);
    pair.ends[0].drain(PathId(0)).expect("known");
    let to = pair.ends[1].addresses();
    let later = pair.ends[0].begin_open(&to, 7, LIMIT).expect("begun");
    let begun = Instant::now();
    let leaves = |end: &Endpoint| end.get(later).is_ok_and(|c| c.primary() == PathId(1));
    while !leaves(&pair.ends[0]) {
        assert!(begun.elapsed() < LIMIT);
        pair.ends.iter_mut().for_each(|end| _ = end.progress());
    }
    assert!(pair.ends[0].drain(PathId(9)).is_err() && pair.ends[0].undrain(PathId(9)).is_err());
    pair.ends[0].undrain(PathId(0)).expect("known");
}
