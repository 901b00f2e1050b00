//! Which random inputs a benchmark takes: fresh ones by default.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

/// Seeds one after the other. `LANEWAY_SEED=7` is the first, and the only one unless
/// `LANEWAY_PLATFORMS=20` says how many.
pub struct Seeds {
    pub first: u64,
    /// None: as many as there should be.
    pub count: Option<usize>,
}

impl Seeds {
    pub fn from_env() -> Result<Seeds, String> {
        let number = |name: &str| match std::env::var(name) {
            Ok(text) => text.parse::<u64>().map(Some).map_err(|_| format!("{name}={text}")),
            Err(_) => Ok(None),
        };
        let (given, count) = (number("LANEWAY_SEED")?, number("LANEWAY_PLATFORMS")?);
        let since = SystemTime::now().duration_since(UNIX_EPOCH).map_err(|e| e.to_string())?;
        let fresh = since.as_millis() as u64 % 10_000_000_000;
        let count = count.map(|count| count as usize).or(given.map(|_| 1));
        Ok(Seeds { first: given.unwrap_or(fresh), count })
    }

    /// Judges seeds on all cores, `usual` of them by default; `report` is given all
    /// that are done after each of them.
    pub fn judge_all<T: Send>(
        &self,
        usual: usize,
        judge: impl Fn(u64) -> T + Sync,
        report: impl Fn(&[(u64, T)]) + Sync,
    ) -> Vec<(u64, T)> {
        let count = self.count.unwrap_or(usual) as u64;
        let seeds: Vec<u64> = (0..count).map(|number| self.first + number).collect();
        let all = Mutex::new(Vec::new());
        on_all_cores(&seeds, |&seed| {
            let judged = judge(seed);
            // A holder of the list only adds to it: it does not panic.
            let Ok(mut all) = all.lock() else { return };
            all.push((seed, judged));
            report(&all);
        });
        let mut all = all.into_inner().unwrap_or_default();
        all.sort_by_key(|(seed, _)| *seed);
        all
    }
}

/// What comes of each item, in their order; a thread for each core.
pub fn on_all_cores<I: Sync, T: Send>(items: &[I], work: impl Fn(&I) -> T + Sync) -> Vec<T> {
    let (next, all) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let take = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(number) else { return };
            let result = work(item);
            let Ok(mut all) = all.lock() else { return };
            all.push((number, result));
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(2, |cores| cores.get()) {
            scope.spawn(take);
        }
    });
    let mut all = all.into_inner().unwrap_or_default();
    all.sort_by_key(|(number, _)| *number);
    all.into_iter().map(|(_, result)| result).collect()
}
