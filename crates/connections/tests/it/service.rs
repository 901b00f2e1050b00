//! A program that computes: its connections go on, and migrate, without it.

use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use laneway_connections::{
    ConnectionId, Endpoint, LocalPath, Options, Secret, Service, Setup, What,
};
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

/// Asks all the time and never looks what has arrived, as one that watches does: the thread must.
#[test]
fn a_program_that_asks_without_end_leaves_nothing_lying() {
    let here = Service::start(endpoint()).expect("a service");
    let there = Service::start(endpoint()).expect("a service");
    let to = there.endpoint().addresses();
    let id = here.with(|endpoint| endpoint.begin_open(&to, 9, LIMIT)).expect("begun");
    let begun = Instant::now();
    let is_armed = |endpoint: &mut Endpoint| {
        endpoint.get(id).is_ok_and(|connection| connection.migration() == MigrationState::Armed)
    };
    while !here.with(is_armed) {
        there.with(|_| ());
        assert!(begun.elapsed() < LIMIT, "not polled in time");
    }
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
        there.visit().post_receive(peer, k, Vec::with_capacity(100_000)).expect("room");
    }
    for k in 0..50 {
        here.visit().send(id, k, vec![k as u8; 100_000]).expect("sent");
        if k == 25 {
            here.visit().migrate(&[id]).expect("armed");
        }
    }
    // No call asks for progress here: the thread of each end does all.
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

/// One visit after a pause, and none after it: the thread, which waited for nothing before, sends
/// in time what the visit has made due.
#[test]
fn what_one_visit_makes_due_is_done_by_the_thread() {
    let here = Service::start(endpoint()).expect("a service");
    for round in 0..20 {
        let peer = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        peer.set_read_timeout(Some(Duration::from_secs(5))).expect("a limit");
        let to = [peer.local_addr().expect("an address")];
        // Around the millisecond after which the thread takes the place of the program.
        thread::sleep(Duration::from_micros(200 * round));
        here.visit().begin_open(&to, round, LIMIT).expect("begun");
        for packet in 0..3 {
            let got = peer.recv_from(&mut [0; 2000]);
            assert!(got.is_ok(), "round {round}, packet {packet}: {got:?}");
        }
    }
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

/// paper: path-migration 3.2: the thread calls the migration module on ARMED.
#[test]
fn a_function_of_the_program_is_called_by_the_thread_and_may_use_the_endpoint() {
    let (sender, events) = mpsc::channel();
    let own: Arc<OnceLock<Arc<Service>>> = Arc::default();
    let of_thread = Arc::clone(&own);
    let armed = Mutex::new(0);
    let here = Service::start_with(endpoint(), move |notice| {
        let service = of_thread.get().expect("no event before a connection");
        if let What::Event(Event::Armed { .. }) = notice.what {
            let mut armed = armed.lock().expect("this thread alone");
            *armed += 1;
            if *armed == 1 {
                service.with(|end| end.migrate(&[notice.connection])).expect("armed");
            }
        }
        let name = thread::current().name().map(str::to_owned);
        _ = sender.send((notice.what.clone(), name));
    });
    let here = Arc::new(here.expect("a service"));
    assert!(own.set(Arc::clone(&here)).is_ok());
    let there = Service::start(endpoint()).expect("a service");
    let to = there.endpoint().addresses();
    let id = here.endpoint().connect(&to, 9, LIMIT).expect("connected");
    // The program waits and never polls: it must not keep the thread from the endpoint.
    let begun = Instant::now();
    let migrated = loop {
        here.wait(Duration::from_millis(100));
        match events.try_recv() {
            Ok((What::Event(Event::Migrated { to, .. }), name)) => break (to, name),
            Ok((what, _)) => assert!(matches!(what, What::Event(Event::Armed { .. })), "{what:?}"),
            Err(_) => assert!(begun.elapsed() < LIMIT),
        }
    };
    assert_eq!(migrated, (PathId(1), Some("laneway-paths".to_string())));
    assert_eq!(here.endpoint().get(id).map(|connection| connection.primary()), Ok(PathId(1)));
    // Once it is stopped, nothing is called; the endpoint still answers.
    here.stop();
    while events.try_recv().is_ok() {}
    here.with(|end| end.close(id)).expect("it was open");
    here.stop();
    assert!(events.recv_timeout(Duration::from_millis(20)).is_err());
}

/// A thread that waits hears of what another one has taken from the sockets.
#[test]
fn a_waiter_wakes_when_another_took_the_arrival() {
    let here = Service::start(endpoint()).expect("a service");
    let there = Service::start(endpoint()).expect("a service");
    let to = there.endpoint().addresses();
    let id = here.endpoint().connect(&to, 9, LIMIT).expect("connected");
    let peer = accepted(&there);
    let (heard, mut overslept) = (AtomicU64::new(0), 0);
    thread::scope(|scope| {
        scope.spawn(|| {
            for k in 0..200 {
                until_polled(&there, k);
                heard.store(k + 1, Ordering::Release);
            }
        });
        for k in 0..200 {
            there.with(|end| end.post_receive(peer, k, Vec::with_capacity(8))).expect("room");
            // The other one sleeps by now, most often.
            thread::sleep(Duration::from_micros(200));
            here.with(|end| end.send(id, k, vec![k as u8; 8])).expect("sent");
            let begun = Instant::now();
            while heard.load(Ordering::Acquire) == k {
                // What arrives is taken here.
                there.with(Endpoint::progress);
                assert!(begun.elapsed() < LIMIT);
            }
            overslept += u32::from(begun.elapsed() > Duration::from_millis(50));
        }
    });
    assert!(overslept < 50, "{overslept} of 200 messages");
}

fn until_polled(service: &Service, wanted: u64) {
    loop {
        while let Some(notice) = service.with(Endpoint::poll) {
            match notice.what {
                What::Event(Event::Received { id, .. }) if id == wanted => return,
                What::Event(Event::Armed { .. }) => {}
                other => panic!("{other:?} while {wanted} was awaited"),
            }
        }
        service.wait(LIMIT);
    }
}
