//! Table 1: the terms of the model as printed, and whether they add up to the formulas of the text.

use laneway_sites::model::{Form, TwoSites, WanRate};

use super::modelled;
use super::testbed::{HOSTS, LARGE, Testbed};
use crate::Claim;
use crate::error::PaperError;
use crate::part::{Axes, Drawn, How, Part, brief};

/// The sizes of two sites that are gone through, each with every number of lanes.
const SITES: std::ops::RangeInclusive<u32> = 2..=64;

pub fn part() -> Result<Part, PaperError> {
    let testbed = Testbed::new(5)?;
    let model = testbed.model(LARGE, testbed.constant()?)?;
    let (table, text) = (modelled(model.table(HOSTS))?, modelled(model.printed(HOSTS))?);
    let mut claims = Vec::new();
    for (name, terms) in [("single lane", table.single_lane), ("P = 32", table.multi_lane)] {
        let terms = [
            ("T_prepare", terms.prepare),
            ("T_WAN", terms.wan),
            ("T_LAN", terms.lan),
            ("T_total", terms.total),
        ];
        let present = terms.into_iter().filter(|(_, seconds)| *seconds > 0.0);
        claims.extend(present.map(|(term, seconds)| {
            Claim::own_seconds(format!("{name}: {term} as printed, 4M at 5 ms"), seconds)
        }));
    }
    claims.push(Claim::own_seconds("P = 32: T(P) of section 4.2", text));
    let single = modelled(model.single_lane())?;
    // The text counts a latency for each message within a site, the table none.
    let served = f64::from(HOSTS - 1) * model.lan_latency;
    let single = table.single_lane.total / (single - served);
    let multi = table.multi_lane.total / text;
    let one = Some(1.0);
    let what = "single lane: T_total over the formula of section 3, but for l";
    claims.push(Claim::ratio_of(what, one, single).equal());
    let what = "P = 32: T_total over T(P) of section 4.2";
    claims.push(Claim::ratio_of(what, one, multi).equal().known(1, 1.03, 1.031));
    let (jump, wrong) = (Jump::new(&model)?, Wrong::count(&model)?);
    let what = "n0 = 31, n1 = 32, P = 8: Y as printed over Y by steps";
    claims.push(Claim::ratio_of(what, one, jump.ratio()).equal().known(2, 0.65, 0.66));
    claims.push(Claim::ratio_of("n0, n1 of 2 to 64, every P: combinations", None, wrong.all));
    claims.push(Claim::ratio_of("of these, where the printed Y is wrong", None, wrong.wrong));
    claims.push(Claim::ratio_of("the smallest printed Y over Y by steps", None, wrong.least));
    let axes = Axes { across: "at", unit: None, up: "", along: "", drawn: Drawn::Not };
    let heading = "Table 1: the terms of the model, and what they leave out";
    let part = Part::new("table-1", How::Counted, heading, axes);
    Ok(Part { claims, remarks: remarks(&jump, multi), ..part })
}

/// Y where the far site is one host larger, and where both are as large.
struct Jump {
    printed: u64,
    corrected: u64,
    equal_sites: u64,
}

impl Jump {
    fn new(model: &TwoSites) -> Result<Jump, PaperError> {
        let smaller = TwoSites { near: HOSTS - 1, ..model.clone() };
        Ok(Jump {
            printed: modelled(smaller.lan_blocks(Form::Printed, 8))?,
            corrected: modelled(smaller.lan_blocks(Form::Corrected, 8))?,
            equal_sites: modelled(model.lan_blocks(Form::Printed, 8))?,
        })
    }

    fn ratio(&self) -> f64 {
        self.printed as f64 / self.corrected as f64
    }
}

/// In how many cases the printed Y is not what the steps need.
struct Wrong {
    all: f64,
    wrong: f64,
    least: f64,
}

impl Wrong {
    fn count(model: &TwoSites) -> Result<Wrong, PaperError> {
        let mut found = Wrong { all: 0.0, wrong: 0.0, least: 1.0 };
        let mut sites = TwoSites { wan: WanRate::Constant(1.0), ..model.clone() };
        for (near, far) in SITES.flat_map(|near| SITES.map(move |far| (near, far))) {
            (sites.near, sites.far) = (near, far);
            for lanes in 1..=sites.most_lanes() {
                let printed = modelled(sites.lan_blocks(Form::Printed, lanes))?;
                let corrected = modelled(sites.lan_blocks(Form::Corrected, lanes))?;
                found.all += 1.0;
                found.wrong += f64::from(u8::from(printed != corrected));
                found.least = found.least.min(printed as f64 / corrected as f64);
            }
        }
        Ok(found)
    }
}

fn remarks(jump: &Jump, multi: f64) -> Vec<String> {
    let Jump { printed, corrected, equal_sites } = jump;
    let more = brief((multi - 1.0) * 100.0);
    vec![
        format!(
            "The multi-lane column is {more} % above T(P): T_prepare feeds the root's own lane as \
             well (n1 + P - 1 blocks for n1 - X + P - 1), T_LAN has a partner send its own block \
             (X for X - 1), alpha is counted twice, and the root's sends to the rest of its own \
             site (n0 - P) are missing."
        ),
        format!(
            "The formula for n0 < n1 forgets those sends too: Y = n1 + P - 2. By steps it is (n1 - \
             X) + (P - 1) + max(n0 - P, X - 1). With 31 and 32 hosts and 8 lanes the printed Y is \
             {printed} blocks and the right one {corrected}; with 32 and 32 hosts the paper itself \
             has {equal_sites}."
        ),
        "T(P) is a staircase: for n0 >= n1, Y depends on X alone, so that the model cannot rank 16 \
         to 31 lanes on this testbed."
            .to_owned(),
    ]
}
