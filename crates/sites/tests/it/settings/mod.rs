//! What is chosen against random settings of all algorithms, on random platforms.
//! `LANEWAY_SEEDS=1:300` tries these seeds instead of a few, `LANEWAY_OPPONENTS=200` more settings.

mod drawn;

use std::time::Instant;

use laneway_coll::{Algorithm, Parameter, Params, algorithms};
use laneway_core::Shape;
use laneway_sim::{Effort, Network, SimError, Simulation};
use laneway_sites::Sites;
use laneway_stats::SplitMix64;

use drawn::{Case, case};

/// A setting is not simulated further than this.
const MOST_EFFORT: u64 = 20_000_000;

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

fn seeds() -> std::ops::Range<u64> {
    let text = std::env::var("LANEWAY_SEEDS").unwrap_or_else(|_| "1:9".to_string());
    let (first, end) = text.split_once(':').expect("A:B");
    first.parse().expect("a seed")..end.parse().expect("a seed")
}

/// A random setting of an algorithm.
fn setting(draws: &mut SplitMix64, algorithm: &Algorithm, case: &Case) -> Params {
    let shape = &case.shape;
    let ranks = f64::from(shape.ranks);
    let longest = shape.blocks().longest(shape.ranks).max(shape.vector()).max(1) as f64;
    let mut log =
        |low: f64, high: f64| (low * (high / low).powf(draws.uniform())).round().max(low) as u64;
    let mut params = algorithm.defaults();
    for (parameter, usual) in algorithm.parameters {
        let value = match parameter {
            Parameter::Segment => log((longest / 512.0).max(256.0).min(longest), longest),
            Parameter::Window => log(1.0, 2.0 * ranks),
            Parameter::Radix => log(2.0, 16.0),
            Parameter::Lanes | Parameter::Near => log(1.0, ranks + 1.0) - 1,
            Parameter::Own => log(1.0, 1000.0) - 1,
            Parameter::Stripes => log(1.0, 16.0),
            Parameter::Connections => log(1.0, f64::from(case.platform.connections())),
            _ => {
                let value = log(1.0, 4.0) - 1;
                if params.set(*parameter, value).is_ok() { value } else { *usual }
            }
        };
        params = params.with(*parameter, value);
    }
    params
}

/// The least time of random settings, and which one it is.
fn opponents(case: &Case, shape: &Shape, count: u64, seed: u64) -> (f64, String) {
    let draws = &mut SplitMix64::new(seed ^ 0x5eed);
    let all: Vec<&'static Algorithm> = algorithms(shape.collective).collect();
    let placement = case.platform.placement(&case.hosts);
    let mut best = (f64::INFINITY, String::new());
    for number in 0..count {
        let algorithm = all[number as usize % all.len()];
        let params = setting(draws, algorithm, case);
        let Ok(schedule) = algorithm.placed(shape, &params, &placement) else { continue };
        let effort = Effort::new(MOST_EFFORT);
        let run = Simulation::new(&case.platform).placed(&case.hosts);
        match run.within(best.0).effort(&effort).run(&*schedule) {
            Ok(outcome) if outcome.finish < best.0 => {
                best = (outcome.finish, algorithm.spelled(&params));
            }
            Ok(_) | Err(SimError::Limit { .. } | SimError::Effort { .. }) => {}
            Err(error) => panic!("{}: {error}", case.what),
        }
    }
    best
}

/// A call: how much slower its choice is than the best that was seen, and what choosing took.
struct Loss {
    loss: f64,
    ms: f64,
    what: String,
}

fn loss(seed: u64, count: u64) -> Loss {
    let case = case(seed, number("LANEWAY_HOSTS", 64));
    let sites = Sites::new(&case.platform, case.hosts.clone()).expect("ranks");
    let begun = Instant::now();
    let choice = match number("LANEWAY_WORK", 0) {
        0 => sites.choose(&case.shape),
        work => sites.choose_with(&case.shape, work),
    };
    let choice = choice.expect("a choice");
    let ms = begun.elapsed().as_secs_f64() * 1e3;
    let best = &choice.best;
    let true_time = match sites.simulate(&case.shape, best.algorithm, &best.params) {
        Ok(outcome) => outcome.finish,
        Err(error) => panic!("{}: {error}", case.what),
    };
    let (other, named) = opponents(&case, &case.shape, count, seed);
    let loss = true_time / other.min(true_time) - 1.0;
    let what = format!(
        "{:.1}% in {ms:.0} ms, {}k units, {} simulated, predicted {:+.1}%: {}: {} \
         ({true_time:.6} s) against {named} ({other:.6} s)",
        100.0 * loss,
        choice.work / 1000,
        choice.simulated,
        100.0 * (best.time / true_time - 1.0),
        case.what,
        best.spelled(),
    );
    Loss { loss, ms, what }
}

#[test]
fn a_choice_loses_little_against_random_settings() {
    let count = number("LANEWAY_OPPONENTS", 60);
    let verbose = std::env::var("LANEWAY_VERBOSE").is_ok();
    let mut all: Vec<Loss> = Vec::new();
    for seed in seeds() {
        let loss = loss(seed, count);
        if verbose {
            println!("{}", loss.what);
        }
        all.push(loss);
    }
    all.sort_by(|a, b| b.loss.total_cmp(&a.loss));
    let above = |limit: f64| all.iter().filter(|one| one.loss > limit).count();
    let slowest = all.iter().map(|one| one.ms).fold(0.0, f64::max);
    let mean = all.iter().map(|one| one.ms).sum::<f64>() / all.len() as f64;
    println!(
        "{} calls: {} lose more than 3 %, {} more than 15 %; choosing took {mean:.1} ms, at most \
         {slowest:.0}",
        all.len(),
        above(0.03),
        above(0.15)
    );
    for one in all.iter().take(20) {
        println!("{}", one.what);
    }
    assert!(above(0.15) == 0 && above(0.03) <= all.len() / 50, "{}", all[0].what);
}
