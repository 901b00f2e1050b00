//! What every drawing shares: the frame, the colours, and text that cannot break out of it.

/// Told apart by most eyes; used in turn.
const PALETTE: [&str; 8] =
    ["#1b6ca8", "#d1495b", "#edae49", "#00798c", "#66a182", "#8d5a97", "#c06c3e", "#4f5d75"];

/// The colour of the n-th thing.
pub fn colour(number: u32) -> &'static str {
    PALETTE[number as usize % PALETTE.len()]
}

/// A drawing of so many units, on white.
pub fn document(width: f64, height: f64, body: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{body}</svg>\n"
    )
}

/// Text as it may stand between tags, and in quotes inside one.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text() {
        assert_eq!(escaped("a<b & c"), "a&lt;b &amp; c");
        assert_eq!(escaped("\"x\">"), "&quot;x&quot;&gt;");
        assert!(document(2.0, 1.0, "<g/>").contains("viewBox=\"0 0 2 1\""));
    }
}
