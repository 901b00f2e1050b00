//! A model as a TOML file, and back.

mod table;
mod write;

use laneway_core::talk::broadcast_text;
use laneway_core::{Comm, Rank};
use laneway_measure::talk::broadcast;

use crate::error::ModelError;
use crate::experiments::Cost;
use crate::hockney::{Hockney, Lines};
use crate::line::Line;
use crate::lmo::{Host, Lmo, Pair, SizeFactor, pairs};
use crate::loggp::LogGp;
use crate::model::{Fitted, Model, ModelKind, Quality};
use crate::parameter::Parameter;
use crate::plogp::{PLogP, Step};
use crate::sweep::{Escalation, Leap};
use table::{Document, Table};

/// What the first line of a file says.
pub(crate) const SCHEMA: &str = "laneway.model/1";
/// More hosts than this are a mistake.
const MOST_HOSTS: usize = 1 << 14;

impl Fitted {
    /// The text of a file.
    pub fn save(&self) -> String {
        write::text(self)
    }

    /// Parses the text of a file; `name` stands in its errors.
    pub fn load(name: &str, text: &str) -> Result<Fitted, ModelError> {
        let document = Document::parse(name, text)?;
        let mut top = document.top()?;
        let schema = top.text("schema")?;
        if schema != SCHEMA {
            return Err(top.refuse("schema", format!("`{schema}`, and this reads `{SCHEMA}`")));
        }
        let kind = top.text("model")?;
        let Some(kind) = ModelKind::by_name(&kind) else {
            let known = ModelKind::ALL.map(ModelKind::name).join(", ");
            return Err(top.refuse("model", format!("unknown model `{kind}`; there are: {known}")));
        };
        let hosts = top.texts("hosts")?;
        if !(2..=MOST_HOSTS).contains(&hosts.len()) {
            let why = format!("{} hosts: 2 to {MOST_HOSTS}", hosts.len());
            return Err(top.refuse("hosts", why));
        }
        let eager_bytes = top.whole("eager_bytes")?;
        // Files from before these were measured have none.
        let mut flag = |key: &str| -> Result<bool, ModelError> {
            Ok(kind != ModelKind::Lmo || top.perhaps_flag(key)?.unwrap_or(true))
        };
        let flags = [flag("in_order")?, flag("sizes_on_cards")?];
        top.finish()?;
        let quality = quality(&document)?;
        let cost = cost(&document)?;
        let model = model(&document, kind, hosts.len() as u32, flags)?;
        let (escalation, leap) = (escalation(&document)?, leap(&document)?);
        Ok(Fitted { model, hosts, eager_bytes, quality, cost, escalation, leap })
    }
}

/// Collective: the model of rank 0 on every rank.
pub fn share(comm: &dyn Comm, fitted: Option<&Fitted>) -> Result<Fitted, ModelError> {
    let mut known = [f64::from(u8::from(fitted.is_some()))];
    broadcast(comm, &mut known)?;
    if known[0] == 0.0 {
        let why = "rank 0 has no model to share".to_string();
        return Err(ModelError::Request { why });
    }
    let text = broadcast_text(comm, &fitted.map(Fitted::save).unwrap_or_default())?;
    Fitted::load("the model of rank 0", &text)
}

fn quality(document: &Document) -> Result<Quality, ModelError> {
    let mut table = document.table("quality")?;
    let quality = Quality {
        typical: table.number("typical")?,
        worst: table.number("worst")?,
        worst_of: table.text("worst_of")?,
        limit: table.number("limit")?,
    };
    table.finish()?;
    Ok(quality)
}

fn cost(document: &Document) -> Result<Cost, ModelError> {
    let mut table = document.table("cost")?;
    let cost = Cost {
        seconds: table.number("seconds")?,
        experiments: table.whole("experiments")? as u32,
        rounds: table.whole("rounds")? as u32,
        repetitions: table.whole("repetitions")?,
    };
    table.finish()?;
    Ok(cost)
}

fn others(document: &Document) -> Result<Option<Parameter>, ModelError> {
    let Some(mut table) = document.perhaps("others")? else { return Ok(None) };
    let bytes = table.plain("bytes")?;
    if bytes.value <= 0.0 {
        return Err(table.refuse("bytes", "not above 0".into()));
    }
    table.finish()?;
    Ok(Some(bytes))
}

fn escalation(document: &Document) -> Result<Option<Escalation>, ModelError> {
    let Some(mut table) = document.perhaps("escalation")? else { return Ok(None) };
    let escalation = Escalation {
        from_bytes: table.whole("from_bytes")?,
        to_bytes: table.whole("to_bytes")?,
        probability: table.plain("probability")?,
        seconds: table.time("longer_us")?,
    };
    table.finish()?;
    Ok(Some(escalation))
}

fn leap(document: &Document) -> Result<Option<Leap>, ModelError> {
    let Some(mut table) = document.perhaps("leap")? else { return Ok(None) };
    let leap = Leap { after_bytes: table.whole("after_bytes")?, seconds: table.time("longer_us")? };
    table.finish()?;
    Ok(Some(leap))
}

fn model(
    document: &Document,
    kind: ModelKind,
    hosts: u32,
    [in_order, sizes_on_cards]: [bool; 2],
) -> Result<Model, ModelError> {
    let all_pairs = hosts as usize * (hosts as usize - 1) / 2;
    match kind {
        ModelKind::Hockney | ModelKind::HockneySegments => {
            let mut table = document.table("line")?;
            let lines = lines(&mut table, kind == ModelKind::HockneySegments)?;
            table.finish()?;
            Ok(Model::Hockney(Hockney { hosts: None, lines: vec![lines] }))
        }
        ModelKind::HockneyPairs => {
            let read = |table: &mut Table| lines(table, false);
            let lines = of_pairs(document, hosts, all_pairs, read)?;
            Ok(Model::Hockney(Hockney { hosts: Some(hosts), lines }))
        }
        ModelKind::LogGp => {
            let mut table = document.table("loggp")?;
            let loggp = LogGp {
                latency: table.time("latency_us")?,
                send: table.time("send_us")?,
                receive: table.time("receive_us")?,
                gap: table.time("gap_us")?,
                per_byte: table.per_byte("gap_ns_per_byte")?,
            };
            table.finish()?;
            Ok(Model::LogGp(loggp))
        }
        ModelKind::PLogP => plogp(document).map(Model::PLogP),
        ModelKind::Lmo => {
            let mut found = Vec::new();
            for mut table in document.tables("host", hosts as usize)? {
                found.push(host(&mut table)?);
                table.finish()?;
            }
            let pairs = of_pairs(document, hosts, all_pairs, |table| {
                let there = table.per_byte("there_ns_per_byte")?;
                let back = table.per_byte("back_ns_per_byte")?;
                Ok(Pair {
                    latency: table.time("latency_us")?,
                    there,
                    back,
                    free: free(table, [there.value, back.value])?,
                    all_there: table.perhaps("all_there_ns_per_byte")?,
                    all_back: table.perhaps("all_back_ns_per_byte")?,
                })
            })?;
            let sizes = sizes(document)?;
            let (hosts, others) = (found, others(document)?);
            Ok(Model::Lmo(Lmo { hosts, pairs, in_order, sizes, sizes_on_cards, others }))
        }
    }
}

fn sizes(document: &Document) -> Result<Vec<SizeFactor>, ModelError> {
    let mut found: Vec<SizeFactor> = Vec::new();
    for mut table in document.any_tables("size")? {
        let bytes = table.whole("bytes")?;
        if bytes <= found.last().map_or(0, |last| last.bytes) {
            return Err(table.refuse("bytes", format!("{bytes}: sizes rise from 1 on")));
        }
        let (latency, per_byte) = (table.number("latency")?, table.number("per_byte")?);
        if per_byte <= 0.0 {
            return Err(table.refuse("per_byte", "not above 0".into()));
        }
        found.push(SizeFactor { bytes, latency, per_byte });
        table.finish()?;
    }
    Ok(found)
}

/// Older files have one time of a byte for both directions.
fn host(table: &mut Table) -> Result<Host, ModelError> {
    let both = table.perhaps("per_byte_ns")?;
    let mut per_byte = |key: &str| both.map_or_else(|| table.per_byte(key), Ok);
    let per_byte_sent = per_byte("per_byte_sent_ns")?;
    let per_byte_received = per_byte("per_byte_received_ns")?;
    Ok(Host {
        send: table.time("send_us")?,
        receive: table.time("receive_us")?,
        per_byte_sent,
        per_byte_received,
        card_out: table.perhaps("card_out_ns_per_byte")?,
        card_in: table.perhaps("card_in_ns_per_byte")?,
        load_out: load(table, "load_out")?,
        load_in: load(table, "load_in")?,
    })
}

/// The part of a card that others take; 0 if not given.
fn load(table: &mut Table, key: &str) -> Result<Parameter, ModelError> {
    let load = table.perhaps_plain(key)?.unwrap_or_default();
    match load.high < 1.0 {
        true => Ok(load),
        false => Err(table.refuse(key, "not a part of a card, from 0 to below 1".into())),
    }
}

/// Seconds a byte there and back without other traffic: those of means, if not given.
fn free(table: &mut Table, means: [f64; 2]) -> Result<[f64; 2], ModelError> {
    const KEY: &str = "free_ns_per_byte";
    match table.perhaps_numbers(KEY)?.as_deref() {
        None => Ok(means),
        Some(&[there, back]) => {
            let free = [there, back].map(|byte| byte / 1e9);
            let slower = |(free, mean): (&f64, &f64)| *free > *mean * (1.0 + 1e-9);
            match free.iter().zip(&means).any(slower) {
                true => Err(table.refuse(KEY, "slower than beside others".into())),
                false => Ok(free),
            }
        }
        Some(_) => Err(table.refuse(KEY, "not two numbers, there and back".into())),
    }
}

/// The tables of all pairs, which stand in order.
fn of_pairs<T>(
    document: &Document,
    hosts: u32,
    count: usize,
    read: impl Fn(&mut Table) -> Result<T, ModelError>,
) -> Result<Vec<T>, ModelError> {
    let mut found = Vec::new();
    for (mut table, [i, j]) in document.tables("pair", count)?.into_iter().zip(pairs(hosts)) {
        let ranks = table.wholes("ranks")?;
        if ranks != [i, j].map(|rank: Rank| u64::from(rank)) {
            return Err(table.refuse("ranks", format!("{ranks:?} where ranks {i} and {j} belong")));
        }
        found.push(read(&mut table)?);
        table.finish()?;
    }
    Ok(found)
}

fn lines(table: &mut Table, segments: bool) -> Result<Lines, ModelError> {
    let short =
        Line { startup: table.time("startup_us")?, per_byte: table.per_byte("per_byte_ns")? };
    let long = match segments {
        false => None,
        true => Some(Line {
            startup: table.time("rendezvous_startup_us")?,
            per_byte: table.per_byte("rendezvous_per_byte_ns")?,
        }),
    };
    Ok(Lines { short, long })
}

fn plogp(document: &Document) -> Result<PLogP, ModelError> {
    let mut table = document.table("plogp")?;
    let latency = table.time("latency_us")?;
    table.finish()?;
    let mut steps: Vec<Step> = Vec::new();
    for mut table in document.some_tables("step")? {
        let bytes = table.whole("bytes")?;
        if steps.last().map_or(bytes != 0, |step| step.bytes >= bytes) {
            let why = format!("{bytes}: steps begin with 0 bytes and rise");
            return Err(table.refuse("bytes", why));
        }
        let gap = table.time("gap_us")?;
        let (send, receive) = (table.perhaps_time("send_us")?, table.perhaps_time("receive_us")?);
        steps.push(Step { bytes, gap, send, receive });
        table.finish()?;
    }
    match steps.len() {
        0 | 1 => Err(document.refuse("fewer than two [[step]] tables")),
        _ => Ok(PLogP { latency, steps }),
    }
}
