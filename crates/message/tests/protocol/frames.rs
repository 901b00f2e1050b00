//! Frames that no rank of this program sends: each ends the engine with a sentence.

use laneway_core::{Comm, CommError};
use laneway_message::{HEADER, Header, Kind};

use crate::link::{EAGER, Hub};
use crate::{LONG, bytes};

/// What rank 0 says of a frame from rank 1.
fn said_of(bytes: &[u8]) -> String {
    let hub = Hub::new(2);
    hub.inject(1, 0, bytes);
    let comm = hub.comm(0, 0, LONG);
    let error = comm.probe(Some(1), Some(1), true).expect_err("a broken frame");
    assert!(matches!(error, CommError::System { .. }), "{error:?}");
    assert_eq!(comm.recv(None, None, &mut []), Err(error.clone()), "the first error stays");
    error.to_string()
}

#[test]
fn a_frame_that_breaks_the_protocol_is_named() {
    let frame = |kind, len| Header { kind, tag: 1, context: 9, len, mine: 5, slot: 6 }.encode();
    let cases: [(&[u8; HEADER], &str); 5] = [
        (&[0xff; HEADER], "a frame of unknown kind 65535"),
        (&frame(Kind::Accept, 0), "accept for unknown offer 6"),
        (&frame(Kind::Data, 4), "unknown receive slot 6"),
        (&frame(Kind::Eager, EAGER as u64 + 1), "301 bytes that it did not offer first"),
        (&frame(Kind::Eager, u64::MAX), "18446744073709551615 bytes that it did not offer first"),
    ];
    for (bytes, due) in cases {
        let said = said_of(bytes);
        assert_eq!(said, format!("the stream from rank 1 is broken: {due}"));
    }
}

/// The other end of an offer must be the one that it was made to.
#[test]
fn an_offer_is_accepted_by_its_receiver_alone() {
    let hub = Hub::new(3);
    let comm = hub.comm(0, 0, LONG);
    let data = vec![1; 2 * EAGER];
    let mut queue = comm.queue();
    // SAFETY: the data outlives the queue.
    unsafe { queue.send(0, 1, 4, data.as_ptr(), data.len()) }.unwrap();
    let accept = Header { kind: Kind::Accept, tag: 0, context: 0, len: 0, mine: 0, slot: 0 };
    hub.inject(2, 0, &accept.encode());
    let error = queue.wait(&mut Vec::new()).expect_err("rank 2 has no part in it");
    assert!(error.to_string().contains("rank 2 is broken: accept for unknown offer 0"), "{error}");
}

/// The frames of a stream, with their payloads.
fn frames(mut stream: &[u8]) -> Vec<(Header, &[u8])> {
    let mut frames = Vec::new();
    while let Some((head, rest)) = stream.split_first_chunk() {
        let header = Header::decode(0, head).expect("a header");
        let (payload, rest) = rest.split_at(header.payload() as usize);
        frames.push((header, payload));
        stream = rest;
    }
    frames
}

/// A long message that its receiver has asked for does not keep short ones back until its end.
#[test]
fn a_short_message_leaves_between_the_parts_of_a_long_one() {
    let hub = Hub::new(2);
    let comm = hub.comm(0, 0, LONG);
    let (long, other, short) = (bytes(1, 1 << 20), bytes(2, 700_000), bytes(3, 8));
    let (mut queue, mut done) = (comm.queue(), Vec::new());
    for data in [&long, &other] {
        // SAFETY: the data outlives the queue.
        unsafe { queue.send(0, 1, 4, data.as_ptr(), data.len()) }.unwrap();
    }
    let accept =
        |slot| Header { kind: Kind::Accept, tag: 0, context: 0, len: 0, mine: slot + 7, slot };
    hub.inject(1, 0, &accept(0).encode());
    let mut stream = hub.drain(0, 1);
    queue.test(&mut done).unwrap();
    // SAFETY: the data outlives the queue.
    unsafe { queue.send(1, 1, 5, short.as_ptr(), short.len()) }.unwrap();
    hub.inject(1, 0, &accept(1).encode());
    while done.len() < 3 {
        queue.test(&mut done).unwrap();
        stream.extend(hub.drain(0, 1));
    }
    let frames = frames(&stream);
    let kinds: Vec<Kind> = frames[..4].iter().map(|(header, _)| header.kind).collect();
    assert_eq!(kinds, [Kind::Offer, Kind::Offer, Kind::Data, Kind::Eager]);
    assert_eq!(frames[3].1, short);
    let parts = frames.iter().filter(|(header, _)| header.kind == Kind::Data);
    let slots: Vec<u32> = parts.map(|(header, _)| header.slot).collect();
    assert_eq!(slots[..6], [7, 8, 7, 8, 7, 8], "two long messages take turns");
    for (slot, data) in [(7, long), (8, other)] {
        let parts =
            frames.iter().filter(|(header, _)| header.kind == Kind::Data && header.slot == slot);
        let whole: Vec<u8> = parts.flat_map(|(_, payload)| payload.to_vec()).collect();
        assert!(whole == data, "{} bytes of {}", whole.len(), data.len());
    }
}

/// What rank 0 says where the parts of an offered message of 1,000 bytes have these lengths.
fn said_of_parts(lengths: &[u64]) -> Result<(), String> {
    let hub = Hub::new(2);
    let comm = hub.comm(0, 0, LONG);
    let offer =
        Header { kind: Kind::Offer, tag: 4, context: 0, len: 1000, mine: 5, slot: u32::MAX };
    hub.inject(1, 0, &offer.encode());
    for &len in lengths {
        let part = Header { kind: Kind::Data, tag: 0, context: 0, len, mine: 0, slot: 0 };
        hub.inject(1, 0, &part.encode());
        hub.inject(1, 0, &bytes(0, len as usize));
    }
    let mut into = vec![0; 1000];
    let received = comm.recv(Some(1), Some(4), &mut into);
    received
        .and_then(|_| comm.probe(Some(1), Some(9), false))
        .map(|_| ())
        .map_err(|e| e.to_string())
}

#[test]
fn parts_must_add_up_to_the_message() {
    assert_eq!(said_of_parts(&[400, 600]), Ok(()));
    let broken = |what: &str| Err(format!("the stream from rank 1 is broken: {what}"));
    assert_eq!(said_of_parts(&[400, 700]), broken("700 of the last 600 bytes"));
    assert_eq!(said_of_parts(&[400, 0]), broken("0 of the last 600 bytes"));
    assert_eq!(said_of_parts(&[400, 600, 1]), broken("unknown receive slot 0"));
}
