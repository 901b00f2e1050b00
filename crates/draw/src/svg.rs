//! What every drawing shares: the frame, the colours, dashes and marks that distinguish curves,
//! and text that cannot break out of it.

pub use crate::axis::round_step;

/// Distinguishable for most eyes; used in turn.
const PALETTE: [&str; 8] =
    ["#1b6ca8", "#d1495b", "#edae49", "#00798c", "#66a182", "#8d5a97", "#c06c3e", "#4f5d75"];

/// Dashes of curves, in turn.
const DASHES: [&str; 4] = ["none", "7 3", "2 3", "9 3 2 3"];

/// The colour of the n-th thing.
pub fn colour(number: u32) -> &'static str {
    PALETTE[number as usize % PALETTE.len()]
}

/// White or black, whichever is read better on the n-th colour.
pub fn ink_on(number: u32) -> &'static str {
    let part = |at: usize| u32::from_str_radix(&colour(number)[at..at + 2], 16).unwrap_or(0);
    // As bright as eyes see red, green and blue.
    let light = 299 * part(1) + 587 * part(3) + 114 * part(5);
    if light > 150_000 { "#111" } else { "#fff" }
}

/// The dashes of the n-th curve, so that curves are distinguishable without colour too.
pub fn dashes(number: usize) -> &'static str {
    // Where colours come again, another dash goes with each.
    DASHES[(number + number / PALETTE.len()) % DASHES.len()]
}

/// The mark of the n-th curve as the data of a path: disc, square, triangle, diamond, or the
/// triangle that stands on its tip. With [`dashes`] there are 15 pairs before one comes again.
pub fn mark(number: usize, x: f64, y: f64, half: f64) -> String {
    let corners = |corners: &[(f64, f64)]| {
        let place = |(dx, dy): &(f64, f64)| format!("{:.1} {:.1}", x + dx * half, y + dy * half);
        let places: Vec<String> = corners.iter().map(place).collect();
        format!("M{}z", places.join("L"))
    };
    match number % 5 {
        0 => {
            let (left, across) = (x - half, 2.0 * half);
            let arc = format!("a{half} {half} 0 1 0");
            format!("M{left:.1} {y:.1}{arc} {across} 0{arc} -{across} 0z")
        }
        1 => corners(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
        2 => corners(&[(-1.15, 1.0), (1.15, 1.0), (0.0, -1.15)]),
        3 => corners(&[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)]),
        _ => corners(&[(-1.15, -1.0), (1.15, -1.0), (0.0, 1.15)]),
    }
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

/// A drawing of this width and height, on white.
pub fn document(width: f64, height: f64, body: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{body}</svg>\n"
    )
}

/// The largest scale of a drawing inside a page: beyond it, letters of a small one
/// would be larger than headings.
const MOST_GROWN: f64 = 1.5;

/// A whole drawing as it may stand inside a page, which knows that it is one and names no address.
pub fn inline(drawing: &str) -> String {
    let drawing = drawing.replace(" xmlns=\"http://www.w3.org/2000/svg\"", "");
    let start = "<svg viewBox=\"0 0 ";
    let rest = drawing.strip_prefix(start);
    let width = rest.and_then(|rest| rest.split(' ').next()?.parse::<f64>().ok());
    match width {
        Some(width) => drawing.replacen(
            "\" font-family",
            &format!("\" style=\"max-width:{:.0}px\" font-family", width * MOST_GROWN),
            1,
        ),
        None => drawing,
    }
}

/// Text as it may stand between tags, and in quotes inside one; no file of XML may hold what
/// controls a terminal.
pub fn escaped(text: &str) -> String {
    let text = text.replace(|c: char| c.is_control() && !matches!(c, '\n' | '\t'), "\u{fffd}");
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// About how wide a text is in letters of this size: sans-serif letters differ, and none of the
/// usual fonts is wider over a whole line.
pub fn width_of(text: &str, font_size: f64) -> f64 {
    text.chars().count() as f64 * font_size * 0.58
}

/// Lines of a text that fit this width in letters of this size; a word that is longer has its
/// line alone.
pub fn wrap(text: &str, width: f64, font_size: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width_of(line, font_size) + width_of(word, font_size) < width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// The text, or as much of its beginning as fits, with an ellipsis: the rest belongs into a title
/// for who points at it.
pub fn shorten(text: &str, width: f64, font_size: f64) -> String {
    if width_of(text, font_size) <= width {
        return text.to_owned();
    }
    let letters = (width / (font_size * 0.58)) as usize;
    let kept: String = text.chars().take(letters.saturating_sub(1)).collect();
    kept + "…"
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
        let inside = inline(&document(2.0, 1.0, "<g/>"));
        assert!(!inside.contains("http") && inside.contains("style=\"max-width:3px\""), "{inside}");
    }

    #[test]
    fn curves_are_distinguishable_without_colour() {
        let mut seen: Vec<(&str, String)> =
            (0..15).map(|number| (dashes(number), mark(number, 0.0, 0.0, 3.0))).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 15);
        assert!((0..8).all(|number| dashes(number) != dashes(number + 8)));
    }

    #[test]
    fn text_keeps_to_its_room() {
        assert_eq!(wrap("one two three", 60.0, 10.0), ["one two", "three"]);
        assert_eq!(wrap("", 60.0, 10.0), Vec::<String>::new());
        assert_eq!(shorten("short", 60.0, 10.0), "short");
        assert_eq!(shorten("a long name of a link", 60.0, 10.0), "a long na…");
    }
}
