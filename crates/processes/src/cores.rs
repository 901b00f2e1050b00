//! The cores that this process may run on, and keeping to one of them.

/// A set of cores.
pub struct Cores(libc::cpu_set_t);

impl Cores {
    /// Those of the calling thread.
    pub fn available() -> Cores {
        // SAFETY: an all-zero cpu_set_t is an empty set; the call writes at most its size.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            // It fails where the machine has more cores than fit the set; the set stays empty.
            libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set);
            Cores(set)
        }
    }

    /// How many there are, at least one.
    pub fn count(&self) -> u32 {
        // SAFETY: the set is initialised.
        match unsafe { libc::CPU_COUNT(&self.0) } {
            count @ 1.. => count as u32,
            _ => std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32),
        }
    }

    /// Keeps the calling thread, and those that it starts, on one core, the `number`th of the set;
    /// false where that is refused. Left alone, the system puts a rank that it wakes beside the one
    /// that woke it, and on a busy machine both then share that core for good.
    pub fn bind(&self, number: u32) -> bool {
        let all = 0..libc::CPU_SETSIZE as usize;
        // SAFETY: the set is initialised, and the numbers are within its size.
        let mut members = all.filter(|&core| unsafe { libc::CPU_ISSET(core, &self.0) });
        let Some(core) = members.nth(number as usize) else { return false };
        // SAFETY: as in `available`.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(core, &mut set);
            libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set) == 0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_stays_on_the_core_that_it_was_bound_to() {
        let cores = Cores::available();
        assert!(cores.count() >= 1);
        let bound = std::thread::spawn(move || {
            // Not among the set: nothing changes.
            assert!(!cores.bind(cores.count()) && !cores.bind(u32::MAX));
            assert_eq!(Cores::available().count(), cores.count());
            let last = cores.count() - 1;
            cores.bind(last).then(|| Cores::available().count())
        });
        let count = bound.join().expect("a thread");
        assert_eq!(count, Some(1));
        assert!(Cores::available().count() >= 1);
    }
}
