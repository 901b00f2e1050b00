//! Paths that work badly: they pass short packets only, lose some, reorder them, or become slower.

use laneway_needs::amount;
use laneway_path::{Counters, Event, Nanos, Why};
use laneway_stats::SplitMix64;

use super::fault::Fault;
use super::link::{MS, US};
use super::world::World;

const LOST: &str = "nothing is lost";

/// The sum over both ends.
fn counters(world: &World) -> Counters {
    let mut sum = Counters::default();
    world.ends.iter().for_each(|end| sum.add(end.connection.counters()));
    sum
}

fn received(world: &World) -> u64 {
    world.ends.iter().map(|end| end.received()).sum()
}

fn primary(world: &World) -> usize {
    usize::from(world.ends[0].connection.primary().0)
}

/// Messages a millisecond.
fn rate(world: &mut World, time: Nanos) -> f64 {
    let before = received(world);
    world.pass(time).expect(LOST);
    (received(world) - before) as f64 * MS as f64 / time as f64
}

#[test]
fn a_path_that_passes_short_packets_only_is_left_in_100_ms() {
    let mut random = SplitMix64::new(1);
    for mut world in [World::plain(1), World::busy(1)] {
        world.pass(400 * MS).expect(LOST);
        for number in 1..=amount(8, 25) {
            let before = primary(&world);
            let fault = Fault::Mtu { path: before, bytes: 1300 };
            world.ends.iter_mut().for_each(|end| end.longest_gap = 0);
            world.change(&fault, true).expect(LOST);
            world.pass(100 * MS).expect(LOST);
            assert_ne!(primary(&world), before, "fault {number}");
            let gap = world.ends.iter().map(|end| end.longest_gap).max().unwrap_or(0);
            assert!(gap < 50 * MS, "fault {number}: {} us", gap / US);
            world.pass(300 * MS).expect(LOST);
            assert_ne!(primary(&world), before, "fault {number}: it is not taken again");
            world.change(&fault, false).expect(LOST);
            let wait = (400.0 + 40.0 * random.uniform()) * MS as f64;
            world.pass(wait as Nanos).expect(LOST);
            assert!(counters(&world).left_short >= number, "{:?}", counters(&world));
        }
        assert_eq!(counters(&world).left_dead + counters(&world).left_lossy, 0);
    }
}

/// 8 times the acknowledgement timeout, 1.07 s, and no longer.
#[test]
fn a_connection_on_which_nothing_gets_through_fails() {
    let mut world = World::plain(2);
    world.pass(400 * MS).expect(LOST);
    for path in 0..2 {
        world.change(&Fault::Mtu { path, bytes: 1300 }, true).expect(LOST);
    }
    world.pass(8_000 * MS).expect("it waits for an acknowledgement");
    _ = world.pass(2_000 * MS).expect_err("it fails");
    let why = world.ends.iter_mut().find_map(|end| {
        std::iter::from_fn(|| end.connection.poll_event())
            .find(|e| matches!(e, Event::Failed { .. }))
    });
    assert_eq!(why, Some(Event::Failed { why: Why::Retries }));
}

#[test]
fn a_lossy_path_is_left_for_a_clean_one() {
    for (part, within) in [(0.3, 100), (0.2, 100), (0.1, 1000), (0.05, 1000), (0.02, 1000)] {
        for make in [World::plain, World::busy] {
            let mut world = make(3);
            world.pass(400 * MS).expect(LOST);
            let clean = rate(&mut world, 1000 * MS);
            let fault = Fault::Loss { path: 0, part };
            world.change(&fault, true).expect(LOST);
            world.pass(within * MS).expect(LOST);
            assert_eq!(primary(&world), 1, "{part} {:?}", counters(&world));
            let after = rate(&mut world, 1000 * MS);
            assert!(after >= 0.9 * clean, "{part}: {after} of {clean} messages a millisecond");
            let counters = counters(&world);
            assert_eq!((counters.left_dead, counters.left_short), (0, 0), "{part}");
            // One end leaves, or both at once.
            assert!((1..=2).contains(&counters.left_lossy), "{part} {counters:?}");
        }
    }
}

#[test]
fn two_lossy_paths_do_not_take_turns() {
    for parts in [[0.2, 0.2], [0.3, 0.1], [0.1, 0.3], [0.05, 0.05], [0.02, 0.02], [0.02, 0.01]] {
        let mut world = World::sparse(4);
        world.pass(400 * MS).expect(LOST);
        for (path, part) in parts.into_iter().enumerate() {
            world.change(&Fault::Loss { path, part }, true).expect(LOST);
        }
        world.pass(60_000 * MS).expect(LOST);
        // Both ends count each.
        let migrations = counters(&world).migrations / 2;
        assert!(migrations <= 3, "{parts:?}: {migrations}, {:?}", counters(&world));
    }
}

#[test]
fn reordering_causes_no_migration() {
    for most in [US, 5 * US, 50 * US, 500 * US] {
        for (make, times) in [(World::plain as fn(u64) -> World, 20), (World::busy, 3)] {
            let mut world = make(5);
            world.pass(400 * MS).expect(LOST);
            for _ in 0..times {
                let fault = Fault::Reorder { path: 0, most };
                world.change(&fault, true).expect(LOST);
                world.pass(300 * MS).expect(LOST);
                world.change(&fault, false).expect(LOST);
                world.pass(50 * MS).expect(LOST);
            }
            assert_eq!(counters(&world).migrations, 0, "{most}");
        }
    }
}

#[test]
fn round_trip_times_cause_no_migration() {
    let mut random = SplitMix64::new(6);
    for (make, times) in [(World::plain as fn(u64) -> World, 100), (World::busy, 25)] {
        let mut world = make(6);
        world.pass(400 * MS).expect(LOST);
        for number in 0..times {
            let trip = match number % 4 {
                0 => 50 * MS,
                _ => (50e6 * random.uniform() * random.uniform()) as Nanos,
            };
            let fault = Fault::Slower { path: 0, trip };
            world.change(&fault, true).expect(LOST);
            world.pass((10e6 + 500e6 * random.uniform()) as Nanos).expect(LOST);
            world.change(&fault, false).expect(LOST);
            world.pass((10e6 + 500e6 * random.uniform()) as Nanos).expect(LOST);
            let counters = counters(&world);
            assert_eq!(counters.migrations, 0, "change {number}: {} us, {counters:?}", trip / US);
        }
    }
}
