//! The table of algorithms: a name, a sentence, a source, its parameters and a constructor for
//! each.

use std::fmt;

use laneway_core::error::nearest;
use laneway_core::schedule::CHANNELS;
use laneway_core::units::parse_size;
use laneway_core::{Collective, Placement, Schedule, Shape};
use serde_core::{Serialize, Serializer};

use crate::order;

/// A number that an algorithm can be tuned by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Parameter {
    /// Children of a tree's node, partners of a round, chains beside each other.
    Radix,
    /// Bytes of a pipeline's piece.
    Segment,
    /// Transfers that may be outstanding.
    Window,
    /// Pairs of hosts that send from site to site at the same time; 0 for as many as there are.
    Lanes,
    /// Transfers within the root's own site that may be outstanding beside those to others; with 0
    /// they come last.
    Near,
    /// Thousandths of what leaves the site that the root sends across itself.
    Own,
    /// Parts of a block that cross by helpers of their own.
    Stripes,
    /// Channels between two ranks of different sites, where each may have a connection of its own.
    Connections,
    /// Sites to which a site passes pieces on; with 0 the site where they begin serves all others.
    Fan,
    /// The order in which the algorithm takes the ranks: 0 by number, 1 by site and host.
    Order,
}

impl Parameter {
    /// All parameters, in the order in which they are written.
    pub const ALL: [Parameter; 10] = [
        Parameter::Radix,
        Parameter::Segment,
        Parameter::Window,
        Parameter::Lanes,
        Parameter::Near,
        Parameter::Own,
        Parameter::Stripes,
        Parameter::Connections,
        Parameter::Fan,
        Parameter::Order,
    ];

    /// What algorithms declare whose ranks can take other places.
    pub const BY_RANK: (Parameter, u64) = (Parameter::Order, 0);

    /// The word for it, as in `radix=4`.
    pub fn name(self) -> &'static str {
        match self {
            Parameter::Radix => "radix",
            Parameter::Segment => "segment",
            Parameter::Window => "window",
            Parameter::Lanes => "lanes",
            Parameter::Near => "near",
            Parameter::Own => "own",
            Parameter::Stripes => "stripes",
            Parameter::Connections => "connections",
            Parameter::Fan => "fan",
            Parameter::Order => "order",
        }
    }

    /// The words for its values from 0 on; empty for numbers.
    pub fn words(self) -> &'static [&'static str] {
        match self {
            Parameter::Order => &["ranks", "sites", "numbers", "sizes"],
            _ => &[],
        }
    }

    /// A value as it is written: `4`, `64K`, `sites`.
    fn parse(self, text: &str) -> Result<u64, Refusal> {
        let words = self.words();
        match words.iter().position(|word| *word == text) {
            Some(value) => Ok(value as u64),
            None if words.is_empty() => parse_size(text).map_err(Refusal),
            None => {
                let (name, words) = (self.name(), words.join(" or "));
                Err(Refusal(format!("{name} is {words}, not `{text}`")))
            }
        }
    }

    /// `radix=4`; nothing for a word that stands for what is usual.
    fn spelled(self, value: u64) -> Option<String> {
        match self.words().get(value as usize) {
            Some(_) if value == 0 => None,
            Some(word) => Some(format!("{}={word}", self.name())),
            None => Some(format!("{}={value}", self.name())),
        }
    }

    /// The least and the most that it can be.
    fn limits(self) -> (u64, u64) {
        match self {
            Parameter::Radix => (2, 1 << 20),
            Parameter::Segment => (1, 1 << 40),
            Parameter::Window => (1, 1 << 20),
            Parameter::Lanes | Parameter::Near | Parameter::Fan => (0, 1 << 20),
            Parameter::Own => (0, 1000),
            Parameter::Stripes => (1, 1 << 20),
            Parameter::Connections => (1, CHANNELS as u64),
            Parameter::Order => (0, 3),
        }
    }
}

/// Values for the parameters. An algorithm reads those that it declares and no others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Params {
    /// `None` if it was never set.
    values: [Option<u64>; Parameter::ALL.len()],
}

impl Params {
    /// The value of a parameter; 0 where it is not set.
    pub fn get(&self, parameter: Parameter) -> u64 {
        self.values[parameter as usize].unwrap_or(0)
    }

    /// [`Parameter::Radix`].
    pub fn radix(&self) -> u32 {
        self.get(Parameter::Radix) as u32
    }

    /// [`Parameter::Segment`].
    pub fn segment(&self) -> u64 {
        self.get(Parameter::Segment)
    }

    /// [`Parameter::Window`].
    pub fn window(&self) -> u32 {
        self.get(Parameter::Window) as u32
    }

    /// [`Parameter::Lanes`].
    pub fn lanes(&self) -> u32 {
        self.get(Parameter::Lanes) as u32
    }

    /// [`Parameter::Near`].
    pub fn near(&self) -> u32 {
        self.get(Parameter::Near) as u32
    }

    /// [`Parameter::Fan`].
    pub fn fan(&self) -> u32 {
        self.get(Parameter::Fan) as u32
    }

    /// Sets a value; refuses what cannot be.
    pub fn set(&mut self, parameter: Parameter, value: u64) -> Result<(), Refusal> {
        let (least, most) = parameter.limits();
        if !(least..=most).contains(&value) {
            let name = parameter.name();
            return Err(Refusal(format!(
                "{name} must lie between {least} and {most}, not {value}"
            )));
        }
        self.values[parameter as usize] = Some(value);
        Ok(())
    }

    /// With another value, for a caller that knows it to be possible.
    pub fn with(mut self, parameter: Parameter, value: u64) -> Params {
        let (least, most) = parameter.limits();
        self.values[parameter as usize] = Some(value.clamp(least, most));
        self
    }
}

/// A map of the parameters that are set, by their names.
impl Serialize for Params {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let set = |parameter: Parameter| {
            let value = self.values[parameter as usize]?;
            parameter.spelled(value).map(|_| (parameter.name(), value))
        };
        serializer.collect_map(Parameter::ALL.into_iter().filter_map(set))
    }
}

/// What a rank must know of the other ranks' lengths before it can begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts {
    /// Its own, as MPI gives them.
    Own,
    /// All ranks': relays need a prologue that shares them where blocks differ.
    All,
}

impl fmt::Debug for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.family.name(), self.name)
    }
}

/// Names are unique within a family.
impl PartialEq for Algorithm {
    fn eq(&self, other: &Algorithm) -> bool {
        (self.family, self.name) == (other.family, other.name)
    }
}

/// Why an algorithm does not serve a shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(pub String);

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refusal {}

/// Makes the schedule for a shape and for where its ranks are, or says why it cannot.
pub type Build = fn(&Shape, &Params, &Placement) -> Result<Box<dyn Schedule>, Refusal>;

/// One algorithm of one collective.
#[non_exhaustive]
pub struct Algorithm {
    /// The operation, in its regular form.
    pub family: Collective,
    /// What it is called, once within its operation.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub sentence: &'static str,
    /// Where it comes from: a paper or a library.
    pub source: &'static str,
    /// The parameters it reads, with their defaults.
    pub parameters: &'static [(Parameter, u64)],
    /// Whether In and Out may share memory as [`Shape::place`] lays them.
    pub in_place: bool,
    /// Whether a reduction keeps the order of the ranks.
    pub ordered: bool,
    /// What it must know of the lengths of blocks.
    pub counts: Counts,
    /// Called through [`Algorithm::schedule`], which has refused unfit shapes already.
    pub build: Build,
}

impl Algorithm {
    /// The usual flags; a file names only what differs.
    pub const BASE: Algorithm = Algorithm {
        family: Collective::Barrier,
        name: "",
        sentence: "",
        source: "",
        parameters: &[],
        in_place: true,
        ordered: true,
        counts: Counts::Own,
        build: |_, _, _| Err(Refusal("it has no constructor".into())),
    };

    /// The declared defaults.
    pub fn defaults(&self) -> Params {
        let mut params = Params::default();
        for (parameter, value) in self.parameters {
            params.values[*parameter as usize] = Some(*value);
        }
        params
    }

    /// The schedule for a shape, or the reason why there is none.
    pub fn schedule(&self, shape: &Shape, params: &Params) -> Result<Box<dyn Schedule>, Refusal> {
        match &shape.placement {
            Some(placement) => self.placed(shape, params, placement),
            None => self.placed(shape, params, &Placement::one_site(shape.ranks)),
        }
    }

    /// The schedule for a shape whose ranks are here.
    pub fn placed(
        &self,
        shape: &Shape,
        params: &Params,
        placement: &Placement,
    ) -> Result<Box<dyn Schedule>, Refusal> {
        shape.validate().map_err(|bad| Refusal(bad.0))?;
        if placement.ranks() != shape.ranks {
            let (placed, ranks) = (placement.ranks(), shape.ranks);
            return Err(Refusal(format!("a placement of {placed} ranks for a call of {ranks}")));
        }
        if shape.collective.family() != self.family {
            let (own, other) = (self.family.name(), shape.collective.name());
            return Err(Refusal(format!("it is an algorithm for {own}, not for {other}")));
        }
        if shape.in_place && !self.in_place {
            return Err(Refusal("it overwrites what it has yet to send: not in place".into()));
        }
        if self.family.reduces() && !shape.commutative && !self.ordered {
            return Err(Refusal("it changes the order of the operands: commutative only".into()));
        }
        if self.declares(Parameter::Order) && params.get(Parameter::Order) > 0 {
            return order::by_site(self, shape, params, placement);
        }
        (self.build)(shape, params, placement)
    }

    /// Whether it has a parameter.
    pub fn declares(&self, parameter: Parameter) -> bool {
        self.parameters.iter().any(|(one, _)| *one == parameter)
    }

    /// The name, with its parameters where they are not the usual ones.
    pub fn label(&self, params: &Params) -> String {
        match *params == self.defaults() {
            true => self.name.to_owned(),
            false => self.spelled(params),
        }
    }

    /// The name with its parameters, as [`find`] reads it: `knomial:radix=4`.
    pub fn spelled(&self, params: &Params) -> String {
        let mut text = self.name.to_owned();
        for (parameter, _) in self.parameters {
            if let Some(spelled) = parameter.spelled(params.get(*parameter)) {
                text += &format!(":{spelled}");
            }
        }
        text
    }
}

/// The algorithms that serve a collective.
pub fn algorithms(collective: Collective) -> impl Iterator<Item = &'static Algorithm> {
    let family = collective.family();
    crate::all().filter(move |algorithm| algorithm.family == family)
}

/// What is wrong with a name that [`find`] refuses: its parameters, or all of it.
pub fn refused_name(spelled: &str) -> String {
    let name = spelled.split(':').next().unwrap_or_default();
    let mut all = Collective::ALL.into_iter().flat_map(algorithms);
    match spelled.contains(':') && all.any(|algorithm| algorithm.name == name) {
        true => format!("invalid parameter in `{spelled}`"),
        false => format!("unknown algorithm `{spelled}`"),
    }
}

/// Of several operations, those that have none of these algorithms, in words.
pub fn unserved(collectives: &[Collective], names: &[impl AsRef<str>]) -> Vec<String> {
    let quoted = |name: &_| format!("`{}`", AsRef::<str>::as_ref(name));
    let list = names.iter().map(quoted).collect::<Vec<_>>().join(", ");
    let has =
        |collective: Collective| names.iter().any(|name| find(collective, name.as_ref()).is_ok());
    let without = collectives.iter().filter(|&&collective| !names.is_empty() && !has(collective));
    without.map(|collective| format!("{}: it has no algorithm {list}", collective.name())).collect()
}

/// Finds `name` or `name:parameter=value:...` among the algorithms of a collective.
pub fn find(
    collective: Collective,
    spelled: &str,
) -> Result<(&'static Algorithm, Params), Refusal> {
    let mut parts = spelled.split(':');
    let name = parts.next().unwrap_or_default();
    let Some(algorithm) = algorithms(collective).find(|algorithm| algorithm.name == name) else {
        let near = nearest(name, algorithms(collective).map(|algorithm| algorithm.name));
        let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        let operation = collective.name();
        return Err(Refusal(format!("{operation} has no algorithm `{name}`{hint}")));
    };
    let mut params = algorithm.defaults();
    for part in parts {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        let Some((parameter, _)) = algorithm.parameters.iter().find(|(p, _)| p.name() == key)
        else {
            let known: Vec<&str> = algorithm.parameters.iter().map(|(p, _)| p.name()).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(Refusal(format!("`{name}` has no parameter `{key}` (it has: {known})")));
        };
        params.set(*parameter, parameter.parse(value)?)?;
    }
    Ok((algorithm, params))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn params_are_written_as_those_that_are_set() {
        let written = |params: &Params| serde_json::to_string(params).expect("plain numbers");
        assert_eq!(written(&Params::default()), "{}");
        let params = Params::default().with(Parameter::Lanes, 0).with(Parameter::Segment, 4096);
        assert_eq!(written(&params), r#"{"segment":4096,"lanes":0}"#);
    }

    #[test]
    fn the_order_of_ranks_is_a_word_that_the_usual_one_leaves_out() {
        let (chain, params) = find(Collective::Bcast, "pipeline:order=sites").expect("a word");
        assert_eq!(params.get(Parameter::Order), 1);
        assert_eq!(chain.spelled(&params), "pipeline:segment=65536:window=4:order=sites");
        let (_, params) = find(Collective::Bcast, "pipeline:order=ranks").expect("a word");
        assert_eq!(chain.label(&params), "pipeline");
        for wrong in ["pipeline:order=1", "pipeline:order=", "binary:order=hosts"] {
            assert!(find(Collective::Bcast, wrong).is_err(), "{wrong}");
        }
    }
}
