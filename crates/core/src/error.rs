//! The word that was meant by a mistyped one.

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
