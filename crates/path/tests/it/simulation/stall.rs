//! How long a connection stands still when its path dies, and that it stays where it is while the
//! path only seems dead.

use laneway_needs::amount;
use laneway_path::Nanos;
use laneway_stats::{SplitMix64, quantile, sorted};

use super::fault::Fault;
use super::link::MS;
use super::world::World;

/// The longest gaps between messages, in milliseconds, when `fault` strikes the primary path at a
/// random instant; the path is repaired after a while, and the next fault finds the other one.
fn gaps_ms(world: fn(u64) -> World, fault: impl Fn(usize) -> Fault) -> Vec<f64> {
    let mut random = SplitMix64::new(1);
    let mut world = world(1);
    let mut gaps = Vec::new();
    for number in 0..amount(80, 200) {
        let wait = (300.0 + 40.0 * random.uniform()) * MS as f64;
        world.pass(wait as Nanos).expect("nothing is lost");
        let primary = usize::from(world.ends[0].connection.primary().0);
        world.ends.iter_mut().for_each(|end| end.longest_gap = 0);
        let before = world.ends[0].migrations;
        world.change(&fault(primary), true).expect("nothing is lost");
        world.pass(100 * MS).expect("nothing is lost");
        assert_eq!(world.ends[0].migrations, before + 1, "fault {number}: {:?}", fault(primary));
        world.change(&fault(primary), false).expect("nothing is lost");
        let gap = world.ends.iter().map(|end| end.longest_gap).max().unwrap_or(0);
        gaps.push(gap as f64 / MS as f64);
    }
    gaps
}

fn check(name: &str, gaps: &[f64], most_ms: f64) {
    let gaps = sorted(gaps);
    let at = |part| quantile(&gaps, part).unwrap_or(f64::NAN);
    println!(
        "{name}: {:.2} ms in the middle, {:.2} in 99 %, {:.2} at worst",
        at(0.5),
        at(0.99),
        at(1.0)
    );
    assert!(at(0.99) <= most_ms, "{name}: {} ms", at(0.99));
}

#[test]
fn a_dead_path_is_left_within_milliseconds() {
    check("drop", &gaps_ms(World::plain, |path| Fault::Drop { path }), 15.0);
    check("one way out", &gaps_ms(World::plain, |path| Fault::OneWay { path, end: 0 }), 15.0);
    check("one way back", &gaps_ms(World::plain, |path| Fault::OneWay { path, end: 1 }), 15.0);
    check(
        "carrier",
        &gaps_ms(World::plain, |path| Fault::Carrier { path, ends: [true, true] }),
        3.0,
    );
    check(
        "carrier at one end",
        &gaps_ms(World::plain, |path| Fault::Carrier { path, ends: [true, false] }),
        3.0,
    );
}

/// The end whose message was lost finds the fault; the other one, which answers, does not find it
/// again.
#[test]
fn a_request_and_its_answer_wait_once() {
    check("drop", &gaps_ms(World::echo, |path| Fault::Drop { path }), 9.0);
    check("one way out", &gaps_ms(World::echo, |path| Fault::OneWay { path, end: 0 }), 9.0);
    check("one way back", &gaps_ms(World::echo, |path| Fault::OneWay { path, end: 1 }), 9.0);
    check("short", &gaps_ms(World::echo, |path| Fault::Mtu { path, bytes: 300 }), 20.0);
}

/// A peer that computes for up to 60 ms at a time is silent on both paths.
#[test]
fn a_busy_peer_is_not_a_dead_path() {
    let (mut random, mut world) = (SplitMix64::new(2), World::plain(2));
    for _ in 0..2000 {
        let end = random.index(2);
        world.change(&Fault::Pause { end }, true).expect("nothing is lost");
        world.pass((60.0 * MS as f64 * random.uniform()) as Nanos).expect("nothing is lost");
        world.change(&Fault::Pause { end }, false).expect("nothing is lost");
        world.pass((20.0 * MS as f64 * random.uniform()) as Nanos).expect("nothing is lost");
    }
    assert_eq!(world.ends.each_ref().map(|end| end.migrations), [0, 0]);
}

/// A queue somewhere on the way grows to 100 ms while the other path is idle: how often ends
/// leave the path. It grows by `times` the time that passes.
fn migrations_while_a_queue_grows(times: f64) -> u64 {
    let step = MS / 20;
    let mut world = World::plain(3);
    world.pass(100 * MS).expect("nothing is lost");
    for _ in 0..20 {
        let mut wait = 0.0;
        for _ in 0..(100.0 / times) as u64 * MS / step + 1000 * MS / step {
            wait = (wait + times * step as f64).min(100.0 * MS as f64);
            world.fill(0, wait as Nanos);
            world.pass(step).expect("nothing is lost");
        }
        world.pass(500 * MS).expect("nothing is lost");
    }
    world.ends.iter().map(|end| end.migrations).sum()
}

#[test]
fn a_long_queue_is_not_a_dead_path() {
    let growths = [0.1, 0.5, 1.0, 2.0, 4.0, 7.0];
    let counts = growths.map(migrations_while_a_queue_grows);
    assert_eq!(counts, [0; 6], "for queues that grow by {growths:?} times the time that passes");
}
