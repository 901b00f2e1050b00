//! A small ring in every order of its two ends that loom finds.

use loom::thread;
use std::sync::Arc;

use super::*;

/// Four lines, so that the fifth piece goes round, before the cells do.
const STRETCH: usize = 4 * LINE;

/// The memory of one ring.
struct Memory {
    cells: Vec<Cell>,
    consumed: Consumed,
    bytes: Vec<u8>,
    watches: Vec<Watch>,
}

// SAFETY: what the model is about: atomics and watches order all other accesses.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    fn new() -> Arc<Memory> {
        let cell = || Cell {
            number: AtomicU32::new(0),
            piece: 0,
            header: [0; HEADER],
            inline: [0; INLINE],
            watch: Watch::new(),
        };
        Arc::new(Memory {
            cells: std::iter::repeat_with(cell).take(CELLS as usize).collect(),
            consumed: Consumed { cells: AtomicU32::new(0), bytes: AtomicU32::new(0) },
            bytes: vec![0; STRETCH],
            watches: std::iter::repeat_with(Watch::new).take(STRETCH / LINE).collect(),
        })
    }

    fn parts(&self) -> Parts {
        Parts {
            cells: self.cells.as_ptr().cast_mut(),
            consumed: &self.consumed,
            bytes: self.bytes.as_ptr().cast_mut(),
            watches: Watches::of(&self.watches),
            capacity: STRETCH as u32,
        }
    }
}

fn send_all(parts: Parts, lens: &[usize]) {
    let mut writer = Writer::over(parts);
    for (number, &len) in lens.iter().enumerate() {
        let data = vec![number as u8 + 1; len];
        let header = Header::eager(number as u32, 5, len);
        let mut sent = None;
        while sent != Some(len) {
            let before = sent;
            // SAFETY: the data outlives the calls.
            sent = unsafe {
                match sent {
                    None => writer.begin(&header, data.as_ptr(), len),
                    Some(sent) => Some(sent + writer.more(data[sent..].as_ptr(), len - sent)),
                }
            };
            if sent == before {
                thread::yield_now();
            }
        }
    }
}

fn receive_all(parts: Parts, lens: &[usize]) {
    let mut reader = Reader::over(parts);
    for (number, &len) in lens.iter().enumerate() {
        let header = loop {
            match reader.open(0).expect("a whole header") {
                Some((header, _)) => break header,
                None => thread::yield_now(),
            }
        };
        assert_eq!(header, Header::eager(number as u32, 5, len));
        let (mut back, mut taken) = (vec![0; len], 0);
        while taken < len {
            // SAFETY: the buffer has so much room left.
            match unsafe { reader.take(back[taken..].as_mut_ptr(), len - taken) } {
                (0, _) => thread::yield_now(),
                (count, _) => taken += count,
            }
        }
        assert!(back.iter().all(|&byte| byte == number as u8 + 1));
    }
}

/// Every order of the two ends with a limited number of preemptions.
fn check(lens: &'static [usize]) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(4);
    model.check(move || {
        let memory = Memory::new();
        let other = memory.clone();
        let writer = thread::spawn(move || send_all(other.parts(), lens));
        receive_all(memory.parts(), lens);
        writer.join().expect("a writer that ends well");
    });
}

#[test]
fn short_messages_go_round_the_cells() {
    check(&[3, INLINE, 0, 1, 2, 4, 5, 6, 7, 8]);
}

#[test]
fn long_messages_go_round_the_stretch() {
    check(&[4 * LINE, LINE + 1]);
}
