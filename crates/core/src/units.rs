//! Sizes and numbers as people write them: K, M and G are powers of two.

/// Parses a size in bytes: `0`, `1024`, `64K`, `64K+1`, `4MiB`.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let mut total = 0u64;
    for part in text.split('+') {
        let digits = part.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = part.split_at(digits);
        let factor: u64 = match unit.to_ascii_lowercase().as_str() {
            "" | "b" => 1,
            "k" | "kb" | "kib" => 1 << 10,
            "m" | "mb" | "mib" => 1 << 20,
            "g" | "gb" | "gib" => 1 << 30,
            "t" | "tb" | "tib" => 1 << 40,
            _ => return Err(format!("`{text}` is not a size")),
        };
        let number: u64 = match number {
            "" => return Err(format!("`{text}` is not a size")),
            digits => digits.parse().map_err(|_| format!("`{text}` is too large"))?,
        };
        total = number
            .checked_mul(factor)
            .and_then(|bytes| total.checked_add(bytes))
            .ok_or_else(|| format!("`{text}` is too large"))?;
    }
    Ok(total)
}

/// Formats a size so that [`parse_size`] reads it again: `64K`, `64K+1`, `100`.
pub fn format_size(bytes: u64) -> String {
    for (shift, unit) in [(30, "G"), (20, "M"), (10, "K")] {
        let (whole, rest) = (bytes >> shift, bytes & ((1 << shift) - 1));
        if whole > 0 && rest == 0 {
            return format!("{whole}{unit}");
        }
        if whole > 0 && rest < 16 {
            return format!("{whole}{unit}+{rest}");
        }
    }
    bytes.to_string()
}

/// Parses a count: `6000`, `6k`, `1.5M`; k, M and G are powers of ten, in either case.
pub fn parse_count(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let power = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" => 0,
        "k" => 3,
        "m" => 6,
        "g" => 9,
        _ => return Err("a count is a whole number, or one with k, M or G: 6000, 6k".into()),
    };
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !all_digits(whole) || !all_digits(part) || part.len() > power {
        return Err("it is not a whole number".into());
    }
    let count = format!("{whole}{part:0<power$}");
    count.parse().map_err(|_| "the number is too large".into())
}

/// Formats a number in groups of three digits: `37,890,180`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a count with its noun: `1 rank`, `2 ranks`, `1 switch`, `3 switches`, `2 processes`.
pub fn counted(count: impl Into<u64>, thing: &str) -> String {
    let count = count.into();
    let end = match thing.ends_with("ch") || thing.ends_with('s') {
        _ if count == 1 => "",
        true => "es",
        false => "s",
    };
    format!("{count} {thing}{end}")
}

/// The same with the number in groups of three digits: `37,890,180 pairs`.
pub fn counted_grouped(count: impl Into<u64>, thing: &str) -> String {
    let count = count.into();
    let text = counted(count, thing);
    let things = text.split_once(' ').map_or("", |(_, things)| things);
    format!("{} {things}", grouped(count))
}

/// The verb for a count: `is` for one, `are` otherwise.
pub fn are(count: impl Into<u64>) -> &'static str {
    if count.into() == 1 { "is" } else { "are" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plural_depends_on_the_count() {
        assert_eq!([0u32, 1, 2].map(|n| counted(n, "rank")), ["0 ranks", "1 rank", "2 ranks"]);
        assert_eq!([1u64, 3].map(|n| counted(n, "switch")), ["1 switch", "3 switches"]);
        assert_eq!(counted_grouped(6156u32, "node"), "6,156 nodes");
        assert_eq!([0u32, 1, 2].map(are), ["are", "is", "are"]);
    }

    #[test]
    fn counts_have_units_of_ten() {
        for (text, count) in [
            ("0", 0),
            ("6000", 6000),
            ("6k", 6000),
            ("6K", 6000),
            ("1.5M", 1_500_000),
            ("2g", 2_000_000_000),
        ] {
            assert_eq!(parse_count(text), Ok(count), "{text}");
        }
        for text in
            ["", "k", "-1", "1.5", "1.2345k", "6x", "6kk", "1e3", "6 k", "18446744073709552k"]
        {
            assert!(parse_count(text).is_err(), "{text}");
        }
        assert_eq!([0, 999, 1000, 37_890_180].map(grouped), ["0", "999", "1,000", "37,890,180"]);
    }

    #[test]
    fn sizes_go_there_and_back() {
        for bytes in [0, 1, 7, 1000, 1024, 65537, 1 << 20, (3 << 30) + 5] {
            assert_eq!(parse_size(&format_size(bytes)), Ok(bytes));
        }
        assert_eq!(parse_size("64K+1"), Ok(65537));
        assert_eq!(parse_size("4MiB"), Ok(4 << 20));
        for bad in ["", "K", "-1", "1.5K", "99999999999999999999", "17179869184G", "8Q", "1++1"] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
    }
}
