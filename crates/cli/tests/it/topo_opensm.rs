//! The real OpenSM on the real ibsim: our tables installed and read back, its engines compared with
//! ours, a cable cut and routed around.

use crate::subnet;

use std::time::{Duration, Instant};

use laneway_topo::files::formats::{Identity, guid2lid, lft, netlist, read};
use laneway_topo::{Counter, Fabric, Part, Table, Topology, Wiring, prove, topology};
use subnet::{Subnet, is_here};

fn planned(spec: &str) -> (Box<dyn Topology>, Identity) {
    let plan = topology(spec).expect(spec);
    let mut identity = Identity::planned(&*plan);
    identity.pin(0).expect("few addresses");
    (plan, identity)
}

/// The subnet of a plan with pinned addresses.
fn subnet(plan: &dyn Wiring, identity: &Identity) -> Subnet {
    let subnet = Subnet::start(&netlist::write_ibsim(plan, identity));
    subnet.write("guid2lid", &guid2lid::write(identity));
    subnet
}

#[test]
fn our_tables_are_installed_and_read_back() {
    if !is_here() {
        return;
    }
    for spec in ["mlfm:d=4", "fat-tree-3:d=4", "mlfm:d=8"] {
        let (plan, identity) = planned(spec);
        let subnet = subnet(&*plan, &identity);
        // As a person would: with the command's own files.
        for (format, file) in [("lft", "tables.lft"), ("guid2lid", "guid2lid")] {
            let file = subnet.path(file);
            subnet.laneway(&["export", "-t", spec, "--as", format, "-o", &file]);
        }
        subnet.opensm(&["-x", "-R", "file", "-U", &subnet.path("tables.lft")]);
        let found = read(&subnet.tool("ibnetdiscover")).expect("a discovery");
        assert_eq!(found.fabric.hosts(), plan.hosts());
        let lids: Vec<u16> = found.identity.hosts.iter().map(|id| id.lid).collect();
        assert!(lids.contains(&1) && found.identity.is_pinned(), "{spec}");
        let installed = lft::read(&subnet.tool("dump_lfts"), &*plan, &identity).expect("a dump");
        assert!(installed == Table::of(&*plan, &*plan), "{spec}: not what we wrote");
    }
}

/// Two addresses for each host, and another way to each.
#[test]
fn tables_with_two_paths_are_installed_and_read_back() {
    if !is_here() {
        return;
    }
    let (plan, mut identity) = planned("mlfm:d=4");
    identity.pin(1).expect("few addresses");
    let subnet = subnet(&*plan, &identity);
    let tables = subnet.path("tables.lft");
    subnet.laneway(&["route", "-t", "mlfm:d=4", "--paths", "2", "-o", &tables]);
    subnet.opensm(&["-x", "-l", "1", "-R", "file", "-U", &tables]);
    let written = std::fs::read_to_string(&tables).expect("the tables");
    let written = lft::read(&written, &*plan, &identity).expect("ours");
    let installed = lft::read(&subnet.tool("dump_lfts"), &*plan, &identity).expect("a dump");
    assert_eq!(installed.paths(), 2);
    assert!(installed == written, "not what we wrote");
    assert!(prove(&*plan, &installed).holds());
}

/// Names, GUIDs, numbers and ports as another tool gave them.
#[test]
fn a_foreign_fabric_is_recognised_and_gets_its_own_tables() {
    if !is_here() {
        return;
    }
    let plan = topology("mlfm:d=4").expect("a mesh");
    let found = subnet::foreign(&*plan, 23);
    let mut identity = Identity::planned(&found);
    for (at, id) in identity.switches.iter_mut().enumerate() {
        id.guid = 0x2c9_0000_0000_0000 + (at as u64 * 7919) % 65536;
    }
    let subnet = Subnet::start(&netlist::write_ibsim(&found, &identity));
    subnet.opensm(&["-R", "minhop"]);
    subnet.write("found.txt", &subnet.tool("ibnetdiscover"));
    let seen = subnet.laneway(&["import", &subnet.path("found.txt"), "--format", "json"]);
    let seen: serde_json::Value = serde_json::from_str(&seen).expect("JSON");
    assert_eq!(seen["rows"][0]["topology"], "mlfm:d=4", "{seen}");
    assert_eq!(seen["rows"][0]["differences"], 0, "{seen}");
    let (file, tables) = (format!("file:{}", subnet.path("found.txt")), subnet.path("tables.lft"));
    let installed = subnet.dumped();
    subnet.write("installed.lft", &installed);
    subnet.laneway(&["route", "-t", &file, "--from", &subnet.path("installed.lft"), "-o", &tables]);
    // The addresses are those that OpenSM gave, so each step can be loaded as it is.
    let discovered = read(&std::fs::read_to_string(subnet.path("found.txt")).expect("a file"));
    let discovered = discovered.expect("a discovery");
    for step in 1.. {
        let step = format!("{tables}.step{step}");
        if !std::path::Path::new(&step).exists() {
            break;
        }
        subnet.opensm(&["-x", "-R", "file", "-U", &step]);
        let now = subnet.tool("dump_lfts");
        let now = lft::read(&now, &discovered.fabric, &discovered.identity).expect("a dump");
        assert!(prove(&discovered.fabric, &now).unreached.is_empty(), "{step}");
    }
    let now = subnet.tool("dump_lfts");
    let now = lft::read(&now, &discovered.fabric, &discovered.identity).expect("a dump");
    let recognised = laneway_topo::recognise(&discovered.fabric).expect("a mesh");
    assert!(now == recognised.native(&discovered.fabric), "not the mesh's own tables");
}

/// facts: ftree finds the conflict-free table, the others do not.
#[test]
fn opensms_engines_are_compared_with_ours() {
    if !is_here() {
        return;
    }
    let (plan, identity) = planned("mlfm:d=4");
    let subnet = subnet(&*plan, &identity);
    let edges = (0..plan.switches()).filter(|&at| plan.switch_name(at).starts_with("edge"));
    let roots: String =
        edges.map(|at| format!("{:#x}\n", identity.switches[at as usize].guid)).collect();
    subnet.write("roots", &roots);
    let roots = subnet.path("roots");
    let order = plan.order();
    let own = Counter::new(&*plan, &*plan).expect("small").count(&*order);
    assert_eq!((own.worst(), own.phase_mean()), (1, 1.0));
    // The mean over phases of 1 / conflict, and how near we expect it.
    for (engine, roots, expected) in [
        ("ftree", None, 1.0..=1.0),
        ("minhop", None, 0.887..=0.889),
        ("updn", Some(roots.as_str()), 0.887..=0.889),
        ("dnup", None, 0.5..=0.95),
        ("dfsssp", None, 0.85..=0.99),
        ("sssp", None, 0.85..=0.99),
        ("lash", None, 0.887..=0.889),
        ("dor", None, 0.887..=0.889),
        ("nue", None, 0.1..=0.9),
    ] {
        let mut args = vec!["-x", "-R", engine];
        args.extend(roots.iter().flat_map(|roots| ["-a", *roots]));
        subnet.opensm(&args);
        let installed = lft::read(&subnet.dumped(), &*plan, &identity).expect("a dump");
        // Its other dump says the same, by addresses alone.
        let routes = std::fs::read_to_string(subnet.path("opensm.fdbs")).expect("a dump");
        assert!(lft::read(&routes, &*plan, &identity).expect("routes") == installed, "{engine}");
        let tally = Counter::new(&*plan, &installed).expect("small").count(&*order);
        println!(
            "{engine}: {:.3} of phases, {:.3} of messages",
            tally.phase_mean(),
            tally.flow_mean()
        );
        assert_eq!(tally.lost, 0, "{engine}");
        assert!(expected.contains(&tally.phase_mean()), "{engine}: {}", tally.phase_mean());
    }
}

#[test]
fn a_cut_is_seen_routed_around_and_loaded() {
    a_cut_is_mended(0);
}

/// Every address of a host is reached again.
#[test]
fn a_cut_of_a_fabric_with_two_paths_is_routed_around_too() {
    a_cut_is_mended(1);
}

/// The cable that is cut.
const CUT: &str = "vertex-0-0/5 – edge-0-1/1";

fn a_cut_is_mended(lmc: u8) {
    if !is_here() {
        return;
    }
    let (plan, mut identity) = planned("mlfm:d=4");
    identity.pin(lmc).expect("few addresses");
    let mut subnet = subnet(&*plan, &identity);
    let native = plan.paths(identity.paths()).expect("a mesh has them");
    subnet.write("tables.lft", &lft::write(&*plan, &native, &identity));
    let (tables, bits) = (subnet.path("tables.lft"), lmc.to_string());
    let opensm = subnet.keep_opensm(&["-x", "-s", "0", "-l", &bits, "-R", "file", "-U", &tables]);
    subnet.write("whole.txt", &subnet.tool("ibnetdiscover"));
    // vertex-0-0 to edge-0-1.
    subnet.console("unlink \"vertex-0-0\"[5]");
    let mut cut = Fabric::of(&*plan);
    cut.fail(Part::Link(0, 4));
    let seen = read(&subnet.tool("ibnetdiscover")).expect("a discovery").fabric;
    let map = laneway_topo::machine::map::Map::new(&seen, &*plan).expect("small");
    let gone = laneway_topo::machine::differ::differ(&*plan, &seen, &map);
    assert_eq!(gone.len(), 1, "{gone:?}");
    let installed =
        |subnet: &Subnet| lft::read(&subnet.tool("dump_lfts"), &*plan, &identity).expect("a dump");
    // OpenSM sweeps again, and its file engine leaves the dead entries where they are.
    opensm.sweep();
    let stale = installed(&subnet);
    let lost = prove(&cut, &stale).unreached.len();
    assert!(lost > 0, "the file engine has learnt to react");
    let reload = format!("kill -HUP {}", opensm.id());
    let output = subnet.laneway(&[
        "watch",
        "--whole",
        &subnet.path("whole.txt"),
        "--discover",
        "ibsim-run ibnetdiscover",
        "-o",
        &tables,
        "--reload",
        &reload,
        "--once",
        "--format",
        "json",
    ]);
    let row: serde_json::Value = serde_json::from_str(&output).expect("JSON");
    let row = &row["rows"][0];
    assert_eq!(row["topology"], "mlfm:d=4", "{row}");
    assert_eq!((&row["cables_lost"], &row["unreached"]), (&1.into(), &0.into()), "{row}");
    assert_eq!((&row["lost"], &row["reloaded"]), (&CUT.into(), &true.into()), "{row}");
    // Without the whole fabric, what is lost is known from the topology that was recognised.
    let discover = ["--discover", "ibsim-run ibnetdiscover", "-o", &subnet.path("other.lft")];
    let line = subnet.laneway(&[&["watch", "--once"], &discover[..]].concat());
    let (_, line) = line.split_once(' ').expect("a time");
    assert!(line.starts_with(&format!("lost {CUT}, ")) && line.lines().count() == 1, "{line}");
    assert!(line.ends_with(" entries changed, written\n"), "{line}");
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let now = installed(&subnet);
        let proof = prove(&cut, &now);
        if proof.unreached.is_empty() {
            assert_eq!(now.paths(), identity.paths());
            break assert!(proof.credit_loop.is_empty());
        }
        assert!(Instant::now() < deadline, "{} pairs are still lost", proof.unreached.len());
        std::thread::sleep(Duration::from_millis(300));
    }
    println!("{lost} pairs were lost and are reached again");
}
