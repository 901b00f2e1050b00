//! The layers of one machine side by side, as NetPIPE has them: rows of one become columns.

use laneway_core::{Row, Value};

/// One layer, and the columns that stand for it in a table, in the order of [`FIGURES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layer {
    /// As its rows have it in the column `layer`.
    pub name: &'static str,
    /// A time, a bandwidth, a rate, a part.
    pub columns: [&'static str; 4],
    /// Whether it is a copy within a process: it has no pair, and stands beside all of them.
    pub is_copy: bool,
}

/// The columns of a row that a layer's stand for.
pub const FIGURES: [&str; 4] = ["time_us", "bandwidth_mb_s", "messages_per_s", "overlap_percent"];

fn of(row: &Row, name: &str) -> Value {
    row.get(name).cloned().unwrap_or(Value::Nothing)
}

/// What a line of the table is about.
#[derive(PartialEq)]
struct Key {
    pattern: Value,
    size: Value,
    ranks: [Value; 3],
}

impl Key {
    fn of(row: &Row) -> Key {
        let ranks = ["from", "to", "and"].map(|name| of(row, name));
        Key { pattern: of(row, "pattern"), size: of(row, "size_bytes"), ranks }
    }

    fn is_same_message(&self, other: &Key) -> bool {
        self.pattern == other.pattern && self.size == other.size
    }
}

/// A line for each pattern, pair and size, with columns for each layer.
pub fn side_by_side(rows: &[Row], layers: &[&Layer]) -> Vec<Row> {
    let is_copy = |row: &Row| {
        layers.iter().any(|layer| layer.is_copy && of(row, "layer") == layer.name.into())
    };
    let only_copies = rows.iter().all(is_copy);
    let mut keys: Vec<Key> = Vec::new();
    for row in rows.iter().filter(|row| only_copies || !is_copy(row)) {
        let key = Key::of(row);
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    // One pair needs no names.
    let names_ranks = keys.iter().any(|key| key.ranks != keys[0].ranks);
    let line = |key: &Key| {
        let [from, to, and] =
            key.ranks.clone().map(|rank| if names_ranks { rank } else { Value::Nothing });
        let mut line = Row::new()
            .with("pattern", key.pattern.clone())
            .with("from", from)
            .with("to", to)
            .with("and", and)
            .with("size_bytes", key.size.clone());
        let mut flags = Vec::new();
        for layer in layers {
            let is_own = |row: &&Row| {
                let own = Key::of(row);
                let is_here = layer.is_copy || own.ranks == key.ranks;
                of(row, "layer") == layer.name.into() && own.is_same_message(key) && is_here
            };
            let found = rows.iter().find(is_own);
            for (column, figure) in layer.columns.into_iter().zip(FIGURES) {
                line = line.with(column, found.map(|row| of(row, figure)));
            }
            match found.map(|row| of(row, "flags")) {
                Some(Value::Text(text)) if !text.is_empty() => {
                    flags.push(format!("{}: {text}", layer.name));
                }
                _ => {}
            }
        }
        line.with("flags", flags.join("; "))
    };
    keys.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_stands_beside_every_pair() {
        let layer = |name, columns, is_copy| Layer { name, columns, is_copy };
        let copy = layer("memcpy", ["copy_us", "copy_mb_s", "copy_rate", "copy_percent"], true);
        let shm = layer("shm", ["shm_us", "shm_mb_s", "shm_rate", "shm_percent"], false);
        let row = |layer: &str, to: Option<u32>, us: f64, flags: &str| {
            let row = Row::new().with("layer", layer).with("pattern", "latency");
            let row = row.with("from", 0u32).with("to", to).with("size_bytes", 8u64);
            row.with("time_us", us).with("flags", flags)
        };
        let all = [
            row("memcpy", None, 1.0, ""),
            row("shm", Some(1), 2.0, "precision"),
            row("shm", Some(2), 3.0, ""),
        ];
        let lines = side_by_side(&all, &[&copy, &shm]);
        let figures = |line: &Row| ["to", "copy_us", "shm_us", "flags"].map(|name| of(line, name));
        assert_eq!(lines.len(), 2);
        let one = [1u32.into(), 1.0.into(), 2.0.into(), "shm: precision".into()];
        assert_eq!(figures(&lines[0]), one);
        assert_eq!(figures(&lines[1]), [2u32.into(), 1.0.into(), 3.0.into(), "".into()]);
        // One pair has no names, and a copy alone has its lines.
        let lines = side_by_side(&all[..2], &[&copy, &shm]);
        assert_eq!((lines.len(), of(&lines[0], "to")), (1, Value::Nothing));
        let lines = side_by_side(&all[..1], &[&copy]);
        assert_eq!((lines.len(), of(&lines[0], "copy_us")), (1, 1.0.into()));
    }
}
