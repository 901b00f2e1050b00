//! `laneway lab` on the real kernel: namespaces, shaped links, the WAN, faults, MPI inside, and
//! that nothing is left of it, whatever happens.

mod faults;
mod killed;
mod links;
mod migrations;
mod mpis;
mod reproduced;
mod simulated;
mod sites;
mod standing;
mod tcp;

use standing::{Standing, laneway, needs, refused, rows, succeed};

#[test]
fn a_lab_stands_runs_commands_and_goes() {
    if !needs() {
        return;
    }
    let lab = Standing::up("stands", &["--sites", "2x2", "--wan", "5ms", "--no-probe"]);
    let output = lab.run(&["sh", "-c", "hostname; cat /etc/hosts; ls /sys/class/net"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.starts_with("s0n0\n"), "{said}");
    assert!(said.contains("10.0.1.2 s1n1\n") && said.ends_with("eth0\nlo\n"), "{said}");
    let there = lab.command(&["run", "--host", "s1n1"], &["hostname"]);
    assert_eq!(String::from_utf8_lossy(&there.stdout), "s1n1\n");
    let code = lab.run(&["sh", "-c", "exit 7"]).status.code();
    assert_eq!(code, Some(7), "the exit code is the command's");
    let killed = lab.run(&["sh", "-c", "kill -TERM $$"]).status.code();
    assert_eq!(killed, Some(128 + 15), "as shells tell a signal");
    let all = rows(&succeed(&["lab", "status", "--format", "json"]));
    let own = all.iter().filter(|row| row["lab"] == lab.name.as_str());
    let hosts: Vec<&str> = own.filter_map(|row| row["host"].as_str()).collect();
    assert_eq!(hosts, ["s0n0", "s0n1", "s1n0", "s1n1"]);
    let name = lab.name.clone();
    drop(lab);
    assert!(standing::left(&name).is_empty(), "{:?}", standing::left(&name));
}

#[test]
fn two_labs_stand_side_by_side_with_the_same_addresses() {
    if !needs() {
        return;
    }
    let one = Standing::up("beside-1", &["--sites", "1x2", "--no-probe"]);
    let other = Standing::up("beside-2", &["--sites", "1x2", "--no-probe"]);
    for lab in [&one, &other] {
        assert!(lab.run(&["true"]).status.success());
    }
    let name = one.name.clone();
    drop(one);
    assert!(standing::left(&name).is_empty());
    assert!(other.run(&["true"]).status.success(), "the other one still stands");
    let again = laneway(&["lab", "up", "--sites", "1x2", "--lab", &other.name]);
    refused(&again, 3, "already exists");
    assert!(other.run(&["true"]).status.success(), "a name that is taken does no harm");
}

#[test]
fn of_two_that_want_one_name_one_is_first() {
    if !needs() {
        return;
    }
    let name = format!("t-race-{}", std::process::id());
    let lab = Standing { name: name.clone() };
    let words = ["lab", "up", "--sites", "2x8", "--wan", "5ms", "--no-probe", "--lab", &name];
    let codes: Vec<Option<i32>> = std::thread::scope(|scope| {
        let two = [0, 1].map(|_| scope.spawn(|| laneway(&words).status.code()));
        two.into_iter().map(|thread| thread.join().expect("a thread")).collect()
    });
    assert!(codes.contains(&Some(0)) && codes.contains(&Some(3)), "{codes:?}");
    assert!(lab.run(&["true"]).status.success(), "the first one's lab stands");
}

#[test]
fn cards_switches_and_the_management_network_are_as_asked() {
    if !needs() {
        return;
    }
    for one_switch in [false, true] {
        let mut words = vec!["--sites", "1x2", "--cards", "2", "--management", "--no-probe"];
        words.extend(one_switch.then_some("--one-switch"));
        let lab = Standing::up("cards", &words);
        let output = lab.run(&["sh", "-c", "ls /sys/class/net; grep -c eth1 /etc/hosts"]);
        assert_eq!(String::from_utf8_lossy(&output.stdout), "eth0\neth1\nlo\nmgmt\n2\n");
        let output = lab.run(&["grep", "-w", "node1", "/etc/hosts"]);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said.starts_with("10.255.0.2 node1\n"), "names are for launchers: {said}");
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let up = |words: &[&str]| {
        let all: Vec<&str> = ["lab", "up", "--lab", "never"].iter().chain(words).copied().collect();
        laneway(&all)
    };
    let file = std::env::temp_dir().join(format!("laneway-names-{}.toml", std::process::id()));
    let text =
        "[[site]]\nname = \"s\"\n[[host]]\nname = \"k_[0-1]\"\nsite = \"s\"\nrate = \"1Gbit\"\n";
    std::fs::write(&file, text).expect("a file");
    let underscore = file.display().to_string();
    for (words, code, part) in [
        (&[][..], 2, "the lab has no hosts"),
        (&["--sites", "2y2"], 2, "`2y2` is not a number of sites and hosts"),
        (&["--sites", "0x2"], 2, "is not a number of sites and hosts"),
        (&["--sites", "1x2", "--wan", "5ms"], 2, "a WAN needs two sites"),
        (&["--sites", "2x2", "--wan", "soon"], 2, "`soon` does not describe a WAN"),
        (&["--sites", "2x2", "--wan", "5ms,fast"], 2, "does not describe a WAN"),
        (&["--platform", "mars"], 2, "mars"),
        (&["--platform", "cluster:4,latency=1ms"], 2, "latency of 1000 us inside"),
        (&["--platform", "cluster:4,duplex=half"], 2, "duplex = \"half\""),
        (&["--platform", "cluster:4,send=5us"], 2, "send, receive and per-byte"),
        (&["--platform", "two-sites:2x2,congestion=2:50%"], 2, "congestion of site0:to:site1"),
        (&["--platform", "random:7,background=bursty"], 2, "cannot be built"),
        (&["--platform", &underscore], 2, "`k_0`"),
        (&["--sites", "1x2", "--cards", "0"], 2, "0"),
        (&["--sites", "1x2", "--queue", "much"], 2, "much"),
    ] {
        let output = up(words);
        assert!(!output.status.success(), "{words:?}");
        refused(&output, code, part);
    }
    _ = std::fs::remove_file(&file);
    refused(&laneway(&["lab", "up", "--lab", "A B", "--sites", "1x2"]), 2, "names no lab");
    refused(
        &laneway(&["lab", "run", "--lab", "never", "--", "true"]),
        3,
        "lab never does not exist",
    );
    refused(
        &laneway(&["lab", "fault", "--lab", "never", "drop", "n0"]),
        3,
        "lab never does not exist",
    );
    refused(&laneway(&["lab", "record", "x.png", "--lab", "never"]), 2, "x.png");
}

#[test]
fn without_root_it_says_so() {
    if !needs() {
        return;
    }
    let copy = std::env::temp_dir().join(format!("laneway-for-all-{}", std::process::id()));
    std::fs::copy(env!("CARGO_BIN_EXE_laneway"), &copy).expect("a copy that all may run");
    let output = std::process::Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(&copy)
        .args(["lab", "up", "--sites", "1x2", "--lab", "notroot"])
        .output()
        .expect("setpriv starts");
    _ = std::fs::remove_file(&copy);
    refused(&output, 3, "a lab needs root");
    assert!(standing::left("notroot").is_empty());
}
