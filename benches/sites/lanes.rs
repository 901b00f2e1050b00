//! The multi-lane paper's cost model, as printed and as corrected, against SimGrid.

use laneway_core::Collective;
use laneway_sim::platform::Platform;
use laneway_sites::Sharing;
use laneway_sites::model::{Form, TwoSites};

use crate::config::Config;
use crate::times::Times;

/// What is compared.
pub const FORMS: [(&str, Form, Sharing); 4] = [
    ("printed, constant rate", Form::Printed, Sharing::Constant),
    ("printed, shared rate", Form::Printed, Sharing::Shared),
    ("corrected", Form::Corrected, Sharing::Shared),
    ("overlapped", Form::Overlapped, Sharing::Shared),
];

/// A form's times by the number of lanes, and how many it would take.
pub struct Model {
    times: Vec<(u32, f64)>,
    taken: u32,
}

/// How near a form comes to SimGrid.
#[derive(Clone, Debug)]
pub struct Against {
    /// For each number of lanes, T(P) over SimGrid's time, without 1.
    pub errors: Vec<f64>,
    /// SimGrid's time with the lanes that it takes, over that with the best.
    pub cost: f64,
}

/// All of them, in the order of [`FORMS`].
#[derive(Clone, Debug)]
pub struct Verdict {
    pub forms: Vec<Against>,
    /// The root's site has fewer hosts than the other.
    pub near_is_smaller: bool,
}

/// Of a scatter over two sites; nothing elsewhere.
pub fn models(known: &Platform, config: &Config) -> Vec<Model> {
    let of = |form, sharing| -> Option<Model> {
        let hosts: Vec<u32> = (0..known.hosts()).collect();
        let layout = known.layout().ok()?;
        let model = TwoSites::of(&layout, &hosts, config.root, config.size, sharing).ok()?;
        let taken = model.best(form).ok()?.lanes;
        let most = model.most_lanes();
        let lanes = (1..=most).filter(|lanes| lanes.is_power_of_two() || *lanes == most);
        let time = |lanes| Some((lanes, model.time(form, lanes).ok()?));
        Some(Model { times: lanes.map(time).collect::<Option<_>>()?, taken })
    };
    if config.op != Collective::Scatter {
        return Vec::new();
    }
    let all: Option<Vec<Model>> =
        FORMS.iter().map(|(_, form, sharing)| of(*form, *sharing)).collect();
    all.unwrap_or_default()
}

fn name(lanes: u32) -> String {
    format!("multi-lane:lanes={lanes}")
}

/// The schedules that they are about.
pub fn names(models: &[Model]) -> Vec<String> {
    let lanes = |model: &Model| -> Vec<u32> {
        model.times.iter().map(|(lanes, _)| *lanes).chain([model.taken]).collect()
    };
    models.iter().flat_map(lanes).map(name).collect()
}

pub fn verdict(models: &[Model], times: &Times, config: &Config) -> Option<Verdict> {
    if models.is_empty() {
        return None;
    }
    let best = times.best_of(&names(models)).1;
    let against = |model: &Model| Against {
        errors: model.times.iter().map(|(p, time)| time / times.of_name(&name(*p)) - 1.0).collect(),
        cost: times.of_name(&name(model.taken)) / best,
    };
    let forms = models.iter().map(against).collect();
    let near = usize::from(config.root >= config.hosts[0]);
    Some(Verdict { forms, near_is_smaller: config.hosts[near] < config.hosts[1 - near] })
}
