//! The engine allocates nothing for a packet once as many were in it as ever will be.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use laneway_lab::emulator::{Engine, Pipe, Wan, Way};
use laneway_stats::SplitMix64;

/// Counts what a thread allocates.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller keeps the promises that the system's allocator asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the memory came from the system's allocator, with this layout.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the memory came from the system's allocator, with this layout.
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn packets_cost_no_allocation() {
    let way = Way {
        delay: 0.001,
        jitter: 0.001,
        connection: Some(5e7),
        pipes: vec![0, 1],
        loss: 0.01,
        duplicate: 0.01,
        reorder: 0.01,
        corrupt: 0.01,
        queue_bytes: 20_000,
        ..Way::default()
    };
    let pipe = |name: &str, rate| Pipe { name: name.into(), rate, queue_bytes: 50_000 };
    let pipes = vec![pipe("first", 9e7), pipe("second", 8e7)];
    let ways = vec![None, Some(way.clone()), Some(way), None];
    let mut engine = Engine::new(Wan { sites: 2, ways, pipes, seed: 1 }).expect("a network");
    let mut draws = SplitMix64::new(1);
    let (mut now, mut left) = (0, 0);
    let (mut packet, mut out) = ([0; 1500], Vec::new());
    packet[0] = 0x45;
    packet[9] = 17;
    let mut run = |packets: usize| {
        for _ in 0..packets {
            now += draws.index(20_000) as u64;
            while engine.pop(now, &mut out).is_some() {
                left += 1;
            }
            let from = draws.index(2);
            packet[21] = draws.index(5) as u8;
            engine.push(now, from, 1 - from, &packet);
        }
        ALLOCATIONS.with(Cell::get)
    };
    // Queues and heaps grow to the most that they ever hold.
    let before = run(1_000_000);
    let after = run(200_000);
    assert!(left > 600_000, "{left}");
    assert_eq!(after, before);
}
