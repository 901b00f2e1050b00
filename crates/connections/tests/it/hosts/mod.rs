//! Two hosts of a test: network namespaces, and what `ip` makes in them.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use laneway_needs::{Need, program};

/// Whether namespaces can be made here.
pub fn needs() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let is_root = status.lines().any(|line| line.starts_with("Uid:\t0\t"));
    let root = if is_root { Ok(()) } else { Err("it takes root".to_string()) };
    Need::Namespaces.is_met(program("ip").and(root))
}

/// Two hosts, each a namespace, which go with this value.
pub struct Hosts {
    pub a: String,
    pub b: String,
}

impl Hosts {
    /// With a line of `ip` each; `A` and `B` stand for the hosts.
    pub fn new(lines: &[&str]) -> Hosts {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let mark = format!("lwif{}-{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        let hosts = Hosts { a: format!("{mark}a"), b: format!("{mark}b") };
        hosts.ip(&["netns add A", "netns add B"]);
        hosts.ip(lines);
        hosts
    }

    /// Runs `ip` for each line.
    pub fn ip(&self, lines: &[&str]) {
        let named = |word: &str| match word {
            "A" => self.a.clone(),
            "B" => self.b.clone(),
            word => word.to_owned(),
        };
        for line in lines {
            let words: Vec<String> = line.split(' ').map(named).collect();
            let output = Command::new("ip").args(&words).output().expect("ip starts");
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "ip {line}: {said}");
        }
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for name in [&self.a, &self.b] {
            let status = Command::new("ip").args(["netns", "delete", name]).status();
            assert!(status.is_ok_and(|status| status.success()) || std::thread::panicking());
            assert!(!Path::new("/run/netns").join(name).exists() || std::thread::panicking());
        }
    }
}
