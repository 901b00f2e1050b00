//! What cannot be opened or connected says why.

use std::process::Command;

use laneway_connections::verbs::{VerbsPath, devices, open};
use laneway_connections::{NetError, Setup, What};
use laneway_path::{Event, FailBack, PathId, Policy};

use super::standin::{path, standin, two_ports};
use super::talk::{Talk, by_hand};

fn why(result: Result<impl Sized, NetError>) -> String {
    result.err().expect("refused").to_string()
}

#[test]
fn devices_and_paths_that_cannot_be_are_named() {
    let Some(standin) = standin() else { return };
    let try_open = |paths: Vec<VerbsPath>| why(open(standin.options(paths, by_hand())));
    let unknown = try_open(vec![path("mlx5_0", 1, 0)]);
    assert_eq!(unknown, "no device is called mlx5_0; known: ib0, roce0, soft0");
    assert!(try_open(vec![path("ib0", 3, 0)]).starts_with("ibv_query_port of ib0 3: "));
    assert!(
        try_open(vec![path("ib0", 1, 4)]).contains("4 addresses (LMC 2); path bits 4 are none")
    );
    assert!(try_open(vec![path("roce0", 1, 1)]).contains("path bits 1 are none"));
    assert!(try_open(vec![path("ib0", 1, 0); 2]).contains("is given twice"));
    assert_eq!(try_open(vec![]), "0 paths; 1 to 8 are possible");
    let no_gid = VerbsPath { gid_index: 9, ..path("roce0", 1, 0) };
    assert!(try_open(vec![no_gid]).starts_with("ibv_query_gid of roce0 1 9: "));
    let primary = Setup { primary: PathId(2), ..by_hand() };
    assert!(open(standin.options(two_ports("ib0"), primary)).is_err());
    let spread = Setup { spread: true, ..by_hand() };
    assert!(why(open(standin.options(two_ports("roce0"), spread))).contains("`spread`"));
    let back = FailBack { path: PathId(0), hold: 1, most_hold: 2 };
    let policy = Policy { fail_back: Some(back), ..Policy::keep_armed(false) };
    let setup = Setup { policy, ..Setup::usual() };
    assert!(why(open(standin.options(two_ports("ib0"), setup))).contains("preferred path"));
    assert!(open(standin.options(two_ports("roce0"), setup)).is_ok());
    assert_eq!(standin.objects(), 0, "what was opened is given back");
}

#[test]
fn libraries_that_are_none_are_named() {
    let Some(standin) = standin() else { return };
    let with = |library: &str| {
        let mut options = standin.options(two_ports("ib0"), by_hand());
        options.library = Some(library.into());
        why(open(options))
    };
    assert!(with("no-such-library.so").contains("libibverbs cannot be opened"));
    assert_eq!(with("libc.so.6"), "libibverbs has no ibv_get_device_list");
    assert!(with("a\0b").contains("zero byte"));
}

#[test]
fn peers_that_cannot_be_are_refused_and_the_connection_goes_on() {
    let Some(standin) = standin() else { return };
    for (device, other) in [("ib0", "roce0"), ("roce0", "ib0")] {
        let new = |paths: Vec<VerbsPath>| open(standin.options(paths, by_hand())).expect("opened");
        let mut here = new(two_ports(device));
        let (id, own) = here.prepare().expect("prepared");
        assert!(why(here.connect(id, &own)).contains("this connection's own"));
        let (_, stranger) = new(two_ports(other)).prepare().expect("prepared");
        assert!(why(here.connect(id, &stranger)).contains("another way"));
        let (_, single) = new(vec![path(device, 1, 0)]).prepare().expect("prepared");
        assert!(why(here.connect(id, &single)).contains("another number of paths"));
        let mut there = new(two_ports(device));
        let (_, peer) = there.prepare().expect("prepared");
        here.connect(id, &peer).expect("it goes on");
        assert!(here.connect(id, &peer).is_err(), "once");
        assert!(here.status(id).is_ok());
    }
}

/// A device that takes the request to load a path and ignores it, as one in software does.
#[test]
fn a_device_that_ignores_the_request_is_reported() {
    let Some(standin) = standin() else { return };
    let mut pair = standin.pair(&two_ports("soft0"), by_hand());
    pair.ends[0].specify(&[pair.ids[0]], PathId(1)).expect("possible");
    let loaded = pair.ends[0].load(&[pair.ids[0]]);
    assert_eq!(why(loaded), "soft0 does not load alternate paths");
    // A connection that is to be armed at once is there without an alternate path.
    let mut pair = standin.pair(&two_ports("soft0"), Setup::usual());
    let notices: Vec<What> =
        std::iter::from_fn(|| pair.ends[0].poll()).map(|notice| notice.what).collect();
    let unhealthy = What::Event(Event::Unhealthy { path: PathId(1) });
    assert_eq!(notices, [What::Connected, unhealthy]);
    let [a, b] = &mut pair.ends;
    Talk::new([&mut **a, &mut **b], pair.ids).exchange(10);
}

/// Run again by the next one, with another library named.
#[test]
fn lists_devices() {
    if std::env::var_os("LANEWAY_LIBIBVERBS").is_some() {
        for device in devices().expect("a list") {
            println!("device {}", device.name);
        }
    }
}

#[test]
fn the_environment_names_another_library() {
    let Some(standin) = standin() else { return };
    let mut command = Command::new(std::env::current_exe().expect("a test has a program"));
    command.args(["--exact", "verbs::inputs::lists_devices", "--nocapture"]);
    let output = command.env("LANEWAY_LIBIBVERBS", &standin.name).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    assert!(["ib0", "roce0", "soft0"].iter().all(|name| text.contains(name)), "{text}");
}
