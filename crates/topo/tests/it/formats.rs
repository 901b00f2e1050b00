//! Every format: what is written is read back the same, and what is wrong has a line number.

use laneway_stats::SplitMix64;
use laneway_topo::cost::Parts;
use laneway_topo::files::formats::{
    Identity, cables, dot, guid2lid, lft, load, netlist, pairs, read, simgrid, slurm, toml,
};
use laneway_topo::machine::differ::differ;
use laneway_topo::machine::map::Map;
use laneway_topo::operations::change::{Ends, apply, differing, steps};
use laneway_topo::{
    End, Fabric, KINDS, Part, Routing, Table, Topology, Wiring, prove, reroute, topology,
};

fn small() -> impl Iterator<Item = Box<dyn Topology>> {
    KINDS.iter().map(|kind| (kind.build)(if kind.name == "mlfm" { 3 } else { 4 }))
}

/// Every cable as names and ports.
fn cables_of(wiring: &dyn Wiring) -> Vec<(String, u8, String)> {
    let mut all = Vec::new();
    for switch in 0..wiring.switches() {
        for port in 0..wiring.ports(switch) as u8 {
            let end = match wiring.end(switch, port) {
                End::Nothing => continue,
                End::Host(host) => wiring.host_name(host),
                End::Switch(other, its) => format!("{}/{its}", wiring.switch_name(other)),
            };
            all.push((wiring.switch_name(switch), port, end));
        }
    }
    all.sort();
    all
}

#[test]
fn what_is_written_is_read_back() {
    for plan in small() {
        let mut identity = Identity::planned(&*plan);
        identity.pin(1).expect("few addresses");
        for text in [
            netlist::write_ibsim(&*plan, &identity),
            netlist::write_ibnetdiscover(&*plan, &identity),
        ] {
            let back = read(&text).unwrap_or_else(|error| panic!("{}: {error}", plan.spec()));
            assert_eq!(cables_of(&back.fabric), cables_of(&*plan), "{}", plan.spec());
            assert_eq!(back.identity, identity, "{}", plan.spec());
        }
        for text in [toml::write(&*plan).expect("plain names"), cables::write(&*plan)] {
            let back = read(&text).unwrap_or_else(|error| panic!("{}: {error}", plan.spec()));
            assert_eq!(cables_of(&back.fabric), cables_of(&*plan), "{}", plan.spec());
            assert_eq!(back.identity.hosts.len(), plan.hosts() as usize);
        }
    }
}

/// Ports of switches, hosts without cables and the order of all parts are written too, so that the
/// same fabric comes back, whole and damaged.
#[test]
fn graphs_and_platforms_are_read_back_whole_and_damaged() {
    let mut draws = SplitMix64::new(31);
    for plan in small() {
        let mut fabric = Fabric::of(&*plan);
        for failures in 0..4 {
            if failures > 0 {
                let switch = draws.index(plan.switches() as usize) as u32;
                fabric.fail(match failures {
                    1 => Part::Link(switch, draws.index(plan.ports(switch) as usize) as u8),
                    2 => Part::Switch(switch),
                    _ => Part::Host(draws.index(plan.hosts() as usize) as u32),
                });
            }
            let table = reroute(&*plan, &*plan, &fabric);
            let platform = simgrid::write(&fabric, &table, simgrid::Cable::default());
            for text in [dot::write(&fabric), platform.expect("small")] {
                let back = read(&text).unwrap_or_else(|error| panic!("{}: {error}", plan.spec()));
                assert_eq!(names_of(&back.fabric), names_of(&fabric), "{}", plan.spec());
                assert_eq!(cables_of(&back.fabric), cables_of(&fabric), "{}", plan.spec());
                let map = Map::new(&back.fabric, &fabric).expect("the same names");
                assert!(map.by_name, "{}", plan.spec());
                assert_eq!(differ(&fabric, &back.fabric, &map), [], "{}", plan.spec());
            }
        }
    }
}

/// Every part in its order, and the ports of switches.
fn names_of(wiring: &dyn Wiring) -> Vec<(String, u32)> {
    let switches = (0..wiring.switches()).map(|at| (wiring.switch_name(at), wiring.ports(at)));
    switches.chain((0..wiring.hosts()).map(|at| (wiring.host_name(at), 0))).collect()
}

#[test]
fn a_table_is_read_back_with_one_path_and_with_several() {
    for plan in small() {
        for lmc in [0, 2] {
            let mut identity = Identity::planned(&*plan);
            identity.pin(lmc).expect("few addresses");
            let mut table = Table::empty(plan.switches(), plan.hosts(), 1 << lmc);
            let mut draws = SplitMix64::new(7);
            for switch in 0..plan.switches() {
                for destination in 0..table.destinations() {
                    let port = draws.index(plan.ports(switch) as usize) as u8;
                    table.set(switch, destination, port);
                }
            }
            let text = lft::write(&*plan, &table, &identity);
            assert!(lft::read(&text, &*plan, &identity).expect("ours") == table);
            let both = (table.clone(), lft::to_switches(&*plan, &table));
            assert!(lft::read_both(&text, &*plan, &identity).expect("ours") == both);
            // GUIDs alone identify parts: other addresses change nothing.
            let unpinned = Identity::planned(&*plan);
            assert!(lft::read(&text, &*plan, &unpinned).expect("ours") == table);
            // And addresses alone do where there are no comments.
            let bare: Vec<&str> =
                text.lines().map(|line| line.split(" : ").next().unwrap_or("")).collect();
            assert!(lft::read(&bare.join("\n"), &*plan, &identity).expect("bare") == table);
        }
    }
}

#[test]
fn addresses_are_pinned_by_a_file() {
    let plan = topology("mlfm:d=3").expect("a mesh");
    let mut identity = Identity::planned(&*plan);
    identity.pin(2).expect("few addresses");
    assert_eq!(identity.hosts[0].lid, 4);
    let mut back = Identity::planned(&*plan);
    guid2lid::read(&guid2lid::write(&identity), &mut back).expect("ours");
    assert_eq!(back, identity);
}

/// What OpenSM and other tools have learnt stays.
#[test]
fn addresses_that_are_good_are_kept() {
    let plan = topology("mlfm:d=3").expect("a mesh");
    let mut whole = Identity::planned(&*plan);
    assert_eq!(whole.pin(1), Ok(36 + 18));
    let mut torn = whole.clone();
    torn.hosts[3].lid = 0;
    torn.hosts[5].lid = whole.hosts[4].lid;
    torn.hosts[7].lid += 1;
    torn.switches[2].lid = whole.hosts[0].lid;
    assert_eq!(torn.pin(1), Ok(4));
    assert!(torn.is_pinned());
    let kept = |now: &[laneway_topo::files::formats::Id],
                before: &[laneway_topo::files::formats::Id]| {
        now.iter().zip(before).filter(|(now, before)| now == before).count()
    };
    assert!(kept(&torn.hosts, &whole.hosts) >= 33 && kept(&torn.switches, &whole.switches) >= 17);
    assert!(torn.hosts.iter().all(|id| id.lid % 2 == 0 && id.lid > 0));
    assert_eq!(torn.pin(1), Ok(0));
}

/// What OpenSM calls `opensm.fdbs`: addresses alone, and unreachable ones named as such.
#[test]
fn opensms_other_dump_is_read() {
    let plan = topology("mlfm:d=3").expect("a mesh");
    let mut identity = Identity::planned(&*plan);
    identity.pin(0).expect("few addresses");
    let mut table = Table::of(&*plan, &*plan);
    table.set(2, 5, u8::MAX);
    let mut text = String::new();
    for switch in 0..plan.switches() {
        let own = identity.switches[switch as usize];
        text += &format!("dump_ucast_routes: Switch {:#018x}\n", own.guid);
        text += "LID    : Port : Hops : Optimal\n";
        for (host, &port) in table.row_of(switch).iter().enumerate() {
            let lid = identity.hosts[host].lid;
            text += &match port {
                u8::MAX => format!("{lid:#06x} : UNREACHABLE\n"),
                port => format!("{lid:#06x} : {:03}  : 02   : yes\n", u32::from(port) + 1),
            };
        }
        text += &format!("{:#06x} : 000  : 00   : yes\n\n", own.lid);
    }
    assert!(lft::read(&text, &*plan, &identity).expect("a dump") == table);
    let stranger = text.replace("0x0005 :", "0xbff5 :");
    assert_eq!(lft::read(&stranger, &*plan, &identity).expect_err("an unknown address").line, 7);
}

/// A GUID says which part is meant, whatever the name; and what no line gives is not made up.
#[test]
fn comments_are_believed_and_not_stretched() {
    let plan = topology("mlfm:d=2").expect("a mesh");
    let mut identity = Identity::planned(&*plan);
    for (at, id) in identity.hosts.iter_mut().enumerate() {
        id.guid = 0x100 + at as u64;
    }
    let heading = "Unicast lids [0-9] of switch Lid 9 guid 0x99 (vertex-0-0):";
    let entry = |lid: u16, guid: u64, name: &str| {
        format!("{lid:#06x} 001 : (Channel Adapter portguid {guid:#x}: '{name}')")
    };
    let read = |entries: &[String]| {
        let text = format!("{heading}\n{}", entries.join("\n"));
        lft::read(&text, &*plan, &identity)
    };
    let exchanged = read(&[entry(5, 0x999, "node0"), entry(6, 0x101, "node0")]).expect("read");
    assert_eq!(exchanged.row_of(0)[..2], [u8::MAX, 0], "node0 was replaced by another adapter");
    let mixed =
        [entry(4, 0x100, "a"), entry(5, 0x100, "a"), entry(6, 0x101, "b"), entry(7, 0x102, "c")];
    let mixed = read(&mixed).expect("two paths to one host, one to the others");
    assert_eq!(mixed.paths(), 2);
    assert_eq!(mixed.row_of(0)[..6], [0, 0, 0, u8::MAX, 0, u8::MAX]);
    let two = read(&[entry(5, 0x100, "a"), entry(5, 0x101, "b")]);
    assert_eq!(two.expect_err("one address of two hosts").line, 3);
}

/// Messages to switches wait on no credit loop either, together with those to hosts.
#[test]
fn ways_to_switches_are_legal_too() {
    for spec in ["mlfm:d=3", "fat-tree-3:d=4"] {
        let plan = topology(spec).expect(spec);
        let mut identity = Identity::planned(&*plan);
        identity.pin(0).expect("few addresses");
        let text = lft::write(&*plan, &Table::of(&*plan, &*plan), &identity);
        // Behind one more port of each switch a host stands for the switch itself.
        let mut fabric = Fabric::default();
        for switch in 0..plan.switches() {
            let name = plan.switch_name(switch);
            fabric.add_switch(&name, plan.ports(switch) + 1).expect("a port more");
        }
        for host in 0..plan.hosts() {
            fabric.add_host(&plan.host_name(host));
        }
        for switch in 0..plan.switches() {
            for port in 0..plan.ports(switch) as u8 {
                let end = plan.end(switch, port);
                if fabric.end(switch, port) == End::Nothing {
                    fabric.plug((switch, port), end).expect("free");
                }
            }
            let host = fabric.add_host(&format!("in {}", plan.switch_name(switch)));
            let last = plan.ports(switch) as u8;
            fabric.plug((switch, last), End::Host(host)).expect("free");
        }
        let mut all = Table::empty(plan.switches(), fabric.hosts(), 1);
        let mut here = 0;
        for line in text.lines() {
            if line.starts_with("Unicast") {
                let guid = line.split("guid ").nth(1).and_then(|rest| rest.split(' ').next());
                let guid = u64::from_str_radix(&guid.expect("a GUID")[2..], 16).expect("a number");
                here = identity.switches_by_guid()[&guid];
            } else if let Some((lid, rest)) = line.split_once(' ') {
                let lid = u16::from_str_radix(&lid[2..], 16).expect("an address");
                let port: u8 = rest[..3].parse().expect("a port");
                let switch = identity.switches.iter().position(|id| id.lid == lid);
                let host = identity.hosts.iter().position(|id| id.lid == lid);
                let to = host.or(switch.map(|at| at + plan.hosts() as usize)).expect("a part");
                let last = plan.ports(here) as u8;
                all.set(here, to as u32, port.checked_sub(1).unwrap_or(last));
            }
        }
        // A mesh's edge switches know only the hosts that they serve: no host is behind them.
        let proof = prove(&fabric, &all);
        let hosts = plan.hosts();
        let lost = proof.unreached.iter().filter(|(from, to, _)| *from < hosts || *to >= hosts);
        assert_eq!((lost.count(), &proof.credit_loop[..]), (0, &[][..]), "{spec}");
    }
}

/// InfiniBand's addresses for one port end at 0xbfff.
#[test]
fn a_mesh_of_72_ports_does_not_fit_into_a_subnet() {
    let pinned = |spec: &str, lmc: u8| {
        let plan = topology(spec).expect(spec);
        Identity::planned(&*plan).pin(lmc)
    };
    assert_eq!(pinned("mlfm:d=35", 0), Ok(44_100 + 1_890));
    let refusal = pinned("mlfm:d=36", 0).expect_err("too large");
    assert!(refusal.contains("49151"), "{refusal}");
    assert!(pinned("mlfm:d=18", 2).is_ok());
    assert!(pinned("mlfm:d=18", 3).is_err());
    assert!(pinned("mlfm:d=2", 8).is_err());
}

#[test]
fn the_tree_of_slurm_joins_what_is_near() {
    let text = |spec: &str| slurm::write(&*topology(spec).expect(spec)).expect("plain names");
    let mesh = text("mlfm:d=3");
    assert!(mesh.contains("SwitchName=vertex-0-0 Nodes=node[0-2]\n"), "{mesh}");
    assert_eq!(mesh.matches("Switches=").count(), 1, "all are equally far: {mesh}");
    let tree = text("fat-tree-3:d=4");
    assert!(tree.contains("SwitchName=group-1-0 Switches=leaf-0-[0-3]\n"), "{tree}");
    assert!(tree.contains("SwitchName=group-2-0 Switches=group-1-[0-3]\n"), "{tree}");
    let back = read(&tree).expect("ours").fabric;
    assert_eq!((back.hosts(), back.switches()), (64, 16 + 4 + 1));
    let switch = back.switch_by_name("leaf-3-3").expect("a leaf");
    assert_eq!(back.end(switch, 3), End::Host(back.host_by_name("node63").expect("a host")));
}

/// A node with two adapters is one node, and two switches whose names Slurm cannot take are two.
#[test]
fn names_of_slurm_are_unique() {
    let text = "switch,ports,port,peer,peer_port,reach\n\
                sw;1,4,1,node1 mlx5_0,,rack\nsw;1,4,2,node2,,rack\nsw;1,4,4,top,40,row\n\
                sw/1,4,1,node1 mlx5_1,,rack\nsw/1,4,2,node3,,rack\nsw/1,4,4,top,2,row\n";
    let fabric = read(text).expect("a list").fabric;
    let top = fabric.switch_by_name("top").expect("a switch");
    assert_eq!(fabric.ports(top), 40, "as many as its cables need");
    let tree = slurm::write(&fabric).expect("names that differ");
    assert!(tree.contains("SwitchName=sw-1 Nodes=node[1-2]\n"), "{tree}");
    assert!(tree.contains("SwitchName=sw-1-2 Nodes=node3\n"), "{tree}");
    assert_eq!(read(&tree).expect("ours").fabric.hosts(), 3);
}

/// Hosts at one switch.
fn list(hosts: &[&str]) -> Fabric {
    let mut fabric = Fabric::default();
    fabric.add_switch("sw", hosts.len() as u32).expect("few ports");
    for (at, name) in hosts.iter().enumerate() {
        let host = fabric.add_host(name);
        fabric.plug((0, at as u8), End::Host(host)).expect("free");
    }
    fabric
}

/// No host is lost silently, and an adapter is distinguished from a host.
#[test]
fn hosts_that_slurm_cannot_distinguish_are_refused() {
    for (one, other) in [
        ("h 0", "h 1"),
        ("nodé3", "nodè3"),
        ("a/1", "a-1"),
        ("nodé3 mlx5_0", "nodè3 mlx5_0"),
        ("localhost HCA-1", "localhost HCA-1 H-0002c903000e0b72"),
    ] {
        let refusal = slurm::write(&list(&[one, "z", other])).expect_err(one);
        assert!(refusal.contains(&format!("`{one}` and `{other}`")), "{refusal}");
    }
    let tree = slurm::write(&list(&["n1 mlx5_0", "n1 mlx5_1", "n2 HCA-1", "n2 HCA-1/2", "n3 x"]));
    assert!(tree.expect("three nodes").contains("SwitchName=sw Nodes=n[1-3]\n"));
    // As many switches of one name as there are unmanaged ones in a large hall.
    let mut fabric = Fabric::default();
    for at in 0..30_000u32 {
        fabric.add_switch(&format!("SwitchX {at}"), 1).expect("few ports");
        let host = fabric.add_host(&format!("n{at}"));
        fabric.plug((at, 0), End::Host(host)).expect("free");
    }
    let tree = slurm::write(&fabric).expect("nodes that differ");
    assert!(tree.contains("SwitchName=SwitchX-30000 Nodes=n29999\n"));
}

/// Where every switch has hosts they are joined too, piece by piece.
#[test]
fn the_tree_of_slurm_joins_leaves_that_have_cables_to_each_other() {
    let mut fabric = Fabric::default();
    for at in 0..8u32 {
        fabric.add_switch(&format!("s{at}"), 3).expect("few ports");
        let host = fabric.add_host(&format!("h{at}"));
        fabric.plug((at, 0), End::Host(host)).expect("free");
    }
    // A ring of five, and a row of three.
    for (one, other) in [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (5, 6), (6, 7)] {
        fabric.plug((one, 1), End::Switch(other, 2)).expect("free");
    }
    let tree = slurm::write(&fabric).expect("plain names");
    assert!(tree.contains("SwitchName=group-0-0 Switches=s[0-4]\n"), "{tree}");
    assert!(tree.ends_with("SwitchName=group-0-1 Switches=s[5-7]\n"), "{tree}");
    assert_eq!(tree.matches("SwitchName=").count(), 10, "{tree}");
    assert_eq!(read(&tree).expect("ours").fabric.hosts(), 8);
}

/// What would be read as another fabric is not written.
#[test]
fn a_host_that_is_named_like_a_port_is_not_written_as_one() {
    let cable = simgrid::Cable::default();
    for (names, is_port) in [
        (["sw/1", "h"], true),
        (["h", "sw/1"], true),
        (["sw/3", "h"], false),
        (["sw/01", "sw/"], false),
        (["other/1", "h/2"], false),
    ] {
        let fabric = list(&names);
        let table = Table::empty(1, 2, 1);
        for written in [toml::write(&fabric), simgrid::write(&fabric, &table, cable)] {
            match is_port {
                true => assert!(written.expect_err("a port").contains("`sw/1` is a host")),
                false => {
                    let back = read(&written.expect("plain names")).expect("ours").fabric;
                    assert_eq!(cables_of(&back), cables_of(&fabric));
                }
            }
        }
        for text in [dot::write(&fabric), cables::write(&fabric)] {
            assert_eq!(cables_of(&read(&text).expect("ours").fabric), cables_of(&fabric));
        }
    }
}

/// What a list says of where its cables run is kept, so that they cost the same.
#[test]
fn the_reach_of_cables_is_read_back() {
    for plan in small() {
        let back = read(&cables::write(&*plan)).expect("ours").fabric;
        let (had, has) = (Parts::of(&*plan).cables, Parts::of(&back).cables);
        assert_eq!(had, has, "{}", plan.spec());
        for switch in 0..back.switches() {
            for port in 0..back.ports(switch) as u8 {
                if let End::Switch(other, its) = back.end(switch, port) {
                    assert_eq!(back.reach(switch, port), back.reach(other, its));
                }
            }
        }
    }
    let given = format!("{}\na,2,1,h,,hall\na,2,2,b,1,\n", cables::HEADER);
    let fabric = read(&given).expect("a list").fabric;
    assert_eq!(Parts::of(&fabric).cables, [0, 0, 2], "none given is as ever");
}

#[test]
fn pictures_and_platforms_show_every_cable() {
    let plan = topology("mlfm:d=3").expect("a mesh");
    let cables = 36 + 12 * 3;
    assert_eq!(dot::write(&*plan).matches(" -- ").count(), cables);
    let platform = simgrid::write(&*plan, &*plan, simgrid::Cable::default()).expect("small");
    assert_eq!(platform.matches("<link id=").count(), cables);
    assert_eq!(platform.matches("<route ").count(), 36 * 35);
    let large = topology("mlfm:d=18").expect("a mesh");
    assert!(simgrid::write(&*large, &*large, simgrid::Cable::default()).is_err());
}

/// What is at each port of each switch, as words.
fn plugged(text: &str) -> Vec<String> {
    let fabric = read(text).unwrap_or_else(|error| panic!("{text}: {error}")).fabric;
    let ends = |switch| {
        let ports = 0..fabric.ports(switch) as u8;
        let ends: Vec<String> = ports.map(|port| fabric.end_name(switch, port)).collect();
        format!("{}: {}", fabric.switch_name(switch), ends.join(" "))
    };
    (0..fabric.switches()).map(ends).collect()
}

#[test]
fn a_graph_that_a_person_wrote_is_read() {
    for (text, switches) in [
        // A host has one cable; ports are given out in the order of the lines.
        ("graph { a -- b; b -- h1; a -- h2 }", &["a: b/1 h2", "b: a/1 h1"][..]),
        // Ports that are given come first, whichever way they are given.
        (
            "graph { a -- h1; a:1 -- b:3; b:n -- h2; b -- a [headlabel=4]; }",
            &["a: b/3 h1 nothing b/2", "b: h2 a/4 a/1"],
        ),
        // Chains, sets, comments, quotes, and attributes that are not ours.
        (
            "/* net */ Graph \"my \\\"net\" {\n# a line\nrankdir=LR; node [color=red] // all\n\
          h1 -- \"a-\" + \"1\" -- {b h2} [label=<<b>x</b>>, weight=2; len=\"1.5\"] [w=-.5]\n}",
            &["a-1: h1 b h2"],
        ),
        // What is given is believed: a switch with one cable, and a host with none.
        (
            "graph { a [kind=switch]; h2 [kind=host]; s -- a; s -- h1; b [ports=2] }",
            &["a: s/1", "s: a/1 h1", "b: nothing nothing"],
        ),
        (
            "graph { subgraph x { node [kind=switch] a; b }; a -- b; h [kind=host] }",
            &["a: b/1", "b: a/1"],
        ),
        // A second cable between two switches is one, but in a strict graph.
        ("graph { a -- b -- a; a -- h }", &["a: b/1 b/2 h", "b: a/1 a/2"]),
        ("strict graph { a -- b -- a; a -- h; b -- i }", &["a: b/1 h", "b: a/1 i"]),
    ] {
        let found = plugged(text);
        let switches: Vec<String> = switches.iter().map(|line| line.to_string()).collect();
        assert_eq!(found, switches, "{text}");
    }
}

/// A zone as people write it, and the line of its first element.
fn zone(inside: &str) -> String {
    format!(
        "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n\
         <platform version=\"4.1\"><zone id=\"z\" routing=\"Floyd\">\n{inside}</zone></platform>\n"
    )
}

/// Two hosts, two routers, three links.
const PARTS: &str = "<host id='h1' speed='1Gf'><prop id='w' value='9'/><disk id='d'/></host>
<host id='h2' speed='1Gf'/><router id='a'/><router id='b'/>
<link id='1' bandwidth='1GBps' latency='1us'/><link id='2' bandwidth='1GBps' latency='1us'/>
<link id='3' bandwidth='1GBps' latency='1us' sharing_policy='SPLITDUPLEX'/>
";
/// What joins them.
const ROUTES: &str = "<route src='h1' dst='a'><link_ctn id='1'/></route>
<route src='b' dst='h2'><link_ctn id='2'/></route>
<route src='a' dst='b' symmetrical='NO'><link_ctn id='3' direction='UP'/></route>
";

#[test]
fn a_platform_whose_routes_give_its_cables_is_read() {
    let ways = "<!-- a way and no cable -->\n<route src='h1' dst='h2'><link_ctn id='1'/>\
                <link_ctn id='3'/><link_ctn id='2'/></route>\n\
                <link id='own'/><route src='h1' dst='h1'><link_ctn id='own'/></route>\n";
    for rest in ["", ways] {
        let found = plugged(&zone(&format!("{PARTS}{ROUTES}{rest}")));
        assert_eq!(found, ["a: h1 b/2", "b: h2 a/2"]);
    }
}

/// Where the cables cannot be known nothing is made up.
#[test]
fn platforms_without_cables_are_refused() {
    let route = |inside: &str| format!("{PARTS}<route src='h1' dst='h2'>{inside}</route>");
    for (line, word, text) in [
        (8, "cannot be known", route("<link_ctn id='1'/><link_ctn id='2'/>")),
        (6, "cannot be known", format!("{PARTS}{}", &ROUTES[ROUTES.find('\n').unwrap_or(0)..])),
        (
            4,
            "two hosts",
            "<host id='h'/><host id='i'/><link id='1'/><route src='h' dst='i'><link_ctn id='1'/>\
             </route>"
                .to_string(),
        ),
        (8, "without a link", route("")),
        (8, "unknown link `9`", route("<link_ctn id='9'/>")),
        (8, "unknown host or router `x`", route("").replace("dst='h2'", "dst='x'")),
        (8, "one way alone", format!("{PARTS}{}", ROUTES.replace("'a'>", "'a' symmetrical='NO'>"))),
        (9, "a cable has only two ends", format!("{PARTS}{}", ROUTES.replace("'2'", "'1'"))),
        (4, "one by one", "<cluster id='c' radical='0-9'/>".to_string()),
        (4, "more than one zone", "<zone id='y'></zone>".to_string()),
        (4, "not supported", "<rout id='y'/>".to_string()),
        (4, "without `id`", "<host speed='1Gf'/>".to_string()),
        (5, "a second `h`", "<host id='h'/>\n<router id='h'/>".to_string()),
        (4, "no number, or no router", "<prop id='ports of x' value='4'/>".to_string()),
        (4, "neither an element", "words".to_string()),
        (4, "unknown entity reference 'h'", "<host id='&h;'/>".to_string()),
        (4, "expected 'zone' tag, not 'host'", "</host>".to_string()),
    ] {
        let text = zone(&text);
        let error = read(&text).map(|found| found.fabric).expect_err(&text);
        assert!(error.line == line && error.what.contains(word), "{text}: {error}");
    }
}

/// What a real `ibnetdiscover` prints, with everything that ours leaves out.
#[test]
fn a_discovery_of_real_hardware_is_read() {
    let text = "#
# Topology file: generated on Tue Mar  3 10:11:12 2026
#
# Initiated from node e41d2d0300aa0000 port e41d2d0300aa0001

vendid=0x2c9
devid=0xcb20
sysimgguid=0x248a070300d40d20
switchguid=0x248a070300d40d20(248a070300d40d20)
Switch\t36 \"S-248a070300d40d20\"\t\t# \"MF0;sw-1/U1\" enhanced port 0 lid 3 lmc 0
[1]\t\"H-e41d2d0300aa0000\"[1](e41d2d0300aa0001) \t\t# \"node1 HCA-1\" lid 1 4xEDR
[2]\t\"H-e41d2d0300bb0000\"[2](e41d2d0300bb0002) \t\t# \"node2 HCA-1\" lid 2 4xEDR

vendid=0x2c9
caguid=0xe41d2d0300bb0000
Ca\t2 \"H-e41d2d0300bb0000\"\t\t# \"node2 HCA-1\"
[2](e41d2d0300bb0002) \t\"S-248a070300d40d20\"[2]\t\t# lid 2 lmc 0 \"MF0;sw-1/U1\" lid 3 4xEDR

caguid=0xe41d2d0300aa0000
Ca\t2 \"H-e41d2d0300aa0000\"\t\t# \"node1 HCA-1\"
[1](e41d2d0300aa0001) \t\"S-248a070300d40d20\"[1]\t\t# lid 1 lmc 0 \"MF0;sw-1/U1\" lid 3 4xEDR
";
    let found = read(text).expect("a discovery");
    assert_eq!(found.fabric.switch_name(0), "MF0;sw-1/U1");
    assert_eq!(found.fabric.end(0, 1), End::Host(0));
    assert_eq!(found.fabric.host_name(0), "node2 HCA-1");
    assert_eq!(found.identity.hosts[0].guid, 0xe41d_2d03_00bb_0002);
    assert_eq!((found.identity.hosts[1].lid, found.identity.switches[0].lid), (1, 3));
    assert!(found.identity.is_pinned());
}

/// Without `(guid)` an adapter's ports count on from its own GUID.
#[test]
fn ports_count_on_from_their_adapter() {
    let text = "Switch 4 \"s\"\n[1] \"h\"[1]\n[2] \"h\"[2]\n\ncaguid=0x100\nHca 2 \"h\"\n\
                [1] \"s\"[1]\n[2] \"s\"[2]\n";
    let guids: Vec<u64> =
        read(text).expect("a netlist").identity.hosts.iter().map(|id| id.guid).collect();
    assert_eq!(guids, [0x101, 0x102]);
}

#[test]
fn what_is_wrong_has_a_line() {
    for (line, text) in [
        (1, ""),
        (2, "# a comment\nwhat is this"),
        (3, "Switch 4 \"a\"\n[1] \"b\"[1]\n[2] \"c\"[1]\n\nHca 1 \"b\"\n[1] \"a\"[1]\n"),
        (2, "Switch 4 \"a\"\n[300] \"b\"[1]"),
        (2, "Switch 4 \"a\"\nSwitch 4 \"a\""),
        (1, "Switch 9999 \"a\""),
        (2, "Switch 2 \"a\"\n[3] \"b\"[1]\nSwitch 2 \"b\"\n[1] \"a\"[3]"),
        (3, "Switch 2 \"a\"\n[1] \"b\"[1]\n[1] \"b\"[2]"),
        (4, "switchguid=0x9\nSwitch 2 \"a\"\nswitchguid=0x9\nSwitch 2 \"b\""),
        (1, "Switch 2 \"\""),
        (1, "[[switch]]\nname = \"a\\nb\"\nports = 4"),
        (1, "[[switch]]\nports = 4"),
        (2, "[[switch]]\nname = 4\nports = 4"),
        (4, "[[switch]]\nname = \"a\"\nports = 4\n[[cable]]\nfrom = \"a/9\"\nto = \"a/1\""),
        (3, "[[switch]]\nname = \"a\"\nports = = 4"),
        (2, "switch,ports,port,peer,peer_port,reach\na,4,1,b"),
        (3, "switch,ports,port,peer,peer_port,reach\na,4,1,b,,rack\na,4,1,c,,rack"),
        (1, "SwitchName=a Nodes=n[0-99999999999999]"),
        (2, "SwitchName=a Nodes=n\nSwitchName=b Switches=c"),
        (1, "digraph { a -> b }"),
        (2, "graph {\na -> b }"),
        (2, "graph { s -- h;\nleaf-0 -- s }"),
        (3, "graph { s -- t;\n\ns"),
        (2, "graph { s -- t;\n\"s"),
        (2, "graph { s -- t;\n/* s }"),
        (2, "graph { s -- t;\nlone }"),
        (1, "graph { a -- b }"),
        (2, "graph {\ns [kind=router] }"),
        (2, "graph {\ns [ports=many] }"),
        (2, "graph {\ns [ports=255] }"),
        (1, "graph { h [kind=host, ports=3] }"),
        (2, "graph { s -- t; s -- h;\ns:300 -- i }"),
        (2, "graph { s -- t; s -- h;\ns -- i [taillabel=eth0] }"),
        (2, "graph { s:1 -- t; t -- h;\ns:1 -- i }"),
        (2, "graph { s [ports=1]; s -- t; t -- h;\ns -- i }"),
        (2, "graph { s -- t; h [kind=host]; s -- h;\nt -- h }"),
        (2, "graph { s -- t }\ngraph { s -- t }"),
        (1, "graph { s -- / }"),
        (2, "<platform>\n"),
        (1, "<svg/>"),
        (1, "<!DOCTYPE platform [<!ENTITY a 'b'>]><platform/>"),
    ] {
        let error = read(text).expect_err(text);
        assert_eq!(error.line, line, "{text}: {error}");
    }
    let plan = topology("mlfm:d=2").expect("a mesh");
    let mut identity = Identity::planned(&*plan);
    identity.pin(0).expect("few addresses");
    for (line, text) in [
        (1, ""),
        (1, "0x0001 001"),
        (1, "Unicast lids [0-1] of switch Lid 1 guid 0x99 (who):"),
        (2, "Unicast lids [0-1] of switch Lid 1 guid 0x99 (vertex-0-0):\n0x0001 005"),
        (2, "Unicast lids [0-1] of switch Lid 1 guid 0x99 (vertex-0-0):\n0xbff0 001"),
        (2, "Unicast lids [0-1] of switch Lid 1 guid 0x99 (vertex-0-0):\n0x0001 xyz"),
        (2, "Unicast lids [] guid 0x9 (vertex-0-0):\nUnicast lids [] guid 0x9 (vertex-0-0):"),
    ] {
        let error = lft::read(text, &*plan, &identity).expect_err(text);
        assert_eq!(error.line, line, "{text}: {error}");
    }
}

/// Nothing that a person wrote is left out silently.
#[test]
fn what_is_not_understood_is_refused_and_not_ignored() {
    let csv = |lines: &str| format!("\n# ours\n{}\n{lines}", cables::HEADER);
    let net = |lines: &str| format!("Switch 4 \"a\"\n{lines}");
    for (line, word, text) in [
        (1, "a second `Nodes`", "SwitchName=s Nodes=n1 Nodes=n[2-3]".to_string()),
        (2, "a second `s`", "SwitchName=s Nodes=n1\nSwitchName=s Nodes=n2".to_string()),
        (2, "`Nods` is none of", "SwitchName=s Nodes=n1\nSwitchName=t Nods=n2".to_string()),
        (2, "a second cable in one line", net("[1] \"b\"[1] [2] \"b\"[2]\nSwitch 4 \"b\"")),
        (3, "no port 7", net("Ca 1 \"h\"\n[7] \"a\"[1]")),
        (3, "lid `70000`", net("Ca 1 \"h\"\n[1] \"a\"[1] # lid 70000 lmc 0")),
        (3, "lmc `260`", net("Ca 1 \"h\"\n[1] \"a\"[1] # lid 7 lmc 260")),
        (1, "lid `70000`", "Switch 4 \"a\" # \"a\" lid 70000".to_string()),
        (4, "`prots`", "[[switch]]\nname = \"a\"\nports = 4\nprots = 7".to_string()),
        (3, "`ports`", "[[host]]\nname = \"a\"\nports = 4".to_string()),
        (3, "`length`", "[[cable]]\nfrom = \"a/1\"\nlength = 3\nto = \"b\"".to_string()),
        (4, "not a reach", csv("s,4,1,h1,,banana")),
        (5, "4 ports in a line above", csv("s,4,1,h1,,rack\ns,36,2,h2,,rack")),
        (5, "is not a number", csv("s,4,1,h1,,rack\ns,,2,h2,,rack")),
        (1, "no switch", "graph {}".to_string()),
        (1, "no switch", "graph { h [kind=host] }".to_string()),
        (1, "no switch", "<platform/>".to_string()),
        (3, "no switch", csv("")),
    ] {
        let error = read(&text).map(|found| found.fabric).expect_err(&text);
        assert!(error.line == line && error.what.contains(word), "{text}: {error}");
    }
    let plan = topology("mlfm:d=2").expect("a mesh");
    let mut identity = Identity::planned(&*plan);
    let guid = identity.switches[0].guid;
    for (line, text) in [
        (2, format!("{guid:#x} 1 1\n{guid:#x} 9 9")),
        (1, format!("{guid:#x} 1 1 junk\n{guid:#x} 9 9")),
    ] {
        assert_eq!(guid2lid::read(&text, &mut identity).expect_err(&text).line, line, "{text}");
    }
    let same = format!("{guid:#x} 1 1\n{guid:#x} 1 1 # again\n0x77 2 2\n0x77 3 3\n");
    guid2lid::read(&same, &mut identity).expect("the same twice, and a stranger");
}

/// Comments, marks and letters that people and programs put there.
#[test]
fn what_is_before_the_first_line_does_not_matter() {
    let text = format!("\n # ours\n\n{}\ns,4,1,h1,,rack\n", cables::HEADER);
    assert_eq!(plugged(&text), ["s: h1 nothing nothing nothing"]);
    let small = "switchname=s0 nodes=n[0-1] LINKSPEED=100\nSWITCHNAME=s1 switches=s0";
    let [below, above] = &plugged(small)[..] else { panic!("two switches") };
    assert!(below.starts_with("s0: n0 n1 s1/1 ") && above.starts_with("s1: s0/3 "), "{below}");
    let folder = std::env::temp_dir().join(format!("laneway-mark-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("marked");
    for text in ["graph { s -- t; s -- h }", "SwitchName=s Nodes=n", &text] {
        std::fs::write(&file, format!("\u{feff}{text}")).expect("written");
        let loaded = load(&file).expect("a text");
        assert_eq!(loaded, text);
        read(&loaded).expect("a fabric");
    }
    std::fs::remove_dir_all(&folder).expect("gone");
}

/// Tables may stand in any order and in one line.
#[test]
fn toml_that_a_person_wrote_is_read() {
    let text = "cable = [{ from = \"s/1\", to = \"h\" }, { to = \"t/1\", from = \"s/2\" }]\n\
                [[cable]]\nfrom = \"i\"\nto = \"t/2\"\n  [[host]]\n  name = 'h'\n\
                [[host]] # the last\nname = \"i\"\n\
                [[switch]]\nname = \"s\"\nports = 2\n[[switch]]\nports = 3\nname = \"t\"";
    assert_eq!(plugged(text), ["s: h t/1", "t: s/2 i nothing"].map(str::to_string));
    let wrong = text.replace("ports = 3", "ports = = 3");
    assert_eq!(read(&wrong).expect_err("a second sign").line, 13);
    let wrong = text.replace("\"t/2\"", "\"t/9\"");
    assert_eq!(read(&wrong).expect_err("no such port").line, 2);
}

/// Whatever a line is made of, what is said of it can be read, and names the line.
#[test]
fn errors_are_short() {
    let plan = topology("mlfm:d=2").expect("a mesh");
    let mut identity = Identity::planned(&*plan);
    identity.pin(0).expect("few addresses");
    for letter in ["x", "\0", "\u{1b}", "ü", "1", ","] {
        let long = letter.repeat(200_000);
        for (line, text) in [
            (2, format!("switch,ports,port,peer,peer_port,reach\na,{long},1,b,1,hall")),
            (2, format!("SwitchName=s0 Nodes=n0\nSwitchName=s1 Switches=s{long}")),
            (1, format!("switchguid=0x{long}zz\nSwitch 4 \"a\"")),
            (3, format!("Switch 4 \"a\"\n[1] \"b\"[1]\n[2{long}] \"b\"[1]")),
            (2, format!("graph {{\ns [ports=\"{long}\"] }}")),
            (3, format!("<platform>\n<zone id=\"z\">\n<route src=\"{long}\" dst=\"b\"/>")),
            (1, format!("\"{}\" = 1\n", "y".repeat(200_000))),
        ] {
            let error = read(&text).expect_err("nonsense");
            assert!(error.what.chars().count() < 300, "{} letters", error.what.len());
            assert!(!error.what.contains(['\0', '\u{1b}']), "{error:?}");
            assert_eq!(error.line, line, "{error}");
        }
        let table = format!("Unicast lids [0-1] of switch Lid 1 guid 0x99 (vertex-{long}):");
        let error = lft::read(&table, &*plan, &identity).expect_err("no such switch");
        assert!(error.what.chars().count() < 300 && error.line == 1, "{error}");
        let error = guid2lid::read(&format!("0x{long}q 1 1"), &mut identity).expect_err("no GUID");
        assert!(error.what.chars().count() < 300 && error.line == 1, "{error}");
        assert!(error.what.ends_with("is not a number"), "the end is quoted: {error}");
        let error = pairs::read(&format!("0 {long}0 q"), &*plan).expect_err("no pair");
        assert!(error.what.chars().count() < 300 && error.line == 1, "{error}");
    }
}

/// A line of very many words or fields is wrong before they are kept.
#[test]
fn one_line_of_many_words_is_refused() {
    let plan = topology("mlfm:d=2").expect("a mesh");
    let words = "a ".repeat(1 << 20);
    assert_eq!(pairs::read(&words, &*plan).expect_err("words").line, 1);
    let fields = format!("switch,ports,port,peer,peer_port,reach\n{}", ",".repeat(1 << 20));
    assert!(read(&fields).expect_err("fields").what.contains("more than six"));
    let tree: String = (0..1 << 18).map(|at| format!(" k{at}=v")).collect();
    let error = read(&format!("SwitchName=s0{tree}")).expect_err("words");
    assert!(error.what.contains("more than 32 words"), "{error}");
}

#[test]
fn a_switch_is_not_below_itself() {
    for (line, text) in [
        (2, "SwitchName=s0 Nodes=n[0-3]\nSwitchName=s1 Switches=s[0-1]\n"),
        (1, "SwitchName=s0 Switches=s0\n"),
        (3, "SwitchName=a Switches=b\nSwitchName=b Nodes=n0 Switches=c\nSwitchName=c Switches=a"),
    ] {
        let error = read(text).expect_err(text);
        assert_eq!(error.line, line, "{text}: {error}");
        assert!(error.what.contains("below itself"), "{error}");
    }
    // Two above one are no cycle.
    let two = "SwitchName=a Nodes=n0\nSwitchName=b Switches=a\nSwitchName=c Switches=a,b\n";
    assert_eq!(read(two).expect("a fabric").fabric.switches(), 3);
}

/// GUIDs of plans are numbers in a row, so that names say whose table it is.
#[test]
fn the_table_of_another_plan_is_refused() {
    let plan = topology("mlfm:d=4").expect("a mesh");
    let mut identity = Identity::planned(&*plan);
    identity.pin(0).expect("few addresses");
    let text = lft::write(&*plan, &Table::of(&*plan, &*plan), &identity);
    for spec in ["fat-tree-3:d=4", "mlfm:d=5"] {
        let other = topology(spec).expect(spec);
        let error = lft::read(&text, &*other, &Identity::planned(&*other)).expect_err(spec);
        assert!(error.line > 0 && error.what.contains("another fabric"), "{spec}: {error}");
    }
    // Where the fabric's own file gives GUIDs, a switch may have a new name.
    identity.switches.iter_mut().for_each(|id| id.guid += 1 << 40);
    let renamed = lft::write(&*plan, &Table::of(&*plan, &*plan), &identity);
    let renamed = renamed.replace("(vertex-0-0)", "(by the door)");
    assert!(lft::read(&renamed, &*plan, &identity).is_ok());
}

/// The pairs of a table that arrive, by switch; and that nothing goes round.
fn arriving(fabric: &Fabric, ends: Ends, table: &Table) -> Vec<bool> {
    let switches = fabric.switches();
    let mut all = Vec::new();
    for host in 0..table.hosts() {
        for from in 0..switches {
            let (mut at, mut hops) = (from, 0);
            all.push(loop {
                if ends == Ends::Switches && at == host {
                    break true;
                }
                let Some(port) = table.port(at, host) else { break false };
                match fabric.end(at, port) {
                    End::Host(other) => break other == host,
                    End::Nothing => break false,
                    End::Switch(next, _) => at = next,
                }
                hops += 1;
                assert!(hops <= switches, "a message to {host} goes round from {from}");
            });
        }
    }
    all
}

/// Entry by entry, from the installed table to the one after a failure, and back.
#[test]
fn a_change_in_steps_breaks_nothing() {
    let mut draws = SplitMix64::new(11);
    for plan in small() {
        for _ in 0..6 {
            let mut fabric = Fabric::of(&*plan);
            for _ in 0..=draws.index(3) {
                let switch = draws.index(plan.switches() as usize) as u32;
                fabric.fail(Part::Link(switch, draws.index(plan.ports(switch) as usize) as u8));
            }
            let (native, detour) = (Table::of(&*plan, &*plan), reroute(&*plan, &*plan, &fabric));
            let whole = Fabric::of(&*plan);
            let other = laneway_topo::routing::engines::balanced::route(&*plan, &());
            let to_switches = lft::to_switches(&whole, &native);
            let around = lft::to_switches(&fabric, &detour);
            for (fabric, ends, old, new) in [
                (&fabric, Ends::Hosts, &native, &detour),
                (&whole, Ends::Hosts, &detour, &native),
                (&whole, Ends::Hosts, &native, &other),
                (&whole, Ends::Hosts, &other, &native),
                (&fabric, Ends::Switches, &to_switches, &around),
                (&whole, Ends::Switches, &around, &to_switches),
            ] {
                let before = arriving(fabric, ends, old);
                let after = arriving(fabric, ends, new);
                let mut table = old.clone();
                let mut changed = 0;
                for mut step in steps(fabric, ends, old, new) {
                    // Within a step any order will do.
                    for last in (1..step.len()).rev() {
                        step.swap(last, draws.index(last + 1));
                    }
                    for (index, change) in step.iter().enumerate() {
                        apply(&mut table, std::slice::from_ref(change));
                        // Looking at every state takes long; some of them are as good.
                        if index % 37 == 0 || index + 1 == step.len() {
                            let now = arriving(fabric, ends, &table);
                            let lost = |at: usize| before[at] && after[at] && !now[at];
                            assert!(!(0..now.len()).any(lost), "{}", plan.spec());
                        }
                    }
                    changed += step.len();
                }
                assert!(table == *new, "all changes together are the new table");
                assert_eq!(changed as u64, differing(old, new), "no more");
            }
            assert_eq!(prove(&fabric, &detour).credit_loop, vec![]);
        }
    }
}
