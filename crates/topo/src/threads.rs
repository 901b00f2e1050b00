//! Work shared among the cores of this machine.

use std::ops::Range;
use std::thread;

/// As many as there are cores.
pub(crate) fn threads() -> usize {
    thread::available_parallelism().map_or(1, |cores| cores.get())
}

/// Lets every core do a part of the numbers below `count`; what the parts came to, in order.
pub(crate) fn shared<T: Send>(count: usize, work: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    let share = count.div_ceil(threads()).max(1);
    let work = &work;
    thread::scope(|scope| {
        let spawn = |first| scope.spawn(move || work(first..(first + share).min(count)));
        let handles: Vec<_> = (0..count).step_by(share).map(spawn).collect();
        // A thread panics only where this one would have; then so does this one.
        let join = |handle: thread::ScopedJoinHandle<T>| handle.join().expect("a part of the work");
        handles.into_iter().map(join).collect()
    })
}
