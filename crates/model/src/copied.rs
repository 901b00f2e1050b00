//! A model of more hosts than were measured, of which the new ones are copies of measured ones.

use laneway_core::Rank;
use laneway_stats::median;

use crate::alike::Alike;
use crate::error::ModelError;
use crate::lmo::{Lmo, Pair, pairs};
use crate::model::{Fitted, Model};
use crate::parameter::Parameter;
use crate::probe::Direction;

/// More ranks than these are a mistake.
const MOST_RANKS: u32 = 1 << 12;
/// A copy is as near to its original as the nearest hosts are to it: those whose latency is at most
/// so many times the least.
const NEAR: f64 = 1.5;
/// What a call on copies may be off beyond the intervals: nothing of them was measured.
const ASSUMED: f64 = 0.05;

impl Fitted {
    /// The model of so many ranks, whose further hosts are copies of these in turn. Intervals of
    /// predictions are wider: a copy and its original are taken to be as far from each other as the
    /// original is from its nearest hosts, and it is unknown what all hosts share.
    pub fn copied(&self, ranks: u32, like: &[Rank]) -> Result<Fitted, ModelError> {
        let refuse = |why: String| Err(ModelError::Request { why });
        let known = self.hosts.len() as u32;
        if ranks <= known || ranks > MOST_RANKS {
            return refuse(format!(
                "copies are for more ranks than the {known} hosts of the model, and at most \
                 {MOST_RANKS}: {ranks}"
            ));
        }
        if like.is_empty() || like.iter().any(|&rank| rank >= known) {
            return refuse(format!("a host to copy is one of ranks 0 to {}: {like:?}", known - 1));
        }
        let copies = like.iter().copied().cycle().take((ranks - known) as usize);
        let originals: Vec<Rank> = (0..known).chain(copies).collect();
        let Model::Lmo(lmo) = &self.model else {
            return match self.model.hosts() {
                None => Ok(self.with(self.model.clone(), &originals)),
                Some(_) => refuse(
                    "only LMO, and models that are the same for all hosts, can copy hosts".into(),
                ),
            };
        };
        let alike = self.alike.as_ref();
        let way = |[i, j]: [Rank; 2]| {
            let [one, other] = [i, j].map(|rank| originals[rank as usize]);
            match one == other {
                false => oriented(lmo, one, other),
                true => near(lmo, one, alike),
            }
        };
        let hosts = originals.iter().map(|&rank| lmo.hosts[rank as usize]).collect();
        let pairs = pairs(ranks).map(way).collect();
        let lmo = Lmo { hosts, pairs, ..lmo.among(&[]) };
        Ok(self.with(Model::Lmo(lmo), &originals))
    }

    fn with(&self, model: Model, originals: &[Rank]) -> Fitted {
        let name = |(rank, &original): (usize, &Rank)| {
            let own = self.hosts[original as usize].clone();
            if rank < self.hosts.len() { own } else { format!("{own}-copy{rank}") }
        };
        let hosts = originals.iter().enumerate().map(name).collect();
        let mut quality = self.quality.clone();
        quality.assumed = ASSUMED;
        Fitted { model, hosts, quality, alike: None, ..self.clone() }
    }
}

fn oriented(lmo: &Lmo, one: Rank, other: Rank) -> Pair {
    let pair = *lmo.pair(one, other);
    if one < other { pair } else { pair.turned() }
}

/// The way between a host and its copy: that of a host which was taken as alike. Else the middle of
/// the latencies to its nearest hosts, and as many bytes a second as on its fastest ways, with
/// intervals that hold those of all these hosts.
fn near(lmo: &Lmo, host: Rank, alike: Option<&Alike>) -> Pair {
    let twin = alike.and_then(|alike| {
        let kind = alike.kinds[host as usize];
        alike.members(kind).find(|&other| other != host)
    });
    if let Some(twin) = twin {
        return oriented(lmo, host, twin);
    }
    let others = (0..lmo.hosts.len() as Rank).filter(|&other| other != host);
    let ways: Vec<Pair> = others.map(|other| oriented(lmo, host, other)).collect();
    let least = ways.iter().map(|way| way.latency.value).fold(f64::INFINITY, f64::min);
    let ways: Vec<&Pair> = ways.iter().filter(|way| way.latency.value <= NEAR * least).collect();
    let middle = |of: &dyn Fn(&Pair) -> Vec<Parameter>| -> Option<Parameter> {
        let all: Vec<Parameter> = ways.iter().flat_map(|way| of(way)).collect();
        let value = median(&all.iter().map(|one| one.value).collect::<Vec<f64>>())?;
        let low = all.iter().map(|one| one.low).fold(value, f64::min);
        let high = all.iter().map(|one| one.high).fold(value, f64::max);
        Some(Parameter { value, low, high })
    };
    let latency = middle(&|way| vec![way.latency]).unwrap_or_default();
    let fastest = [Direction::Out, Direction::In].map(|way| lmo.fastest(host, way).value);
    let byte = middle(&|way| vec![way.there, way.back]).unwrap_or_default();
    let byte = Parameter { value: fastest[0].max(fastest[1]), ..byte.reaching(fastest[0]) };
    let byte = byte.reaching(byte.value);
    let all = middle(&|way| [way.all_there, way.all_back].into_iter().flatten().collect());
    let frees: Vec<f64> = ways.iter().flat_map(|way| way.free).collect();
    let free = [median(&frees).unwrap_or(byte.value).min(byte.value); 2];
    Pair { latency, there: byte, back: byte, free, all_there: all, all_back: all }
}
