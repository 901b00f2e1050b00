//! Writes a model: units stand in the names, and every parameter is `[value, low, high]`.

use std::fmt::Write;

use super::SCHEMA;
use crate::alike::Alike;
use crate::hockney::Lines;
use crate::lmo::{OverheadFactor, SizeFactor, pairs};
use crate::model::{Fitted, Model};
use crate::parameter::{LEVEL, Parameter};
use crate::sweep::Escalation;

const MICRO: f64 = 1e6;
const NANO: f64 = 1e9;

pub(super) fn text(fitted: &Fitted) -> String {
    let mut text = format!(
        "# A parameter is [value, low, high]: the estimate and its interval at {} %.\n\
         schema = {}\nmodel = {}\nhosts = [{}]\neager_bytes = {}\n",
        100.0 * LEVEL,
        quoted(SCHEMA),
        quoted(fitted.model.kind().name()),
        fitted.hosts.iter().map(|host| quoted(host)).collect::<Vec<_>>().join(", "),
        fitted.eager_bytes
    );
    if let Model::Lmo(lmo) = &fitted.model {
        let _ = writeln!(text, "in_order = {}", lmo.in_order);
        if !lmo.sizes.is_empty() {
            let _ = writeln!(text, "sizes_on_cards = {}", lmo.sizes_on_cards);
        }
    }
    let quality = &fitted.quality;
    let _ = write!(
        text,
        "\n[quality]\ntypical = {}\nworst = {}\nworst_of = {}\nlimit = {}\nheld_back = {}\n\
         held_back_of = {}\n",
        quality.typical,
        quality.worst,
        quoted(&quality.worst_of),
        quality.limit,
        quality.held_back,
        quoted(&quality.held_back_of)
    );
    if quality.assumed > 0.0 {
        let _ = writeln!(text, "assumed = {}", quality.assumed);
    }
    let cost = fitted.cost;
    let _ = write!(
        text,
        "\n[cost]\nseconds = {}\nexperiments = {}\nrounds = {}\nrepetitions = {}\n",
        cost.seconds, cost.experiments, cost.rounds, cost.repetitions
    );
    fitted.alike.iter().for_each(|alike| write_alike(&mut text, alike));
    if let Some(escalation) = &fitted.escalation {
        let Escalation { from_bytes, to_bytes, probability, seconds } = *escalation;
        let _ = write!(text, "\n[escalation]\nfrom_bytes = {from_bytes}\nto_bytes = {to_bytes}\n");
        entry(&mut text, "probability", probability, 1.0);
        entry(&mut text, "longer_us", seconds, MICRO);
    }
    if let Some(leap) = &fitted.leap {
        let _ = write!(text, "\n[leap]\nafter_bytes = {}\n", leap.after_bytes);
        entry(&mut text, "longer_us", leap.seconds, MICRO);
    }
    parameters(&mut text, fitted);
    text
}

fn write_alike(text: &mut String, alike: &Alike) {
    let Alike { kinds, measured, references, limit, differ, compared } = alike;
    let _ = write!(
        text,
        "\n# Hosts of one kind share their parameters: below are those of the first two of each \
         kind. They\n# are alike as {compared} overheads and round trips with the references and \
         within kinds differ by\n# {:.2} % at most ({:.0} % is the limit); those of `measured` \
         were measured in full.\n[alike]\n",
        100.0 * differ,
        100.0 * limit
    );
    for (key, numbers) in [("kinds", kinds), ("measured", measured), ("references", references)] {
        let _ = writeln!(text, "{key} = {numbers:?}");
    }
    let _ = write!(text, "limit = {limit}\ndiffer = {differ}\ncompared = {compared}\n");
}

fn parameters(text: &mut String, fitted: &Fitted) {
    let shown = fitted.alike.as_ref().map(Alike::shown);
    let rank = |place: u32| shown.as_ref().map_or(place, |shown| shown[place as usize]);
    match &fitted.model {
        Model::Lmo(lmo) => {
            let part = shown.as_ref().map(|shown| lmo.among(shown));
            let lmo = part.as_ref().unwrap_or(lmo);
            if let Some(bytes) = lmo.others {
                text.push_str("\n[others]\n");
                entry(text, "bytes", bytes, 1.0);
            }
            for SizeFactor { bytes, latency, per_byte } in &lmo.sizes {
                let _ = write!(text, "\n[[size]]\nbytes = {bytes}\n");
                let _ = write!(text, "latency = {latency}\nper_byte = {per_byte}\n");
            }
            for OverheadFactor { bytes, send, receive } in &lmo.overheads {
                let _ = write!(text, "\n[[overhead]]\nbytes = {bytes}\n");
                let _ = write!(text, "send = {send}\nreceive = {receive}\n");
            }
            for host in &lmo.hosts {
                text.push_str("\n[[host]]\n");
                entry(text, "send_us", host.send, MICRO);
                entry(text, "receive_us", host.receive, MICRO);
                entry(text, "per_byte_sent_ns", host.per_byte_sent, NANO);
                entry(text, "per_byte_received_ns", host.per_byte_received, NANO);
                perhaps(text, "card_out_ns_per_byte", host.card_out, NANO);
                perhaps(text, "card_in_ns_per_byte", host.card_in, NANO);
                let loaded = |load: Parameter| (load.value > 0.0).then_some(load);
                perhaps(text, "load_out", loaded(host.load_out), 1.0);
                perhaps(text, "load_in", loaded(host.load_in), 1.0);
            }
            for ([i, j], pair) in pairs(lmo.hosts.len() as u32).zip(&lmo.pairs) {
                let [i, j] = [i, j].map(rank);
                let _ = write!(text, "\n[[pair]]\nranks = [{i}, {j}]\n");
                entry(text, "latency_us", pair.latency, MICRO);
                entry(text, "there_ns_per_byte", pair.there, NANO);
                entry(text, "back_ns_per_byte", pair.back, NANO);
                if pair.free != [pair.there.value, pair.back.value] {
                    let [there, back] = pair.free.map(|per_byte| per_byte * NANO);
                    let _ = writeln!(text, "free_ns_per_byte = [{there}, {back}]");
                }
                perhaps(text, "all_there_ns_per_byte", pair.all_there, NANO);
                perhaps(text, "all_back_ns_per_byte", pair.all_back, NANO);
            }
        }
        Model::Hockney(hockney) => match hockney.hosts {
            None => {
                text.push_str("\n[line]\n");
                hockney.lines.first().into_iter().for_each(|own| lines(text, own));
            }
            Some(hosts) => {
                let count = shown.as_ref().map_or(hosts, |shown| shown.len() as u32);
                for [i, j] in pairs(count).map(|pair| pair.map(rank)) {
                    let _ = write!(text, "\n[[pair]]\nranks = [{i}, {j}]\n");
                    lines(text, &hockney.lines(i, j));
                }
            }
        },
        Model::LogGp(loggp) => {
            text.push_str("\n[loggp]\n");
            entry(text, "latency_us", loggp.latency, MICRO);
            entry(text, "send_us", loggp.send, MICRO);
            entry(text, "receive_us", loggp.receive, MICRO);
            entry(text, "gap_us", loggp.gap, MICRO);
            entry(text, "gap_ns_per_byte", loggp.per_byte, NANO);
        }
        Model::PLogP(plogp) => {
            text.push_str("\n[plogp]\n");
            entry(text, "latency_us", plogp.latency, MICRO);
            for step in &plogp.steps {
                let _ = write!(text, "\n[[step]]\nbytes = {}\n", step.bytes);
                entry(text, "gap_us", step.gap, MICRO);
                perhaps(text, "send_us", step.send, MICRO);
                perhaps(text, "receive_us", step.receive, MICRO);
            }
        }
    }
}

fn lines(text: &mut String, lines: &Lines) {
    entry(text, "startup_us", lines.short.startup, MICRO);
    entry(text, "per_byte_ns", lines.short.per_byte, NANO);
    perhaps(text, "rendezvous_startup_us", lines.long.map(|line| line.startup), MICRO);
    perhaps(text, "rendezvous_per_byte_ns", lines.long.map(|line| line.per_byte), NANO);
}

fn entry(text: &mut String, key: &str, parameter: Parameter, unit: f64) {
    let Parameter { value, low, high } = parameter;
    let [value, low, high] = [value, low, high].map(|number| number * unit);
    let _ = writeln!(text, "{key} = [{value}, {low}, {high}]");
}

fn perhaps(text: &mut String, key: &str, parameter: Option<Parameter>, unit: f64) {
    parameter.into_iter().for_each(|parameter| entry(text, key, parameter, unit));
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push(' '),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}
