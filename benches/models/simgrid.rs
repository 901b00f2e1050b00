//! The model on a platform of SimGrid: fitted by `model compare` under smpirun, which times every
//! call beside.

use std::path::Path;

use laneway_benches::smpirun::Exported;
use laneway_core::Value;
use laneway_report::read;

use crate::judged::{Cell, Judged};
use crate::xml::Drawn;

const SIZES: &str = "1,1K,8K,64K,1M";
/// Virtual seconds of all experiments.
const BUDGET: &str = "600";
const MODELS: [&str; 6] = ["lmo", "hockney", "hockney-pairs", "hockney-segments", "loggp", "plogp"];

pub fn judge(object: &Path, seed: u64) -> Result<Judged, String> {
    let drawn = Drawn::new(seed);
    let hosts: String = (0..drawn.hosts).map(|host| format!("h{host}\n")).collect();
    let files = [&drawn.xml[..], &hosts];
    let exported =
        Exported::of(files, drawn.hosts, drawn.settings.clone(), &format!("models-{seed}"))?;
    let mut words = vec!["model", "compare", "--cells", "--sizes", SIZES, "--format", "json"];
    words.extend(["--total-budget", BUDGET]);
    let text =
        exported.run(&[], object, &words).map_err(|why| format!("{why}\n  {}", drawn.what))?;
    let run = read("a platform", &text).map_err(|error| error.to_string())?;
    let hold = run.summary.iter().find(|(name, _)| name == "hold");
    let holds = match hold {
        Some((_, Value::Text(names))) => names.split(',').any(|name| name == "lmo"),
        _ => return Err("no word on which models hold".into()),
    };
    let mut cells = Vec::new();
    for record in &run.rows {
        let text = |name: &str| match record.get(name) {
            Some(Value::Text(text)) => text.clone(),
            _ => String::new(),
        };
        let number = |name: &str| record.number(name);
        let (Some(time), Some(size)) = (number("time_us"), number("size_bytes")) else {
            return Err("a row without its time".into());
        };
        let said = MODELS.iter().filter_map(|name| Some((name.to_string(), number(name)? / 1e6)));
        let call = format!("{} {} {size} B", text("op"), text("algorithm"));
        cells.push(Cell { call, truth: time / 1e6, said: said.collect(), within: Vec::new() });
    }
    if cells.iter().any(|cell| cell.said.first().is_none_or(|(name, _)| name != "lmo")) {
        return Err(format!("LMO was left out: {}", drawn.what));
    }
    let known = [0; 2];
    Ok(Judged { what: drawn.what, can_hold: drawn.can_hold, holds, known, cells })
}
