//! A program that computes: its connections go on, and migrate, without it.

use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use laneway_net::{ConnectionId, Endpoint, LocalPath, Options, Secret, Service, Setup, What};
use laneway_path::{Event, MigrationState, PathId};

const LIMIT: Duration = Duration::from_secs(20);

fn endpoint() -> Endpoint {
    let local: SocketAddr = "127.0.0.1:0".parse().expect("address");
    let paths = vec![LocalPath::at(local); 2];
    let options = Options { paths, secret: Secret::none(), accepts: true, setup: Setup::usual() };
    Endpoint::open(options).expect("an endpoint")
}

/// Asks now and then, and computes between.
fn until<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < LIMIT);
        thread::sleep(Duration::from_millis(5));
    }
}

fn accepted(service: &Service) -> ConnectionId {
    until(|| {
        let notice = service.endpoint().poll()?;
        matches!(notice.what, What::Accepted { .. }).then_some(notice.connection)
    })
}

#[test]
fn connections_arm_migrate_and_deliver_while_the_program_computes() {
    let here = Service::start(endpoint()).expect("a service");
    let there = Service::start(endpoint()).expect("a service");
    let to = there.endpoint().addresses();
    let id = here.endpoint().connect(&to, 9, LIMIT).expect("connected");
    let peer = accepted(&there);
    let armed = |service: &Service, id| {
        let state = service.endpoint().get(id).map(|connection| connection.migration());
        (state == Ok(MigrationState::Armed)).then_some(())
    };
    until(|| armed(&here, id));
    until(|| armed(&there, peer));
    for k in 0..50 {
        there.endpoint().post_receive(peer, k, Vec::with_capacity(100_000)).expect("room");
    }
    there.notify();
    for k in 0..50 {
        here.endpoint().send(id, k, vec![k as u8; 100_000]).expect("sent");
        if k == 25 {
            here.endpoint().migrate(&[id]).expect("armed");
        }
    }
    here.notify();
    // Nobody asks for progress here: the thread of each end does all.
    thread::sleep(Duration::from_millis(300));
    let mut got = 0;
    let mut moved = false;
    while let Some(notice) = there.endpoint().poll() {
        match notice.what {
            What::Event(Event::Received { id, message }) => {
                assert_eq!((id, message), (got, vec![got as u8; 100_000]));
                got += 1;
            }
            What::Event(Event::Migrated { to, .. }) => moved |= to == PathId(1),
            _ => {}
        }
    }
    assert_eq!((got, moved), (50, true));
}

#[test]
fn an_idle_service_sleeps() {
    let here = Service::start(endpoint()).expect("a service");
    let there = Service::start(endpoint()).expect("a service");
    let to = there.endpoint().addresses();
    let id = here.endpoint().connect(&to, 9, LIMIT).expect("connected");
    until(|| {
        let endpoint = here.endpoint();
        let state = endpoint.get(id).map(|connection| connection.migration());
        (state == Ok(MigrationState::Armed)).then_some(())
    });
    thread::sleep(Duration::from_millis(20));
    let used = || {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the structure is ours, and this clock is always there.
        unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    };
    let before = used();
    thread::sleep(Duration::from_millis(1000));
    let spent = used() - before;
    assert!(spent < Duration::from_millis(20), "{spent:?} of a second");
}
