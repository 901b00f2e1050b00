//! Connections without traffic: what they cost, and that nothing is stuck when traffic begins.

use laneway_path::{MigrationState, Nanos, PathId};

use super::fault::Fault;
use super::link::MS;
use super::world::World;

const LOST: &str = "nothing is lost";

fn primary(world: &World) -> usize {
    usize::from(world.ends[0].connection.primary().0)
}

/// The alternate path, where both ends have armed the same.
fn armed(world: &World) -> Option<usize> {
    let armed = world.ends.each_ref().map(|end| {
        let is_armed = end.connection.migration() == MigrationState::Armed;
        end.connection.alternate().filter(|_| is_armed)
    });
    let [Some(PathId(path)), other] = armed else { return None };
    (other == Some(PathId(path))).then_some(usize::from(path))
}

/// A world whose connection has been idle for long after some traffic.
fn idle(paths: usize) -> World {
    let mut world = World::with_paths(1, paths);
    world.pass(100 * MS).expect(LOST);
    world.rest(5_000 * MS).expect(LOST);
    assert_eq!((primary(&world), armed(&world)), (0, Some(1)));
    world
}

/// Milliseconds until every message has arrived, for so long at most.
fn settles_within(world: &mut World, most: Nanos) -> Option<Nanos> {
    for passed in 0..most / MS {
        if world.ends.iter().all(|end| end.waits() == 0) {
            return Some(passed);
        }
        world.rest(MS).expect(LOST);
    }
    None
}

#[test]
fn an_idle_connection_is_probed_with_short_packets() {
    let mut world = idle(2);
    let before = world.carried();
    world.rest(60_000 * MS).expect(LOST);
    let after = world.carried();
    let (bytes, long) = (after.0 - before.0, after.1 - before.1);
    println!("{} bytes a second both ways, {long} long packets in a minute", bytes / 60);
    assert!(bytes / 60 <= 1_300, "{bytes} bytes in a minute");
    assert_eq!(long, 4, "each end probes in full length each half minute");
    // The path in use, the alternate one: whichever fails is noticed as before.
    assert_eq!(armed(&world), Some(1));
    world.change(&Fault::Drop { path: 1 }, true).expect(LOST);
    world.rest(3_000 * MS).expect(LOST);
    assert_eq!(armed(&world), None);
    world.change(&Fault::Drop { path: 1 }, false).expect(LOST);
    world.rest(1_000 * MS).expect(LOST);
    assert_eq!((primary(&world), armed(&world)), (0, Some(1)));
}

#[test]
fn an_idle_alternate_path_that_passes_short_packets_only_is_found_out() {
    let mut world = idle(2);
    let short = Fault::Mtu { path: 1, bytes: 1300 };
    world.change(&short, true).expect(LOST);
    world.rest(5_000 * MS).expect(LOST);
    assert_eq!(armed(&world), Some(1), "short probes pass");
    // With the first traffic.
    world.pass(300 * MS).expect(LOST);
    assert_eq!(armed(&world), None);
    world.rest(5_000 * MS).expect(LOST);
    assert_eq!(armed(&world), None, "it is armed by a packet of full length");
    world.change(&short, false).expect(LOST);
    world.rest(1_000 * MS).expect(LOST);
    assert_eq!(armed(&world), Some(1));
    // Without any, it takes longer. A few messages leave it to probes that go on.
    for traffic in [0, MS] {
        world.change(&short, true).expect(LOST);
        world.pass(traffic).expect(LOST);
        world.rest(if traffic > 0 { 3_000 } else { 33_000 } * MS).expect(LOST);
        assert_eq!(armed(&world), None, "after {traffic} ns of traffic");
        world.change(&short, false).expect(LOST);
        world.rest(1_000 * MS).expect(LOST);
        assert_eq!(armed(&world), Some(1));
    }
    assert_eq!(world.ends.each_ref().map(|end| end.migrations), [0, 0]);
}

/// The alternate path shrinks while nothing is sent, traffic begins, and so long after that the
/// path in use fails: by silence, by its carrier, or because it shrinks too.
#[test]
fn a_path_that_shrank_while_idle_strands_nothing() {
    let wholly = [true, true];
    let faults = [
        Fault::Drop { path: 0 },
        Fault::Carrier { path: 0, ends: wholly },
        Fault::Mtu { path: 0, bytes: 1000 },
    ];
    let short = Fault::Mtu { path: 1, bytes: 1300 };
    for fault in faults {
        for traffic in [0, MS, 20 * MS, 100 * MS, 400 * MS] {
            for repaired in [fault, short] {
                let mut world = idle(2);
                world.change(&short, true).expect(LOST);
                world.rest(3_000 * MS).expect(LOST);
                world.pass(traffic).expect(LOST);
                world.change(&fault, true).expect(LOST);
                world.pass(700 * MS).expect(LOST);
                let name = format!("{fault:?} after {traffic} ns, {repaired:?} is repaired");
                // Without carrier nothing waits for a proof of full length, if it is armed still.
                let blind = matches!(fault, Fault::Carrier { .. }) && traffic < 400 * MS;
                let moved = world.ends.each_ref().map(|end| end.migrations);
                assert_eq!(moved, [u64::from(blind); 2], "{name}");
                world.change(&repaired, false).expect(LOST);
                let within = settles_within(&mut world, 1_000 * MS);
                assert!(within.is_some(), "{name}: {}", world.ends[0].describe());
                world.ends.iter_mut().for_each(|end| end.longest_gap = 0);
                world.pass(100 * MS).expect(LOST);
                assert!(world.ends.iter().all(|end| end.longest_gap < 50 * MS), "{name}");
            }
        }
    }
}

/// With a third path, traffic shows in time that the alternate one does not carry long packets.
#[test]
fn a_third_path_takes_the_place_of_one_that_shrank_while_idle() {
    let mut world = idle(3);
    world.change(&Fault::Mtu { path: 1, bytes: 1300 }, true).expect(LOST);
    world.rest(3_000 * MS).expect(LOST);
    world.pass(1_000 * MS).expect(LOST);
    assert_eq!(armed(&world), Some(2));
    world.ends.iter_mut().for_each(|end| end.longest_gap = 0);
    world.change(&Fault::Drop { path: 0 }, true).expect(LOST);
    world.pass(200 * MS).expect(LOST);
    assert_eq!(primary(&world), 2);
    assert!(world.ends.iter().all(|end| end.longest_gap < 50 * MS));
}
