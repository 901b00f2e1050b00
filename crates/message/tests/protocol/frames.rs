//! Frames that no rank of this program sends: each ends the engine with a sentence.

use laneway_core::{Comm, CommError};
use laneway_message::{HEADER, Header, Kind};

use crate::LONG;
use crate::link::{EAGER, Hub};

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
