//! The stop of models: a cluster is measured, and calls are predicted that were not made.

use laneway_core::units::format_size;
use laneway_core::{Collective, Shape};
use laneway_model::{Call, ModelKind, Request, crossovers, estimate, fit, predict_all};
use laneway_sim::{Program, simulate};

use super::say;
use crate::failure::Failure;
use crate::platform;

const SIMULATED: &str = "cluster:8,send=5us,receive=4us,per-byte=1ns,latency=20us";
const SIZES: [u64; 2] = [1 << 10, 1 << 20];

/// Fits LMO to a simulated cluster, and holds its predictions against the simulator.
pub fn stop() -> Result<(), Failure> {
    say(&format!("10. Models: what a call would take, on {SIMULATED}\n"))?;
    let platform = platform::read("", SIMULATED)?;
    let program = Program::new(&platform, 8);
    let ended = program.run(|comm| estimate(comm, &Request::default())).map_err(unfitted)?;
    let found = ended.results.into_iter().next().and_then(|first| first.ok().flatten());
    let found = found.ok_or_else(|| unfitted("rank 0 has no experiments"))?;
    let fitted = fit(&found, ModelKind::Lmo).map_err(unfitted)?;
    say(&format!(
        "   LMO from {} experiments on disjoint pairs and triples, {:.2} s of the cluster's time.",
        fitted.cost.experiments, fitted.cost.seconds
    ))?;
    let call = Call::new(Collective::Scatter, 8);
    let rows = predict_all(&fitted, &call, &SIZES).map_err(unfitted)?;
    let mut worst: f64 = 0.0;
    for bytes in SIZES {
        let at = rows.iter().filter(|row| row.bytes == bytes);
        let best = at.min_by(|a, b| a.prediction.seconds.total_cmp(&b.prediction.seconds));
        let Some(best) = best else { continue };
        say(&format!(
            "   scatter of {}: {} would be the fastest, {:.0} us",
            format_size(bytes),
            best.algorithm.spelled(&best.params),
            1e6 * best.prediction.seconds
        ))?;
    }
    for row in &rows {
        let shape = Shape::new(Collective::Scatter, 8, row.bytes);
        let schedule =
            row.algorithm.schedule(&shape, &row.params).map_err(|why| unfitted(why.0))?;
        let truth = simulate(&platform, &*schedule, None).map_err(unfitted)?.finish;
        worst = worst.max((row.prediction.seconds / truth - 1.0).abs());
    }
    for crossing in crossovers(&fitted, &call, &rows).map_err(unfitted)? {
        say(&format!(
            "   from {} B on {} overtakes {}",
            crossing.bytes, crossing.to, crossing.from
        ))?;
    }
    say(&format!(
        "   Held against the simulator: the worst of {} predictions is {:.2} % off.\n",
        rows.len(),
        100.0 * worst
    ))
}

fn unfitted(why: impl ToString) -> Failure {
    Failure::environment("the tour cannot fit a model", why.to_string(), "report this")
}
