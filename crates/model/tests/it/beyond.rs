//! What the validation must see: platforms that no such model describes, and those that it must not
//! refuse.

use crate::clusters;

use laneway_model::{Fitted, ModelKind, Request, fit};
use laneway_sim::platform::Platform;

fn fitted(text: &str) -> Fitted {
    let platform = Platform::parse("one", text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let request = Request { budget: 1e6, ..Request::default() };
    let found = clusters::estimated(&platform, &request).expect("experiments");
    fit(&found, ModelKind::Lmo).expect("a model")
}

/// Two sites, two hosts of each, in turn: cards out and in, in Mbit/s.
fn two_sites(top: &str, cards: [[f64; 2]; 4]) -> String {
    let mut text = format!(
        "{top}\n[[site]]\nname = \"a\"\nlatency = \"5us\"\n[[site]]\nname = \"b\"\n\
         latency = \"50us\"\n"
    );
    for (host, ([out, into], site)) in cards.into_iter().zip(["a", "b", "a", "b"]).enumerate() {
        text += &format!(
            "[[host]]\nname = \"h{host}\"\nsite = \"{site}\"\nrate-out = \"{out}Mbit\"\n\
             rate-in = \"{into}Mbit\"\nsend = \"2us\"\nreceive = \"1us\"\nper-byte = \"0.2ns\"\n"
        );
    }
    text + "[wan]\nlatency = \"1600us\"\nconnection = \"370Mbit\"\n"
}

#[test]
fn ways_that_share_a_card_unequally_are_seen() {
    let cards = [[78.0, 78.0], [550.0, 275.0], [19.0, 9.5], [49.0, 49.0]];
    let equal = fitted(&two_sites("eager = 65536", cards));
    assert!(equal.quality.holds() && equal.quality.beyond().is_none(), "{:?}", equal.quality);
    let unequal = fitted(&two_sites("eager = 65536\nsharing = \"by-latency\"", cards));
    let (holds, beyond) = (unequal.quality.holds(), unequal.quality.beyond());
    assert!(!holds || beyond.is_some(), "{:?}", unequal.quality);
}

#[test]
fn headers_that_fill_slow_cards_are_seen() {
    let cards = [[18.0, 18.0], [125.0, 25.0], [68.0, 68.0], [12.0, 2.4]];
    let plain = fitted(&two_sites("eager = 1048576\nin-order = false", cards));
    assert!(plain.quality.holds() && plain.quality.beyond().is_none(), "{:?}", plain.quality);
    let headers = fitted(&two_sites("eager = 1048576\nin-order = false\nheader = 1500", cards));
    let (holds, beyond) = (headers.quality.holds(), headers.quality.beyond());
    assert!(!holds || beyond.is_some(), "{:?}", headers.quality);
}

/// Where nothing is eager, two messages that hardly meet on a card do not deny it.
#[test]
fn uneven_cards_without_eager_messages_are_not_refused() {
    let mut text = String::from("eager = 0\nin-order = false\n");
    for (site, latency) in [11, 30, 24].into_iter().enumerate() {
        text += &format!("[[site]]\nname = \"q{site}\"\nlatency = \"{latency}us\"\n");
    }
    let hosts = [
        (4000, 4.0, 9.1, 0.31),
        (2000, 4.1, 4.3, 0.64),
        (4000, 2.4, 3.1, 0.34),
        (4000, 5.8, 3.0, 0.16),
        (2000, 2.8, 1.6, 0.26),
        (1000, 0.6, 8.7, 0.91),
        (1000, 0.6, 4.4, 0.33),
    ];
    for (number, (rate, send, receive, per_byte)) in hosts.into_iter().enumerate() {
        text += &format!(
            "[[host]]\nname = \"h{number}\"\nsite = \"q{}\"\nrate-out = \"{rate}Mbit\"\n\
             rate-in = \"{rate}Mbit\"\nsend = \"{send}us\"\nreceive = \"{receive}us\"\n\
             per-byte = \"{per_byte}ns\"\n",
            number % 3
        );
    }
    let found = fitted(&(text + "[wan]\nlatency = \"4200us\"\nconnection = \"2000Mbit\"\n"));
    assert!(found.quality.holds(), "{:?}", found.quality);
}
