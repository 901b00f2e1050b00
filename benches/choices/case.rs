//! One platform: what is chosen for each call on it, and what else could have been.

use std::time::Instant;

use laneway_sim::Network;
use laneway_sim::platform::Platform;
use laneway_sites::{Candidate, Sites};

use crate::dice::Dice;
use crate::draw::{Call, Drawn, MOST_SMALL};
use crate::opponents::Ground;

/// Settings that are drawn for a call on a small platform, and on a large one.
const SETTINGS: usize = 200;
const SETTINGS_LARGE: usize = 20;
/// A choice this near to the bound needs no comparison on a large platform.
const AT_BOUND: f64 = 1.03;

/// What the choice knew of the platform.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Known {
    True,
    #[allow(dead_code)]
    Measured,
}

/// A choice, and how it compares; seconds.
#[derive(Clone, Debug)]
pub struct Row {
    pub call: Call,
    pub ranks: u32,
    pub known: Known,
    pub chosen: String,
    pub time: f64,
    pub predicted: f64,
    pub best: String,
    pub best_time: f64,
    pub bound: Option<f64>,
    pub flagged: bool,
    pub choosing_seconds: f64,
}

impl Row {
    /// The part of the best time that the choice takes more.
    pub fn loss(&self) -> f64 {
        self.time / self.best_time - 1.0
    }
}

/// What came of a seed.
pub struct Case {
    pub drawn: Drawn,
    pub rows: Vec<Row>,
    /// Calls without a choice, and why.
    pub failures: Vec<String>,
}

pub fn judge(seed: u64) -> Case {
    let drawn = Drawn::new(seed);
    let (mut rows, mut failures) = (Vec::new(), Vec::new());
    match Platform::parse(&format!("seed {seed}"), &drawn.text) {
        Err(error) => failures.push(error.to_string()),
        Ok(platform) => {
            for (number, call) in (0..).zip(&drawn.calls) {
                let dice = &mut Dice::new(seed ^ (number + 1) << 40);
                match judge_call(&platform, call, dice) {
                    Ok(of_call) => rows.extend(of_call),
                    Err(why) => failures.push(format!("{}: {why}", call.spelled())),
                }
            }
        }
    }
    Case { drawn, rows, failures }
}

fn judge_call(platform: &Platform, call: &Call, dice: &mut Dice) -> Result<Vec<Row>, String> {
    let (sites, ranks) = (Sites::one_each(platform), platform.hosts());
    let shape = call.shape(ranks);
    let begun = Instant::now();
    let choice = sites.choose(&shape).map_err(|error| error.to_string())?;
    let choosing_seconds = begun.elapsed().as_secs_f64();

    let simulated = sites.simulate(&shape, choice.best.algorithm, &choice.best.params);
    let time = simulated.map_err(|error| error.to_string())?.finish;
    let bound = choice.bound.as_ref().map(|bound| bound.time);
    let mut best = Best { name: choice.best.spelled(), time };
    choice
        .all
        .iter()
        .for_each(|candidate| best.take(&Candidate::spelled(candidate), candidate.time));

    let is_small = ranks as usize <= MOST_SMALL;
    if is_small || bound.is_none_or(|bound| time > AT_BOUND * bound) {
        let settings = if is_small { SETTINGS } else { SETTINGS_LARGE };
        let ground = Ground { platform, sites: &sites, shape: &shape, size: call.size };
        for _ in 0..settings {
            let opponent = ground.draw(dice);
            if let Some(time) = ground.time(&opponent, best.time) {
                best.take(&opponent.spelled(), time);
            }
        }
    }
    Ok(vec![Row {
        call: call.clone(),
        ranks,
        known: Known::True,
        chosen: choice.best.spelled(),
        time,
        predicted: choice.best.time,
        best: best.name,
        best_time: best.time,
        bound,
        flagged: false,
        choosing_seconds,
    }])
}

/// The fastest so far.
struct Best {
    name: String,
    time: f64,
}

impl Best {
    fn take(&mut self, name: &str, time: f64) {
        if time < self.time {
            (self.name, self.time) = (name.to_owned(), time);
        }
    }
}
