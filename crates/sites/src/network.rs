//! A layout as a network of capacities, and the least time in which it carries given bytes from one
//! host to others, with any relays.
//!
//! Hosts are nodes, and so are the inside, the way out and the way in of each site; cards and pipes
//! are arcs between them. A pipe that all ways out of a site share is an arc behind its way out,
//! and so for ways in. A pipe that others share (an aggregate of all sites) is not an arc of any
//! network: its ways get a number of bytes each, which [`Least`] chooses.
//!
//! The least time is found from below: the flow at some time either carries everything, or has a
//! cut, which is a condition that a longer time must meet. Without such pipes this is Newton's
//! method on the quotient of a cut's bytes and capacity.

use laneway_sim::platform::{CardRates, Layout, LayoutHost, LayoutWay};

use crate::linear::{Contradiction, Least};
use crate::maxflow::MaxFlow;

/// So small a part of all bytes is nothing, after sums of many.
const ROUNDING: f64 = 1e-13;

/// More cuts than this are not looked for: the time is then too small, and still a bound.
const MOST_CUTS: usize = 10_000;

/// Which way the bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    FromRoot,
    ToRoot,
}

/// Where a capacity is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    Card {
        host: usize,
    },
    /// The second card, for other sites.
    WanCard {
        host: usize,
    },
    Pipe(usize),
}

/// What an arc can carry.
#[derive(Clone, Copy, Debug)]
enum Capacity {
    Free,
    /// Bytes a second.
    Rate(f64, Place),
    /// As many bytes as a way of shared pipes is given.
    Given(usize),
}

struct Arc {
    from: usize,
    to: usize,
    capacity: Capacity,
}

/// Hosts that some bytes must reach, and what they must pass.
#[derive(Clone, Debug, PartialEq)]
pub struct Cut {
    /// Whether each host is behind it.
    pub behind: Vec<bool>,
    pub places: Vec<Place>,
    /// Bytes for the hosts behind it.
    pub bytes: f64,
}

/// The least time of a flow, and the proof that it is the least.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LeastTime {
    pub time: f64,
    /// One, but where pipes are shared across sites.
    pub cuts: Vec<Cut>,
    /// Pipes shared across sites that are full.
    pub pipes: Vec<usize>,
}

/// Some host is cut off.
#[derive(Clone, Debug, PartialEq)]
pub struct Unreachable {
    /// Whether each host is.
    pub behind: Vec<bool>,
}

pub struct Network<'a> {
    layout: &'a Layout,
    root: usize,
    arcs: Vec<Arc>,
    /// For each shared pipe: what it is, and the ways through it, as numbers of given bytes.
    shared: Vec<(usize, Vec<usize>)>,
    given: usize,
    flow: MaxFlow,
    sink: usize,
}

/// Nodes of a site, after those of all hosts.
struct SiteNodes {
    inside: usize,
    out: usize,
    into: usize,
    /// Behind what all ways out, or in, share.
    far_out: usize,
    far_into: usize,
}

impl<'a> Network<'a> {
    pub fn new(layout: &'a Layout, root: usize, direction: Direction) -> Network<'a> {
        let hosts = layout.hosts.len();
        let first = |site: usize| hosts + 5 * site;
        let nodes = |site: usize| SiteNodes {
            inside: first(site),
            out: first(site) + 1,
            into: first(site) + 2,
            far_out: first(site) + 3,
            far_into: first(site) + 4,
        };
        let sink = first(layout.sites.len());
        let mut network = Network {
            layout,
            root,
            arcs: Vec::new(),
            shared: Vec::new(),
            given: 0,
            flow: MaxFlow::default(),
            sink,
        };
        let mut next = sink + 1;
        for (host, about) in layout.hosts.iter().enumerate() {
            network.host(host, about, &nodes(about.site), &mut next, direction);
        }
        network.ways(nodes, direction);
        network.flow = MaxFlow::new(next);
        for arc in &network.arcs {
            network.flow.arc(arc.from, arc.to);
        }
        // What the sources have at once, then what the sinks want.
        for host in 0..hosts {
            network.flow.arc(root, host);
        }
        for host in 0..hosts {
            network.flow.arc(host, sink);
        }
        network
    }

    fn arc(&mut self, from: usize, to: usize, capacity: Capacity) {
        self.arcs.push(Arc { from, to, capacity });
    }

    fn rate(&mut self, from: usize, to: usize, rate: Option<f64>, place: Place) {
        let capacity = match rate {
            Some(rate) if rate.is_finite() => Capacity::Rate(rate, place),
            _ => Capacity::Free,
        };
        self.arc(from, to, capacity);
    }

    fn host(
        &mut self,
        host: usize,
        about: &LayoutHost,
        site: &SiteNodes,
        next: &mut usize,
        direction: Direction,
    ) {
        let rates = |card: CardRates| match direction {
            Direction::FromRoot => (card.out, card.into),
            Direction::ToRoot => (card.into, card.out),
        };
        let (out, into) = rates(about.card);
        let place = Place::Card { host };
        match about.wan_card {
            Some(wan) => {
                self.rate(host, site.inside, out, place);
                self.rate(site.inside, host, into, place);
                let (out, into) = rates(wan);
                self.rate(host, site.out, out, Place::WanCard { host });
                self.rate(site.into, host, into, Place::WanCard { host });
            }
            None => {
                let [leaving, entering] = [*next, *next + 1];
                *next += 2;
                self.rate(host, leaving, out, place);
                self.rate(entering, host, into, place);
                for (from, to) in [
                    (leaving, site.inside),
                    (leaving, site.out),
                    (site.inside, entering),
                    (site.into, entering),
                ] {
                    self.arc(from, to, Capacity::Free);
                }
            }
        }
    }

    fn ways(&mut self, nodes: impl Fn(usize) -> SiteNodes, direction: Direction) {
        let layout = self.layout;
        let ends: Vec<Ends> = layout.ways.iter().map(|way| Ends::new(way, direction)).collect();
        let mut pipes = Pipes::new(layout);
        for (pipe, ways) in passing(layout).iter().enumerate() {
            pipes.place(pipe, layout.pipes[pipe].rate, ways, &ends);
        }
        for site in 0..layout.sites.len() {
            let at = nodes(site);
            self.pipe(at.out, at.far_out, pipes.out[site]);
            self.pipe(at.far_into, at.into, pipes.into[site]);
        }
        for (way, Ends { from, to }) in ends.into_iter().enumerate() {
            let (from, to) = (nodes(from).far_out, nodes(to).far_into);
            match pipes.given[way] {
                Some(number) => {
                    self.arc(from, to, Capacity::Given(number));
                    // Its own pipe limits what it is given.
                    pipes.shared.extend(pipes.way[way].map(|(_, pipe)| (pipe, vec![number])));
                }
                None => self.pipe(from, to, pipes.way[way]),
            }
        }
        self.given = pipes.numbers;
        self.shared = pipes.shared;
    }

    fn pipe(&mut self, from: usize, to: usize, narrowest: Option<(f64, usize)>) {
        match narrowest {
            Some((rate, pipe)) => self.rate(from, to, Some(rate), Place::Pipe(pipe)),
            None => self.arc(from, to, Capacity::Free),
        }
    }

    /// The least time in which every host gets its bytes. Hosts that are near have all bytes from
    /// the start, as the root has, and want none.
    pub fn least_time(&mut self, bytes: &[f64], near: &[bool]) -> Result<LeastTime, Unreachable> {
        let wanted = |host: usize| if near[host] || host == self.root { 0.0 } else { bytes[host] };
        let wanted: Vec<f64> = (0..bytes.len()).map(wanted).collect();
        let total: f64 = wanted.iter().sum();
        if total == 0.0 {
            return Ok(LeastTime::default());
        }
        // Numbers up to 1: all bytes, and the fastest of the capacities.
        let fastest = self.fastest();
        let mut least = Least::new(1 + self.given);
        for (pipe, ways) in &self.shared {
            let mut weights = vec![0.0; 1 + self.given];
            weights[0] = self.layout.pipes[*pipe].rate / fastest;
            ways.iter().for_each(|way| weights[1 + way] = -1.0);
            // No host has a demand yet.
            let _ = least.demand(&weights, 0.0);
        }
        let mut cuts: Vec<Cut> = Vec::new();
        while cuts.len() < MOST_CUTS {
            let values = least.values();
            if self.carried(&values, &wanted, near, total, fastest) >= 1.0 - ROUNDING {
                break;
            }
            let (cut, weights) = self.cut(&wanted, fastest);
            let met: f64 = weights.iter().zip(&values).map(|(weight, value)| weight * value).sum();
            if cut.bytes / total - met <= ROUNDING {
                break;
            }
            let unreachable = |_: Contradiction| Unreachable { behind: cut.behind.clone() };
            least.demand(&weights, cut.bytes / total).map_err(unreachable)?;
            cuts.push(cut);
        }
        let mut found =
            LeastTime { time: least.values()[0] * (total / fastest), ..Default::default() };
        for condition in least.binding() {
            match condition.checked_sub(self.shared.len()) {
                Some(cut) => found.cuts.push(cuts[cut].clone()),
                None => found.pipes.push(self.shared[condition].0),
            }
        }
        Ok(found)
    }

    fn fastest(&self) -> f64 {
        let arcs = self.arcs.iter().filter_map(|arc| match arc.capacity {
            Capacity::Rate(rate, _) => Some(rate),
            _ => None,
        });
        let shared = self.shared.iter().map(|(pipe, _)| self.layout.pipes[*pipe].rate);
        let fastest = arcs.chain(shared).fold(0.0, f64::max);
        if fastest > 0.0 { fastest } else { 1.0 }
    }

    /// The part of the bytes that the network carries in a time.
    fn carried(
        &mut self,
        values: &[f64],
        wanted: &[f64],
        near: &[bool],
        total: f64,
        fastest: f64,
    ) -> f64 {
        let arcs = self.arcs.iter().map(|arc| match arc.capacity {
            Capacity::Free => f64::INFINITY,
            Capacity::Rate(rate, _) => rate / fastest * values[0],
            Capacity::Given(number) => values[1 + number],
        });
        let sources = near.iter().map(|near| if *near { f64::INFINITY } else { 0.0 });
        let sinks = wanted.iter().map(|bytes| bytes / total);
        self.flow.reset(arcs.chain(sources).chain(sinks));
        self.flow.fill(self.root, self.sink)
    }

    /// The cut that the last flow met, and the weights of its condition.
    fn cut(&self, wanted: &[f64], fastest: f64) -> (Cut, Vec<f64>) {
        let behind: Vec<bool> = (0..wanted.len()).map(|host| !self.flow.reaches(host)).collect();
        let bytes = wanted.iter().zip(&behind).map(|(bytes, is)| if *is { *bytes } else { 0.0 });
        let bytes = bytes.sum();
        let mut weights = vec![0.0; 1 + self.given];
        let mut places = Vec::new();
        let crossing = |arc: &&Arc| self.flow.reaches(arc.from) && !self.flow.reaches(arc.to);
        for arc in self.arcs.iter().filter(crossing) {
            match arc.capacity {
                Capacity::Free => {}
                Capacity::Rate(rate, place) => {
                    weights[0] += rate / fastest;
                    places.push(place);
                }
                Capacity::Given(number) => weights[1 + number] += 1.0,
            }
        }
        (Cut { behind, places, bytes }, weights)
    }
}

/// The sites of a way, as the bytes go.
struct Ends {
    from: usize,
    to: usize,
}

impl Ends {
    fn new(way: &LayoutWay, direction: Direction) -> Ends {
        match direction {
            Direction::FromRoot => Ends { from: way.from, to: way.to },
            Direction::ToRoot => Ends { from: way.to, to: way.from },
        }
    }
}

/// The ways through each pipe.
fn passing(layout: &Layout) -> Vec<Vec<usize>> {
    let mut passing: Vec<Vec<usize>> = vec![Vec::new(); layout.pipes.len()];
    for (way, about) in layout.ways.iter().enumerate() {
        for &pipe in &about.pipes {
            if passing[pipe].last() != Some(&way) {
                passing[pipe].push(way);
            }
        }
    }
    passing
}

/// Where the pipes belong. Of those in the same place only the narrowest matters: its rate, and
/// which it is.
struct Pipes {
    /// What all ways out of a site share, and all ways in.
    out: Vec<Option<(f64, usize)>>,
    into: Vec<Option<(f64, usize)>>,
    /// What one way has for itself.
    way: Vec<Option<(f64, usize)>>,
    /// The number of a way through other shared pipes.
    given: Vec<Option<usize>>,
    numbers: usize,
    shared: Vec<(usize, Vec<usize>)>,
}

impl Pipes {
    fn new(layout: &Layout) -> Pipes {
        Pipes {
            out: vec![None; layout.sites.len()],
            into: vec![None; layout.sites.len()],
            way: vec![None; layout.ways.len()],
            given: vec![None; layout.ways.len()],
            numbers: 0,
            shared: Vec::new(),
        }
    }

    fn place(&mut self, pipe: usize, rate: f64, ways: &[usize], ends: &[Ends]) {
        let first = ways.first().filter(|_| rate.is_finite());
        let Some(Ends { from, to }) = first.map(|way| &ends[*way]) else { return };
        let are_all = |chosen: &dyn Fn(&Ends) -> bool| {
            ways.len() == ends.iter().filter(|ends| chosen(ends)).count()
                && ways.iter().all(|way| chosen(&ends[*way]))
        };
        let slot = if ways.len() == 1 {
            &mut self.way[ways[0]]
        } else if are_all(&|ends| ends.from == *from) {
            &mut self.out[*from]
        } else if are_all(&|ends| ends.to == *to) {
            &mut self.into[*to]
        } else {
            let numbers = ways.iter().map(|way| self.number(*way)).collect();
            return self.shared.push((pipe, numbers));
        };
        if slot.is_none_or(|(least, _)| rate < least) {
            *slot = Some((rate, pipe));
        }
    }

    fn number(&mut self, way: usize) -> usize {
        *self.given[way].get_or_insert_with(|| {
            self.numbers += 1;
            self.numbers - 1
        })
    }
}
