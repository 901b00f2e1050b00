//! A model as a TOML file, and back.

mod table;
mod write;

use laneway_core::talk::broadcast_text;
use laneway_core::{Comm, Rank};
use laneway_measure::talk::broadcast;

use crate::alike::Alike;
use crate::error::ModelError;
use crate::experiments::Cost;
use crate::hockney::{Hockney, Lines};
use crate::line::Line;
use crate::lmo::{Host, Lmo, OverheadFactor, Pair, SizeFactor, pairs};
use crate::loggp::LogGp;
use crate::model::{Fitted, Model, ModelKind};
use crate::parameter::Parameter;
use crate::plogp::{PLogP, Step};
use crate::quality::Quality;
use crate::sweep::{Escalation, Leap};
use table::{Document, Table};

/// What the first line of a file says.
pub(crate) const SCHEMA: &str = "laneway.model/1";
/// More hosts than this are a mistake.
const MOST_HOSTS: usize = 1 << 14;
/// Where hosts are alike a short file stands for many pairs, which take memory.
const MOST_ALIKE: usize = 1 << 11;

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
        let alike = alike(&document, hosts.len())?;
        let model = model(&document, kind, (hosts.len() as u32, alike.as_ref()), flags)?;
        let (escalation, leap) = (escalation(&document)?, leap(&document)?);
        Ok(Fitted { model, hosts, eager_bytes, quality, cost, escalation, leap, alike })
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
    let mut quality = Quality {
        typical: table.number("typical")?,
        worst: table.number("worst")?,
        worst_of: table.text("worst_of")?,
        limit: table.number("limit")?,
        held_back: 0.0,
        held_back_of: String::new(),
        assumed: table.perhaps_number("assumed")?.unwrap_or(0.0),
    };
    // Files from before this was told promise no more than the worst experiment shows.
    quality.held_back = table.perhaps_number("held_back")?.unwrap_or(quality.worst);
    quality.held_back_of = match table.perhaps_text("held_back_of")? {
        Some(of) => of,
        None => quality.worst_of.clone(),
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

/// Which hosts are alike; nothing where each has its own parameters.
fn alike(document: &Document, hosts: usize) -> Result<Option<Alike>, ModelError> {
    let Some(mut table) = document.perhaps("alike")? else { return Ok(None) };
    let whole = |table: &mut Table, key: &str| -> Result<Vec<u32>, ModelError> {
        let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        Ok(table.wholes(key)?.into_iter().map(small).collect())
    };
    let alike = Alike {
        measured: whole(&mut table, "measured")?,
        references: whole(&mut table, "references")?,
        limit: table.number("limit")?,
        differ: table.number("differ")?,
        compared: table.whole("compared")?,
        kinds: whole(&mut table, "kinds")?,
    };
    if alike.kinds.len() != hosts || hosts > MOST_ALIKE || !alike.is_sound() {
        let why = format!(
            "kinds from 0 on of {hosts} hosts (at most {MOST_ALIKE}), some of each \
                           measured"
        );
        return Err(table.refuse("kinds", format!("not {why}")));
    }
    table.finish()?;
    Ok(Some(alike))
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
    (all_hosts, alike): (u32, Option<&Alike>),
    [in_order, sizes_on_cards]: [bool; 2],
) -> Result<Model, ModelError> {
    // Where hosts are alike, the file has the first two of each kind.
    let shown = alike.map(Alike::shown);
    let hosts = shown.as_ref().map_or(all_hosts, |shown| shown.len() as u32);
    let expand = |model: Model| match (alike, shown.clone()) {
        (Some(alike), Some(measured)) => Alike { measured, ..alike.clone() }.expand(model),
        _ => model,
    };
    match kind {
        ModelKind::Hockney | ModelKind::HockneySegments => {
            let mut table = document.table("line")?;
            let lines = lines(&mut table, kind == ModelKind::HockneySegments)?;
            table.finish()?;
            Ok(Model::Hockney(Hockney { hosts: None, lines: vec![lines] }))
        }
        ModelKind::HockneyPairs => {
            let read = |table: &mut Table| lines(table, false);
            let lines = of_pairs(document, hosts, shown.as_deref(), read)?;
            Ok(expand(Model::Hockney(Hockney { hosts: Some(hosts), lines })))
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
            let pairs = of_pairs(document, hosts, shown.as_deref(), |table| {
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
            let (sizes, overheads) = (sizes(document)?, overheads(document)?);
            let (hosts, others) = (found, others(document)?);
            let lmo = Lmo { hosts, pairs, in_order, sizes, sizes_on_cards, overheads, others };
            Ok(expand(Model::Lmo(lmo)))
        }
    }
}

fn overheads(document: &Document) -> Result<Vec<OverheadFactor>, ModelError> {
    let mut found: Vec<OverheadFactor> = Vec::new();
    for mut table in document.any_tables("overhead")? {
        let bytes = table.whole("bytes")?;
        if bytes <= found.last().map_or(0, |last| last.bytes) {
            return Err(table.refuse("bytes", format!("{bytes}: sizes rise from 1 on")));
        }
        let (send, receive) = (table.number("send")?, table.number("receive")?);
        found.push(OverheadFactor { bytes, send, receive });
        table.finish()?;
    }
    Ok(found)
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
    shown: Option<&[Rank]>,
    read: impl Fn(&mut Table) -> Result<T, ModelError>,
) -> Result<Vec<T>, ModelError> {
    let count = hosts as usize * (hosts as usize - 1) / 2;
    let rank = |place: Rank| shown.map_or(place, |shown| shown[place as usize]);
    let mut found = Vec::new();
    for (mut table, pair) in document.tables("pair", count)?.into_iter().zip(pairs(hosts)) {
        let ([i, j], ranks) = (pair.map(rank), table.wholes("ranks")?);
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
