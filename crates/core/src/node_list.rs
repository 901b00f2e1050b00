//! Names of nodes as Slurm writes them: `node[0-3,7,010-012]`, `rack[1-2]n[1-8],login`.

use std::fmt;

/// A parse error in a list, with its position counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Malformed {
    /// The position of the first wrong character.
    pub position: usize,
    /// The description of the error.
    pub what: String,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "character {}: {}", self.position, self.what)
    }
}

impl std::error::Error for Malformed {}

/// Digits of the longest number: it and its successor fit into 64 bits.
const MOST_DIGITS: usize = 18;

/// Letters of a name, and brackets that it may have: few bytes must not stand for very many.
const MOST_LETTERS: usize = 255;
const MOST_BRACKETS: usize = 16;

/// Numbers of a bracket from the first to the last, filled up with zeros to the first's width.
struct Range {
    first: u64,
    last: u64,
    width: usize,
}

/// A piece of a name: as it stands, or one for each number of a bracket.
enum Piece<'t> {
    Text(&'t str),
    Bracket(Vec<Range>),
}

/// All names of a list in its order, the last bracket's numbers changing fastest. A list of more
/// than `most` names is refused before any of them is written out.
pub fn expand(list: &str, most: usize) -> Result<Vec<String>, Malformed> {
    let mut names = Vec::new();
    let mut at = 0;
    for item in items(list) {
        let pieces = pieces(item, at)?;
        let long = pieces.iter().map(longest).sum::<usize>();
        let brackets = pieces.iter().filter(|piece| matches!(piece, Piece::Bracket(_))).count();
        if long > MOST_LETTERS || brackets > MOST_BRACKETS {
            let what =
                format!("a name has at most {MOST_LETTERS} letters and {MOST_BRACKETS} brackets");
            return Err(malformed(list, at, what));
        }
        let many = pieces.iter().map(count).fold(1u64, u64::saturating_mul);
        let all = many.saturating_add(names.len() as u64);
        if all > most as u64 {
            let what = format!("this makes {all} names, more than {most}");
            return Err(malformed(list, at, what));
        }
        let mut own = vec![String::new()];
        for piece in &pieces {
            own = own.iter().flat_map(|name| longer(name, piece)).collect();
        }
        names.append(&mut own);
        at += item.len() + 1;
    }
    Ok(names)
}

fn malformed(list: &str, byte: usize, what: impl Into<String>) -> Malformed {
    let before = list.get(..byte).unwrap_or(list);
    Malformed { position: before.chars().count() + 1, what: what.into() }
}

/// The parts between the commas that stand in no bracket.
fn items(list: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    list.split(move |letter: char| {
        match letter {
            '[' => depth += 1,
            ']' => depth = 0,
            _ => {}
        }
        letter == ',' && depth == 0
    })
}

/// The pieces of an item that begins at byte `start` of its list.
fn pieces(item: &str, start: usize) -> Result<Vec<Piece<'_>>, Malformed> {
    // Positions are counted in the item first; all before it is already known to be plain.
    let wrong = |byte: usize, what: &str| {
        let mut found = malformed(item, byte, what);
        found.position += start;
        found
    };
    if item.is_empty() {
        return Err(wrong(0, "a name is missing"));
    }
    let (mut pieces, mut at) = (Vec::new(), 0);
    while at < item.len() {
        let rest = &item[at..];
        if let Some(inside) = rest.strip_prefix('[') {
            let end = inside.find(']').ok_or_else(|| wrong(at, "the bracket is not closed"))?;
            let mut ranges = Vec::new();
            let mut place = at + 1;
            for part in inside[..end].split(',') {
                ranges.push(range(part).map_err(|what| wrong(place, &what))?);
                place += part.len() + 1;
            }
            pieces.push(Piece::Bracket(ranges));
            at += end + 2;
        } else {
            let end = rest.find('[').unwrap_or(rest.len());
            let strange =
                |letter: char| !(letter.is_ascii_alphanumeric() || "-_.".contains(letter));
            if let Some(byte) = rest[..end].find(strange) {
                return Err(wrong(at + byte, "no such character is in a node's name"));
            }
            pieces.push(Piece::Text(&rest[..end]));
            at += end;
        }
    }
    Ok(pieces)
}

/// `7` or `010-012`.
fn range(part: &str) -> Result<Range, String> {
    let (first, last) = part.split_once('-').unwrap_or((part, part));
    let number = |digits: &str| {
        let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        match digits.parse::<u64>() {
            Ok(number) if plain && digits.len() <= MOST_DIGITS => Ok(number),
            _ if plain => Err(format!("a number has at most {MOST_DIGITS} digits")),
            _ => Err("a number or a range such as 0-7 is missing".to_string()),
        }
    };
    let (from, to) = (number(first)?, number(last)?);
    match from <= to {
        true => Ok(Range { first: from, last: to, width: first.len() }),
        false => Err(format!("{first} is more than {last}")),
    }
}

fn count(piece: &Piece) -> u64 {
    match piece {
        Piece::Text(_) => 1,
        Piece::Bracket(ranges) => {
            ranges.iter().fold(0, |sum, range| sum.saturating_add(range.last - range.first + 1))
        }
    }
}

/// The letters of a piece, of the number with most.
fn longest(piece: &Piece) -> usize {
    match piece {
        Piece::Text(text) => text.len(),
        Piece::Bracket(ranges) => {
            let digits = |range: &Range| range.width.max(range.last.to_string().len());
            ranges.iter().map(digits).max().unwrap_or(0)
        }
    }
}

/// A name with a piece behind it.
fn longer(name: &str, piece: &Piece) -> Vec<String> {
    match piece {
        Piece::Text(text) => vec![format!("{name}{text}")],
        Piece::Bracket(ranges) => {
            let numbers = ranges
                .iter()
                .flat_map(|range| (range.first..=range.last).map(|number| (number, range.width)));
            numbers.map(|(number, width)| format!("{name}{number:0width$}")).collect()
        }
    }
}

/// The shortest list that brackets make of names in their order: `expand` gives them back.
pub fn compress<S: AsRef<str>>(names: &[S]) -> String {
    let mut items: Vec<Vec<String>> = names.iter().map(|name| parts(name.as_ref())).collect();
    let longest = items.iter().map(Vec::len).max().unwrap_or(0);
    // Numbers stand at odd places. The last one changes fastest, so it is gathered first.
    for place in (0..longest).rev().filter(|place| place % 2 == 1) {
        let mut gathered: Vec<Vec<String>> = Vec::with_capacity(items.len());
        let mut numbers: Vec<String> = Vec::new();
        for item in items {
            match gathered.last() {
                Some(last) if differ_only(last, &item, place) => {
                    numbers.push(item[place].clone());
                }
                _ => {
                    close(&mut gathered, place, &mut numbers);
                    numbers.extend(item.get(place).cloned());
                    gathered.push(item);
                }
            }
        }
        close(&mut gathered, place, &mut numbers);
        items = gathered;
    }
    items.iter().map(|item| item.concat()).collect::<Vec<_>>().join(",")
}

/// A name cut into texts and numbers in turn, a text first.
fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    for letter in name.chars() {
        if letter.is_ascii_digit() != (parts.len() % 2 == 0) {
            parts.push(String::new());
        }
        if let Some(last) = parts.last_mut() {
            last.push(letter);
        }
    }
    parts
}

fn differ_only(one: &[String], other: &[String], place: usize) -> bool {
    let short = |parts: &[String]| parts.get(place).is_some_and(|n| n.len() <= MOST_DIGITS);
    one.len() == other.len()
        && short(one)
        && short(other)
        && (0..one.len()).all(|at| at == place || one[at] == other[at])
}

/// Puts the numbers that were gathered into the last item.
fn close(items: &mut [Vec<String>], place: usize, numbers: &mut Vec<String>) {
    let many = numbers.len() > 1;
    if let Some(part) = items.last_mut().and_then(|item| item.get_mut(place)).filter(|_| many) {
        *part = format!("[{}]", ranges(numbers));
    }
    numbers.clear();
}

/// `0-3,7` for 0, 1, 2, 3, 7.
fn ranges(numbers: &[String]) -> String {
    let mut texts = Vec::new();
    let mut at = 0;
    while at < numbers.len() {
        let (first, mut end) = (&numbers[at], at + 1);
        let width = first.len();
        // They were measured before: at most 18 digits.
        let from: u64 = first.parse().unwrap_or(0);
        let follows = |end: usize| format!("{:0width$}", from + (end - at) as u64);
        while end < numbers.len() && numbers[end] == follows(end) {
            end += 1;
        }
        texts.push(match end - at {
            1 => first.clone(),
            _ => format!("{first}-{}", numbers[end - 1]),
        });
        at = end;
    }
    texts.join(",")
}
