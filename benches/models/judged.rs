//! How far the model was off on platforms, and whether that is what is claimed.

use std::collections::BTreeMap;

use laneway_stats::{quantile, sorted};

/// The number of the worst that are shown.
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
    /// Of the models that promise an interval for it, whether that holds the truth.
    pub within: Vec<(String, bool)>,
}

/// What came of a platform.
pub struct Judged {
    pub what: String,
    /// Whether such a model can hold there.
    pub can_hold: bool,
    /// Whether the fit says that it does.
    pub holds: bool,
    /// Parameters whose intervals hold the truth, and all; zero if it is not known.
    pub known: [u32; 2],
    pub cells: Vec<Cell>,
}

impl Judged {
    /// How it stands, for a run that may be cut.
    pub fn line(&self) -> String {
        let holds = if self.holds { "holds" } else { "does not hold" };
        let [median, tail] = [0.5, 0.95].map(|part| 100.0 * self.at(part));
        format!("{holds}, {median:.2} % median, {tail:.2} % p95: {}", self.what)
    }

    /// What LMO is off, at a part of all calls.
    fn at(&self, part: f64) -> f64 {
        let errors = sorted(&self.cells.iter().map(Cell::off).collect::<Vec<f64>>());
        quantile(&errors, part).unwrap_or(f64::NAN)
    }
}

/// What came of all platforms together.
#[derive(Default)]
struct Tally {
    failed: usize,
    /// Platforms where such a model can hold, and those of them where it refuses.
    able: usize,
    refused: usize,
    /// Platforms where it cannot, and those of them where it claims to.
    unable: usize,
    silent: usize,
    /// Intervals that hold the truth, of all; and clusters where nine of ten do.
    known: [u32; 2],
    covered: usize,
    worst: Vec<(f64, String)>,
    /// Of each model.
    errors: BTreeMap<String, Vec<f64>>,
    /// Intervals of each model that hold the truth, and all that it promises.
    promised: BTreeMap<String, [usize; 2]>,
}

/// Such a part of the intervals holds, and such a part of LMO's calls has one.
const HELD: f64 = 0.9;
const PROMISED: f64 = 0.8;
/// Such a part of the fits may refuse where such a model can hold.
const REFUSED: f64 = 0.02;

impl Tally {
    fn add(&mut self, seed: u64, judged: &Judged, bounds: Bounds) {
        let Judged { what, can_hold, holds, known, cells } = judged;
        self.known = [self.known[0] + known[0], self.known[1] + known[1]];
        self.covered += usize::from(10 * known[0] >= 9 * known[1]);
        match can_hold {
            true => self.able += 1,
            false => self.unable += 1,
        }
        match (can_hold, holds) {
            (true, false) => {
                self.refused += 1;
                println!("seed {seed}: refused: {what}");
            }
            // A link that is wide enough is shared and hardly felt.
            (false, true) if judged.at(0.95) > bounds.tail => {
                self.silent += 1;
                println!("seed {seed}: held, though links are shared: {what}");
            }
            (false, _) => {}
            (true, true) => {
                for cell in cells {
                    for (model, within) in &cell.within {
                        let [held, all] = self.promised.entry(model.clone()).or_default();
                        (*held, *all) = (*held + usize::from(*within), *all + 1);
                    }
                    for (model, said) in &cell.said {
                        let off = (said / cell.truth - 1.0).abs();
                        self.errors.entry(model.clone()).or_default().push(off);
                    }
                    let line = format!("seed {seed}: {}: {what}", cell.tell());
                    self.worst.push((cell.off(), line));
                }
            }
        }
    }

    /// What a model is off, at a part of all its calls.
    fn at(&self, model: &str, part: f64) -> f64 {
        let own = self.errors.get(model).map(|own| sorted(own)).unwrap_or_default();
        quantile(&own, part).unwrap_or(f64::NAN)
    }

    fn claims(&self, all: usize, bounds: Bounds) -> Vec<(String, bool)> {
        let Tally { failed, refused, able, silent, unable, .. } = *self;
        let mut claims = vec![
            (format!("{failed} of {all} platforms could not be judged"), failed == 0),
            (
                format!("{refused} of {able} fits refuse where such a model can hold"),
                refused as f64 <= REFUSED * able as f64,
            ),
        ];
        for (model, &[held, all]) in &self.promised {
            let claim = format!("{held} of {all} intervals of {model} hold");
            claims.push((claim, held as f64 >= HELD * all as f64));
        }
        let calls = self.errors.get("lmo").map_or(0, Vec::len);
        if let Some(&[_, all]) = self.promised.get("lmo") {
            let claim = format!("{all} of {calls} calls have an interval of lmo");
            claims.push((claim, all as f64 >= PROMISED * calls as f64));
        }
        if unable > 0 {
            let claim =
                format!("{silent} of {unable} fits hold, and are wrong, where links are shared");
            claims.push((claim, silent == 0));
        }
        if able > refused {
            let calls = self.errors.get("lmo").map_or(0, Vec::len);
            let (median, tail) = (self.at("lmo", 0.5), self.at("lmo", 0.95));
            let claim = format!("{calls} predictions are off by {:.2} % (median)", 100.0 * median);
            claims.push((claim, median <= bounds.median));
            let claim = format!("and by {:.1} % at the 95th percentile", 100.0 * tail);
            claims.push((claim, tail <= bounds.tail));
        }
        claims
    }
}

/// Prints the worst calls, all models' errors and the claims; whether all claims hold.
pub fn tell(what: &str, all: &[(u64, Result<Judged, String>)], bounds: Bounds) -> bool {
    let mut tally = Tally::default();
    for (seed, judged) in all {
        match judged {
            Ok(judged) => tally.add(*seed, judged, bounds),
            Err(why) => {
                tally.failed += 1;
                println!("seed {seed}: {why}");
            }
        }
    }
    tally.worst.sort_by(|one, other| other.0.total_cmp(&one.0));
    tally.worst.iter().take(WORST).for_each(|(_, line)| println!("  {line}"));
    println!("{what}:\n  {:18} median_off  p95_off  worst_off", "model");
    for model in tally.errors.keys() {
        let [median, tail, most] = [0.5, 0.95, 1.0].map(|part| 100.0 * tally.at(model, part));
        println!("  {model:18} {median:8.2} % {tail:6.1} % {most:8.1} %");
    }
    let [held, parameters] = tally.known;
    if parameters > 0 {
        println!(
            "{what}: {held} of {parameters} intervals hold what is true without the others, nine \
             of ten of them on {} of {} clusters",
            tally.covered,
            all.len()
        );
    }
    let claims = tally.claims(all.len(), bounds);
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
