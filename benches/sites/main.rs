//! Holds the choice for calls over sites to SimGrid's times: 500 random configurations, fresh ones
//! in every run, half of them drawn where a rule of thumb loses more than 3 %.
//!
//! What the choice knows of a platform is the file that measuring wrote, while others used it too.
//! `LANEWAY_SEED=7` begins with that seed, and does one configuration unless
//! `LANEWAY_PLATFORMS=20` says how many; one alone shows what was measured, too. Ends with code 1
//! where a claim does not hold.

mod case;
mod config;
mod lanes;
mod measured;
mod times;

use std::process::ExitCode;

use case::Case;
use laneway_benches::seeds::Seeds;
use laneway_benches::smpirun::{built, object};
use laneway_stats::{median, quantile, sorted};

const CONFIGS: usize = 500;
/// The number of the worst that are shown.
const WORST: usize = 10;

fn main() -> ExitCode {
    let found = Seeds::from_env().and_then(|seeds| Ok((seeds, built()?)));
    let (seeds, folder) = match found {
        Ok(found) => found,
        Err(why) => {
            eprintln!("error: {why}\ntry:   LANEWAY_SEED=7 LANEWAY_PLATFORMS=20");
            return ExitCode::from(2);
        }
    };
    let Some(object) = object(&folder) else { return ExitCode::from(3) };
    let count = seeds.count.unwrap_or(CONFIGS);
    println!("{count} configurations from seed {}", seeds.first);
    let judge = |seed| case::judge(&object, seed);
    let all = seeds.judge_all(CONFIGS, judge, |all| {
        if all.len().is_multiple_of(50) {
            eprintln!("{}", so_far(all));
        }
    });
    if tell(&all) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// How it stands, for a run that may be cut.
fn so_far(all: &[(u64, Result<Case, String>)]) -> String {
    let judged = all.iter().filter_map(|(_, case)| case.as_ref().ok());
    let costs = sorted(&judged.map(|case| case.cost - 1.0).collect::<Vec<f64>>());
    let at = |part: f64| 100.0 * quantile(&costs, part).unwrap_or(f64::NAN);
    let (done, failed) = (all.len(), all.len() - costs.len());
    format!("{done} done, {failed} not judged: {:.2} % p99, {:.2} % worst", at(0.99), at(1.0))
}

/// Prints the worst cases, the claims and the model's table; whether all claims hold.
fn tell(all: &[(u64, Result<Case, String>)]) -> bool {
    let mut cases: Vec<(u64, &Case)> = Vec::new();
    let mut failed = 0;
    for (seed, case) in all {
        match case {
            Ok(case) => cases.push((*seed, case)),
            Err(why) => {
                failed += 1;
                println!("seed {seed}: {why}");
            }
        }
    }
    cases.sort_by(|one, other| other.1.cost.total_cmp(&one.1.cost));
    for (seed, case) in cases.iter().take(WORST) {
        let Case { what, chosen, best, cost, prediction, .. } = case;
        println!("seed {seed}: {cost:.4} with {chosen}, best {best}, predicted {prediction:+.4}");
        println!("  {what}");
        if all.len() == 1 {
            println!("{}", case.measured);
        }
    }
    let of = |value: fn(&Case) -> f64| -> Vec<f64> {
        sorted(&cases.iter().map(|(_, case)| value(case)).collect::<Vec<f64>>())
    };
    let costs = of(|case| case.cost - 1.0);
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let at = |values: &[f64], part: f64| quantile(values, part).unwrap_or(f64::NAN);
    let predictions = of(|case| case.prediction.abs());
    let seconds = of(|case| case.choosing_seconds);
    let rule = of(|case| case.rule_cost - 1.0);
    let (p99, average) = (at(&costs, 0.99), mean(&costs));
    let off = median(&predictions).unwrap_or(f64::NAN);
    let took = median(&seconds).unwrap_or(f64::NAN);
    let percent = |part: f64| format!("{:.2} %", 100.0 * part);
    let claims = [
        (format!("{failed} configurations could not be judged"), failed == 0),
        (
            format!("the choice costs {} more than the best, at the 99th percentile", percent(p99)),
            p99 <= 0.03,
        ),
        (format!("and {} in the mean", percent(average)), average <= 0.01),
        (format!("predictions are off by {} (median)", percent(off)), off <= 0.05),
        (format!("choosing takes {:.1} ms (median)", took * 1e3), took <= 0.01),
    ];
    for (claim, holds) in &claims {
        println!("{claim}: {}", if *holds { "ok" } else { "MISSED" });
    }
    println!(
        "worst: {} more than the best; predictions at the 99th percentile: {}",
        percent(at(&costs, 1.0)),
        percent(at(&predictions, 0.99))
    );
    println!(
        "choosing at the 99th percentile: {:.1} ms, at most {:.1} ms",
        at(&seconds, 0.99) * 1e3,
        at(&seconds, 1.0) * 1e3
    );
    let measuring = of(|case| case.measuring_seconds);
    println!(
        "measuring in virtual time: {:.1} s (median), at most {:.1} s",
        median(&measuring).unwrap_or(f64::NAN),
        at(&measuring, 1.0)
    );
    println!(
        "the rule of thumb: {} in the mean, {} at the 99th percentile",
        percent(mean(&rule)),
        percent(at(&rule, 0.99))
    );
    models(&cases);
    claims.iter().all(|(_, holds)| *holds)
}

/// The cost model's forms against SimGrid.
fn models(cases: &[(u64, &Case)]) {
    let verdicts: Vec<_> = cases.iter().filter_map(|(_, case)| case.model.as_ref()).collect();
    for (kind, smaller) in [("n0 >= n1", false), ("n0 < n1", true)] {
        let of: Vec<_> =
            verdicts.iter().filter(|verdict| verdict.near_is_smaller == smaller).collect();
        println!("\ncost model, scatter over two sites, {kind}: {} configurations", of.len());
        println!("{:24}  T(P) off, mean   worst  cost of P, mean   worst", "");
        for (form, (name, ..)) in lanes::FORMS.iter().enumerate() {
            let errors: Vec<f64> =
                of.iter().flat_map(|v| &v.forms[form].errors).map(|e| e.abs()).collect();
            let costs: Vec<f64> = of.iter().map(|v| v.forms[form].cost - 1.0).collect();
            let mean =
                |values: &[f64]| 100.0 * values.iter().sum::<f64>() / values.len().max(1) as f64;
            let worst = |values: &[f64]| 100.0 * values.iter().copied().fold(0.0, f64::max);
            println!(
                "{name:24}  {:13.1} % {:6.0} % {:14.1} % {:6.0} %",
                mean(&errors),
                worst(&errors),
                mean(&costs),
                worst(&costs)
            );
        }
    }
}
