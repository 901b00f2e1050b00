//! What SimGrid says that schedules take.

use std::collections::BTreeMap;
use std::path::Path;

use laneway_benches::smpirun::Exported;
use laneway_sim::platform::Platform;

use crate::config::Config;

/// Seconds, by the spelled name.
pub struct Times(BTreeMap<String, f64>);

impl Times {
    /// Runs all of them one after the other; a name may be there several times.
    pub fn of(
        object: &Path,
        platform: &Platform,
        config: &Config,
        seed: u64,
        names: &[String],
    ) -> Result<Times, String> {
        let mut distinct: Vec<&str> = names.iter().map(String::as_str).collect();
        distinct.sort_unstable();
        distinct.dedup();
        let exported = Exported::new(platform, &format!("sites-{seed}"))?;
        let (size, root) = (config.size.to_string(), config.root.to_string());
        let (names, spec) = (distinct.join(","), config.platform());
        let words = ["virtual-time", config.op.name(), &names, &size, &root, &spec];
        let text = exported.run(&[], object, &words)?;
        let time = |line: &str| -> Option<(String, f64)> {
            let fields: Vec<&str> = line.split(',').collect();
            let &[_, name, _, _, time, skew] = &fields[..] else { return None };
            // Ranks that begin apart are not what was asked for.
            (skew.parse() == Ok(0.0)).then_some((name.to_owned(), time.parse().ok()?))
        };
        let times: BTreeMap<String, f64> = text.lines().skip(1).filter_map(time).collect();
        if times.len() != distinct.len() || times.values().any(|time| *time <= 0.0 || time.is_nan())
        {
            return Err(format!("SimGrid timed {} of {} schedules", times.len(), distinct.len()));
        }
        Ok(Times(times))
    }

    pub fn of_name(&self, name: &str) -> f64 {
        self.0.get(name).copied().unwrap_or(f64::NAN)
    }

    /// The fastest of some.
    pub fn best_of(&self, names: &[String]) -> (String, f64) {
        let times = names.iter().map(|name| (name.clone(), self.of_name(name)));
        times.min_by(|one, other| one.1.total_cmp(&other.1)).unwrap_or_default()
    }
}
