//! What a command line asks of a survey.

use clap::ArgMatches;
use laneway_measure::pairs::{Gate, Sample, Sites, Survey};
use laneway_sim::platform::parse_rate;

use crate::failure::Failure;
use crate::measure::rule;
use crate::platform;
use crate::words::{self, PARTS, share};

pub struct Asked {
    pub survey: Survey,
    /// Whether the precision was asked for, and is an error where it is not reached.
    pub strict: bool,
}

impl Asked {
    pub fn from(matches: &ArgMatches) -> Result<Asked, Failure> {
        let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
        let (rule, strict) = rule::rule(matches, &Survey::RULE)?;
        let mut survey = Survey::new();
        survey.rule = rule;
        survey.size = words::size(text("size").unwrap_or_default())? as usize;
        survey.check_size()?;
        survey.gate = text("min-bw").map(parse_gate).transpose()?;
        survey.most_latency = parse_latency(matches, survey.most_latency)?;
        survey.sites = parse_sites(text("sites"), text("backend"))?;
        survey.sequential = matches.get_flag("sequential");
        let seed = matches.get_one::<u64>("seed").copied().unwrap_or(1);
        survey.sample = text("sample").map(|text| parse_sample(text, seed)).transpose()?;
        Ok(Asked { survey, strict })
    }
}

/// `--sample` alone, or with a number of partners.
fn parse_sample(text: &str, seed: u64) -> Result<Sample, Failure> {
    let partners = match text {
        "" => None,
        text => Some(text.parse().map_err(|_| {
            let what = format!("`{text}` is not a value for --sample");
            Failure::usage(what, "it is a number of partners for each host", "--sample 8")
        })?),
    };
    Ok(Sample { partners, seed })
}

/// How many times the usual latency a pair may have.
fn parse_latency(matches: &ArgMatches, usual: f64) -> Result<f64, Failure> {
    let most = rule::number(matches, "max-latency", "a number of times", "1.5")?.unwrap_or(usual);
    if (1.01..=1e6).contains(&most) {
        return Ok(most);
    }
    let cause = "a pair may have 1.01 or more times the usual latency";
    let what = format!("--max-latency {most} is out of range");
    Err(Failure::usage(what, cause, "--max-latency 1.5"))
}

/// Reads `90%`, `0.9`, `12GB/s` or `100Gbit`.
fn parse_gate(text: &str) -> Result<Gate, Failure> {
    let has_unit = text.ends_with(|c: char| c.is_ascii_alphabetic());
    let begins = text.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    if !(has_unit && begins) {
        return share("min-bw", text, PARTS, "90%").map(Gate::Share).map_err(|_| {
            let what = format!("`{text}` is not a bandwidth for --min-bw");
            let cause = "it is a share of the usual, such as 90%, or a rate, such as 12GB/s";
            Failure::usage(what, cause, "--min-bw 90%, or --min-bw 12GB/s")
        });
    }
    parse_rate(text).map(Gate::Rate).map_err(|cause| {
        let what = format!("unknown bandwidth `{text}`");
        Failure::usage(what, cause, "--min-bw 12GB/s, or --min-bw 90%")
    })
}

/// As given; else of the platform of a simulated cluster, where rank r is on host r.
fn parse_sites(given: Option<&str>, backend: Option<&str>) -> Result<Sites, Failure> {
    if let Some(text) = given {
        let count = |word: &str| word.parse::<u32>().ok().filter(|&ranks| ranks > 0);
        let counts: Option<Vec<u32>> = text.split(',').map(count).collect();
        return counts.map(Sites::Counts).ok_or_else(|| {
            let cause = "sites are comma-separated numbers of ranks, such as 8,8";
            Failure::usage(format!("invalid sites `{text}`"), cause, "--sites 8,8")
        });
    }
    let Some(spec) = backend.and_then(|backend| backend.strip_prefix("sim:")) else {
        return Ok(Sites::Domains);
    };
    let platform = platform::read("--backend sim:", spec)?;
    Ok(Sites::Known((0..platform.hosts()).map(|host| platform.site_of(host)).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_is_a_share_or_a_rate() {
        assert_eq!(parse_gate("90%"), Ok(Gate::Share(0.9)));
        assert_eq!(parse_gate("0.9"), Ok(Gate::Share(0.9)));
        assert_eq!(parse_gate("12GB/s"), Ok(Gate::Rate(12e9)));
        assert_eq!(parse_gate("100Gbit"), Ok(Gate::Rate(12.5e9)));
        for bad in ["", "90", "12GB", "0Gbit", "-1Gbit", "fast", "nan", "120%", "12 parsecs"] {
            let failure = parse_gate(bad).expect_err(bad).to_string();
            assert!(failure.contains("--min-bw"), "{bad}: {failure}");
        }
    }

    #[test]
    fn sites_are_counted_or_those_of_the_platform() {
        assert_eq!(parse_sites(Some("1,3"), Some("mpi")), Ok(Sites::Counts(vec![1, 3])));
        let [one, two] = [Some(0), Some(1)];
        let platform = Sites::Known(vec![one, one, two, two, two]);
        assert_eq!(parse_sites(None, Some("sim:two-sites:2x3")), Ok(platform));
        assert_eq!(parse_sites(None, Some("mpi")), Ok(Sites::Domains));
        for bad in ["", "4,", "0,4", "x"] {
            assert!(parse_sites(Some(bad), None).is_err(), "{bad}");
        }
    }
}
