//! Parsers under thousands of damaged files: an error with a line of the file, never a panic.

use laneway_needs::amount;
use laneway_stats::SplitMix64;
use laneway_topo::files::formats::{
    Identity, cables, dot, guid2lid, lft, netlist, read, simgrid, slurm, toml,
};
use laneway_topo::{Table, Wiring, topology};

/// Cuts, repeats, swaps and scribbles, a few times.
fn damaged(text: &str, others: &[String], draws: &mut SplitMix64) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=draws.index(4) {
        if bytes.is_empty() {
            break;
        }
        let at = draws.index(bytes.len());
        let end = (at + draws.index(40)).min(bytes.len());
        match draws.index(8) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part.iter().copied().cycle().take(part.len() * 9));
            }
            3 => bytes[at] = b"\"'[](){}=#,:/\\\n\t 0129-xgu\0\x80"[draws.index(27)],
            4 => {
                let big = ["99999999999999999999", "-1", "255", "65535", "0xffffffffffffffff", "é"];
                bytes.splice(at..at, big[draws.index(big.len())].bytes());
            }
            5 => {
                let other = others[draws.index(others.len())].as_bytes();
                let from = draws.index(other.len());
                let until = (from + draws.index(200)).min(other.len());
                bytes.splice(at..at, other[from..until].iter().copied());
            }
            6 => {
                let (one, other) = (at, draws.index(bytes.len()));
                bytes.swap(one, other);
            }
            _ => drop(bytes.splice(at..end, [b'9'; 12])),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// As a person writes them.
const GRAPH: &str = "strict graph \"a net\" { // two racks
  node [shape=box]; rankdir=LR
  s1:1 -- s2:2; s2 -- { h1 h2 } [label=<b>]; s1 -- h3 [taillabel=\"4\"] /* far */
  subgraph rack { node [kind=host]; s1 -- \"h 4\"; h5 }
}
";
const PLATFORM: &str = "<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">
<platform version='4.1'><zone id='z' routing='Floyd'> <!-- two racks -->
  <host id='h1' speed='1Gf'/><host id='h&amp;2' speed='1Gf'/><router id='s1'/><router id='s2'/>
  <link id='l1' bandwidth='1GBps' latency='1us'/><link id='l2' bandwidth='1GBps' latency='1us'/>
  <link id='l3' bandwidth='1GBps' latency='1us' sharing_policy='SPLITDUPLEX'/>
  <route src='h1' dst='s1'><link_ctn id='l1'/></route>
  <route src='h&amp;2' dst='s2'><link_ctn id='l2'/></route>
  <route src='s1' dst='s2' symmetrical='NO'><link_ctn id='l3' direction='UP'/></route>
</zone></platform>
";

/// A table as OpenSM's `opensm.fdbs` has it.
fn fdbs(table: &Table, identity: &Identity) -> String {
    let mut text = String::new();
    for (switch, id) in identity.switches.iter().enumerate() {
        text += &format!("dump_ucast_routes: Switch {:#018x}\n", id.guid);
        text += "LID    : Port : Hops : Optimal\n";
        for (host, &port) in identity.hosts.iter().zip(table.row_of(switch as u32)) {
            text += &format!("{:#06x} : {:03}  : 02   : yes\n", host.lid, u32::from(port) + 1);
        }
    }
    text
}

#[test]
fn damaged_files_are_refused_or_read_and_never_break_anything() {
    let plan = topology("mlfm:d=2").expect("a mesh");
    let mut identity = Identity::planned(&*plan);
    identity.pin(1).expect("few addresses");
    let table = Table::of(&*plan, &*plan);
    let fabrics = [
        netlist::write_ibsim(&*plan, &identity),
        netlist::write_ibnetdiscover(&*plan, &identity),
        toml::write(&*plan).expect("plain names"),
        cables::write(&*plan),
        slurm::write(&*plan).expect("plain names"),
        dot::write(&*plan),
        simgrid::write(&*plan, &*plan, simgrid::Cable::default()).expect("small"),
        GRAPH.to_string(),
        PLATFORM.to_string(),
    ];
    let tables = [
        lft::write(&*plan, &table, &identity),
        guid2lid::write(&identity),
        fdbs(&table, &identity),
    ];
    for text in &fabrics {
        read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    }
    let others: Vec<String> = fabrics.iter().chain(&tables).cloned().collect();
    let mut draws = SplitMix64::new(2026);
    let (mut refused, mut accepted) = (0, 0);
    let mut count = |text: &str, line: Option<usize>| match line {
        None => accepted += 1,
        Some(line) => {
            refused += 1;
            let lines = text.lines().count().max(1);
            assert!((1..=lines + 1).contains(&line), "line {line} of {lines}");
        }
    };
    let rounds = amount(500, 4000);
    for _ in 0..rounds {
        for text in &fabrics {
            let text = damaged(text, &others, &mut draws);
            let result = read(&text);
            if let Ok(found) = &result {
                // What was accepted is a fabric: every cable has two ends.
                let fabric = &found.fabric;
                for host in 0..fabric.hosts() {
                    let Some((switch, port)) = fabric.attached(host) else { continue };
                    assert_eq!(fabric.end(switch, port), laneway_topo::End::Host(host));
                }
                assert_eq!(found.identity.hosts.len(), fabric.hosts() as usize);
                assert_eq!(found.identity.switches.len(), fabric.switches() as usize);
            }
            count(&text, result.err().map(|error| error.line));
        }
        for text in [&tables[0], &tables[2]] {
            let text = damaged(text, &others, &mut draws);
            let result = lft::read_both(&text, &*plan, &identity);
            count(&text, result.err().map(|error| error.line));
        }
        let text = damaged(&tables[1], &others, &mut draws);
        let mut pinned = identity.clone();
        let result = guid2lid::read(&text, &mut pinned);
        if pinned.is_pinned() {
            assert!(!guid2lid::write(&pinned).is_empty());
        }
        count(&text, result.err().map(|error| error.line));
    }
    let enough = refused > 2 * rounds && accepted > rounds / 8;
    assert!(enough, "{refused} refused, {accepted} accepted");
}

fn names(count: u32) -> String {
    (0..count).map(|number| format!("n{number} ")).collect()
}

/// Few bytes that stand for very much.
#[test]
fn hostile_files_take_little_memory() {
    for text in [
        "SwitchName=s Nodes=n[0-999999999]".to_string(),
        "SwitchName=s Nodes=n[0-1000000],m[0-1000000]".to_string(),
        "Switch 4294967295 \"a\"".to_string(),
        "[[switch]]\nname = \"a\"\nports = 4294967295".to_string(),
        format!("x = {}", "[".repeat(100_000)),
        "switch,ports,port,peer,peer_port,reach\na,999999999,1,b,,rack".to_string(),
        format!("Switch 8 \"{}\"\n[1] \"b\"[1]", "a".repeat(1 << 20)),
        "graph { a [ports=4294967295] }".to_string(),
        format!("graph {}", "{".repeat(1_000_000)),
        format!("graph {{ {}", "subgraph { a -- ".repeat(1_000_000)),
        format!("graph {{ a [label={}", "<".repeat(1_000_000)),
        format!("graph {{ {{ {0} }} -- {{ {0} }} }}", names(100_000)),
        format!("graph {{ \"{}\" -- b }}", "a".repeat(1 << 20)),
        format!("<platform>{}", "<zone id='z'>".repeat(1_000_000)),
        "<a>".repeat(1_000_000),
        format!("<platform {}/>", names(100_000).replace(' ', "='1' ")),
        "<!DOCTYPE platform [<!ENTITY a 'b'><!ENTITY c '&a;&a;&a;'>]><platform>&c;</platform>"
            .to_string(),
        "<!DOCTYPE platform [<!ENTITY a SYSTEM '/etc/passwd'>]><platform>&a;</platform>"
            .to_string(),
        (0..30_000).map(|at| format!("<a xmlns:n{at}='{at}'>")).collect(),
        "<platform><zone id='z'><prop id='ports of s' value='4294967295'/><router id='s'/>\
         </zone></platform>"
            .to_string(),
    ] {
        let error = read(&text).expect_err("hostile");
        assert!(error.line >= 1);
    }
}

/// Many bytes that would stand for more: refused before all of it is in memory as parsed.
#[test]
fn large_files_are_refused_by_their_own_limits() {
    let one = format!("[[host]]\nname = \"a\"\n[[x]]\ny = [{}]", "1,".repeat(2 << 20));
    let error = read(&one).expect_err("too much at once");
    assert!(error.line == 3 && error.what.contains("4 MiB"), "{error}");
    let mut list = format!("{}\n", cables::HEADER);
    (0..1 << 17).for_each(|at| list += &format!(",,,{at:x},1,\n"));
    let error = read(&list).expect_err("too many switches");
    assert!(error.line == 65_538 && error.what == "more than 65536 switches", "{error}");
}

/// Sets that come again and again; each cable looked up among all would take a quarter of a minute.
#[test]
fn a_strict_graph_of_repeated_sets_is_read() {
    let set = |letter: char| (0..120).map(|at| format!("{letter}{at} ")).collect::<String>();
    let again = format!("{{{}}} -- {{{}}}\n", set('a'), set('b'));
    let text = format!("strict graph {{ {} }}", again.repeat(8000));
    let fabric = read(&text).expect("a fabric").fabric;
    assert_eq!((fabric.switches(), fabric.ports(0)), (240, 120));
}

/// A file that never ends is read no further than a bound.
#[test]
fn a_gigantic_file_is_not_read_to_its_end() {
    let path = std::path::Path::new("/dev/zero");
    let error = laneway_topo::files::formats::load(path).expect_err("endless");
    assert!(error.what.contains("512 MiB"), "{error}");
}
