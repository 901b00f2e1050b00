//! What every drawing shares: the frame, the colours, and text that cannot break out of it.

/// Told apart by most eyes; used in turn.
const PALETTE: [&str; 8] =
    ["#1b6ca8", "#d1495b", "#edae49", "#00798c", "#66a182", "#8d5a97", "#c06c3e", "#4f5d75"];

/// The colour of the n-th thing.
pub fn colour(number: u32) -> &'static str {
    PALETTE[number as usize % PALETTE.len()]
}

/// The least round figure that is not below a rough one: a digit of these, which rise to below 10,
/// times a power of ten.
pub fn round_step(rough: f64, digits: &[f64]) -> f64 {
    let unit = 10f64.powf(rough.log10().floor());
    // Rounding must not ask for the next larger step.
    let fits = |digit: &&f64| **digit * unit >= rough * 0.999;
    unit * digits.iter().find(fits).unwrap_or(&10.0)
}

/// A line of a chart's grid at height `y`, with the figure that it stands for on its left.
pub fn ruled(left: f64, right: f64, y: f64, label: &str) -> String {
    format!(
        "<path d=\"M{left} {y:.1}H{right}\" stroke=\"#ddd\"/><text x=\"{}\" y=\"{:.1}\" \
         text-anchor=\"end\">{label}</text>\n",
        left - 6.0,
        y + 4.0
    )
}

/// A drawing of so many units, on white.
pub fn document(width: f64, height: f64, body: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{body}</svg>\n"
    )
}

/// Text as it may stand between tags, and in quotes inside one; no file of XML may hold what
/// controls a terminal.
pub fn escaped(text: &str) -> String {
    let text = text.replace(|c: char| c.is_control() && !matches!(c, '\n' | '\t'), "\u{fffd}");
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text() {
        assert_eq!(escaped("a<b & c"), "a&lt;b &amp; c");
        assert_eq!(escaped("\"x\">"), "&quot;x&quot;&gt;");
        assert_eq!(escaped("a\u{1}b\n"), "a\u{fffd}b\n");
        assert!(document(2.0, 1.0, "<g/>").contains("viewBox=\"0 0 2 1\""));
    }

    #[test]
    fn steps_are_round() {
        let steps = [0.03, 1.0, 2.1, 5.0, 70.0].map(|rough| round_step(rough, &[1.0, 2.0, 5.0]));
        for (step, wanted) in steps.into_iter().zip([0.05, 1.0, 5.0, 5.0, 100.0]) {
            assert!((step - wanted).abs() < 1e-12, "{steps:?}");
        }
    }
}
