//! A status as the library fills it, read by the offsets of its flavour.

/// Where the public fields are, counted in 32-bit words, and how long a status is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    pub words: usize,
    pub source: usize,
    pub tag: usize,
    pub error: usize,
}

/// Room for the longest status of any flavour, which is that of the standard ABI: eight words.
pub const MOST_WORDS: usize = 8;

/// One status, aligned as its library may want it.
#[repr(C, align(8))]
#[derive(Clone, Copy, Debug)]
pub struct Status {
    words: [i32; MOST_WORDS],
}

impl Status {
    pub fn filled(with: i32) -> Status {
        Status { words: [with; MOST_WORDS] }
    }

    pub fn as_mut_ptr(&mut self) -> *mut i32 {
        self.words.as_mut_ptr()
    }

    pub fn as_ptr(&self) -> *const i32 {
        self.words.as_ptr()
    }

    pub fn source(&self, layout: Layout) -> i32 {
        self.words[layout.source]
    }

    pub fn tag(&self, layout: Layout) -> i32 {
        self.words[layout.tag]
    }

    /// Whether the words after the flavour's status were left alone.
    pub fn beyond_is(&self, layout: Layout, value: i32) -> bool {
        self.words[layout.words..].iter().all(|&word| word == value)
    }
}

/// An array of statuses with the stride of a flavour; grows, and is used again.
pub struct Statuses {
    layout: Layout,
    /// Pairs of words, so that the array is aligned as a library may want it.
    pairs: Vec<[i32; 2]>,
}

impl Statuses {
    pub fn new(layout: Layout) -> Statuses {
        Statuses { layout, pairs: Vec::new() }
    }

    /// Makes room for `count` statuses.
    pub fn reserve(&mut self, count: usize) {
        let pairs = (count * self.layout.words).div_ceil(2);
        if self.pairs.len() < pairs {
            self.pairs.resize(pairs.next_power_of_two(), [0; 2]);
        }
    }

    pub fn as_mut_ptr(&mut self) -> *mut i32 {
        self.pairs.as_mut_ptr().cast()
    }

    /// Status `number`, copied out.
    pub fn get(&self, number: usize) -> Status {
        let words = self.pairs.as_flattened();
        let from = number * self.layout.words;
        let mut status = Status::filled(0);
        status.words[..self.layout.words].copy_from_slice(&words[from..from + self.layout.words]);
        status
    }

    /// The error code of status `number`.
    pub fn error(&self, number: usize) -> i32 {
        self.pairs.as_flattened()[number * self.layout.words + self.layout.error]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_found_at_the_stride_of_their_flavour() {
        let layout = Layout { words: 5, source: 2, tag: 3, error: 4 };
        let mut all = Statuses::new(layout);
        all.reserve(3);
        for word in 0..15 {
            // SAFETY: three statuses of five words were just reserved.
            unsafe { *all.as_mut_ptr().add(word) = word as i32 };
        }
        let second = all.get(1);
        assert_eq!((second.source(layout), second.tag(layout), all.error(1)), (7, 8, 9));
        assert!(second.beyond_is(layout, 0));
    }
}
