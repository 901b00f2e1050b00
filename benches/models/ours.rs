//! The model on a cluster of our simulator: fitted at one time, held to calls at others.

use std::time::Instant;

use laneway_benches::seeds::on_all_cores;
use laneway_core::Schedule;
use laneway_model::{Fitted, Model, ModelKind, Parameter, Request, fit};
use laneway_sim::platform::Platform;
use laneway_sim::{Network, simulate};
use laneway_stats::{SplitMix64, median};

use crate::clusters;
use crate::judged::{Cell, Judged};

/// The number of runs of a call, of which the median counts.
const TIMES: u64 = 9;
/// Half the interval of each measured time over the time.
const PRECISION: f64 = 0.02;
/// Virtual seconds of all experiments.
const BUDGET: f64 = 6_000.0;
/// Tells the draws of the others' messages from those of the cluster.
const OTHERS: u64 = 0x6f74_6865_7273;

pub fn judge(seed: u64, hosts: u32, load: f64) -> Result<Judged, String> {
    let begun = Instant::now();
    let others = SplitMix64::new(seed ^ OTHERS).uniform();
    let bytes = (1e3 * 100f64.powf(others)).round() as u64;
    let at = |time: u64| clusters::draw_noisy(seed, hosts, load, bytes, time);
    let request =
        Request { precision: PRECISION, budget: BUDGET, gaps: true, ..Request::default() };
    let found = clusters::estimated(&at(1), &request).map_err(|error| error.to_string())?;
    eprintln!("seed {seed}: estimated after {:.0} s", begun.elapsed().as_secs_f64());
    let mut models = vec![fit(&found, ModelKind::Lmo).map_err(|error| error.to_string())?];
    // Segments take two sizes beyond the eager one, which not all clusters have.
    let others = ModelKind::ALL.into_iter().filter(|kind| *kind != ModelKind::Lmo);
    models.extend(others.filter_map(|kind| fit(&found, kind).ok()));
    let quality = &models[0].quality;
    let (text, holds) = (clusters::text(seed, hosts), quality.holds());
    let drawn = text.lines().next().unwrap_or_default().trim_start_matches("# ");
    let mut what = format!("{drawn}, others {:.0} % in {bytes} B", 100.0 * load);
    if !holds {
        what += &format!(": {:.1} % off for {}", 100.0 * quality.worst, quality.worst_of);
    }
    let platforms: Vec<Platform> = (2..2 + TIMES).map(at).collect();
    // Every other power of two, and fewer where a call takes long.
    let calls = clusters::calls(hosts, if hosts > 16 { 4 } else { 2 });
    let judge = |(name, schedule): &(String, Box<dyn Schedule>)| -> Result<Cell, String> {
        let time = |platform: &Platform| simulate(platform, &**schedule, None);
        let times = platforms.iter().map(|one| time(one).map(|outcome| outcome.finish));
        let times = times.collect::<Result<Vec<f64>, _>>().map_err(|e| e.to_string())?;
        let truth = median(&times).unwrap_or(f64::NAN);
        cell(name, truth, &models, &**schedule)
    };
    let cells = on_all_cores(&calls, judge).into_iter().collect::<Result<Vec<Cell>, String>>()?;
    let known = intervals(&models[0], &clusters::draw(seed, hosts));
    Ok(Judged { what, can_hold: true, holds, known, cells })
}

/// A call beside what each model says of it.
pub fn cell(
    name: &str,
    truth: f64,
    models: &[Fitted],
    schedule: &dyn Schedule,
) -> Result<Cell, String> {
    let (mut said, mut within) = (Vec::new(), Vec::new());
    for fitted in models {
        let kind = fitted.model.kind().name().to_string();
        let found = fitted.read(schedule).map_err(|error| error.to_string())?;
        let promised = found.interval.filter(|_| fitted.quality.holds());
        within.extend(promised.map(|ends| (kind.clone(), ends.low <= truth && truth <= ends.high)));
        said.push((kind, found.seconds));
    }
    Ok(Cell { call: name.to_string(), truth, said, within })
}

/// Of all parameters, how many have an interval that holds what is true of the cluster without the
/// others, and how many there are.
fn intervals(fitted: &Fitted, clean: &dyn Network) -> [u32; 2] {
    let Model::Lmo(lmo) = &fitted.model else { return [0; 2] };
    let mut known = [0; 2];
    let mut count = |found: Parameter, truth: f64| {
        // Instants are whole picoseconds.
        let near = (found.value - truth).abs() < 1e-5 * truth;
        known[0] += u32::from(near || found.holds(truth));
        known[1] += 1;
    };
    for (number, host) in lmo.hosts.iter().enumerate() {
        let number = number as u32;
        let cost = clean.cost(number);
        count(host.send, cost.per_send);
        count(host.receive, cost.per_recv);
        count(host.per_byte_sent, cost.per_byte_sent);
        count(host.per_byte_received, cost.per_byte_received);
        let cards = [host.card_out, host.card_in].into_iter().zip(clusters::card(clean, number));
        for (card, truth) in cards.filter_map(|(card, truth)| Some((card?, truth))) {
            count(card, truth);
        }
        for other in (0..lmo.hosts.len() as u32).filter(|&other| other != number) {
            let [latency, per_byte] = clusters::way(clean, number, other);
            count(lmo.pair(number, other).latency, latency);
            count(lmo.per_byte(number, other), per_byte);
        }
    }
    known
}
