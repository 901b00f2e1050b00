//! Words that several verbs take on the command line: operations, sizes and shares.

use laneway_core::error::nearest;
use laneway_core::units::{format_size, parse_size};
use laneway_core::{Collective, Failure};

/// More bytes than any machine holds, and far from overflow.
const LARGEST: u64 = 1 << 40;

/// An operation by its name; `verb` is who asks, for the example.
pub fn collective(verb: &str, name: &str) -> Result<Collective, Failure> {
    Collective::by_name(name).ok_or_else(|| {
        let all = Collective::ALL.map(Collective::name);
        let try_this = match nearest(name, all) {
            Some(near) => format!("laneway {verb} {near}"),
            None => "laneway info algorithms".into(),
        };
        let cause = format!("the operations are {}", all.join(", "));
        Failure::usage(format!("no operation `{name}`"), cause, try_this)
    })
}

/// A size in bytes.
pub fn size(text: &str) -> Result<u64, Failure> {
    let size = parse_size(text).map_err(|cause| {
        Failure::usage(format!("no size `{text}`"), cause, "--sizes 0,1,7,1K,64K+1")
    })?;
    if size > LARGEST {
        let cause = format!("the largest size is {}", format_size(LARGEST));
        return Err(Failure::usage(format!("size `{text}` is absurd"), cause, "--sizes 1G"));
    }
    Ok(size)
}

/// Shares that are something and not all.
pub const PARTS: [f64; 2] = [1e-5, 0.9999];
/// Levels of an interval that say something.
pub const LEVELS: [f64; 2] = [0.5, 0.9999];

/// A share as `5%` or `0.05`; a bare 5 is refused, as it could be meant to be either.
pub fn share(name: &str, text: &str, range: [f64; 2], example: &str) -> Result<f64, Failure> {
    let number = match text.strip_suffix('%') {
        Some(number) => number.parse::<f64>().ok().map(|number| number / 100.0),
        None => text.parse().ok().filter(|number| *number < 1.0),
    };
    number.filter(|number| (range[0]..=range[1]).contains(number)).ok_or_else(|| {
        let [low, high] = range.map(|end| end * 100.0);
        let cause = format!("it is a share of {low}% to {high}%, as {example}");
        Failure::usage(format!("no {name} `{text}`"), cause, format!("--{name} {example}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_have_a_percent_sign_or_are_fractions() {
        let threshold = |text: &str| share("threshold", text, [0.0, 10.0], "5%").ok();
        let level = |text: &str| share("level", text, LEVELS, "95%").ok();
        assert_eq!((threshold("5%"), threshold("0.05")), (Some(0.05), Some(0.05)));
        assert_eq!((level("99%"), level("0.99")), (Some(0.99), Some(0.99)));
        for text in ["", "%", "x", "-1%", "nan", "inf%", "5"] {
            assert_eq!(threshold(text), None, "{text}");
        }
        assert_eq!((level("100%"), level("95")), (None, None));
        for text in ["0", "0%", "100%", "1", "2"] {
            assert!(share("alpha", text, PARTS, "5%").is_err(), "{text}");
        }
    }
}
