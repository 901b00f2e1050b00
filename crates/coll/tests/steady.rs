//! From the second run on, the executor allocates nothing, whatever the algorithm.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::convert::Infallible;

use laneway_coll::all;
use laneway_core::{At, Port, Progress, Run, Shape, Slot, Step};

/// Counts what each thread allocates: the test's own waits, and now and then allocates, too.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: everything is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promises are the system allocator's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Starts everything and moves nothing.
#[derive(Default)]
struct Null {
    pending: Vec<Slot>,
}

impl Port for Null {
    type Error = Infallible;

    fn start(&mut self, at: At, step: &Step) -> Result<Progress, Infallible> {
        match step {
            Step::Send { .. } | Step::Recv { .. } => {
                self.pending.push(at.slot);
                Ok(Progress::Pending)
            }
            _ => Ok(Progress::Done),
        }
    }
}

fn run(run: &mut Run<'_, dyn laneway_core::Schedule + '_>, port: &mut Null) {
    run.restart();
    loop {
        let Ok(finished) = run.poll(port);
        if finished {
            return;
        }
        while let Some(slot) = port.pending.pop() {
            run.done(slot);
        }
    }
}

#[test]
fn a_second_run_allocates_nothing() {
    for algorithm in all() {
        let shape = Shape::new(algorithm.family, 24, 64).with_element(8, true);
        let schedule = algorithm.schedule(&shape, &algorithm.defaults());
        let schedule = schedule.expect("every algorithm serves 24 ranks");
        for rank in 0..24 {
            let mut port = Null::default();
            let mut one = Run::new(&*schedule, rank);
            run(&mut one, &mut port);
            let before = ALLOCATIONS.get();
            run(&mut one, &mut port);
            let allocated = ALLOCATIONS.get() - before;
            let name = (algorithm.family.name(), algorithm.name);
            assert_eq!(allocated, 0, "{name:?}, rank {rank}");
        }
    }
}
