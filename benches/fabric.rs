//! How fast fabrics are counted and proved: the whole all-to-all of 6,156 nodes, every message of
//! it; and against OpenSM and ibdmchk over the same fabric, where they are installed.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use laneway_benches::{Spread, ratio};
use laneway_core::Phases;
use laneway_topo::files::formats::{self, Identity, guid2lid, lft, netlist};
use laneway_topo::proof::symmetry::prove_mesh;
use laneway_topo::topologies::mlfm::FullMesh;
use laneway_topo::{Counter, Table, prove, topology};

/// Seconds that counting may take, by formula and over any table.
const MOST_BY_FORMULA: f64 = 0.10;
const MOST_BY_TABLE: f64 = 0.35;
/// Our time over theirs, at most.
const MOST_OF_IBDMCHK: f64 = 0.0333;
const MOST_OF_OPENSM: f64 = 0.125;
const TIMES: usize = 9;

/// An order with one wrong partner among all of its messages.
struct Wrong<'o> {
    order: &'o (dyn Phases + Sync),
    phase: u64,
}

impl Phases for Wrong<'_> {
    fn count(&self) -> u64 {
        self.order.count()
    }

    fn partner(&self, rank: u32, phase: u64) -> u32 {
        let right = self.order.partner(rank, phase);
        if (rank, phase) == (4321, self.phase) { right ^ 1 } else { right }
    }

    fn partners(&self, phase: u64, out: &mut [u32]) {
        self.order.partners(phase, out);
        if phase == self.phase {
            out[4321] ^= 1;
        }
    }
}

fn seconds(times: usize, mut work: impl FnMut()) -> Spread {
    let once = |_| {
        let begun = Instant::now();
        work();
        begun.elapsed().as_secs_f64()
    };
    Spread::of(&(0..times).map(once).collect::<Vec<f64>>())
}

/// Processor seconds that this process, or its children that have ended, have used.
fn processor(who: libc::c_int) -> f64 {
    // SAFETY: all bytes zero is a valid rusage, and it is written to whole.
    let mut used: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `used` is a valid place for the answer.
    unsafe { libc::getrusage(who, &mut used) };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 * 1e-6;
    seconds(used.ru_utime) + seconds(used.ru_stime)
}

fn count() -> Result<(), String> {
    let mesh = topology("mlfm:d=18").map_err(|failure| failure.to_string())?;
    let order = mesh.order();
    let formula = seconds(TIMES, || {
        let counter = Counter::new(&*mesh, &*mesh).expect("it fits");
        assert_eq!(counter.count(&*order).worst(), 1);
    });
    let table = Table::of(&*mesh, &*mesh);
    let by_table = seconds(TIMES, || {
        let counter = Counter::of(&*mesh, &table).expect("it fits");
        assert_eq!(counter.count(&*order).worst(), 1);
    });
    let counter = Counter::of(&*mesh, &table)?;
    let before = processor(libc::RUSAGE_SELF);
    let messages: u64 = counter.count(&*order).flows.iter().sum();
    let each = (processor(libc::RUSAGE_SELF) - before) / messages as f64;
    println!("counting takes {:.1} ns of a processor for each message", each * 1e9);
    let found = counter.count(&Wrong { order: &*order, phase: 5000 });
    assert_eq!(found.phases[2], 1, "one wrong partner must be found");
    println!(
        "mlfm:d=18, 37.9 million messages, seconds: {formula} by formula, {by_table} by table"
    );
    ratio("by formula, over 0.10 s", formula.median / MOST_BY_FORMULA, 1.0);
    ratio("by table, over 0.35 s", by_table.median / MOST_BY_TABLE, 1.0);
    let large = seconds(3, || {
        let proved = prove_mesh(&FullMesh::new(64), 1_000_000, 1, &());
        assert!(proved.holds());
    });
    println!("mlfm:d=64, 266,240 nodes, proved by symmetry and sampling: {large} s");
    Ok(())
}

/// The simulated fabric, ended with its process group.
struct Ibsim(Child);

impl Drop for Ibsim {
    fn drop(&mut self) {
        // SAFETY: the group is that of a child we started and have not waited for.
        unsafe { libc::kill(-(self.0.id() as i32), libc::SIGKILL) };
        let _ = self.0.wait();
    }
}

/// One sweep of OpenSM's minhop over a simulated fabric; wall seconds. Its files stay in `dir`.
fn sweep(dir: &Path, net: &str, host: &str) -> Result<f64, String> {
    let failed = |error: std::io::Error| error.to_string();
    let _ = std::fs::remove_dir_all(dir);
    std::fs::create_dir_all(dir).map_err(failed)?;
    let file = dir.join("net");
    std::fs::write(&file, net).map_err(failed)?;
    let socket = format!("laneway-bench-{}", std::process::id());
    let mut ibsim = Command::new("ibsim");
    ibsim.args(["-s", "-n", "-N", "20000", "-S", "2000", "-P", "200000", "-L", "49152"]).arg(&file);
    ibsim.env("IBSIM_SOCKNAME", &socket).process_group(0);
    ibsim.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let _ibsim = Ibsim(ibsim.spawn().map_err(|error| format!("ibsim: {error}"))?);
    std::thread::sleep(Duration::from_secs(3));
    let preload =
        ["/usr/lib/x86_64-linux-gnu/umad2sim/libumad2sim.so", "/usr/lib/umad2sim/libumad2sim.so"];
    let preload =
        preload.iter().find(|file| Path::new(file).exists()).ok_or("no libumad2sim.so")?;
    let mut opensm = Command::new("timeout");
    opensm.args(["--kill-after=5", "280", "opensm", "-o", "-R", "minhop", "-D", "0x43", "-f"]);
    opensm.arg(dir.join("log")).env("LD_PRELOAD", preload).env("IBSIM_SOCKNAME", &socket);
    opensm.env("SIM_HOST", host).env("OSM_TMP_DIR", dir).env("OSM_CACHE_DIR", dir);
    opensm.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let begun = Instant::now();
    let status = opensm.status().map_err(|error| format!("opensm: {error}"))?;
    let took = begun.elapsed().as_secs_f64();
    if status.success() { Ok(took) } else { Err(format!("opensm ended with {status}")) }
}

fn against_opensm(dir: &Path) -> Result<(), String> {
    let mesh = topology("mlfm:d=18").map_err(|failure| failure.to_string())?;
    let net = netlist::write_ibsim(&*mesh, &Identity::planned(&*mesh));
    let theirs = sweep(dir, &net, &mesh.host_name(0))?;
    let ours = seconds(5, || {
        let table = Table::of(&*mesh, &*mesh);
        assert!(prove(&*mesh, &table).holds());
    });
    println!(
        "tables for mlfm:d=18: {ours} s computed and proved, OpenSM's minhop sweep {theirs:.1} s"
    );
    ratio("tables over OpenSM's sweep", ours.median / theirs, MOST_OF_OPENSM);
    Ok(())
}

/// Both read the cables and the tables from files, and look for pairs not reached and for credit
/// loops.
fn against_ibdmchk(dir: &Path) -> Result<(), String> {
    let mesh = topology("mlfm:d=16").map_err(|failure| failure.to_string())?;
    let net = netlist::write_ibsim(&*mesh, &Identity::planned(&*mesh));
    sweep(dir, &net, &mesh.host_name(0))?;
    let before = processor(libc::RUSAGE_CHILDREN);
    let mut ibdmchk = Command::new("timeout");
    ibdmchk.args(["--kill-after=5", "280", "ibdmchk", "-s"]).arg(dir.join("opensm-subnet.lst"));
    ibdmchk.arg("-f").arg(dir.join("opensm.fdbs")).arg("-m").arg(dir.join("opensm.mcfdbs"));
    let output = ibdmchk.output().map_err(|error| format!("ibdmchk: {error}"))?;
    let theirs = processor(libc::RUSAGE_CHILDREN) - before;
    if output.status.code() == Some(127) {
        return Err("ibdmchk is not installed (Debian: ibutils)".into());
    }
    let said = String::from_utf8_lossy(&output.stdout);
    if !said.contains("-I- no credit loops found") && !said.contains("no credit loops") {
        return Err(format!("ibdmchk did not come to its end: {:?}", said.lines().last()));
    }
    let begun = processor(libc::RUSAGE_SELF);
    let read = |name: &str| std::fs::read_to_string(dir.join(name)).map_err(|e| e.to_string());
    let mut found = formats::read(&read("net")?).map_err(|error| error.to_string())?;
    guid2lid::read(&read("guid2lid")?, &mut found.identity).map_err(|error| error.to_string())?;
    // The very file that ibdmchk has read.
    let table = lft::read(&read("opensm.fdbs")?, &found.fabric, &found.identity)
        .map_err(|error| error.to_string())?;
    let proof = prove(&found.fabric, &table);
    let ours = processor(libc::RUSAGE_SELF) - begun;
    let hosts = u64::from(mesh.hosts());
    assert!(proof.holds() && proof.pairs == hosts * (hosts - 1));
    println!(
        "minhop's tables of mlfm:d=16, {} pairs: {ours:.2} s of a processor, ibdmchk {theirs:.1} s",
        proof.pairs
    );
    ratio("processor time over ibdmchk's", ours / theirs, MOST_OF_IBDMCHK);
    Ok(())
}

fn main() {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("fabric");
    let parts = [
        ("counting", count()),
        ("OpenSM", against_opensm(&dir)),
        ("ibdmchk", against_ibdmchk(&dir)),
    ];
    for (name, part) in parts {
        if let Err(why) = part {
            println!("{name}: left out: {why}");
        }
    }
    let _ = std::fs::remove_dir_all(&dir);
}
