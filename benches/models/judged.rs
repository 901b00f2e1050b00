//! How far the model was off on platforms, and whether that is what is claimed.

use std::collections::BTreeMap;

use laneway_stats::{quantile, sorted};

/// So many of the worst are shown.
const WORST: usize = 10;

/// The most that the errors may be, in the middle and at the 95th percentile.
#[derive(Clone, Copy)]
pub struct Bounds {
    pub median: f64,
    pub tail: f64,
}

/// A call: what it took in truth, and what each model says, LMO the first.
pub struct Cell {
    pub call: String,
    pub truth: f64,
    pub said: Vec<(String, f64)>,
}

/// What came of a platform.
pub struct Judged {
    pub what: String,
    /// Whether such a model can hold there.
    pub can_hold: bool,
    /// Whether the fit says that it does.
    pub holds: bool,
    /// Parameters whose intervals hold the truth, and all; none where it is not known.
    pub known: [u32; 2],
    pub cells: Vec<Cell>,
}

impl Judged {
    /// How it stands, for a run that may be cut.
    pub fn line(&self) -> String {
        let errors = sorted(&self.cells.iter().map(Cell::off).collect::<Vec<f64>>());
        let at = |part: f64| 100.0 * quantile(&errors, part).unwrap_or(f64::NAN);
        let holds = if self.holds { "holds" } else { "does not hold" };
        let (median, tail) = (at(0.5), at(0.95));
        format!("{holds}, {median:.2} % median, {tail:.2} % p95: {}", self.what)
    }
}

/// Prints the worst calls, all models' errors and the claims; whether all claims hold.
pub fn tell(what: &str, all: &[(u64, Result<Judged, String>)], bounds: Bounds) -> bool {
    let (mut failed, mut refused, mut silent, mut able, mut unable) = (0, 0, 0, 0, 0);
    let (mut covered, mut parameters) = (0, [0; 2]);
    let mut worst: Vec<(f64, String)> = Vec::new();
    let mut errors: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (seed, judged) in all {
        let Judged { what, can_hold, holds, known, cells } = match judged {
            Ok(judged) => judged,
            Err(why) => {
                failed += 1;
                println!("seed {seed}: {why}");
                continue;
            }
        };
        covered += u32::from(10 * known[0] >= 9 * known[1] && known[1] > 0);
        parameters = [parameters[0] + known[0], parameters[1] + known[1]];
        match can_hold {
            true => able += 1,
            false => unable += 1,
        }
        match (can_hold, holds) {
            (true, false) => {
                refused += 1;
                println!("seed {seed}: refused: {what}");
            }
            (false, true) => {
                silent += 1;
                println!("seed {seed}: held, though links are shared: {what}");
            }
            (false, false) => {}
            (true, true) => {
                for cell in cells {
                    for (model, said) in &cell.said {
                        let off = (said / cell.truth - 1.0).abs();
                        errors.entry(model.clone()).or_default().push(off);
                    }
                    worst.push((cell.off(), format!("seed {seed}: {}: {what}", cell.tell())));
                }
            }
        }
    }
    worst.sort_by(|one, other| other.0.total_cmp(&one.0));
    worst.iter().take(WORST).for_each(|(_, line)| println!("  {line}"));
    let at = |model: &str, part: f64| {
        let own = errors.get(model).map(|own| sorted(own)).unwrap_or_default();
        quantile(&own, part).unwrap_or(f64::NAN)
    };
    println!("{what}:\n  {:18} median_off  p95_off  worst_off", "model");
    for model in errors.keys() {
        let [median, tail, most] = [0.5, 0.95, 1.0].map(|part| 100.0 * at(model, part));
        println!("  {model:18} {median:8.2} % {tail:6.1} % {most:8.1} %");
    }
    let (median, tail) = (at("lmo", 0.5), at("lmo", 0.95));
    let mut claims = vec![
        (format!("{failed} of {} platforms could not be judged", all.len()), failed == 0),
        (format!("{refused} of {able} fits refuse where such a model can hold"), refused == 0),
    ];
    if unable > 0 {
        let claim = format!("{silent} of {unable} fits hold where links are shared");
        claims.push((claim, silent == 0));
    }
    if able > refused {
        let calls = errors.get("lmo").map_or(0, Vec::len);
        claims.push((
            format!("{calls} predictions are off by {:.2} % (median)", 100.0 * median),
            median <= bounds.median,
        ));
        let claim = format!("and by {:.1} % at the 95th percentile", 100.0 * tail);
        claims.push((claim, tail <= bounds.tail));
    }
    if parameters[1] > 0 {
        println!(
            "{what}: {} of {} intervals hold what is true without the others; nine of ten do on {covered} \
             of {} clusters",
            parameters[0],
            parameters[1],
            all.len()
        );
    }
    for (claim, holds) in &claims {
        println!("{what}: {claim}: {}", if *holds { "ok" } else { "MISSED" });
    }
    claims.iter().all(|(_, holds)| *holds)
}

impl Cell {
    /// What LMO is off.
    fn off(&self) -> f64 {
        self.said.first().map_or(f64::NAN, |(_, said)| (said / self.truth - 1.0).abs())
    }

    fn tell(&self) -> String {
        let said = self.said.first().map_or(f64::NAN, |(_, said)| *said);
        let off = 100.0 * (said / self.truth - 1.0);
        let (said, truth) = (1e6 * said, 1e6 * self.truth);
        format!("{}: {off:+.1} %, {said:.1} us for {truth:.1} us", self.call)
    }
}
