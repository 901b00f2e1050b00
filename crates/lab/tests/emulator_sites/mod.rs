//! Two sites for tests and the benchmark: a network namespace with a TUN device each, and the
//! emulator between them. Nothing is left of them at the end.

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use laneway_lab::emulator::{
    Engine, Pipe, Wan, Way, enter_namespace, open_tun, run_in_namespace, serve,
};

/// The addresses of the two sites.
pub const ADDRESSES: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 99, 0, 1), Ipv4Addr::new(10, 99, 1, 1)];

/// The device of each site, in its own namespace.
const DEVICE: &str = "lwtun";

/// A network namespace that goes with this value.
struct Namespace {
    name: String,
}

impl Namespace {
    fn new(name: String) -> io::Result<Namespace> {
        run(&["netns", "add", &name])?;
        Ok(Namespace { name })
    }

    fn file(&self) -> PathBuf {
        PathBuf::from("/run/netns").join(&self.name)
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        if let Err(error) = run(&["netns", "delete", &self.name]) {
            eprintln!("warning: {error}");
        }
    }
}

/// Runs `ip`.
fn run(words: &[&str]) -> io::Result<()> {
    let output = Command::new("ip").args(words).output()?;
    match output.status.success() {
        true => Ok(()),
        false => Err(io::Error::other(format!(
            "ip {}: {}",
            words.join(" "),
            String::from_utf8_lossy(&output.stderr).trim()
        ))),
    }
}

/// Two sites and a running emulator. Dropped in this order: the emulator stops first.
pub struct Sites {
    emulator: Emulator,
    namespaces: [Namespace; 2],
}

struct Emulator {
    /// Seconds of processor time that its thread took.
    thread: Option<JoinHandle<io::Result<f64>>>,
    commands: UnixDatagram,
}

impl Sites {
    /// The same way in both directions.
    pub fn new(way: Way, pipes: Vec<Pipe>, seed: u64) -> io::Result<Sites> {
        static STARTED: AtomicUsize = AtomicUsize::new(0);
        let mark = format!("{}-{}", std::process::id(), STARTED.fetch_add(1, Ordering::Relaxed));
        let namespaces =
            [Namespace::new(format!("lwemu{mark}a"))?, Namespace::new(format!("lwemu{mark}b"))?];
        let tuns = vec![set_up(&namespaces[0], 0)?, set_up(&namespaces[1], 1)?];
        let ways = vec![None, Some(way.clone()), Some(way), None];
        let engine = Engine::new(Wan { sites: 2, ways, pipes, seed }).map_err(io::Error::other)?;
        let emulator = Emulator::start(engine, tuns, &mark)?;
        Ok(Sites { emulator, namespaces })
    }

    /// Moves the calling thread to a site.
    pub fn enter(&self, site: usize) -> io::Result<()> {
        enter_namespace(&self.namespaces[site].file())
    }

    /// Sends a command to the emulator and returns the answer.
    pub fn command(&self, text: &str) -> io::Result<String> {
        self.emulator.command(text.as_bytes())
    }

    /// The same, of any bytes.
    #[allow(dead_code, reason = "the benchmark sends none")]
    pub fn command_bytes(&self, bytes: &[u8]) -> io::Result<String> {
        self.emulator.command(bytes)
    }

    /// Removes the device of a site, as a failure would.
    #[allow(dead_code, reason = "the benchmark keeps them")]
    pub fn remove_device(&self, site: usize) -> io::Result<()> {
        run(&["-n", &self.namespaces[site].name, "link", "delete", DEVICE])
    }

    /// Seconds of processor time that the emulator took.
    pub fn stop(mut self) -> io::Result<f64> {
        self.emulator.stop()
    }
}

/// Gives a site its device, its address and the way to the other.
fn set_up(namespace: &Namespace, site: usize) -> io::Result<OwnedFd> {
    let tun = run_in_namespace(&namespace.file(), || {
        // The bandwidth-delay product must fit, or the windows would limit the rate.
        std::fs::write("/proc/sys/net/ipv4/tcp_rmem", "4096 4194304 67108864")?;
        std::fs::write("/proc/sys/net/ipv4/tcp_wmem", "4096 4194304 67108864")?;
        open_tun(DEVICE)
    })?;
    let ip = |words: &[&str]| run(&[&["-n", &namespace.name], words].concat());
    ip(&["link", "set", "lo", "up"])?;
    ip(&["link", "set", DEVICE, "mtu", "1500", "txqueuelen", "10000", "up"])?;
    ip(&["address", "add", &format!("{}/24", ADDRESSES[site]), "dev", DEVICE])?;
    ip(&["route", "add", &format!("{}/24", network_of(1 - site)), "dev", DEVICE])?;
    Ok(tun)
}

fn network_of(site: usize) -> Ipv4Addr {
    let [a, b, c, _] = ADDRESSES[site].octets();
    Ipv4Addr::new(a, b, c, 0)
}

impl Emulator {
    fn start(engine: Engine, tuns: Vec<OwnedFd>, mark: &str) -> io::Result<Emulator> {
        let address = |what: &str| SocketAddr::from_abstract_name(format!("lwemu{mark}{what}"));
        let control = UnixDatagram::bind_addr(&address("control")?)?;
        let commands = UnixDatagram::bind_addr(&address("commands")?)?;
        commands.connect_addr(&address("control")?)?;
        commands.set_read_timeout(Some(Duration::from_secs(5)))?;
        let site_of = |address: Ipv4Addr| match address.octets() {
            [10, 99, site @ 0..=1, _] => Some(usize::from(site)),
            _ => None,
        };
        let run = move || {
            serve(engine, tuns, site_of, control)?;
            Ok(thread_seconds())
        };
        let thread = std::thread::Builder::new().name("emulator".into()).spawn(run)?;
        Ok(Emulator { thread: Some(thread), commands })
    }

    fn command(&self, bytes: &[u8]) -> io::Result<String> {
        self.commands.send(bytes)?;
        let mut answer = vec![0; 65536];
        let length = self.commands.recv(&mut answer)?;
        Ok(String::from_utf8_lossy(&answer[..length]).into_owned())
    }

    fn stop(&mut self) -> io::Result<f64> {
        let Some(thread) = self.thread.take() else { return Ok(0.0) };
        self.command(b"stop")?;
        thread.join().map_err(|_| io::Error::other("the emulator panicked"))?
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        if let Err(error) = self.stop() {
            eprintln!("warning: the emulator: {error}");
        }
    }
}

/// Processor time of the calling thread.
pub fn thread_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the time lives longer than the call.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// A number of the line that shows the way from a site; not a number where there is none.
pub fn find(shown: &str, from: &str, key: &str) -> f64 {
    let start = format!("way from={from} ");
    let line = shown.lines().find(|line| line.starts_with(&start)).unwrap_or_default();
    let words = line.split(' ').filter_map(|word| word.split_once('='));
    let value = words.filter(|(word, _)| *word == key).find_map(|(_, value)| value.parse().ok());
    value.unwrap_or(f64::NAN)
}
