//! A ring in one thread, and between two.

use super::*;

/// An interpreter takes its time: it sees fewer rounds, of the same lengths.
const STEP: usize = if cfg!(miri) { 61 } else { 1 };

fn pair(len: usize) -> (Writer, Reader, Vec<Cell>) {
    let mut memory: Vec<Cell> = Vec::new();
    memory.resize_with(len / LINE, || Cell {
        number: AtomicU32::new(0),
        piece: 0,
        header: [0; HEADER],
        inline: [0; INLINE],
        watch: Watch,
    });
    let channel = (memory.as_mut_ptr().cast::<u8>(), len);
    (Writer::new(channel), Reader::new(channel), memory)
}

#[test]
fn messages_of_every_length_pass_in_order_over_many_laps() {
    for channel in [8 << 10, 16 << 10, 64 << 10] {
        let (mut writer, mut reader, _memory) = pair(channel);
        for round in (0..400usize).step_by(STEP) {
            let len = round * 37 % 9001;
            let data: Vec<u8> = (0..len).map(|i| (i * 7 + round) as u8).collect();
            let header = Header::eager(round as u32, 5, len);
            let mut back = vec![0u8; len];
            // SAFETY: both buffers outlive the calls.
            unsafe {
                let mut sent = writer.begin(&header, data.as_ptr(), len).unwrap();
                let (got, _) = reader.open(0).unwrap().unwrap();
                assert_eq!(got, header);
                let mut taken = 0;
                while taken < len {
                    let (n, _) = reader.take(back.as_mut_ptr().add(taken), len - taken);
                    taken += n;
                    let m = writer.more(data.as_ptr().add(sent), len - sent);
                    sent += m;
                    assert!(n + m > 0, "both stand at {taken} of {len}");
                }
            }
            assert_eq!(back, data, "round {round}");
            assert!(!reader.ready());
        }
    }
}

#[test]
fn a_full_ring_refuses_and_goes_on_after_reading() {
    let (mut writer, mut reader, _memory) = pair(8 << 10);
    let data = [3u8; 100];
    let header = Header::eager(1, 2, 100);
    let mut sent = 0;
    // SAFETY: the data outlives the calls.
    while unsafe { writer.begin(&header, data.as_ptr(), 100) } == Some(100) {
        sent += 1;
    }
    assert!((20..=CELLS).contains(&sent), "{sent} frames in flight");
    for _ in 0..sent {
        let mut back = [0u8; 100];
        assert!(reader.open(0).unwrap().is_some());
        let mut taken = 0;
        while taken < 100 {
            // SAFETY: the buffer has so much room left.
            let count = unsafe { reader.take(back.as_mut_ptr().add(taken), 100 - taken).0 };
            assert!(count > 0, "a whole frame was sent, and {taken} bytes came");
            taken += count;
        }
        assert_eq!(back, data);
    }
    // SAFETY: the data outlives the call.
    assert!(unsafe { writer.begin(&header, data.as_ptr(), 100) }.is_some());
}

/// One end of a ring for another thread.
struct Across<T>(T);

// SAFETY: an end is used by one thread alone, and the memory outlives both threads.
unsafe impl<T> Send for Across<T> {}

#[test]
fn two_threads_pass_messages_of_every_kind() {
    let (writer, reader, _memory) = pair(8 << 10);
    let (writer, reader) = (Across(writer), Across(reader));
    let rounds = if cfg!(miri) { 60 } else { 20_000 };
    let len_of = |round: u32| [0, 7, INLINE, INLINE + 1, 64, 500, 3000][round as usize % 7];
    std::thread::scope(|threads| {
        threads.spawn(move || {
            let Across(mut writer) = { writer };
            for round in 0..rounds {
                let data = vec![round as u8; len_of(round)];
                let header = Header::eager(round, 5, data.len());
                // SAFETY: the data outlives the calls.
                unsafe {
                    let mut sent = None;
                    while sent != Some(data.len()) {
                        sent = match sent {
                            None => writer.begin(&header, data.as_ptr(), data.len()),
                            Some(sent) => {
                                let rest = &data[sent..];
                                Some(sent + writer.more(rest.as_ptr(), rest.len()))
                            }
                        };
                        std::thread::yield_now();
                    }
                }
            }
        });
        threads.spawn(move || {
            let Across(mut reader) = { reader };
            for round in 0..rounds {
                let header = loop {
                    match reader.open(0).unwrap() {
                        Some((header, _)) => break header,
                        None => std::thread::yield_now(),
                    }
                };
                assert_eq!(header, Header::eager(round, 5, len_of(round)));
                let (mut back, mut taken) = (vec![!(round as u8); len_of(round)], 0);
                while taken < back.len() {
                    let rest = &mut back[taken..];
                    // SAFETY: the buffer has so much room left.
                    taken += unsafe { reader.take(rest.as_mut_ptr(), rest.len()).0 };
                    std::thread::yield_now();
                }
                assert!(back.iter().all(|&byte| byte == round as u8), "round {round}");
            }
        });
    });
}
