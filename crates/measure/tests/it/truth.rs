//! True times on simulated clusters: isolated calls, whatever clocks show and others send.

use laneway_core::{Comm, CommError};
use laneway_measure::{Starts, TrueTimes, true_times};
use laneway_sim::Program;
use laneway_sim::platform::Platform;
use laneway_stats::median;

const STARTS: Starts = Starts { count: 2000, seed: 3, apart: 0.05, spread: 0.3 };

/// 125,000 bytes from rank 1 to rank 0: 1 ms by a card of 1 Gbit/s, and 50 us of latency.
fn times(platform: &str, starts: Starts) -> TrueTimes {
    let platform = Platform::read(platform).unwrap_or_else(|error| panic!("{error}"));
    let ended = Program::new(&platform, 2).run(|comm: &dyn Comm| {
        let own = comm.dup()?;
        let mut message = || -> Result<(), CommError> {
            match comm.rank() {
                0 => comm.recv(Some(1), Some(7), &mut [0; 125_000]).map(|_| ()),
                _ => comm.send(0, 7, &[1; 125_000]),
            }
        };
        true_times(&*own, &mut message, &starts)
    });
    let mut results = ended.expect("it ends").results.into_iter();
    let first = results.next().expect("rank 0").expect("no error");
    assert!(results.all(|other| other == Ok(None)));
    first.expect("rank 0 knows")
}

/// A platform file with a third host that sends 1 MB to the first at random, every 20 ms.
fn with_bursts() -> std::path::PathBuf {
    let text = "include = [\"cluster:3,clock-offset=+-500ms,clock-drift=+-50ppm\"]\n\
                [[background]]\nfrom = \"node2\"\nto = \"node0\"\nsize = \"1M\"\n\
                every = \"20ms\"\nrandom = true\n";
    let file = std::env::temp_dir().join(format!("laneway-truth-{}.toml", std::process::id()));
    std::fs::write(&file, text).expect("a file");
    file
}

#[test]
fn alone_every_call_takes_the_same() {
    let found = times("cluster:2,clock-offset=+-500ms,clock-drift=+-50ppm", STARTS);
    assert_eq!((found.times.len(), found.late), (2000, 0));
    assert!(found.times.iter().all(|time| (time - 1.05e-3).abs() < 1e-9), "{found:?}");
}

#[test]
fn calls_meet_bursts_as_often_as_there_are_some() {
    let file = with_bursts();
    let found = times(file.to_str().expect("a name"), STARTS);
    std::fs::remove_file(file).expect("removed");
    assert_eq!(found.late, 0);
    let alone = found.times.iter().filter(|time| **time < 1.05e-3 + 1e-9).count() as f64 / 2000.0;
    // A burst fills the card 8.4 of 20 ms on average: 0.58 of the instants are without one, and
    // of these 0.95 stay so for a call.
    assert!((alone - 0.55).abs() < 0.05, "{alone}");
    let slow: Vec<f64> = found.times.into_iter().filter(|time| *time > 1.05e-3 + 1e-9).collect();
    let slow = median(&slow).expect("some");
    // Beside one burst it has half of the card.
    assert!((slow - 2.05e-3).abs() < 0.1e-3, "{slow}");
}

#[test]
fn calls_that_meet_the_one_before_do_not_count() {
    let near = Starts { count: 50, seed: 3, apart: 0.5e-3, spread: 0.0 };
    let found = times("cluster:2", near);
    assert!(found.late > 0 && found.times.len() + found.late as usize == 50, "{found:?}");
}
