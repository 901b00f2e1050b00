//! A place in a text, and the line that it is in.

#[derive(Clone, Copy)]
pub struct Cursor<'t> {
    /// What is still to be read.
    pub rest: &'t str,
    /// The line that `rest` begins in.
    pub line: usize,
}

impl<'t> Cursor<'t> {
    pub fn new(text: &'t str) -> Cursor<'t> {
        Cursor { rest: text, line: 1 }
    }

    /// Skips this number of bytes, and returns them.
    pub fn advance(&mut self, bytes: usize) -> &'t str {
        let (gone, rest) = self.rest.split_at(bytes);
        self.line += gone.bytes().filter(|&byte| byte == b'\n').count();
        self.rest = rest;
        gone
    }

    pub fn advance_while(&mut self, is_own: impl Fn(char) -> bool) -> &'t str {
        let end = self.rest.find(|letter| !is_own(letter)).unwrap_or(self.rest.len());
        self.advance(end)
    }
}
