//! What `laneway topo export --as simgrid` writes, run in SimGrid: a message takes the time of the
//! cables on its way, cables carry both directions at once, and what meets on one shares it.

use crate::common;

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use common::{BARE_NETWORK, ENVELOPE_BYTES, object};
use laneway_needs::{Need, program};

/// What the export says of every cable: 100 Gbit/s and 0.2 microseconds.
const BYTES_PER_SECOND: f64 = 12.5e9;
const CABLE_SECONDS: f64 = 0.2e-6;

const SIZE: u32 = 1 << 20;

/// A folder with exported platforms, removed at the end.
struct Exported(PathBuf);

impl Drop for Exported {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Exported {
    /// `None` if SimGrid is not installed.
    fn new(name: &str) -> Option<Exported> {
        if !Need::Simgrid.is_met(program("smpirun")) {
            return None;
        }
        let folder = format!("laneway-exported-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        Some(Exported(folder))
    }

    /// The command, within the shared object, as one simulated rank.
    fn topo(&self, args: &[&str]) -> String {
        let bare = "<?xml version='1.0'?>\n\
             <!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n\
             <platform version=\"4.1\"><zone id=\"z\" routing=\"Full\">\
             <host id=\"node0\" speed=\"1Gf\"/></zone></platform>\n";
        std::fs::write(self.0.join("bare.xml"), bare).expect("a file");
        self.run("bare.xml", 1, &[&["topo"], args].concat())
    }

    /// What ranks print, one on each of the first hosts of a platform.
    fn run(&self, platform: &str, ranks: u32, args: &[&str]) -> String {
        let hosts: String = (0..ranks).map(|rank| format!("node{rank}\n")).collect();
        std::fs::write(self.0.join("hosts"), hosts).expect("a file");
        let mut command = Command::new("timeout");
        command.current_dir(&self.0).stdin(Stdio::null());
        command.args(["--kill-after=5", "240", "smpirun", "-np", &ranks.to_string()]);
        command.args(["-platform", platform, "-hostfile", "hosts"]);
        command.args(["--cfg=smpi/privatization:dlopen", "--cfg=smpi/simulate-computation:no"]);
        let Output { status, stdout, stderr } =
            command.args(BARE_NETWORK).arg(object()).args(args).output().expect("timeout starts");
        assert!(status.success(), "{args:?}: {}", String::from_utf8_lossy(&stderr));
        String::from_utf8_lossy(&stdout).into_owned()
    }

    /// When the last of some messages of [`SIZE`] bytes has arrived, all begun at one instant.
    fn seconds(&self, platform: &str, ranks: u32, messages: &[(u32, u32)]) -> f64 {
        let list: Vec<String> =
            messages.iter().map(|(from, to)| format!("{from}:{to}:{SIZE}")).collect();
        let printed = self.run(platform, ranks, &["virtual-time", "messages", &list.join(",")]);
        let times = printed.lines().skip(1).map(|line| {
            let fields: Vec<f64> = line.split(',').map(|text| text.parse().expect(line)).collect();
            assert_eq!(fields[2], 0.0, "the ranks did not begin together: {printed}");
            fields[1]
        });
        let times: Vec<f64> = times.collect();
        assert_eq!(times.len(), ranks as usize, "{printed}");
        times.into_iter().fold(0.0, f64::max)
    }
}

/// A message over `cables` cables, with `sharing` messages on the busiest of them.
fn expected(cables: u32, sharing: u32) -> f64 {
    let bytes = f64::from(SIZE) + ENVELOPE_BYTES;
    f64::from(cables) * CABLE_SECONDS + f64::from(sharing) * bytes / BYTES_PER_SECOND
}

#[track_caller]
fn expect(what: &str, seconds: f64, expected: f64) {
    // SimGrid steps in nanoseconds; a cable more or less is 200 of them.
    assert!((seconds - expected).abs() < 3e-9, "{what}: {seconds} s for {expected} s");
}

/// A message of the all-to-all that our schedule has: its phase and the switches on its way.
struct Planned {
    phase: u32,
    from: u32,
    to: u32,
    switches: Vec<String>,
}

impl Planned {
    /// A host's cable at each end, and one between any two switches.
    fn cables(&self) -> u32 {
        self.switches.len() as u32 + 1
    }

    /// Whether both go from one switch to another by the same ones.
    fn meets(&self, other: &Planned) -> bool {
        self.switches.len() > 1 && self.switches == other.switches
    }
}

/// Writes the platform of a topology, and returns every message of its all-to-all.
fn export(here: &Exported, spec: &str) -> Vec<Planned> {
    here.topo(&["export", "-t", spec, "--as", "simgrid", "-o", "platform.xml"]);
    let printed = here.topo(&["schedule", "-t", spec, "--format", "csv"]);
    let mut lines = printed.lines();
    assert_eq!(lines.next(), Some("phase,source,destination,path"));
    let planned = lines.map(|line| {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |at: usize| fields[at].parse().expect(line);
        let switches = fields[3].split(' ').map(str::to_string).collect();
        Planned { phase: number(0), from: number(1), to: number(2), switches }
    });
    planned.filter(|message| message.from != message.to).collect()
}

#[test]
fn one_message_takes_the_time_of_its_way() {
    let Some(here) = Exported::new("one") else { return };
    for (spec, hosts, lengths) in [
        ("mlfm:d=2", 12, &[2, 4][..]),
        ("fat-tree-3:d=2", 8, &[2, 4, 6]),
        ("fat-tree-3:d=4", 64, &[2, 4, 6]),
    ] {
        let planned = export(&here, spec);
        assert_eq!(planned.len() as u32, hosts * (hosts - 1), "{spec}");
        for &cables in lengths {
            let of_it: Vec<&Planned> = planned.iter().filter(|m| m.cables() == cables).collect();
            let (first, last) = (of_it.first().expect("a way"), of_it.last().expect("a way"));
            for Planned { from, to, .. } in [first, last] {
                let seconds = here.seconds("platform.xml", hosts, &[(*from, *to)]);
                expect(&format!("{spec}: {from} to {to}"), seconds, expected(cables, 1));
            }
        }
        assert!(planned.iter().all(|message| lengths.contains(&message.cables())), "{spec}");
    }
}

/// A phase of the mesh's own all-to-all is as fast as one message; messages that our tables lead
/// over one cable share it, and the two directions of a cable do not.
#[test]
fn messages_meet_where_the_tables_say() {
    let Some(here) = Exported::new("meet") else { return };
    let planned = export(&here, "mlfm:d=2");
    for phase in [0, 3, 7] {
        let messages: Vec<&Planned> = planned.iter().filter(|m| m.phase == phase).collect();
        let longest = messages.iter().map(|m| m.cables()).max().expect("a message");
        let pairs: Vec<(u32, u32)> = messages.iter().map(|m| (m.from, m.to)).collect();
        assert!(pairs.len() > 6, "{pairs:?}");
        let seconds = here.seconds("platform.xml", 12, &pairs);
        expect(&format!("phase {phase}"), seconds, expected(longest, 1));
    }
    let one = planned.iter().find(|m| m.cables() == 4).expect("a way over switches");
    let is_apart = |m: &&Planned| m.from != one.from && m.to != one.to && m.meets(one);
    let other = planned.iter().find(is_apart).expect("another over the same switches");
    let back = (one.to, one.from);
    for (what, messages, sharing) in [
        ("both ways of all cables", vec![(one.from, one.to), back], 1),
        ("two over the same switches", vec![(one.from, one.to), (other.from, other.to)], 2),
        ("and one the other way", vec![(one.from, one.to), (other.from, other.to), back], 2),
        ("three to one host", vec![(2, 0), (4, 0), (6, 0)], 3),
    ] {
        let seconds = here.seconds("platform.xml", 12, &messages);
        expect(what, seconds, expected(4, sharing));
    }
}

/// A cable that has failed is on no way, and a host that is cut off has none.
#[test]
fn a_damaged_fabric_is_simulated_too() {
    let Some(here) = Exported::new("damaged") else { return };
    let with = |verb: &[&str], fail: &str| {
        here.topo(&[verb, &["-t", "mlfm:d=2", "--fail", fail]].concat())
    };
    let export = |fail: &str| {
        with(&["export", "--as", "simgrid", "-o", "damaged.xml"], fail);
        std::fs::read_to_string(here.0.join("damaged.xml")).expect("written")
    };
    let text = export("host:node11");
    assert!(text.contains("<host id=\"node11\"") && !text.contains("dst=\"node11\""), "{text}");
    expect("the others", here.seconds("damaged.xml", 11, &[(0, 2)]), expected(4, 1));
    let cut = "link:vertex-0-0/3";
    let text = export(cut);
    assert!(!text.contains("id=\"vertex-0-0/3\""), "{text}");
    let ways = with(&["schedule", "--source", "0", "--format", "csv"], cut);
    let way = ways.lines().find_map(|line| line.split_once(",0,2,")).expect("a message").1;
    let cables = way.split(' ').count() as u32 + 1;
    assert!(cables > 4, "no detour: {way}");
    expect("a detour", here.seconds("damaged.xml", 11, &[(0, 2)]), expected(cables, 1));
}
