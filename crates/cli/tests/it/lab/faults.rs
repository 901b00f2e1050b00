//! Faults do what they say to real connections, and end as they should.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use laneway_lab::{connect, within};

use super::standing::{Standing, laneway, needs, refused, rows, succeed};

struct Pair(TcpStream, TcpStream);

impl Pair {
    fn new(lab: &Standing, from: &str, to: &str) -> Pair {
        let plan = lab.plan();
        let host = |name: &str| plan.host(name).expect("a host").clone();
        let ends = connect(&lab.lab(), &host(from), &host(to), 0);
        let (one, other) = ends.expect("a connection");
        Pair(one, other)
    }

    /// Whether a byte gets there within a time; what is late is taken then.
    fn passes(&mut self, within: Duration) -> bool {
        self.1.set_read_timeout(Some(within)).expect("a time");
        self.0.write_all(&[1]).expect("room for a byte");
        self.1.read_exact(&mut [0]).is_ok()
    }

    /// Takes the byte that was held up.
    fn arrives(&mut self) -> bool {
        self.1.set_read_timeout(Some(LONG)).expect("a time");
        self.1.read_exact(&mut [0]).is_ok()
    }
}

const SHORT: Duration = Duration::from_millis(150);
const LONG: Duration = Duration::from_secs(20);

#[test]
fn links_break_in_silence_or_with_their_carrier_and_come_back() {
    if !needs() {
        return;
    }
    let lab = Standing::up("faults", &["--sites", "2x3", "--wan", "1ms,50Mbit", "--no-probe"]);
    for fault in [
        "carrier s0n1",
        "carrier s0n1 host",
        "drop s0n1",
        "drop s0n1 in",
        "drop s0n0 out",
        "partition s0n1",
        "loss s0n1 100%",
    ] {
        let mut pair = Pair::new(&lab, "s0n0", "s0n1");
        assert!(pair.passes(LONG), "before {fault}");
        lab.fault(fault, &[]);
        assert!(!pair.passes(SHORT), "during {fault}");
        lab.fault(fault, &["--heal"]);
        assert!(pair.arrives(), "after {fault}, what was held up arrives");
        assert!(pair.passes(LONG), "after {fault}");
    }
    let mut far = Pair::new(&lab, "s0n0", "s1n0");
    lab.fault("carrier s0n0 host", &[]);
    lab.fault("carrier s0n0 host", &["--heal"]);
    assert!(far.passes(LONG), "the ways to other sites are back");
    for fault in ["drop site0>site1", "partition site1", "loss site0-site1 100%"] {
        let mut pair = Pair::new(&lab, "s0n0", "s1n0");
        let mut beside = Pair::new(&lab, "s0n0", "s0n1");
        lab.fault(fault, &[]);
        assert!(!pair.passes(SHORT), "during {fault}");
        assert!(beside.passes(LONG), "{fault} is none of the LAN's");
        lab.fault(fault, &["--heal"]);
        assert!(pair.arrives(), "after {fault}");
    }
}

#[test]
fn a_fault_takes_the_carrier_of_one_end_only() {
    if !needs() {
        return;
    }
    let lab = Standing::up("carrier", &["--sites", "1x2", "--cards", "2", "--no-probe"]);
    let carriers = |host: &str| {
        let read = "cat /sys/class/net/eth0/carrier /sys/class/net/eth1/carrier";
        let output = lab.command(&["run", "--host", host], &["sh", "-c", read]);
        String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<String>()
    };
    assert_eq!((carriers("node0").as_str(), carriers("node1").as_str()), ("11", "11"));
    lab.fault("carrier node0:eth1", &[]);
    assert_eq!((carriers("node0").as_str(), carriers("node1").as_str()), ("10", "11"));
    lab.fault("carrier node0:eth1", &["--heal"]);
    assert_eq!(carriers("node0"), "11");
}

#[test]
fn faults_of_several_kinds_do_not_end_each_other() {
    if !needs() {
        return;
    }
    let lab = Standing::up("several", &["--sites", "1x2", "--no-probe"]);
    let mut pair = Pair::new(&lab, "node0", "node1");
    lab.fault("slow node0 10Mbit", &[]);
    lab.fault("drop node0", &[]);
    lab.fault("drop node0", &[]);
    lab.fault("loss node0 10%", &[]);
    lab.fault("loss node0 10%", &["--heal"]);
    assert!(!pair.passes(SHORT), "still dropped");
    lab.fault("drop node0", &["--heal"]);
    assert!(pair.arrives());
    let namespace = format!("laneway.{}.host.node0", lab.name);
    let show = ["-n", &namespace, "class", "show", "dev", "eth0"];
    let output = std::process::Command::new("tc").args(show).output().expect("tc starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("rate 10Mbit"), "still slow: {said}");
    lab.fault("slow node0 10Mbit", &["--heal"]);
    lab.fault("loss node1 10%", &["--heal"]);
    assert!(pair.passes(LONG), "the end of what was never begun harms nothing");
    let words = ["lab", "fault", "--lab", &lab.name, "kill", "node0", "--heal"];
    refused(&laneway(&words), 2, "cannot be undone");
}

#[test]
fn hosts_freeze_thaw_and_die() {
    if !needs() {
        return;
    }
    let lab = Standing::up("freeze", &["--sites", "1x2", "--no-probe"]);
    let run = ["lab", "run", "--lab", &lab.name, "--host", "node1", "--"];
    let beat = "i=0; while :; do i=$((i+1)); echo $i >> \"$0\"; sleep 0.01; done";
    let file = std::env::temp_dir().join(format!("laneway-lab-beat-{}", std::process::id()));
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_laneway"))
        .args(run)
        .args(["sh", "-c", beat])
        .arg(&file)
        .spawn()
        .expect("the command starts");
    let beats = || std::fs::metadata(&file).map_or(0, |data| data.len());
    let moves = |limit: Duration| {
        let (before, begun) = (beats(), Instant::now());
        while beats() == before && begun.elapsed() < limit {
            std::thread::sleep(Duration::from_millis(20));
        }
        beats() > before
    };
    assert!(moves(LONG), "it runs");
    lab.fault("freeze node1", &[]);
    std::thread::sleep(Duration::from_millis(100));
    assert!(!moves(SHORT), "it is frozen");
    lab.fault("freeze node1", &["--heal"]);
    assert!(moves(LONG), "it goes on");
    lab.fault("kill node1", &[]);
    let ended = child.wait().expect("it ends");
    _ = std::fs::remove_file(&file);
    assert_eq!(ended.code(), Some(128 + 9));
}

/// From a socket that reports every error; only a missing receiver is not an error here.
fn send_datagrams() -> std::io::Result<()> {
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    let on: libc::c_int = 1;
    // SAFETY: the option is an int of our own.
    let set = unsafe {
        let (at, length) = ((&raw const on).cast(), size_of::<libc::c_int>() as libc::socklen_t);
        libc::setsockopt(socket.as_raw_fd(), libc::IPPROTO_IP, libc::IP_RECVERR, at, length)
    };
    assert_eq!(set, 0);
    for _ in 0..4000 {
        while let Err(error) = socket.send_to(&[7; 100], ("10.0.0.2", 9)) {
            if error.kind() != ErrorKind::ConnectionRefused {
                return Err(error);
            }
        }
    }
    Ok(())
}

#[test]
fn a_share_of_packets_is_lost() {
    if !needs() {
        return;
    }
    let lab = Standing::up("loss", &["--sites", "1x2", "--no-probe"]);
    let arrived = || -> f64 {
        let read = ["cat", "/sys/class/net/eth0/statistics/rx_packets"];
        let output = lab.command(&["run", "--host", "node1"], &read);
        String::from_utf8_lossy(&output.stdout).trim().parse().expect("a count")
    };
    // Who asks for the address three times in vain tells the sender so: it is known beforehand.
    let address = lab.command(&["run", "--host", "node1"], &["cat", "/sys/class/net/eth0/address"]);
    let address = String::from_utf8_lossy(&address.stdout).trim().to_string();
    let known = ["ip", "neigh", "replace", "10.0.0.2", "lladdr", &address, "dev", "eth0"];
    let known =
        lab.command(&["run", "--host", "node0"], &[&known[..], &["nud", "permanent"]].concat());
    assert!(known.status.success(), "{}", String::from_utf8_lossy(&known.stderr));
    for (fault, low, high) in
        [("loss node0 25% out", 0.71, 0.79), ("loss node1 50% in", 0.46, 0.54)]
    {
        lab.fault(fault, &[]);
        let before = arrived();
        let sender = format!("laneway.{}.host.node0", lab.name);
        within(&sender, send_datagrams).expect("a namespace").expect("the sender hears of nothing");
        let share = (arrived() - before) / 4000.0;
        lab.fault(fault, &["--heal"]);
        // Four thousand draws: five standard deviations are 4 %.
        assert!((low..=high).contains(&share), "{fault}: {share} arrive");
    }
}

/// Two hundred beginnings and ends, all done and logged, none too early; the median of how late.
fn hold_timetable(lab: &Standing, every_ms: usize) -> f64 {
    let logged = || {
        let log = std::fs::read_to_string(lab.lab().file("faults.log")).unwrap_or_default();
        log.lines().count()
    };
    let before = logged();
    let mut lines = String::from("# a bad day\n");
    for number in 0..100 {
        let (at, host, long) = (every_ms * number, number % 4, every_ms / 2);
        let line = match number % 5 {
            0 => format!("{at}ms drop s0n{host} for {long}ms\n"),
            1 => format!("{at}ms carrier s1n{host} for {long}ms\n"),
            2 => format!("{at}ms delay site0>site1 3ms for {long}ms\n"),
            3 => format!("{at}ms freeze s0n{host} for {long}ms\n"),
            _ => format!("{at}ms slow s1n{host} 10Mbit out for {long}ms\n"),
        };
        lines.push_str(&line);
    }
    let file = std::env::temp_dir().join(format!("laneway-lab-table-{}", std::process::id()));
    std::fs::write(&file, lines).expect("a file");
    let name = file.display().to_string();
    let words = ["lab", "fault", "--lab", &lab.name, "--timetable", &name, "--format", "json"];
    let done = rows(&succeed(&words));
    _ = std::fs::remove_file(&file);
    assert_eq!(done.len(), 200, "each begins and ends");
    assert_eq!(logged() - before, 200);
    let figure = |row: &serde_json::Value, name: &str| row[name].as_f64().expect("a figure");
    assert!(done.iter().all(|row| figure(row, "begun_s") >= figure(row, "planned_s")));
    let mut late: Vec<f64> = done.iter().map(|row| figure(row, "late_us")).collect();
    late.sort_by(f64::total_cmp);
    late[100]
}

#[test]
fn a_timetable_does_all_it_says_and_logs_it() {
    if !needs() {
        return;
    }
    let lab = Standing::up("table", &["--sites", "2x4", "--wan", "1ms", "--no-probe"]);
    let mut medians = Vec::new();
    for every_ms in [20, 40, 80, 160] {
        medians.push(hold_timetable(&lab, every_ms));
        if medians.last().is_some_and(|late| *late < 20_000.0) {
            break;
        }
    }
    let held = medians.last().is_some_and(|late| *late < 20_000.0);
    assert!(held, "a slow machine is given time, and half are still late: {medians:?} us");
    let mut pair = Pair::new(&lab, "s0n0", "s1n0");
    assert!(pair.passes(LONG), "all is well after it");
}

/// Tools that were started in time for the next fault must not be frozen with the host.
#[test]
fn a_frozen_host_does_not_hold_up_the_faults_that_follow() {
    if !needs() {
        return;
    }
    let lab = Standing::up("frozen", &["--sites", "1x2", "--no-probe"]);
    let file = std::env::temp_dir().join(format!("laneway-lab-frozen-{}", std::process::id()));
    let lines = "30ms freeze node0 for 60ms\n35ms drop node0 for 20ms\n40ms drop node1 for 5ms\n";
    std::fs::write(&file, lines).expect("a file");
    let name = file.display().to_string();
    let words = ["lab", "fault", "--lab", &lab.name, "--timetable", &name, "--format", "json"];
    let done = rows(&succeed(&words));
    _ = std::fs::remove_file(&file);
    assert_eq!(done.len(), 6, "each begins and ends");
    let late = done.iter().map(|row| row["late_us"].as_f64().expect("a figure"));
    assert!(late.fold(0.0, f64::max) < 5e6, "{done:?}");
    let mut pair = Pair::new(&lab, "node0", "node1");
    assert!(pair.passes(LONG), "all is well after it");
}

#[test]
fn a_command_that_is_interrupted_ends_its_fault() {
    if !needs() {
        return;
    }
    let lab = Standing::up("stop", &["--sites", "1x2", "--no-probe"]);
    let mut pair = Pair::new(&lab, "node0", "node1");
    for signal in [libc::SIGINT, libc::SIGTERM] {
        let words = ["lab", "fault", "--lab", &lab.name, "drop", "node0", "for", "60s"];
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_laneway"))
            .args(words)
            .stdout(std::process::Stdio::null())
            .spawn()
            .expect("the command starts");
        std::thread::sleep(Duration::from_millis(500));
        assert!(!pair.passes(SHORT), "dropped");
        // SAFETY: a signal to a child that was not waited for yet.
        unsafe { libc::kill(child.id() as i32, signal) };
        assert!(child.wait().expect("it ends").success());
        assert!(pair.arrives(), "and whole again");
    }
}

#[test]
fn faults_that_make_no_sense_are_refused() {
    if !needs() {
        return;
    }
    let lab = Standing::up("nonsense", &["--sites", "1x2", "--no-probe"]);
    for (fault, part) in [
        ("explode node0", "unknown fault `explode`"),
        ("drop nowhere", "unknown host `nowhere`"),
        ("loss node0 lots", "not a share of packets"),
        ("delay node0 5ms", "is not a pair of sites"),
        ("flap node0 10ms", "needs a period above 0 and an end"),
    ] {
        let words: Vec<&str> = ["lab", "fault", "--lab", &lab.name].into_iter().collect();
        let all: Vec<&str> = words.into_iter().chain(fault.split(' ')).collect();
        refused(&laneway(&all), 2, part);
    }
    let missing = ["lab", "fault", "--lab", &lab.name, "--timetable", "no-such-file"];
    refused(&laneway(&missing), 3, "no-such-file");
}
