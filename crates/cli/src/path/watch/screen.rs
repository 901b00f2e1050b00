//! A text that is drawn over the last one, as much of it as a terminal shows.

/// The text in the place of everything that the terminal shows.
pub fn draw(text: &str) -> String {
    let [lines, columns] = size().unwrap_or([24, 80]);
    format!("\x1b[H\x1b[J{}", fit(text, lines, columns))
}

/// How wide tables may be: as the terminal, and 80 columns without one.
pub fn columns() -> usize {
    size().map_or(80, |[_, columns]| columns)
}

/// Lines and columns of the terminal.
fn size() -> Option<[usize; 2]> {
    let mut size = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the structure is ours, and the call writes nothing else.
    let got = unsafe { libc::ioctl(1, libc::TIOCGWINSZ, &raw mut size) };
    let size = [size.ws_row, size.ws_col].map(usize::from);
    (got == 0 && size.iter().all(|length| *length > 0)).then_some(size)
}

/// Cuts what does not fit, and says so.
fn fit(text: &str, lines: usize, columns: usize) -> String {
    let all: Vec<&str> = text.lines().collect();
    let room = lines.saturating_sub(1);
    let shown = if all.len() <= room { all.len() } else { room.saturating_sub(1) };
    let cut = |line: &&str| line.chars().take(columns).collect::<String>() + "\n";
    let mut text: String = all[..shown].iter().map(cut).collect();
    if shown < all.len() {
        text += &cut(&format!("… {} more lines", all.len() - shown).as_str());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_drawn_than_fits() {
        assert_eq!(fit("one\ntwo\n", 24, 80), "one\ntwo\n");
        assert_eq!(fit("one\ntwo\nthree\nfour\n", 4, 2), "on\ntw\n… \n");
        assert_eq!(fit("one\ntwo\nthree\n", 3, 80), "one\n… 2 more lines\n");
        for lines in 0..4 {
            assert!(fit("a\nb\nc\nd\ne", lines, 3).lines().count() <= lines.max(1));
        }
    }
}
