//! Streams of one process to itself: frames in any pieces, damaged ones, strangers.

use std::io::Write;
use std::net::TcpStream;

use laneway_stats::SplitMix64;

use super::*;

/// Streams with one that is open, and the other end of that.
fn open(bytes_at_once: bool) -> (Streams, StreamId, TcpStream) {
    let readiness = Arc::new(Readiness::new().expect("a descriptor"));
    let mut streams = Streams::new(readiness);
    let udp = std::net::UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let at = udp.local_addr().expect("an address");
    let listener = Listener::open(at, None).expect("a free port");
    streams.add_path(Some(listener), None).expect("room");
    let peer = TcpStream::connect(at).expect("a listener");
    peer.set_nodelay(bytes_at_once).expect("an option");
    while streams.places.is_empty() {
        streams.accept(0, 0);
    }
    let stream = StreamId { place: 0, number: 1 };
    assert_eq!(streams.get(stream).map(|found| found.0), Some(Stage::Unproven));
    streams.open(stream, 7);
    (streams, stream, peer)
}

/// All frames that have arrived; false once the stream is lost.
fn take(
    streams: &mut Streams,
    stream: StreamId,
    buffer: &mut [u8],
    all: &mut Vec<Vec<u8>>,
) -> bool {
    while let Some(Frames { first, bytes }) = streams.receive(stream, buffer) {
        if let Some((mut first, length)) = first {
            all.extend(frames(&mut first[..length]).map(|frame| frame.to_vec()));
            streams.put_buffer(first);
        }
        all.extend(frames(&mut buffer[..bytes]).map(|frame| frame.to_vec()));
    }
    streams.get(stream).is_some()
}

fn framed(frame: &[u8]) -> Vec<u8> {
    [&(frame.len() as u32).to_be_bytes()[..], frame].concat()
}

#[test]
fn frames_arrive_whole_however_they_are_cut() {
    let mut random = SplitMix64::new(11);
    let (mut streams, stream, mut peer) = open(true);
    let mut buffer = vec![0; 512 << 10];
    let (mut sent, mut taken) = (Vec::new(), Vec::new());
    for _ in 0..400 {
        let longest = [10, 300, 70_000, 300_000][random.index(4)];
        let length = 1 + random.index(longest);
        let frame: Vec<u8> = (0..length).map(|_| random.next_u64() as u8).collect();
        let bytes = framed(&frame);
        sent.push(frame);
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let most = [3, 5000, 1 << 20][random.index(3)];
            let (part, others) = rest.split_at(1 + random.index(rest.len().min(most)));
            peer.write_all(part).expect("open");
            rest = others;
            assert!(take(&mut streams, stream, &mut buffer, &mut taken));
        }
    }
    while taken.len() < sent.len() {
        assert!(take(&mut streams, stream, &mut buffer, &mut taken));
    }
    assert!(taken == sent, "the same frames in the same order");
    let place = streams.place(stream).expect("it is there");
    assert_eq!((place.partial.filled, place.wakes_at), (0, 1), "nothing is kept");
}

/// Damaged lengths and random bytes end a stream, and nothing else.
#[test]
fn bytes_that_are_no_frames_end_their_stream() {
    let mut random = SplitMix64::new(12);
    let mut buffer = vec![0; 512 << 10];
    let mut lost = 0;
    for round in 0..200 {
        let (mut streams, stream, mut peer) = open(false);
        let mut bytes: Vec<u8> = (0..1 + random.index(20))
            .flat_map(|_| framed(&vec![7; 1 + random.index(3000)]))
            .collect();
        match round % 3 {
            0 => bytes.iter_mut().for_each(|byte| *byte = random.next_u64() as u8),
            1 => bytes.truncate(random.index(bytes.len())),
            _ => {
                let place = random.index(bytes.len());
                bytes[place] ^= 1 << random.index(8);
            }
        }
        peer.write_all(&bytes).expect("a buffer");
        drop(peer);
        let mut taken = Vec::new();
        while take(&mut streams, stream, &mut buffer, &mut taken) {}
        assert!(taken.iter().map(Vec::len).sum::<usize>() <= bytes.len());
        assert_eq!(streams.next_change(), Some(Change::Lost { owner: 7, path: 0, stream }));
        assert_eq!((streams.opening, streams.unproven), (0, 0));
        lost += 1;
    }
    assert_eq!(lost, 200);
}

#[test]
fn peers_without_proof_are_few_and_let_go() {
    let (mut streams, _, _peer) = open(true);
    let at = {
        let mut address = crate::system::address::RawAddress::empty();
        let mut len = address.len();
        let fd = streams.listeners[0].as_ref().expect("a listener").fd();
        // SAFETY: the storage has as many bytes as `len` says.
        unsafe { libc::getsockname(fd, address.as_mut_ptr(), &raw mut len) };
        address.get().expect("an address")
    };
    let _others: Vec<TcpStream> =
        (0..2 * MOST_UNPROVEN).map(|_| TcpStream::connect(at).expect("a backlog")).collect();
    streams.accept(5, 0);
    assert_eq!((streams.unproven, streams.opening), (MOST_UNPROVEN, MOST_UNPROVEN));
    assert_eq!(streams.next_at(), Some(5 + PROOF_WITHIN));
    streams.on_timeout(4 + PROOF_WITHIN);
    assert_eq!(streams.unproven, MOST_UNPROVEN);
    streams.on_timeout(5 + PROOF_WITHIN);
    assert_eq!((streams.unproven, streams.opening, streams.next_at()), (0, 0, None));
}

#[test]
fn a_stream_that_takes_the_place_of_a_lost_one_is_another() {
    let (mut streams, lost, _peer) = open(true);
    streams.lose(lost);
    let at = streams.listeners[0].as_ref().map(Listener::fd).expect("a listener");
    // SAFETY: the descriptor stays open for the call.
    let listener = unsafe { std::os::fd::BorrowedFd::borrow_raw(at) };
    let address = std::net::TcpListener::from(listener.try_clone_to_owned().expect("a copy"));
    let address = address.local_addr().expect("an address");
    let _next = TcpStream::connect(address).expect("a listener");
    while streams.at(lost.line(0)).is_none() {
        streams.accept(0, 0);
    }
    let next = streams.at(lost.line(0)).expect("it has the place");
    assert_ne!(next, lost);
    assert!(streams.get(lost).is_none() && streams.get(next).is_some());
    // What was said of the first one does not close the second.
    assert_eq!(streams.next_change(), Some(Change::Lost { owner: 7, path: 0, stream: lost }));
    streams.close(lost);
    assert_eq!(streams.get(next).map(|found| found.0), Some(Stage::Unproven));
}
