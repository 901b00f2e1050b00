//! The model on a cluster of our simulator: fitted at one time, held to calls at others.

use laneway_coll::algorithms;
use laneway_core::{Collective, Shape};
use laneway_model::{ModelKind, Request, estimate, fit};
use laneway_sim::platform::Platform;
use laneway_sim::{Program, simulate};
use laneway_stats::median;

use crate::cluster::Cluster;
use crate::judged::{Cell, Judged};

/// A call takes what it takes in the middle of so many times.
const TIMES: u64 = 9;
/// Half the interval of each measured time over the time.
const PRECISION: f64 = 0.02;
/// Virtual seconds of all experiments.
const BUDGET: f64 = 6_000.0;

pub fn judge(seed: u64, hosts: u32, load: f64) -> Result<Judged, String> {
    let cluster = Cluster::draw(seed, hosts, load);
    let request =
        Request { precision: PRECISION, budget: BUDGET, gaps: true, ..Request::default() };
    let platform = cluster.at(1)?;
    let ended = Program::new(&platform, hosts).run(|comm| estimate(comm, &request));
    let first = ended.map_err(|error| error.to_string())?.results.into_iter().next();
    let found = first.ok_or("no rank")?.map_err(|error| error.to_string())?;
    let found = found.ok_or("rank 0 knows nothing")?;
    let mut models = vec![fit(&found, ModelKind::Lmo).map_err(|error| error.to_string())?];
    // Segments take two sizes beyond the eager one, which not all clusters have.
    let others = ModelKind::ALL.into_iter().filter(|kind| *kind != ModelKind::Lmo);
    models.extend(others.filter_map(|kind| fit(&found, kind).ok()));
    let quality = &models[0].quality;
    let (mut what, holds) = (cluster.what.clone(), quality.holds());
    if !holds {
        what += &format!(": {:.1} % off for {}", 100.0 * quality.worst, quality.worst_of);
    }
    let mut cells = Vec::new();
    let platforms = (2..2 + TIMES).map(|time| cluster.at(time)).collect::<Result<Vec<_>, _>>()?;
    // Every other power of two, and fewer where a call takes long.
    let step = if hosts > 16 { 4 } else { 2 };
    for collective in [Collective::Scatter, Collective::Gather, Collective::Bcast] {
        for (algorithm, power) in algorithms(collective)
            .flat_map(|algorithm| (0..=20).step_by(step).map(move |power| (algorithm, power)))
        {
            let shape = Shape::new(collective, hosts, 1 << power);
            let Ok(schedule) = algorithm.schedule(&shape, &algorithm.defaults()) else { continue };
            let time = |platform: &Platform| simulate(platform, &*schedule, None);
            let times = platforms.iter().map(|one| time(one).map(|outcome| outcome.finish));
            let times = times.collect::<Result<Vec<f64>, _>>().map_err(|e| e.to_string())?;
            let mut said = Vec::new();
            for fitted in &models {
                let seconds = fitted.read(&*schedule).map_err(|error| error.to_string())?.seconds;
                said.push((fitted.model.kind().name().to_string(), seconds));
            }
            let call = format!("{} {} {} B", collective.name(), algorithm.name, 1u64 << power);
            cells.push(Cell { call, truth: median(&times).unwrap_or(f64::NAN), said });
        }
    }
    Ok(Judged { what, can_hold: true, holds, cells })
}
