//! Parsers under thousands of damaged files: an error with a line of the file, never a panic.

use laneway_stats::SplitMix64;
use laneway_topo::formats::{Identity, cables, guid2lid, lft, netlist, read, slurm, toml};
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
        toml::write(&*plan),
        cables::write(&*plan),
        slurm::write(&*plan),
    ];
    let tables = [
        lft::write(&*plan, &table, &identity),
        guid2lid::write(&identity),
        fdbs(&table, &identity),
    ];
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
    for _ in 0..4000 {
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
            let result = lft::read(&text, &*plan, &identity);
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
    assert!(refused > 8000 && accepted > 500, "{refused} refused, {accepted} accepted");
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
    ] {
        let error = read(&text).expect_err("hostile");
        assert!(error.line >= 1);
    }
}

/// A file that never ends is read no further than a bound.
#[test]
fn a_gigantic_file_is_not_read_to_its_end() {
    let path = std::path::Path::new("/dev/zero");
    if !path.exists() {
        return println!("skipped: no /dev/zero here");
    }
    let error = laneway_topo::formats::load(path).expect_err("endless");
    assert!(error.what.contains("512 MiB"), "{error}");
}
