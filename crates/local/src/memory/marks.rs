//! Bits by which senders say that they wrote, so that a rank need not look into every ring.

use laneway_core::Rank;

use crate::sync::{AtomicU64, Ordering, fence};

/// Marks rank `from` in the words of the rank that it wrote to.
#[inline]
pub(crate) fn set(words: &[AtomicU64], from: Rank) {
    let (word, bit) = (&words[from as usize / 64], 1 << (from % 64));
    // A mark that is still there will be seen together with our cell: the reader takes the mark
    // away before it looks into the ring.
    fence(Ordering::SeqCst);
    if word.load(Ordering::Relaxed) & bit == 0 {
        word.fetch_or(bit, Ordering::SeqCst);
    }
}

/// Takes all marks away, and returns the ranks that had set them.
pub(crate) fn take(words: &[AtomicU64], mut marked: impl FnMut(Rank)) {
    for (number, word) in words.iter().enumerate() {
        if word.load(Ordering::Relaxed) == 0 {
            continue;
        }
        let mut bits = word.swap(0, Ordering::SeqCst);
        // The other half stands in `set`: either its fence comes first, and we see the cell, or it
        // sees that the mark is gone, and sets it again.
        fence(Ordering::SeqCst);
        while bits != 0 {
            marked(number as u32 * 64 + bits.trailing_zeros());
            bits &= bits - 1;
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn marks_are_taken_once() {
        let words = [AtomicU64::new(0), AtomicU64::new(0)];
        for from in [0, 63, 64, 100, 63] {
            set(&words, from);
        }
        let mut seen = Vec::new();
        take(&words, |from| seen.push(from));
        assert_eq!(seen, [0, 63, 64, 100]);
        take(&words, |from| panic!("{from} was taken before"));
    }
}
