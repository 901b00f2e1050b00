//! Rates, times and drifts as people write them: `25Mbit`, `125MB/s`, `5ms`, `+-10ppm`.

use super::draw::Spread;

/// Slower than this is a mistake: one bit a second, in bytes.
const LEAST_RATE: f64 = 0.125;
/// Faster than this is a mistake: an exabyte a second.
const MOST_RATE: f64 = 1e18;
/// Longer than this is a mistake: eleven days.
const MOST_SECONDS: f64 = 1e6;
/// Where time must pass, less than this is a mistake.
pub(super) const LEAST_SECONDS: f64 = 1e-9;
/// A clock that gains or loses so much of a second in a second is not a clock.
const DRIFT_END: f64 = 0.5;

/// Bits in powers of ten, or bytes in powers of ten; both a second.
const RATES: &[(&str, f64)] = &[
    ("bit", 0.125),
    ("kbit", 0.125e3),
    ("mbit", 0.125e6),
    ("gbit", 0.125e9),
    ("tbit", 0.125e12),
    ("b/s", 1.0),
    ("kb/s", 1e3),
    ("mb/s", 1e6),
    ("gb/s", 1e9),
    ("tb/s", 1e12),
];

const TIMES: &[(&str, f64)] = &[("ns", 1e9), ("us", 1e6), ("ms", 1e3), ("s", 1.0)];

/// Reads a rate, such as `250Mbit` or `125MB/s`: bytes a second.
pub fn parse_rate(text: &str) -> Result<f64, String> {
    let (number, unit) = split(text, "a rate")?;
    let unit = unit.to_ascii_lowercase();
    // `Mbit/s` is `Mbit`; `MB` alone could be a size, so bytes keep their `/s`.
    let unit = unit.strip_suffix("bit/s").map_or(unit.clone(), |prefix| format!("{prefix}bit"));
    let Some((_, factor)) = RATES.iter().find(|(name, _)| *name == unit) else {
        return Err(format!("`{text}` is not a rate; write it like 250Mbit, 1Gbit or 125MB/s"));
    };
    let rate = number * factor;
    match rate {
        0.0 => Err(format!("`{text}`: a rate must be above 0")),
        _ if rate < LEAST_RATE => Err(format!("`{text}`: a rate is at least 1bit")),
        _ if rate > MOST_RATE => Err(format!("`{text}`: no rate is above 1000000TB/s")),
        _ => Ok(rate),
    }
}

/// Reads a time, such as `5ms` or `20us`: seconds.
pub fn parse_time(text: &str) -> Result<f64, String> {
    let (number, unit) = split(text, "a time")?;
    if number == 0.0 && unit.is_empty() {
        return Ok(0.0);
    }
    let unit = if unit == "µs" { "us" } else { unit };
    let Some((_, parts)) = TIMES.iter().find(|(name, _)| *name == unit) else {
        return Err(format!("`{text}` is not a time; write it like 5ms, 20us, 1.5ns or 2s"));
    };
    // Divided, not multiplied: 5 / 1000 is the number nearest to 0.005, 5 * 0.001 need not be.
    match number / parts {
        seconds if seconds > MOST_SECONDS => Err(format!("`{text}`: no time is above 1000000s")),
        seconds => Ok(seconds),
    }
}

/// Reads how far a clock is off: `-3ms`, or `+-500ms` for each host its own.
pub(super) fn parse_offset(text: &str) -> Result<Spread, String> {
    signed(text, parse_time)
}

/// Reads what a clock gains in a second: `10ppm`, `-1e-5`, or `+-10ppm` for each host its own.
pub(super) fn parse_drift(text: &str) -> Result<Spread, String> {
    signed(text, |text| {
        let (number, parts) = match text.strip_suffix("ppm") {
            Some(number) => (number.trim_end(), 1e6),
            None => (text, 1.0),
        };
        // What begins with a digit is not a second sign, not `inf` and not `nan`.
        let digit = number.starts_with(|c: char| c.is_ascii_digit() || c == '.');
        match number.parse::<f64>() {
            Ok(number) if digit && number / parts < DRIFT_END => Ok(number / parts),
            Ok(_) if digit => Err(format!("`{text}`: a clock drifts by less than {DRIFT_END}")),
            _ => Err(format!("`{text}` is not a drift; write it like 10ppm, -2.5ppm or 1e-5")),
        }
    })
}

fn signed(text: &str, parse: impl Fn(&str) -> Result<f64, String>) -> Result<Spread, String> {
    let text = text.trim();
    if let Some(most) = text.strip_prefix("+-") {
        return parse(most).map(Spread::Within);
    }
    match text.strip_prefix('-') {
        Some(size) => parse(size).map(|size| Spread::Same(-size)),
        None => parse(text.strip_prefix('+').unwrap_or(text)).map(Spread::Same),
    }
}

fn split<'a>(text: &'a str, what: &str) -> Result<(f64, &'a str), String> {
    let text = text.trim();
    if text.starts_with('-') {
        return Err(format!("`{text}`: {what} cannot be negative"));
    }
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    match number.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok((number, unit.trim_start())),
        _ => Err(format!("`{text}` is not {what}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_and_times_are_read() {
        assert_eq!(parse_rate("250Mbit"), Ok(31.25e6));
        assert_eq!(parse_rate("1Gbit/s"), Ok(125e6));
        assert_eq!(parse_rate("125MB/s"), Ok(125e6));
        assert_eq!(parse_rate("1.5 kbit"), Ok(187.5));
        assert_eq!(parse_time("5ms"), Ok(0.005));
        assert_eq!(parse_time("20us"), Ok(20e-6));
        assert_eq!(parse_time("20µs"), Ok(20e-6));
        assert_eq!(parse_time("0"), Ok(0.0));
        assert_eq!(parse_time("0.5ns"), Ok(0.5e-9));
    }

    #[test]
    fn clocks_may_be_ahead_or_behind() {
        assert_eq!(parse_offset("-3ms"), Ok(Spread::Same(-0.003)));
        assert_eq!(parse_offset("+3ms"), Ok(Spread::Same(0.003)));
        assert_eq!(parse_offset("+-500ms"), Ok(Spread::Within(0.5)));
        assert_eq!(parse_drift("-2.5ppm"), Ok(Spread::Same(-2.5e-6)));
        assert_eq!(parse_drift("1e-5"), Ok(Spread::Same(1e-5)));
        assert_eq!(parse_drift("+-10 ppm"), Ok(Spread::Within(10e-6)));
        for bad in ["", "3", "-+3ms", "--3ms", "+-", "+--3ms"] {
            assert!(parse_offset(bad).is_err(), "{bad}");
        }
        for bad in ["", "ppm", "2%", "0.5", "-0.5", "inf", "-nan", "--1ppm", "+-1", "1e400"] {
            assert!(parse_drift(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_no_cluster_has_is_refused() {
        for bad in ["", "1", "0bit", "-1Gbit", "1GB", "1Gb", "x", "1.2.3Gbit", "9999999TB/s", "inf"]
        {
            assert!(parse_rate(bad).is_err(), "{bad}");
        }
        for bad in ["", "5", "-5ms", "5 weeks", "nan", ".", "1e3s", "9999999s"] {
            assert!(parse_time(bad).is_err(), "{bad}");
        }
        assert!(parse_rate("0Mbit").unwrap_err().contains("above 0"));
        assert!(parse_time("-5ms").unwrap_err().contains("negative"));
        let endless = format!("{}Gbit", "9".repeat(400));
        assert!(parse_rate(&endless).is_err());
    }
}
