//! One configuration: what is chosen for it, and what SimGrid says of that and of everything else.

use std::path::Path;
use std::time::Instant;

use laneway_coll::find;
use laneway_core::Shape;
use laneway_sim::platform::Platform;
use laneway_sites::{Choice, Sites};
use laneway_stats::SplitMix64;

use crate::config::Config;
use crate::lanes::{self, Verdict};
use crate::measured::measured;
use crate::times::Times;

/// Draws until the rule of thumb loses, and by how much it does then.
const TRIES: u32 = 500;
const LOSES: f64 = 1.03;

/// What came of a configuration.
pub struct Case {
    pub what: String,
    /// The platform's file, as it was measured.
    pub measured: String,
    pub chosen: String,
    pub best: String,
    /// Of SimGrid's times: the choice's and the rule's over the best candidate's.
    pub cost: f64,
    pub rule_cost: f64,
    /// The predicted time over SimGrid's, without 1.
    pub prediction: f64,
    pub choosing_seconds: f64,
    /// Of a real clock, for what was measured in virtual time.
    pub measuring_seconds: f64,
    /// Of the multi-lane paper's cost model, where it has an answer.
    pub model: Option<Verdict>,
}

/// Of a seed: every other one is a case in which the rule of thumb loses.
pub fn judge(object: &Path, seed: u64) -> Result<Case, String> {
    let mut random = SplitMix64::new(seed);
    let config = drawn(&mut random, !seed.is_multiple_of(2))?;
    let truth = read(&config)?;
    let begun = Instant::now();
    let (known, text) = measured(&config, &mut random)?;
    let measuring_seconds = begun.elapsed().as_secs_f64();

    let begun = Instant::now();
    let choice = choose(&known, &config)?;
    let choosing_seconds = begun.elapsed().as_secs_f64();

    let (chosen, rule) = (choice.best.spelled(), config.rule_of_thumb());
    let mut names = vec![chosen.clone(), rule.clone()];
    for candidate in choice.all.iter().chain(&choose(&truth, &config)?.all) {
        names.extend([candidate.spelled(), candidate.algorithm.name.into()]);
    }
    let candidates = names.len();
    let models = lanes::models(&known, &config);
    names.extend(lanes::names(&models));
    let times = Times::of(object, &truth, &config, seed, &names)?;

    let best = times.best_of(&names[..candidates]);
    let time = times.of_name(&chosen);
    Ok(Case {
        what: format!("{} of {}", config.describe(), config.platform()),
        measured: text,
        cost: time / best.1,
        best: best.0,
        rule_cost: times.of_name(&rule) / best.1,
        prediction: choice.best.time / time - 1.0,
        chosen,
        choosing_seconds,
        measuring_seconds,
        model: lanes::verdict(&models, &times, &config),
    })
}

fn read(config: &Config) -> Result<Platform, String> {
    let spec = config.platform();
    Platform::read(&spec).map_err(|error| format!("{spec}: {error}"))
}

fn choose(platform: &Platform, config: &Config) -> Result<Choice, String> {
    let sites = Sites::one_each(platform);
    sites.choose(&shape(config)).map_err(|error| error.to_string())
}

fn shape(config: &Config) -> Shape {
    Shape::new(config.op, config.ranks(), config.size).with_root(config.root)
}

/// A configuration; one in which the rule of thumb loses, if asked.
fn drawn(random: &mut SplitMix64, loses: bool) -> Result<Config, String> {
    for _ in 0..TRIES {
        let config = Config::draw(random);
        if !loses {
            return Ok(config);
        }
        let platform = read(&config)?;
        let rule = find(config.op, &config.rule_of_thumb()).map_err(|error| error.to_string())?;
        let outcome = Sites::one_each(&platform).simulate(&shape(&config), rule.0, &rule.1);
        let time = outcome.map_err(|error| error.to_string())?.finish;
        if time > LOSES * choose(&platform, &config)?.best.time {
            return Ok(config);
        }
    }
    Err("no configuration in which the rule of thumb loses".into())
}
