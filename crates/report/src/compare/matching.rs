//! Which points of two runs are about the same thing.

use std::collections::BTreeMap;

use laneway_core::{Row, Value};

use crate::figure::{IDENTITY, distinction, plain};
use crate::run::{Record, Run};

/// What the bandwidths of a survey were measured with.
pub fn size(run: &Run) -> Option<&Value> {
    run.params.iter().find(|(name, _)| name == "size_bytes").map(|(_, size)| size)
}

/// Each figure in a row of its own: a survey of pairs tells a latency and a bandwidth of each.
pub fn split_figures(run: &Run, sized: bool) -> Run {
    let size = size(run).filter(|_| sized).cloned();
    let both = |row: &Record| row.op().is_none() && row.get("latency_us").is_some();
    let part = |row: &Record, pattern: &str, names: [(&'static str, &str); 3]| {
        let mut part = Record::default();
        part.push("pattern", pattern.into());
        let kept = ["from", "to", "ci_level"].map(|name| (name, name));
        for (name, own) in kept.into_iter().chain(names) {
            part.push(name, row.get(own).cloned().unwrap_or(Value::Nothing));
        }
        part.push("ci_scope", "launch".into());
        part
    };
    let parts = |row: &Record| {
        if !both(row) {
            return vec![row.clone()];
        }
        let low_high = [("ci_low_us", "latency_ci_low_us"), ("ci_high_us", "latency_ci_high_us")];
        let latency = part(row, "latency", [("time_us", "latency_us"), low_high[0], low_high[1]]);
        let rates = ["bandwidth_mb_s", "bandwidth_ci_low_mb_s", "bandwidth_ci_high_mb_s"];
        let mut bandwidth = part(row, "bandwidth", rates.map(|name| (name, name)));
        size.iter().for_each(|size| bandwidth.push("size_bytes", size.clone()));
        vec![latency, bandwidth]
    };
    Run { rows: run.rows.iter().flat_map(parts).collect(), env: run.env.clone(), ..Run::default() }
}

/// The columns beside operation and size that points are matched by: algorithm and ranks, and what
/// takes several values within a run; each only where both runs have it.
pub fn columns(old: &Run, new: &Run) -> Vec<&'static str> {
    let values = |run: &Run, name: &str| {
        let mut values: Vec<String> =
            run.rows.iter().filter_map(|row| distinction(row, name)).collect();
        values.sort();
        values.dedup();
        values.len()
    };
    let matters = |name: &&str| {
        let (old, new) = (values(old, name), values(new, name));
        let always = ["algorithm", "ranks"].contains(name);
        old.min(new) > 0 && (always || old.max(new) > 1)
    };
    IDENTITY.into_iter().filter(matters).collect()
}

/// A row of each run about the same thing, or of one run alone.
#[derive(Clone, Copy)]
pub struct Pair<'a> {
    pub old: Option<&'a Record>,
    pub new: Option<&'a Record>,
}

/// All rows of both runs, matched; curves in the order of their first rows, sizes rising.
pub fn pairs<'a>(old: &'a Run, new: &'a Run, columns: &[&'static str]) -> Vec<Pair<'a>> {
    let mut numbers: BTreeMap<Vec<Option<String>>, usize> = BTreeMap::new();
    let mut groups: BTreeMap<(usize, Option<u64>), [Vec<&Record>; 2]> = BTreeMap::new();
    for (side, run) in [old, new].into_iter().enumerate() {
        for row in &run.rows {
            let mut curve = vec![row.op().map(plain)];
            curve.extend(columns.iter().map(|name| distinction(row, name)));
            let next = numbers.len();
            let number = *numbers.entry(curve).or_insert(next);
            let size = row.number("size_bytes").map(|size| size as u64);
            groups.entry((number, size)).or_default()[side].push(row);
        }
    }
    let mut pairs = Vec::new();
    for [old, new] in groups.into_values() {
        let both = |old: &&'a Record, new: &&'a Record| Pair { old: Some(old), new: Some(new) };
        match (&old[..], &new[..]) {
            // A run that does not name algorithms is compared with each of the other's.
            ([old], [_, ..]) => pairs.extend(new.iter().map(|new| both(old, new))),
            ([_, ..], [new]) => pairs.extend(old.iter().map(|old| both(old, new))),
            _ => pairs.extend(
                (0..old.len().max(new.len()))
                    .map(|i| Pair { old: old.get(i).copied(), new: new.get(i).copied() }),
            ),
        }
    }
    pairs
}

/// What a pair is about. A run without a column says nothing of it; the other may.
pub fn identity(pair: Pair<'_>, columns: &[&'static str]) -> Row {
    let get = |name: &str| -> Value {
        let of = |row: Option<&Record>| row.and_then(|row| row.get(name)).cloned();
        of(pair.new).or_else(|| of(pair.old)).unwrap_or(Value::Nothing)
    };
    let op = pair.new.or(pair.old).and_then(Record::op).cloned().unwrap_or(Value::Nothing);
    let mut row = Row::new().with("op", op);
    row = row.with("algorithm", get("algorithm")).with("ranks", get("ranks"));
    for name in columns.iter().filter(|name| !["algorithm", "ranks"].contains(name)) {
        row = row.with(*name, get(name));
    }
    row.with("size_bytes", get("size_bytes"))
}
