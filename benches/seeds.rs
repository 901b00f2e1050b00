//! Which random inputs a benchmark takes: fresh ones, unless it is told.

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
}
