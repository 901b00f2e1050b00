//! The parameters of a model as rows: what, of whom, the value with its interval, the unit.

use crate::alike::Alike;
use crate::hockney::{Hockney, Lines};
use crate::line::Line;
use crate::lmo::Lmo;
use crate::model::{Fitted, Model};
use crate::parameter::Parameter;
use laneway_core::{Rank, Row, Value};

/// The unit in which a parameter is shown, and how many of it a second has.
const TIME: (&str, f64) = ("us", 1e6);
const OF_A_BYTE: (&str, f64) = ("ns/B", 1e9);
const PERCENT: (&str, f64) = ("%", 100.0);
const BYTES: (&str, f64) = ("B", 1.0);

impl Fitted {
    /// A row for each parameter: `parameter`, `of` whom, `value`, `ci_low`, `ci_high`, `unit`.
    /// Where hosts were taken as alike, those of the first two of each kind.
    pub fn rows(&self) -> Vec<Row> {
        let all = || (0..self.hosts.len() as Rank).collect();
        let ranks = self.alike.as_ref().map_or_else(all, Alike::shown);
        rows(&self.model, &ranks)
    }
}

fn rows(model: &Model, ranks: &[Rank]) -> Vec<Row> {
    match model {
        Model::Hockney(hockney) => of_hockney(hockney, ranks),
        Model::LogGp(model) => vec![
            row("L", "all", model.latency, TIME),
            row("o_s", "all", model.send, TIME),
            row("o_r", "all", model.receive, TIME),
            row("g", "all", model.gap, TIME),
            row("G", "all", model.per_byte, OF_A_BYTE),
        ],
        Model::PLogP(model) => {
            let mut rows = vec![row("L", "all", model.latency, TIME)];
            for step in &model.steps {
                let of = format!("{} B", step.bytes);
                let overheads = [("o_s", step.send), ("o_r", step.receive)];
                for (name, time) in overheads.into_iter().filter_map(|(n, time)| Some((n, time?))) {
                    rows.push(row(name, of.as_str(), time, TIME));
                }
                rows.push(row("g", of.as_str(), step.gap, TIME));
            }
            rows
        }
        Model::Lmo(lmo) => of_lmo(lmo, ranks),
    }
}

fn row(
    name: &str,
    of: impl Into<Value>,
    parameter: Parameter,
    (unit, times): (&'static str, f64),
) -> Row {
    Row::new()
        .with("parameter", name)
        .with("of", of)
        .with("value", times * parameter.value)
        .with("ci_low", times * parameter.low)
        .with("ci_high", times * parameter.high)
        .with("unit", unit)
}

fn of_hockney(hockney: &Hockney, ranks: &[Rank]) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut line = |of: String, line: &Line| {
        rows.push(row("a", of.as_str(), line.startup, TIME));
        rows.push(row("b", of.as_str(), line.per_byte, OF_A_BYTE));
    };
    let pairs: Vec<(String, Lines)> = match hockney.hosts {
        Some(_) => {
            let own = |[i, j]: [Rank; 2]| (format!("{i}-{j}"), hockney.lines(i, j));
            pairs(ranks).map(own).collect()
        }
        None => vec![("all".into(), hockney.lines(0, 1))],
    };
    for (of, lines) in &pairs {
        match &lines.long {
            None => line(of.clone(), &lines.short),
            Some(long) => {
                line(format!("{of} eager"), &lines.short);
                line(format!("{of} rendezvous"), long);
            }
        }
    }
    rows
}

fn of_lmo(lmo: &Lmo, ranks: &[Rank]) -> Vec<Row> {
    let mut rows = Vec::new();
    for (rank, host) in ranks.iter().map(|&rank| (rank, &lmo.hosts[rank as usize])) {
        let of = format!("{rank}");
        rows.push(row("C_send", of.as_str(), host.send, TIME));
        rows.push(row("C_receive", of.as_str(), host.receive, TIME));
        rows.push(row("t_send", of.as_str(), host.per_byte_sent, OF_A_BYTE));
        rows.push(row("t_receive", of.as_str(), host.per_byte_received, OF_A_BYTE));
        let cards = [("card_out", host.card_out), ("card_in", host.card_in)];
        for (name, card) in cards.into_iter().filter_map(|(name, card)| Some((name, card?))) {
            rows.push(row(name, of.as_str(), card, OF_A_BYTE));
        }
        for (name, load) in [("load_out", host.load_out), ("load_in", host.load_in)] {
            rows.extend((load.value > 0.0).then(|| row(name, of.as_str(), load, PERCENT)));
        }
    }
    rows.extend(lmo.others.map(|bytes| row("others", "all", bytes, BYTES)));
    for [i, j] in pairs(ranks) {
        let (pair, of) = (lmo.pair(i, j), format!("{i}-{j}"));
        rows.push(row("L", of.as_str(), pair.latency, TIME));
        rows.push(row("1/B", of.as_str(), pair.there, OF_A_BYTE));
        rows.push(row("1/B", format!("{j}-{i}").as_str(), pair.back, OF_A_BYTE));
        let shares = [(of, pair.all_there), (format!("{j}-{i}"), pair.all_back)];
        for (of, share) in shares.into_iter().filter_map(|(of, share)| Some((of, share?))) {
            rows.push(row("1/B_all", of.as_str(), share, OF_A_BYTE));
        }
    }
    rows
}

/// Every two of these ranks, in order.
fn pairs(ranks: &[Rank]) -> impl Iterator<Item = [Rank; 2]> {
    let others = |at: usize| ranks[at + 1..].iter();
    (0..ranks.len()).flat_map(move |at| others(at).map(move |&other| [ranks[at], other]))
}
