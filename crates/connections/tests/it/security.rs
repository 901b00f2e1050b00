//! What others on the network can do to connections: nothing that is not refused and counted.

use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use laneway_connections::{Endpoint, LocalPath, Options, Secret, Security, Setup, What};
use laneway_path::Event;

const LIMIT: Duration = Duration::from_secs(20);
/// Long enough for what loopback would bring.
const MOMENT: Duration = Duration::from_millis(300);

fn endpoint(security: Security) -> Endpoint {
    let local = LocalPath::at(SocketAddr::from(([127, 0, 0, 1], 0)));
    let secret = Secret::from_bytes(b"the secret of both endpoints").expect("long enough");
    let setup = Setup { security: Some(security), ..Setup::usual() };
    let options = Options { paths: vec![local; 2], secret, accepts: true, setup };
    Endpoint::open(options).expect("an endpoint")
}

/// What both ends have said of connections within a moment.
fn news(ends: &mut [&mut Endpoint]) -> Vec<What> {
    let (begun, mut all) = (Instant::now(), Vec::new());
    while begun.elapsed() < MOMENT {
        for end in &mut *ends {
            end.progress();
            all.extend(std::iter::from_fn(|| end.poll()).map(|notice| notice.what));
        }
    }
    all
}

fn socket() -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    socket.set_read_timeout(Some(LIMIT)).expect("a limit");
    socket
}

#[test]
fn messages_arrive_under_every_kind_of_security() {
    for security in Security::ALL {
        let [mut here, mut there] = [(); 2].map(|()| endpoint(security));
        let id = here.begin_open(&there.addresses(), 1, LIMIT).expect("begun");
        let lengths = [0, 1, 255, 256, 257, 1000, 1401, 100_000, 1 << 20];
        let message =
            |k: usize| -> Vec<u8> { (0..lengths[k]).map(|i| (i * 31 + k) as u8).collect() };
        let (begun, mut arrived, mut connected) = (Instant::now(), 0, false);
        while arrived < lengths.len() {
            assert!(begun.elapsed() < LIMIT, "{security:?}: {arrived} arrived");
            here.progress();
            there.progress();
            while let Some(notice) = here.poll() {
                if !connected && notice.what == What::Connected {
                    connected = true;
                    for k in 0..lengths.len() {
                        here.send(id, k as u64, message(k)).expect("sent");
                    }
                }
            }
            while let Some(notice) = there.poll() {
                match notice.what {
                    What::Accepted { .. } => {
                        for k in 0..lengths.len() {
                            let room = Vec::with_capacity(1 << 20);
                            there.post_receive(notice.connection, k as u64, room).expect("room");
                        }
                    }
                    What::Event(Event::Received { id, message: bytes }) => {
                        assert!(bytes == message(arrived), "{security:?}, message {id}");
                        arrived += 1;
                    }
                    _ => {}
                }
            }
        }
        assert_eq!((here.dropped().forged, there.dropped().forged), (0, 0));
    }
}

#[test]
fn ends_that_want_different_security_refuse_each_other() {
    for (ours, theirs) in [
        (Security::Encrypt, Security::Authenticate),
        (Security::Authenticate, Security::Encrypt),
        (Security::Authenticate, Security::Trust),
        (Security::Trust, Security::Authenticate),
    ] {
        let (mut here, mut there) = (endpoint(ours), endpoint(theirs));
        here.begin_open(&there.addresses(), 1, MOMENT / 2).expect("begun");
        assert_eq!(news(&mut [&mut here, &mut there]), [What::NoAnswer], "{ours:?} {theirs:?}");
        assert!(there.dropped().refused > 0, "{ours:?} {theirs:?}");
    }
}

/// A network that brings packets to another process of the same job: both ends refuse.
#[test]
fn an_end_answers_only_where_it_was_called() {
    let (mut here, mut there) = (endpoint(Security::default()), endpoint(Security::default()));
    let relay = socket();
    relay.set_nonblocking(true).expect("a socket");
    let called = [relay.local_addr().expect("an address")];
    let (own, wrong) = (here.addresses()[0], there.addresses()[0]);
    here.begin_open(&called, 1, LIMIT).expect("begun");
    let (begun, mut passed) = (Instant::now(), 0);
    let mut buffer = [0; 2000];
    while begun.elapsed() < MOMENT {
        here.progress();
        there.progress();
        while let Ok((bytes, from)) = relay.recv_from(&mut buffer) {
            let to = if from == own { wrong } else { own };
            relay.send_to(&buffer[..bytes], to).expect("sent");
            passed += 1;
        }
    }
    assert!(passed > 0);
    assert_eq!(news(&mut [&mut here, &mut there]), [], "nothing is open");
    assert!(there.dropped().refused > 0);
}

#[test]
fn reflected_replayed_and_changed_hellos_are_refused() {
    let (mut here, mut there) = (endpoint(Security::default()), endpoint(Security::default()));
    let stranger = socket();
    here.begin_open(&[stranger.local_addr().expect("an address")], 1, LIMIT).expect("begun");
    let mut hello = [0; 2000];
    let (bytes, from) = stranger.recv_from(&mut hello).expect("a hello");
    let hello = &hello[..bytes];
    stranger.send_to(hello, from).expect("sent");
    stranger.send_to(hello, there.addresses()[0]).expect("sent");
    // The byte that says what packets are protected against, lowered to trust.
    let mut lowered = hello.to_vec();
    assert_eq!(std::mem::replace(&mut lowered[5], 0), 1);
    stranger.send_to(&lowered, there.addresses()[0]).expect("sent");
    assert_eq!(news(&mut [&mut here, &mut there]), []);
    assert_eq!((here.dropped().refused, there.dropped().refused), (1, 2));
    stranger.set_nonblocking(true).expect("a socket");
    let mut again = [0; 2000];
    while let Ok((bytes, _)) = stranger.recv_from(&mut again) {
        assert_eq!(again[0], hello[0], "{bytes} bytes that are not another hello");
    }
}
