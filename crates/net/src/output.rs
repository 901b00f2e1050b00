//! What a rank's process writes: first words for the launcher, then what passes through.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::ChildStdout;

use laneway_core::Rank;

use crate::words::Word;

/// What a launcher learns of its ranks.
pub(crate) enum News {
    Word(Rank, Word),
    /// A rank's output has ended.
    Silent(Rank),
    Signal(i32),
}

/// No line of a launcher's own is longer.
const LONGEST_LINE: u64 = 1 << 16;

/// Reads until the rank is silent. Lines that are not for the launcher, which a shell may write
/// before the rank begins, go to standard error.
pub(crate) fn read(rank: Rank, output: ChildStdout, tell: impl Fn(News)) {
    let mut output = BufReader::new(output);
    loop {
        let mut line = Vec::new();
        let read = output.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line);
        if read.unwrap_or(0) == 0 {
            return tell(News::Silent(rank));
        }
        match Word::parse(&String::from_utf8_lossy(&line)) {
            None => _ = std::io::stderr().write_all(&line),
            Some(Word::Ready) => break tell(News::Word(rank, Word::Ready)),
            Some(word) => tell(News::Word(rank, word)),
        }
    }
    pass(&mut output);
    tell(News::Silent(rank));
}

/// Forwards a rank's output until our own output is closed; then closes the rank's.
fn pass(output: &mut BufReader<ChildStdout>) {
    loop {
        let Ok(bytes) = output.fill_buf() else { return };
        if bytes.is_empty() {
            return;
        }
        let mut own = std::io::stdout().lock();
        if own.write_all(bytes).and_then(|()| own.flush()).is_err() {
            return;
        }
        let count = bytes.len();
        output.consume(count);
    }
}
