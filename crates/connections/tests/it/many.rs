//! Thousands of connections of one endpoint: each carries its message, and takes little memory.
//! They have no alternate path loaded, which each would ask about for itself twice a second.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use laneway_connections::{ConnectionId, Endpoint, LocalPath, Options, Secret, Setup, What};
use laneway_path::{Event, MigrationState};

const CONNECTIONS: usize = 4096;
/// Opened at a time.
const BATCH: usize = 256;
const LIMIT: Duration = Duration::from_secs(60);
const LOOKS: Duration = Duration::from_millis(10);
/// Of one end of a connection that has carried a message.
const MOST_BYTES: usize = 6 << 10;

fn endpoint(arms: bool) -> Endpoint {
    let local: SocketAddr = "127.0.0.1:0".parse().expect("address");
    let (paths, secret) = (vec![LocalPath::at(local); 2], Secret::none());
    let setup = Setup { arms, ..Setup::usual() };
    Endpoint::open(Options { paths, secret, accepts: true, setup }).expect("an endpoint")
}

fn resident_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("a line");
    let kib = line.split_whitespace().nth(1).and_then(|word| word.parse::<usize>().ok());
    kib.expect("a number") << 10
}

/// Takes one message on each connection, and sends its number; how many connections there were.
fn take(mut endpoint: Endpoint, stop: &AtomicBool, arrivals: &Sender<u64>) -> usize {
    while !stop.load(Ordering::Acquire) {
        endpoint.wait(LOOKS);
        while let Some(notice) = endpoint.poll() {
            match notice.what {
                What::Accepted { .. } => {
                    let room = Vec::with_capacity(64);
                    endpoint.post_receive(notice.connection, 1, room).expect("room");
                }
                What::Event(Event::Received { message, .. }) => {
                    let number = u64::from_be_bytes(message.try_into().expect("eight bytes"));
                    arrivals.send(number).expect("the receiver listens");
                }
                _ => {}
            }
        }
    }
    endpoint.connections().count()
}

/// Opens all, some at a time.
fn open(endpoint: &mut Endpoint, to: &[SocketAddr], begun: Instant) -> Vec<ConnectionId> {
    let mut opened = Vec::new();
    for batch in 1..=CONNECTIONS / BATCH {
        for label in 0..BATCH {
            endpoint.begin_open(to, label as u64, LIMIT).expect("begun");
        }
        while opened.len() < batch * BATCH {
            assert!(begun.elapsed() < LIMIT, "{} opened", opened.len());
            endpoint.wait(LOOKS);
            while let Some(notice) = endpoint.poll() {
                match notice.what {
                    What::Connected => opened.push(notice.connection),
                    What::Event(_) => {}
                    other => panic!("{other:?}"),
                }
            }
        }
    }
    opened
}

#[test]
fn four_thousand_connections_carry_messages_and_stay_small() {
    let [mut here, there] = [endpoint(false), endpoint(false)];
    let (to, stop, (arrivals, arrived)) = (there.addresses(), AtomicBool::new(false), channel());
    let before = resident_bytes();
    thread::scope(|scope| {
        let far = scope.spawn(|| take(there, &stop, &arrivals));
        let begun = Instant::now();
        let opened = open(&mut here, &to, begun);
        let opening = begun.elapsed();
        for (number, id) in opened.iter().enumerate() {
            here.send(*id, number as u64, (number as u64).to_be_bytes().to_vec()).expect("sent");
        }
        let mut came = vec![false; CONNECTIONS];
        while came.contains(&false) && begun.elapsed() < LIMIT {
            here.wait(LOOKS);
            while here.poll().is_some() {}
            for number in arrived.try_iter() {
                assert!(!std::mem::replace(&mut came[number as usize], true), "{number} twice");
            }
        }
        let each = (resident_bytes() - before) / (2 * CONNECTIONS);
        stop.store(true, Ordering::Release);
        let missing = came.iter().filter(|came| !**came).count();
        println!("{each} bytes an end; opened in {opening:?}, all in {:?}", begun.elapsed());
        assert_eq!(missing, 0, "messages that did not come");
        assert!(each <= MOST_BYTES, "{each} bytes for an end of a connection");
        assert_eq!((here.connections().count(), far.join().ok()), (CONNECTIONS, Some(CONNECTIONS)));
    });
}

fn packets(endpoint: &Endpoint) -> u64 {
    endpoint.status().paths.iter().map(|path| path.sent.packets).sum()
}

/// Each connection would send a dozen packets a second.
#[test]
fn one_of_many_idle_connections_probes_for_all() {
    const COUNT: usize = 128;
    let mut ends = [endpoint(true), endpoint(true)];
    let to = ends[1].addresses();
    for label in 0..COUNT {
        ends[0].begin_open(&to, label as u64, LIMIT).expect("begun");
    }
    let begun = Instant::now();
    let armed = |ends: &[Endpoint; 2]| {
        let all = ends.iter().flat_map(Endpoint::connections);
        all.filter(|one| one.migration() == MigrationState::Armed).count()
    };
    let run = |ends: &mut [Endpoint; 2], until: &dyn Fn(&[Endpoint; 2]) -> bool| {
        while !until(ends) {
            assert!(begun.elapsed() < LIMIT, "{} armed", armed(ends));
            for end in ends.iter_mut() {
                end.wait(Duration::from_millis(1));
                while end.poll().is_some() {}
            }
        }
    };
    run(&mut ends, &|ends| armed(ends) == 2 * COUNT);
    // Their first probes follow the moment in which each was armed.
    let rests = Instant::now();
    run(&mut ends, &|_| rests.elapsed() > Duration::from_secs(1));
    let before = ends.each_ref().map(packets);
    let begins = Instant::now();
    run(&mut ends, &|_| begins.elapsed() > Duration::from_secs(2));
    let each = ends.each_ref().map(packets);
    let sent = [each[0] - before[0], each[1] - before[1]];
    println!("{sent:?} packets in 2 s of {COUNT} idle connections");
    assert!(sent.iter().all(|sent| (4..COUNT as u64 / 2).contains(sent)), "{sent:?}");
    assert_eq!(armed(&ends), 2 * COUNT);
}
