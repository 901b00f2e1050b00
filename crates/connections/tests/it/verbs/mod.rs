//! Every driver that can run here holds the same conversation; those of libibverbs over a library
//! that stands in for it, because no test machine has a device.

mod faults;
mod inputs;
mod standin;
mod talk;

use std::time::{Duration, Instant};

use laneway_connections::{Endpoint, LocalPath, Options, Secret, What, simulated};
use laneway_path::{Event, PathId};
use standin::{path, standin, two_ports};
use talk::{LIMIT, Talk, by_hand, converse};

#[test]
fn over_udp() {
    let options = || Options {
        paths: vec![LocalPath::at("127.0.0.1:0".parse().expect("address")); 2],
        secret: Secret::from_bytes(b"the secret of both endpoints").expect("long"),
        accepts: true,
        setup: by_hand(),
    };
    let mut ends = [(); 2].map(|()| Endpoint::open(options()).expect("an endpoint"));
    let to = ends[1].addresses();
    let opened = ends[0].begin_open(&to, 1, LIMIT).expect("begun");
    let (begun, mut connected, mut accepted) = (Instant::now(), false, None);
    while !connected || accepted.is_none() {
        assert!(begun.elapsed() < LIMIT, "no connection");
        ends.iter_mut().for_each(|end| _ = end.progress());
        connected |= ends[0].poll().is_some_and(|notice| notice.what == What::Connected);
        accepted = accepted.or(ends[1].poll().map(|notice| notice.connection));
    }
    let [a, b] = &mut ends;
    converse([a, b], [opened, accepted.expect("accepted")]);
}

#[test]
fn in_virtual_time() {
    let latency = Duration::from_micros(50);
    let (_, [mut a, mut b]) = simulated::pair(2, latency, &by_hand()).expect("two paths");
    let ids = [a.connection(), b.connection()];
    converse([&mut a, &mut b], ids);
    assert!(simulated::pair(0, latency, &by_hand()).is_err());
    assert!(simulated::pair(9, latency, &by_hand()).is_err());
}

/// The same in every run, a path that drops everything included.
#[test]
fn virtual_time_repeats_itself() {
    let run = || {
        let setup = laneway_connections::Setup::usual();
        let made = simulated::pair(2, Duration::from_micros(50), &setup);
        let (network, [mut a, mut b]) = made.expect("two paths");
        let ids = [a.connection(), b.connection()];
        let mut talk = Talk::new([&mut a, &mut b], ids);
        talk.until_armed();
        network.set_carries(PathId(0), false).expect("known");
        assert!(network.set_carries(PathId(9), false).is_err());
        // Data is diverted at once, and the connection follows when the path is certainly dead.
        talk.exchange(20);
        let migrated = |event: &Event| matches!(event, Event::Migrated { .. });
        talk.until("migrated", |talk| talk.events[0].iter().any(migrated));
        assert_eq!(talk.status(0).primary, PathId(1));
        (network.now(), talk.events)
    };
    assert_eq!(run(), run());
}

#[test]
fn migrated_by_the_device() {
    let Some(standin) = standin() else { return };
    let mut pair = standin.pair(&two_ports("ib0"), by_hand());
    assert!(pair.ends[0].describe().contains("hardware migration on ib0: untested on hardware"));
    let [a, b] = &mut pair.ends;
    converse([&mut **a, &mut **b], pair.ids);
    drop(pair);
    assert_eq!(standin.objects(), 0, "everything is given back");
}

/// Two routes to the same port, by path bits.
#[test]
fn migrated_by_the_device_between_addresses_of_one_port() {
    let Some(standin) = standin() else { return };
    let mut pair = standin.pair(&[path("ib0", 2, 0), path("ib0", 2, 3)], by_hand());
    assert_eq!(pair.at[0][1].lid, pair.at[0][0].lid + 3);
    let [a, b] = &mut pair.ends;
    converse([&mut **a, &mut **b], pair.ids);
}

#[test]
fn migrated_in_software_on_roce() {
    let Some(standin) = standin() else { return };
    let mut pair = standin.pair(&two_ports("roce0"), by_hand());
    let said = pair.ends[0].describe();
    assert!(said.contains("software migration on roce0 port 1 and roce0 port 2: untested"));
    let [a, b] = &mut pair.ends;
    converse([&mut **a, &mut **b], pair.ids);
    drop(pair);
    assert_eq!(standin.objects(), 0, "everything is given back");
}

/// No device migrates to another device's port.
#[test]
fn migrated_in_software_between_two_devices() {
    let Some(standin) = standin() else { return };
    let mut pair = standin.pair(&[path("ib0", 1, 0), path("roce0", 1, 0)], by_hand());
    let [a, b] = &mut pair.ends;
    converse([&mut **a, &mut **b], pair.ids);
}

/// A waiter is woken by a message, and not before.
#[test]
fn a_message_ends_a_wait() {
    let Some(standin) = standin() else { return };
    for device in ["ib0", "roce0"] {
        let pair = standin.pair(&two_ports(device), by_hand());
        let ([mut here, mut there], [to, of]) = (pair.ends, pair.ids);
        while there.poll().is_some() {}
        there.post_receive(of, 5, Vec::with_capacity(64)).expect("posted");
        let begun = Instant::now();
        let sender = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(100));
            here.send(to, 1, b"wake up".to_vec()).expect("sent");
            here
        });
        let received = loop {
            assert!(begun.elapsed() < LIMIT);
            there.wait(Duration::from_secs(10));
            match there.poll().map(|notice| notice.what) {
                Some(What::Event(Event::Received { message, .. })) => break message,
                Some(other) => panic!("{other:?}"),
                None => {}
            }
        };
        let taken = begun.elapsed();
        assert_eq!(received, b"wake up");
        assert!(taken >= Duration::from_millis(100) && taken < Duration::from_secs(5), "{taken:?}");
        drop(sender.join().expect("it ends"));
    }
}
