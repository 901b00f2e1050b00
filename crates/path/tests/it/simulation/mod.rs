//! Millions of faults in virtual time: nothing lost, nothing twice, nothing stuck.
//!
//! `LANEWAY_SEED=7` runs the world of that seed, `LANEWAY_FAULTS=10000000` sets the number of
//! faults, `LANEWAY_EACH=3` the number of worlds.

mod end;
mod fault;
mod idle;
mod link;
mod quality;
mod stall;
mod world;

use std::collections::BTreeSet;
use std::thread;

use fault::{Fault, KINDS};
use laneway_needs::amount;
use laneway_path::state::MIGRATIONS;
use link::MS;
use world::World;

/// Faults of one world.
const OF_A_WORLD: usize = 500;

fn each() -> usize {
    number("LANEWAY_EACH").map_or(OF_A_WORLD, |each| each as usize)
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name}={text}")))
}

#[derive(Default)]
struct Found {
    tried: [u64; KINDS.len()],
    migrations: u64,
    seen: BTreeSet<(laneway_path::MigrationState, &'static str)>,
    failed: Vec<String>,
}

impl Found {
    fn run(&mut self, seed: u64, faults: usize) -> u64 {
        let mut world = World::new(seed);
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| world.run(faults)));
        let why = match ended {
            Ok(Ok(())) => None,
            Ok(Err(why)) => Some(why),
            Err(_) => Some("it panicked".to_string()),
        };
        if let Some(why) = why {
            self.failed.push(format!("LANEWAY_SEED={seed}: {why}"));
        }
        for (sum, tried) in self.tried.iter_mut().zip(world.tried) {
            *sum += tried;
        }
        for end in &world.ends {
            self.migrations += end.migrations;
            self.seen.extend(&end.seen);
        }
        world.ends[0].digest ^ world.ends[1].digest.rotate_left(1)
    }

    fn join(mut self, other: Found) -> Found {
        self.tried.iter_mut().zip(other.tried).for_each(|(sum, tried)| *sum += tried);
        self.migrations += other.migrations;
        self.seen.extend(other.seen);
        self.failed.extend(other.failed);
        self
    }
}

#[test]
fn nothing_is_lost_twice_or_stuck_whatever_breaks() {
    if let Some(seed) = number("LANEWAY_SEED") {
        let mut found = Found::default();
        found.run(seed, each());
        assert!(found.failed.is_empty(), "{}", found.failed.join("\n"));
        return;
    }
    let faults = number("LANEWAY_FAULTS").unwrap_or(amount(300_000, 1_000_000));
    let worlds = faults.div_ceil(each() as u64);
    let threads = thread::available_parallelism().map_or(2, |cores| cores.get()) as u64;
    let found = thread::scope(|scope| {
        let work = |first: u64| {
            let mut found = Found::default();
            for seed in (first..worlds).step_by(threads as usize) {
                found.run(seed, each());
            }
            found
        };
        let all: Vec<_> = (0..threads).map(|first| scope.spawn(move || work(first))).collect();
        all.into_iter().fold(Found::default(), |sum, thread| {
            sum.join(thread.join().expect("a thread that catches panics"))
        })
    });
    for (kind, tried) in KINDS.iter().zip(found.tried) {
        println!("{kind:<10} {tried}");
        assert!(tried > 0, "no {kind}");
    }
    println!("migrations {}", found.migrations);
    assert!(found.failed.is_empty(), "{}", found.failed.join("\n"));
    for (from, cause, _) in MIGRATIONS {
        assert!(found.seen.contains(&(*from, cause.name())), "never seen: {from} {}", cause.name());
    }
}

/// The same where data goes by a stream of the kernel on each path.
#[test]
fn nothing_is_lost_over_streams_whatever_breaks() {
    let seeds = match number("LANEWAY_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..amount(60, 1000),
    };
    let (mut failed, mut migrations) = (Vec::new(), 0);
    for seed in seeds {
        let mut world = World::over_streams(seed);
        if let Err(why) = world.run(each()) {
            failed.push(format!("LANEWAY_SEED={seed}: {why}"));
        }
        migrations += world.ends.iter().map(|end| end.migrations).sum::<u64>();
    }
    println!("migrations {migrations}");
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(migrations > 0);
}

#[test]
fn quiet_streams_never_migrate() {
    for seed in 0..20 {
        let mut world = World::over_streams(seed);
        assert_eq!(world.run(0), Ok(()), "seed {seed}");
        assert_eq!(world.ends.iter().map(|end| end.migrations).sum::<u64>(), 0, "seed {seed}");
    }
}

/// A receiver that posts no receives for a while leaves frames in its stream; its path works.
#[test]
fn missing_receives_cause_no_migration_over_streams() {
    for seed in 0..10 {
        let mut world = World::plain(seed);
        world.use_streams(1400);
        world.pass(100 * MS).expect("all is well");
        for _ in 0..10 {
            let fault = Fault::NotReady { end: 1 };
            world.change(&fault, true).expect("it begins");
            world.pass(700 * MS).expect("the sender waits");
            world.change(&fault, false).expect("it ends");
            world.pass(100 * MS).expect("all is well");
        }
        assert_eq!(world.ends.iter().map(|end| end.migrations).sum::<u64>(), 0, "seed {seed}");
        assert_eq!(world.run(0), Ok(()), "seed {seed}");
    }
}

#[test]
fn a_seed_replays_exactly() {
    for seed in [1, 2, 3] {
        let digests = [(); 2].map(|()| Found::default().run(seed, 200));
        assert_eq!(digests[0], digests[1], "seed {seed}");
    }
}

#[test]
fn quiet_worlds_lose_nothing_and_never_migrate() {
    for seed in 0..20 {
        let mut world = World::new(seed);
        assert_eq!(world.run(0), Ok(()), "seed {seed}");
        let migrations: u64 = world.ends.iter().map(|end| end.migrations).sum();
        assert_eq!(migrations, 0, "seed {seed}");
    }
}
