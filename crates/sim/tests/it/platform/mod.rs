//! Platforms as a person meets them: what good ones are, and what is said of bad ones.

mod bad;
mod good;
mod random;
mod simgrid;
mod time;

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use laneway_sim::platform::{Fault, GENERATORS, Platform, PlatformError};
use laneway_sim::{HostClock, HostCost, HostId, Network, Overflow, ResourceId, Route, Traffic};

/// A folder that is gone after the test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("laneway-platform-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).expect("a new folder");
        Folder(path)
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        fs::write(&path, text).expect("a new file");
        path.display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        _ = fs::remove_dir_all(&self.0);
    }
}

/// Reads a platform file with this text.
fn read_text(text: &str) -> Result<Platform, PlatformError> {
    let folder = Folder::new();
    Platform::read(&folder.write("platform.toml", text))
}

fn route(platform: &Platform, from: HostId, to: HostId) -> (Vec<&str>, f64, f64) {
    let mut route = Route::default();
    platform.route(from, to, &mut route);
    let name = |id: &ResourceId| platform.resources()[*id as usize].name.as_str();
    (route.resources.iter().map(name).collect(), route.latency, route.most)
}
