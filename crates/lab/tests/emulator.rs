//! The emulator between two network namespaces: real TCP and UDP over it.

mod emulator_sites;

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use emulator_sites::{ADDRESSES, Sites, find};
use laneway_lab::emulator::{Pipe, Way, open_tun};
use laneway_needs::{Need, program};
use laneway_stats::SplitMix64;

const PORT: u16 = 7000;
const PATIENCE: Duration = Duration::from_secs(10);

/// Whether namespaces and devices can be made here.
fn can_run() -> bool {
    // A thread of its own: the new namespace, and the device in it, go when it ends.
    let tried = thread::spawn(|| {
        // SAFETY: the call takes a number alone, and concerns this thread alone.
        if unsafe { libc::unshare(libc::CLONE_NEWNET) } != 0 {
            let error = io::Error::last_os_error();
            return Err(format!("a network namespace cannot be made: {error}"));
        }
        let tun = open_tun("lwtun");
        tun.map(drop).map_err(|error| format!("a TUN device cannot be made: {error}"))
    });
    let tried = tried.join().expect("the attempt does not panic");
    Need::Namespaces.is_met(program("ip").and(tried))
}

/// Runs one function at each site, at the same time.
fn at_both<A: Send, B: Send>(
    sites: &Sites,
    first: impl FnOnce() -> A + Send,
    second: impl FnOnce() -> B + Send,
) -> (A, B) {
    thread::scope(|scope| {
        let first = scope.spawn(|| {
            sites.enter(0).expect("site 0");
            first()
        });
        let second = scope.spawn(|| {
            sites.enter(1).expect("site 1");
            second()
        });
        (first.join().expect("site 0"), second.join().expect("site 1"))
    })
}

/// A TCP connection from site 0 to site 1.
fn connect<A: Send, B: Send>(
    sites: &Sites,
    first: impl FnOnce(TcpStream) -> A + Send,
    second: impl FnOnce(TcpStream) -> B + Send,
) -> (A, B) {
    let (ready, is_ready) = mpsc::channel();
    let prepare = |connection: TcpStream| {
        connection.set_nodelay(true).expect("no delay");
        connection.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        connection.set_write_timeout(Some(PATIENCE)).expect("a timeout");
        connection
    };
    at_both(
        sites,
        move || {
            is_ready.recv().expect("site 1 listens");
            first(prepare(TcpStream::connect((ADDRESSES[1], PORT)).expect("a connection")))
        },
        move || {
            let listener = TcpListener::bind((ADDRESSES[1], PORT)).expect("a listener");
            ready.send(()).expect("site 0 waits");
            second(prepare(listener.accept().expect("a connection").0))
        },
    )
}

fn start(way: Way, pipes: Vec<Pipe>) -> Sites {
    Sites::new(way, pipes, 1).expect("two sites")
}

/// Seconds of round trips of one byte, in order of size.
fn measure_round_trips(sites: &Sites, count: usize) -> Vec<f64> {
    let ping = |mut connection: TcpStream| {
        let mut byte = [0];
        let mut trip = || {
            let start = Instant::now();
            connection.write_all(&byte).expect("a ping");
            connection.read_exact(&mut byte).expect("a pong");
            start.elapsed().as_secs_f64()
        };
        (0..count).map(|_| trip()).collect::<Vec<f64>>()
    };
    let pong = |mut connection: TcpStream| {
        let mut byte = [0];
        for _ in 0..count {
            connection.read_exact(&mut byte).expect("a ping");
            connection.write_all(&byte).expect("a pong");
        }
    };
    let mut trips = connect(sites, ping, pong).0;
    trips.sort_by(f64::total_cmp);
    trips
}

/// No round trip takes less than `least` seconds, and their median takes `most` at most; what else
/// runs on this machine may delay them, but not four times in a row.
fn expect_round_trips(sites: &Sites, least: f64, most: f64) {
    let is_prompt = (0..4).any(|_| {
        let trips = measure_round_trips(sites, 100);
        println!("least {}, median {}, most {}", trips[0], trips[50], trips[99]);
        assert!(trips[0] >= least, "{}", trips[0]);
        trips[50] <= most
    });
    assert!(is_prompt, "the median is above {most}");
}

#[test]
fn a_round_trip_takes_twice_the_delay() {
    if !can_run() {
        return;
    }
    let sites = start(Way { delay: 0.005, ..Way::default() }, vec![]);
    expect_round_trips(&sites, 0.010, 0.011);
    for command in ["set 0 1 delay 0.001", "set 1 0 delay 0.002"] {
        assert_eq!(sites.command(command).expect("an answer"), "ok");
    }
    expect_round_trips(&sites, 0.003, 0.0035);
    assert_eq!(find(&sites.command("show").expect("an answer"), "1", "lost_packets"), 0.0);
    sites.stop().expect("it ends in order");
}

/// Numbered datagrams from site 0: the numbers that arrived at site 1.
fn send_datagrams(sites: &Sites, count: u32) -> Vec<u32> {
    let (ready, is_ready) = mpsc::channel();
    let send = move || {
        is_ready.recv().expect("site 1 listens");
        let socket = UdpSocket::bind((ADDRESSES[0], 0)).expect("a socket");
        for number in 0..count {
            socket.send_to(&number.to_be_bytes(), (ADDRESSES[1], PORT)).expect("a datagram");
            thread::sleep(Duration::from_micros(50));
        }
    };
    let receive = move || {
        let socket = UdpSocket::bind((ADDRESSES[1], PORT)).expect("a socket");
        socket.set_read_timeout(Some(Duration::from_millis(300))).expect("a timeout");
        ready.send(()).expect("site 0 waits");
        let mut number = [0; 4];
        let mut numbers = Vec::new();
        while socket.recv(&mut number).is_ok() {
            numbers.push(u32::from_be_bytes(number));
        }
        numbers
    };
    at_both(sites, send, receive).1
}

#[test]
fn datagrams_keep_order_by_default() {
    if !can_run() {
        return;
    }
    let sites = start(Way { delay: 0.002, jitter: 0.002, ..Way::default() }, vec![]);
    let numbers = send_datagrams(&sites, 2000);
    assert_eq!(numbers, (0..2000).collect::<Vec<u32>>());
    sites.command("set 0 1 loss 0.25").expect("an answer");
    let numbers = send_datagrams(&sites, 2000);
    // Four standard deviations around three quarters.
    assert!((1422..=1578).contains(&numbers.len()), "{}", numbers.len());
    assert!(numbers.is_sorted(), "loss alone changes no order");
    let shown = sites.command("show").expect("an answer");
    assert_eq!(find(&shown, "0", "lost_packets"), (2000 - numbers.len()) as f64, "{shown}");
    sites.command("set 0 1 loss 0").expect("an answer");
    sites.command("set 0 1 reorder 0.1").expect("an answer");
    let numbers = send_datagrams(&sites, 2000);
    assert_eq!(numbers.len(), 2000);
    assert!(!numbers.is_sorted());
}

#[test]
fn tcp_delivers_every_byte_over_a_bad_network() {
    if !can_run() {
        return;
    }
    let way = Way {
        delay: 0.001,
        loss: 0.01,
        duplicate: 0.01,
        reorder: 0.01,
        corrupt: 0.01,
        ..Way::default()
    };
    let sites = start(way, vec![]);
    let mut draws = SplitMix64::new(3);
    let sent: Vec<u8> = (0..1 << 20).map(|_| draws.next_u64() as u8).collect();
    let send = |mut connection: TcpStream| connection.write_all(&sent).expect("all sent");
    let receive = |mut connection: TcpStream| {
        let mut received = Vec::new();
        connection.read_to_end(&mut received).expect("all received");
        received
    };
    let received = connect(&sites, send, receive).1;
    assert!(received == sent, "{} bytes of {}", received.len(), sent.len());
    let shown = sites.command("show").expect("an answer");
    for key in ["lost", "duplicated", "reordered", "corrupted"] {
        assert!(find(&shown, "0", &format!("{key}_packets")) > 0.0, "{key}: {shown}");
    }
}

#[test]
fn tcp_fills_a_pipe_and_no_more() {
    if !can_run() {
        return;
    }
    let pipe = Pipe { name: "uplink".into(), rate: 10e6, queue_bytes: 1 << 18 };
    let way = Way { delay: 0.002, pipes: vec![0], ..Way::default() };
    let sent = vec![1; 8 << 20];
    let send = |mut connection: TcpStream| connection.write_all(&sent).expect("all sent");
    let receive = |mut connection: TcpStream| {
        let start = Instant::now();
        let copied = io::copy(&mut connection, &mut io::sink()).expect("all received");
        copied as f64 / start.elapsed().as_secs_f64()
    };
    // Headers take 52 bytes of 1500, acknowledgements a little; slow start some round trips. A core
    // that is taken away for a moment costs TCP a loss: one of three runs must fill the pipe, and
    // none may have more.
    let mut rates = Vec::new();
    while rates.len() < 3 && rates.iter().all(|rate| *rate < 8.0e6) {
        let sites = start(way.clone(), vec![pipe.clone()]);
        rates.push(connect(&sites, send, receive).1);
        println!("{rates:?} bytes/s of payload");
    }
    assert!(rates.iter().all(|rate| *rate < 9.7e6), "{rates:?}");
    assert!(rates.iter().any(|rate| *rate >= 8.0e6), "{rates:?}");
}

#[test]
fn nothing_sent_to_the_control_socket_does_harm() {
    if !can_run() {
        return;
    }
    let sites = start(Way { delay: 0.001, ..Way::default() }, vec![]);
    let seed = 5;
    println!("seed {seed}");
    let mut draws = SplitMix64::new(seed);
    for _ in 0..500 {
        let length = draws.index(300);
        let bytes: Vec<u8> = (0..length).map(|_| draws.next_u64() as u8).collect();
        let answer = sites.command_bytes(&bytes).expect("an answer");
        assert!(answer.starts_with("error: "), "{bytes:?}: {answer}");
    }
    assert!(sites.command("set 0 7 delay 1").expect("an answer").starts_with("error: "));
    assert!(measure_round_trips(&sites, 5)[0] >= 0.002);
}

/// The emulator goes on for the other sites, and does not turn in circles.
#[test]
fn a_device_may_go() {
    if !can_run() {
        return;
    }
    let sites = start(Way::default(), vec![]);
    sites.remove_device(0).expect("the device goes");
    thread::sleep(Duration::from_millis(300));
    let send = || {
        let socket = UdpSocket::bind((ADDRESSES[1], 0)).expect("a socket");
        socket.send_to(&[1], (ADDRESSES[0], PORT)).expect("a datagram");
        thread::sleep(Duration::from_millis(50));
    };
    at_both(&sites, || (), send);
    let shown = sites.command("show").expect("an answer");
    assert!(shown.contains(" unwritten=1 "), "{shown}");
    let busy = sites.stop().expect("it ends in order");
    assert!(busy < 0.1, "{busy} seconds");
}
