//! A simulated subnet: ibsim in its own folder and with its own socket, and what runs on it.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use laneway_needs::Need;
use laneway_stats::SplitMix64;
use laneway_topo::{End, Fabric, Wiring};

/// Nothing here takes this long.
const LONGEST: Duration = Duration::from_secs(90);

/// A fabric with the same cables, and with other names, numbers and ports.
pub fn foreign(plan: &dyn Wiring, seed: u64) -> Fabric {
    let mut draws = SplitMix64::new(seed);
    let mut order = |count: u32| {
        let mut all: Vec<u32> = (0..count).collect();
        for last in (1..all.len()).rev() {
            all.swap(last, draws.index(last + 1));
        }
        all
    };
    let (switches, hosts) = (order(plan.switches()), order(plan.hosts()));
    let ports: Vec<Vec<u32>> = (0..plan.switches()).map(|at| order(plan.ports(at))).collect();
    let mut fabric = Fabric::default();
    for at in 0..plan.switches() {
        fabric.add_switch(&format!("rack{at}"), plan.ports(at)).expect("few ports");
    }
    for at in 0..plan.hosts() {
        fabric.add_host(&format!("node{at}"));
    }
    let place = |switch: u32, port: u8| {
        (switches[switch as usize], ports[switch as usize][port as usize] as u8)
    };
    for switch in 0..plan.switches() {
        for port in 0..plan.ports(switch) as u8 {
            let end = match plan.end(switch, port) {
                End::Host(host) => End::Host(hosts[host as usize]),
                End::Switch(other, its) if (switch, port) < (other, its) => {
                    let (other, its) = place(other, its);
                    End::Switch(other, its)
                }
                End::Nothing | End::Switch(..) => continue,
            };
            fabric.plug(place(switch, port), end).expect("free ports");
        }
    }
    fabric
}

/// Debian puts them outside some users' PATH.
fn path() -> String {
    format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default())
}

/// Whether all that a simulated subnet takes is here.
pub fn is_here() -> bool {
    let is_missing = |program: &&&str| {
        !std::env::split_paths(&path()).any(|folder| folder.join(program).is_file())
    };
    let programs = ["opensm", "ibsim", "ibsim-run", "ibnetdiscover", "dump_lfts", "perfquery"];
    let missing = programs.iter().find(is_missing);
    Need::Fabric.is_met(missing.map_or(Ok(()), |program| {
        Err(format!("there is no {program}; crates/topo/tests/install-fabric installs it"))
    }))
}

/// A program that ends with this test, also where that is killed.
fn not_outliving_us(program: &str) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", program]);
    command
}

/// A process with all its children; it ends with this value.
pub struct Running {
    child: Child,
    log: PathBuf,
}

impl Running {
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    fn signal(&self, signal: i32) {
        let group = i32::try_from(self.child.id()).expect("a process number");
        // SAFETY: kill only sends a signal, to the group that was made for this child.
        unsafe { libc::kill(-group, signal) };
    }

    /// How often OpenSM has brought the subnet up.
    fn sweeps(&self) -> usize {
        fs::read_to_string(&self.log).unwrap_or_default().matches("SUBNET UP").count()
    }

    /// Has OpenSM look at everything again, and waits until it has.
    pub fn sweep(&self) {
        let before = self.sweeps();
        self.signal(libc::SIGHUP);
        self.await_sweep(before);
    }

    fn await_sweep(&self, before: usize) {
        let deadline = Instant::now() + LONGEST;
        while self.sweeps() <= before {
            assert!(Instant::now() < deadline, "OpenSM does not bring the subnet up");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.signal(libc::SIGKILL);
        let _ = self.child.wait();
    }
}

pub struct Subnet {
    folder: PathBuf,
    socket: String,
    ibsim: Running,
    console: std::process::ChildStdin,
}

impl Subnet {
    /// Starts ibsim with a netlist and waits until it is ready.
    pub fn start(netlist: &str) -> Subnet {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let socket = format!("laneway-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(&socket);
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join("net"), netlist).expect("written");
        let log = folder.join("ibsim.log");
        let mut command = not_outliving_us("ibsim");
        let sizes = ["-N", "8192", "-S", "1024", "-P", "65536"];
        command.args(["-s"]).args(sizes).arg("net");
        let out = File::create(&log).expect("a log");
        let errors = out.try_clone().expect("the same log");
        command.stdin(Stdio::piped()).stdout(out).stderr(errors);
        prepare(&mut command, &folder, &socket);
        let mut child = command.spawn().expect("ibsim starts");
        let console = child.stdin.take().expect("a pipe");
        let ibsim = Running { child, log };
        let subnet = Subnet { folder, socket, ibsim, console };
        subnet.await_text("Network simulator ready");
        subnet
    }

    fn await_text(&self, text: &str) {
        let deadline = Instant::now() + LONGEST;
        loop {
            let log = fs::read_to_string(&self.ibsim.log).unwrap_or_default();
            if log.contains(text) {
                return;
            }
            assert!(Instant::now() < deadline, "ibsim does not say `{text}`: {log}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub fn path(&self, file: &str) -> String {
        self.folder.join(file).display().to_string()
    }

    pub fn write(&self, file: &str, text: &str) {
        fs::write(self.folder.join(file), text).expect("written");
    }

    /// A command at ibsim's console; the next one's answer shows that it is done.
    pub fn console(&mut self, command: &str) {
        writeln!(self.console, "{command}\nHelp").expect("ibsim listens");
        self.console.flush().expect("ibsim listens");
        self.await_text("ReLink \"nodeid\"");
    }

    /// Runs to its end and gives what it printed.
    fn run(&self, mut command: Command) -> String {
        prepare(&mut command, &self.folder, &self.socket);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        command.stderr(File::create(self.folder.join("stderr")).expect("a file"));
        let mut child = command.spawn().expect("it starts");
        let mut pipe = child.stdout.take().expect("a pipe");
        let mut running = Running { child, log: PathBuf::new() };
        let reader = std::thread::spawn(move || {
            let mut text = Vec::new();
            let _ = pipe.read_to_end(&mut text);
            text
        });
        let deadline = Instant::now() + LONGEST;
        let status = loop {
            match running.child.try_wait().expect("a child") {
                Some(status) => break status,
                None if Instant::now() > deadline => panic!("{command:?} takes too long"),
                None => std::thread::sleep(Duration::from_millis(10)),
            }
        };
        let text = String::from_utf8_lossy(&reader.join().expect("a reader")).into_owned();
        let errors = fs::read_to_string(self.folder.join("stderr")).unwrap_or_default();
        assert!(status.success(), "{command:?}: {status}\n{errors}\n{text}");
        text
    }

    /// What a tool for fabrics prints.
    pub fn tool(&self, name: &str) -> String {
        let mut command = Command::new("ibsim-run");
        command.arg(name);
        self.run(command)
    }

    /// The addresses from which no answer comes when a host asks them for their counters.
    pub fn silent(&self, host: &str, lids: &[u16]) -> Vec<u16> {
        let lids: Vec<String> = lids.iter().map(u16::to_string).collect();
        let ask = "for lid; do perfquery $lid 1 >/dev/null 2>&1 || echo $lid; done";
        let mut command = Command::new("ibsim-run");
        command.args(["sh", "-c", ask, "sh"]).args(lids).env("SIM_HOST", host);
        let text = self.run(command);
        text.split_whitespace().filter_map(|lid| lid.parse().ok()).collect()
    }

    /// The same from many hosts, as "HOST LID" for each answer that does not come.
    pub fn all_silent(&self, hosts: &[String], lids: &[u16]) -> Vec<String> {
        let program = self.path("ask");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/topo_opensm/ask.c");
        let mut compiler = Command::new("cc");
        compiler.args(["-std=gnu99", "-Wall", "-Wextra", "-Werror", source, "-o", &program]);
        // Without the package that has its headers, the library has this name only.
        compiler.arg("-l:libibmad.so.5");
        self.run(compiler);
        // Few enough at once that each command ends in time on a busy machine.
        let answers = hosts.chunks(32).map(|hosts| {
            let mut command = Command::new("ibsim-run");
            command.arg(&program).args(hosts).arg("--").args(lids.iter().map(u16::to_string));
            self.run(command)
        });
        answers.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect()
    }

    /// The command line's `topo`.
    pub fn laneway(&self, args: &[&str]) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_laneway"));
        command.arg("topo").args(args);
        self.run(command)
    }

    /// One sweep of OpenSM; it dumps its tables.
    pub fn opensm(&self, args: &[&str]) {
        let mut command = Command::new("ibsim-run");
        let log = self.path("opensm.log");
        command.args(["opensm", "-o", "-e", "-D", "0x43", "-f", &log]).args(args);
        let text = self.run(command);
        let log = fs::read_to_string(log).unwrap_or_default();
        assert!(log.contains("SUBNET UP"), "{args:?}: {text}\n{log}");
    }

    /// The tables that the last sweep dumped.
    pub fn dumped(&self) -> String {
        fs::read_to_string(self.folder.join("opensm-lfts.dump")).expect("a dump")
    }

    /// OpenSM that stays.
    pub fn keep_opensm(&self, args: &[&str]) -> Running {
        let log = self.folder.join("opensm.log");
        let mut command = not_outliving_us("ibsim-run");
        command.args(["opensm", "-e", "-D", "0x3", "-d", "2", "-f"]).arg(&log).args(args);
        prepare(&mut command, &self.folder, &self.socket);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let opensm = Running { child: command.spawn().expect("OpenSM starts"), log };
        opensm.await_sweep(0);
        opensm
    }
}

impl Drop for Subnet {
    fn drop(&mut self) {
        self.ibsim.signal(libc::SIGKILL);
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Everything of a subnet knows its socket and writes into its folder.
fn prepare(command: &mut Command, folder: &PathBuf, socket: &str) {
    if !command.get_envs().any(|(name, _)| name == "SIM_HOST") {
        command.env("SIM_HOST", "node0");
    }
    command
        .current_dir(folder)
        .env("PATH", path())
        .env("IBSIM_SOCKNAME", socket)
        .env("OSM_TMP_DIR", folder)
        .env("OSM_CACHE_DIR", folder)
        .process_group(0);
}
