//! A document that tests draw.

use laneway_core::{Document, Row};

/// Two algorithms of one operation, out of order, one with intervals; and a stream of messages.
pub fn document() -> Document {
    let bcast = |algorithm: &str, size: u32, time: f64| {
        Row::new()
            .with("op", "bcast")
            .with("algorithm", algorithm)
            .with("ranks", 16u32)
            .with("size_bytes", size)
            .with("time_us", time)
    };
    let sure = |row: Row, low: f64, high: f64| row.with("ci_low_us", low).with("ci_high_us", high);
    let stream = Row::new()
        .with("pattern", "stream")
        .with("from", 0u32)
        .with("to", 1u32)
        .with("size_bytes", 1024u32)
        .with("bandwidth_mb_s", 512.0);
    Document {
        verb: "measure",
        env: Row::new().with("host", "node<1>"),
        params: Row::new().with("seed", 7u32),
        rows: vec![
            sure(bcast("binomial", 1024, 20.0), 19.0, 21.5),
            sure(bcast("binomial", 8, 2.5), 2.25, 2.75),
            bcast("linear's", 8, 0.004),
            bcast("linear's", 16, 0.0),
            stream,
        ],
        summary: None,
    }
}
