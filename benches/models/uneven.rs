//! The models on platforms of several sites with uneven hosts, of LMO's own form or not:
//! predictions and their intervals.

use laneway_benches::seeds::on_all_cores;
use laneway_core::Schedule;
use laneway_model::{ModelKind, Request, fit};
use laneway_sim::platform::Platform;
use laneway_sim::simulate;

use crate::clusters;
use crate::clusters::uneven::{Form, draw};
use crate::judged::{Cell, Judged};
use crate::ours::cell;

/// Virtual seconds of all experiments.
const BUDGET: f64 = 1e6;

pub fn judge(seed: u64) -> Result<Judged, String> {
    let hosts = 3 + (seed / 2 % 6) as u32;
    let drawn = draw(seed, hosts);
    let platform = Platform::parse("drawn", &drawn.text).map_err(|error| error.to_string())?;
    let request = Request { gaps: true, budget: BUDGET, ..Request::default() };
    let found = clusters::estimated(&platform, &request).map_err(|error| error.to_string())?;
    let mut models = vec![fit(&found, ModelKind::Lmo).map_err(|error| error.to_string())?];
    let others = ModelKind::ALL.into_iter().filter(|kind| *kind != ModelKind::Lmo);
    models.extend(others.filter_map(|kind| fit(&found, kind).ok()));
    let quality = &models[0].quality;
    let can_hold = drawn.form == Form::Own;
    // Elsewhere a model may hold that says that calls are beyond it.
    let holds = quality.holds() && (can_hold || quality.beyond().is_none());
    let mut what = format!("{:?}, {hosts} hosts", drawn.form);
    if !quality.holds() {
        what += &format!(": {:.1} % off for {}", 100.0 * quality.worst, quality.worst_of);
    }
    let judge = |(name, schedule): &(String, Box<dyn Schedule>)| -> Result<Cell, String> {
        let truth = simulate(&platform, &**schedule, None).map_err(|error| error.to_string())?;
        cell(name, truth.finish, &models, &**schedule)
    };
    let calls = clusters::calls(hosts, 4);
    let cells = on_all_cores(&calls, judge).into_iter().collect::<Result<Vec<Cell>, String>>()?;
    Ok(Judged { what, can_hold, holds, known: [0; 2], cells })
}
