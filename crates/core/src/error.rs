//! How a failure reaches a person: what happened, why, what to try; and how it reaches a script.

use std::fmt;

/// The exit codes of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Success.
    Done = 0,
    /// A gate failed: validation, regression, a suspect node.
    Gate = 1,
    /// A usage error: the command line or an input file is wrong.
    Usage = 2,
    /// An environment error: a missing library, no permission, a rank that died, nothing reachable.
    Environment = 3,
    /// The asked precision was not reached.
    Precision = 4,
}

/// A failure with everything that the screen shows: what, cause and advice.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure {
    /// The exit code.
    pub exit: Exit,
    /// What failed.
    pub what: String,
    /// The cause.
    pub cause: String,
    /// The advice to the user.
    pub try_this: String,
}

impl Failure {
    /// Creates a usage error.
    pub fn usage(
        what: impl Into<String>,
        cause: impl Into<String>,
        try_this: impl Into<String>,
    ) -> Failure {
        Failure::new(Exit::Usage, what, cause, try_this)
    }

    /// Creates an environment error.
    pub fn environment(
        what: impl Into<String>,
        cause: impl Into<String>,
        try_this: impl Into<String>,
    ) -> Failure {
        Failure::new(Exit::Environment, what, cause, try_this)
    }

    /// Creates a failure with any exit code.
    pub fn new(
        exit: Exit,
        what: impl Into<String>,
        cause: impl Into<String>,
        try_this: impl Into<String>,
    ) -> Failure {
        Failure { exit, what: what.into(), cause: cause.into(), try_this: try_this.into() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.what)?;
        if !self.cause.is_empty() {
            write!(f, "\ncause: {}", self.cause)?;
        }
        if !self.try_this.is_empty() {
            write!(f, "\ntry:   {}", self.try_this)?;
        }
        Ok(())
    }
}

impl std::error::Error for Failure {}

/// The closest match to a mistyped word, if one is close enough.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    candidates
        .into_iter()
        .map(|candidate| (apart(&word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len().max(word.len()) / 3)
        .min()
        .map(|(_, candidate)| candidate)
}

/// How far a word is from a candidate: an abbreviation is nearer than any edit.
fn apart(word: &str, candidate: &str) -> usize {
    let is_abbreviated = word.len() > 1 && candidate.starts_with(word);
    let edits = distance(word, candidate);
    if is_abbreviated { 0 } else { edits }
}

/// Edits (insert, remove, replace, swap of neighbours) from one word to the other.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let same = usize::from(a[i - 1] != b[j - 1]);
                let mut least =
                    (rows[i - 1][j] + 1).min(rows[i][j - 1] + 1).min(rows[i - 1][j - 1] + same);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    least = least.min(rows[i - 2][j - 2] + 1);
                }
                least
            };
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_word_finds_its_neighbour() {
        let ops = ["bcast", "scatter", "gather", "allgather"];
        assert_eq!(nearest("brodcast", ops), Some("bcast"));
        assert_eq!(nearest("sactter", ops), Some("scatter"));
        assert_eq!(nearest("GATHER", ops), Some("gather"));
        assert_eq!(nearest("xyzzy", ops), None);
    }
}
