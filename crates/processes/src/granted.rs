//! The cores that this process may use: those that the system lets it run on, and how many of them
//! a quota of its control group is worth.

use std::fs;
use std::path::Path;
use std::thread;

use laneway_core::encode_fields;

/// Where control groups are mounted.
const GROUPS: &str = "/sys/fs/cgroup";

/// The cores of one process.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GrantedCores {
    /// The numbers of the cores that it may run on, rising, never empty.
    pub allowed: Vec<u32>,
    /// As many cores as its control groups grant it the time of; `None` if they do not limit it.
    pub quota: Option<u32>,
}

encode_fields!(GrantedCores { allowed, quota });

impl GrantedCores {
    /// Those of this thread.
    pub fn here() -> GrantedCores {
        let status = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        let allowed = line.and_then(numbers).unwrap_or_else(|| {
            // Not Linux: as many as the system tells, whichever they are.
            (0..thread::available_parallelism().map_or(1, |cores| cores.get() as u32)).collect()
        });
        let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        GrantedCores { allowed, quota: quota(&groups, Path::new(GROUPS)) }
    }

    /// How many of them can run at the same time, at least one.
    pub fn usable(&self) -> u32 {
        let allowed = self.allowed.len() as u32;
        self.quota.map_or(allowed, |quota| quota.min(allowed)).max(1)
    }
}

/// The numbers of a list such as `0-3,8`, rising; `None` if it is not such a list, or is empty.
fn numbers(list: &str) -> Option<Vec<u32>> {
    let mut all = Vec::new();
    for part in list.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        all.extend(first..=last);
    }
    all.sort_unstable();
    all.dedup();
    (!all.is_empty()).then_some(all)
}

/// The tightest quota of the control groups of a process, in whole cores, at least one. `groups` is
/// its `/proc/self/cgroup`: a line is `ID:CONTROLLERS:PATH`, and version 2 names no controllers.
fn quota(groups: &str, mount: &Path) -> Option<u32> {
    let mut tightest: Option<u32> = None;
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        if !controllers.is_empty() && !controllers.split(',').any(|name| name == "cpu") {
            continue;
        }
        // In a container the path may be one of the host; then its upper end is what is mounted.
        let base = mount.join(controllers);
        for group in Path::new(path.trim_start_matches('/')).ancestors() {
            let granted = granted(&base.join(group));
            tightest = tightest.into_iter().chain(granted).min();
        }
    }
    tightest
}

/// What one control group grants, in whole cores.
fn granted(group: &Path) -> Option<u32> {
    let read = |name: &str| fs::read_to_string(group.join(name)).ok();
    let pair = read("cpu.max").or_else(|| {
        Some(format!("{} {}", read("cpu.cfs_quota_us")?.trim(), read("cpu.cfs_period_us")?))
    })?;
    let (quota, period) = pair.trim().split_once(' ')?;
    // No limit is `max`, and -1 in version 1.
    let (quota, period) = (quota.parse::<u64>().ok()?, period.parse::<u64>().ok()?);
    Some(u32::try_from(quota.checked_div(period)?).unwrap_or(u32::MAX).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cores_are_read() {
        assert_eq!(numbers("\t0-1\n"), Some(vec![0, 1]));
        assert_eq!(numbers("8,0-2"), Some(vec![0, 1, 2, 8]));
        assert_eq!(numbers("5"), Some(vec![5]));
        for bad in ["", "a", "1-", "3-1", "-2"] {
            assert_eq!(numbers(bad), None, "{bad}");
        }
    }

    #[test]
    fn this_process_has_at_least_one_core() {
        let cores = GrantedCores::here();
        assert!(cores.usable() >= 1 && !cores.allowed.is_empty(), "{cores:?}");
        let count = thread::available_parallelism().expect("a count").get() as u32;
        assert_eq!(cores.usable(), count, "{cores:?}");
    }

    #[test]
    fn a_quota_is_the_tightest_of_all_groups_above() {
        let mount = std::env::temp_dir().join(format!("laneway-groups-{}", std::process::id()));
        let write = |file: &str, text: &str| {
            let file = mount.join(file);
            fs::create_dir_all(file.parent().expect("a folder")).expect("made");
            fs::write(file, text).expect("written");
        };
        write("cpu.max", "max 100000\n");
        write("job/cpu.max", "250000 100000\n");
        write("job/step/cpu.max", "800000 100000\n");
        write("cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
        write("cpu,cpuacct/cpu.cfs_period_us", "100000\n");
        write("cpu,cpuacct/box/cpu.cfs_quota_us", "50000\n");
        write("cpu,cpuacct/box/cpu.cfs_period_us", "100000\n");
        write("odd/cpu.max", "100 0\n");
        for (groups, wanted) in [
            ("0::/\n", None),
            ("0::/job\n", Some(2)),
            ("0::/job/step\n", Some(2)),
            ("0::/elsewhere/of/the/host\n", None),
            ("2:cpu,cpuacct:/\n0::/\n", None),
            ("4:memory:/box\n2:cpu,cpuacct:/box\n0::/job\n", Some(1)),
            ("3:cpuset:/job\n", None),
            ("0::/odd\n", None),
            ("nothing of the kind", None),
            ("", None),
        ] {
            assert_eq!(quota(groups, &mount), wanted, "{groups}");
        }
        fs::remove_dir_all(&mount).expect("removed");
    }

    #[test]
    fn a_quota_counts_where_it_is_less() {
        let cores = |quota| GrantedCores { allowed: vec![0, 1, 2], quota }.usable();
        assert_eq!([cores(None), cores(Some(2)), cores(Some(8))], [3, 2, 3]);
    }
}
