//! What `laneway sites measure` writes of a platform, measured in virtual time.

use laneway_core::{Comm, Shape};
use laneway_measure::Rule;
use laneway_measure::sites::{Asked, Found, SitesError, measure_sites};
use laneway_sim::Program;
use laneway_sim::platform::Platform;
use laneway_sites::found::{doubts, limits, platform_text};
use laneway_sites::{Choice, Sites};

/// Of each figure; the smallest and the largest of five enclose the median in 15 of 16 cases.
const REPS: u32 = 5;

/// The platform that measuring wrote.
pub struct Measured {
    pub text: String,
    pub platform: Platform,
}

/// Measures a platform. Sites are given as with `--sites`, or found.
pub fn measure(platform: &Platform, sites: Option<&[String]>) -> Result<Measured, String> {
    let found = find(platform, sites)?;
    if !found.is_measured() {
        return Err("a figure was not measured".into());
    }
    let text = platform_text(&found, &limits(&found));
    let platform =
        Platform::parse("measured", &text).map_err(|error| format!("{error}\n{text}"))?;
    Ok(Measured { text, platform })
}

fn find(platform: &Platform, sites: Option<&[String]>) -> Result<Found, String> {
    let program = |comm: &dyn Comm| -> Result<Found, SitesError> {
        let rule = Rule::fixed(REPS);
        let (alive, observer) = (&|| {}, &());
        let asked =
            Asked { sites, message: None, every: false, anyway: false, rule, alive, observer };
        measure_sites(comm, &asked)
    };
    let ended = Program::new(platform, platform.hosts()).run(program);
    let ended = ended.map_err(|error| error.to_string())?;
    let first = ended.results.into_iter().next().ok_or("no rank")?;
    first.map_err(|error| error.to_string())
}

impl Measured {
    /// Whether a choice from the file is flagged.
    pub fn flags(&self, shape: &Shape, choice: &Choice) -> bool {
        let sites = Sites::one_each(&self.platform);
        !choice.unsearched.is_empty() || !doubts(&sites, shape, choice).is_empty()
    }
}
