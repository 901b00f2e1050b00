//! What is drawn: a fabric as it was planned, and as it is.

use std::collections::BTreeMap;

use laneway_topo::machine::differ::Difference;
use laneway_topo::topologies::mlfm::{self, FullMesh};
use laneway_topo::{End, Fabric, Host, Port, Recognised, Routing, Switch, Topology, Wiring};

use super::heat::Heat;

/// What is left of a plan.
enum Left<'a> {
    All,
    Given(&'a dyn Wiring),
    Found(Fabric),
}

/// How the parts of a found fabric are numbered in its plan.
struct Numbers<'a> {
    recognised: &'a Recognised,
    /// Found ports by planned ones.
    ports: BTreeMap<(Switch, Port), (Switch, Port)>,
}

/// A fabric to draw, with the way that its messages go.
///
/// It is drawn by its plan: all switches and cables that there should be. What [`Subject::left`] or
/// a found fabric lacks of them is crossed out.
pub struct Subject<'a> {
    name: String,
    kind: String,
    plan: &'a dyn Wiring,
    left: Left<'a>,
    wiring: &'a dyn Wiring,
    routing: &'a dyn Routing,
    mesh: Option<FullMesh>,
    numbers: Option<Numbers<'a>>,
}

/// What a kind is; the counts that follow there are formulas.
fn kind(topology: &dyn Topology) -> String {
    let sentence = topology.kind().sentence;
    sentence.split_once(':').map_or(sentence, |(kind, _)| kind).to_owned()
}

/// Meshes have a layout of their own.
fn mesh(topology: &dyn Topology) -> Option<FullMesh> {
    (topology.kind().name == mlfm::KIND.name).then(|| FullMesh::new(topology.d()))
}

impl<'a> Subject<'a> {
    /// A topology, whole and with its own forwarding.
    pub fn planned(topology: &'a dyn Topology) -> Subject<'a> {
        Subject {
            name: topology.spec(),
            kind: kind(topology),
            mesh: mesh(topology),
            ..Subject::plain(String::new(), topology, topology)
        }
    }

    /// Any wiring and forwarding, of which nothing else is known: by levels.
    pub fn plain(name: String, wiring: &'a dyn Wiring, routing: &'a dyn Routing) -> Subject<'a> {
        Subject {
            name,
            kind: String::new(),
            plan: wiring,
            left: Left::All,
            wiring,
            routing,
            mesh: None,
            numbers: None,
        }
    }

    /// A found fabric as the topology that it was recognised to be; planned cables that it lacks
    /// are marked as missing.
    pub fn recognised(
        name: String,
        found: &'a dyn Wiring,
        routing: &'a dyn Routing,
        recognised: &'a Recognised,
    ) -> Subject<'a> {
        let (plan, map) = (&*recognised.plan, &recognised.map);
        let mut ports = BTreeMap::new();
        for (switch, planned) in map.switches.iter().enumerate() {
            let Some(planned) = planned else { continue };
            for (port, own) in map.ports[switch].iter().enumerate() {
                if let Some(own) = own {
                    ports.insert((*planned, *own), (switch as Switch, port as Port));
                }
            }
        }
        Subject {
            kind: format!("recognised as {}, {}", plan.spec(), kind(plan)),
            plan,
            left: Left::Found(map.left(found, plan)),
            mesh: mesh(plan),
            numbers: Some(Numbers { recognised, ports }),
            ..Subject::plain(name, found, routing)
        }
    }

    /// The same after a failure: what is left, in the plan's own numbers, and the forwarding there.
    pub fn with_left(self, left: &'a dyn Wiring, routing: &'a dyn Routing) -> Subject<'a> {
        Subject { left: Left::Given(left), wiring: left, routing, ..self }
    }

    /// The same with another forwarding.
    pub fn with_routing(self, routing: &'a dyn Routing) -> Subject<'a> {
        Subject { routing, ..self }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn kind(&self) -> &str {
        &self.kind
    }

    pub(super) fn mesh(&self) -> Option<&FullMesh> {
        self.mesh.as_ref()
    }

    /// All that is drawn.
    pub(super) fn plan(&self) -> &'a dyn Wiring {
        self.plan
    }

    /// What is there of it.
    pub fn left(&self) -> &dyn Wiring {
        match &self.left {
            Left::All => self.plan,
            Left::Given(left) => *left,
            Left::Found(left) => left,
        }
    }

    /// What messages run over, by its own numbers.
    pub(super) fn wiring(&self) -> &'a dyn Wiring {
        self.wiring
    }

    pub(super) fn routing(&self) -> &'a dyn Routing {
        self.routing
    }

    /// Whether a cable of the plan is not there.
    pub(super) fn is_damaged(&self) -> bool {
        let (plan, left) = (self.plan, self.left());
        let is_gone = |switch: Switch, port: Port| {
            plan.end(switch, port) != End::Nothing && left.end(switch, port) == End::Nothing
        };
        let mut switches = 0..plan.switches();
        !matches!(self.left, Left::All)
            && switches.any(|at| (0..plan.ports(at) as Port).any(|port| is_gone(at, port)))
    }

    /// Whether the plan is what a found fabric was recognised to be.
    pub(super) fn is_found(&self) -> bool {
        self.numbers.is_some()
    }

    fn differences(&self) -> &[Difference] {
        self.numbers.as_ref().map_or(&[], |numbers| &numbers.recognised.differences)
    }

    /// Found cables that the plan does not have, which no layout has a place for.
    pub(super) fn not_drawn(&self) -> usize {
        let is_found = |of: &&Difference| !matches!(of, Difference::Missing(_));
        self.differences().iter().filter(is_found).count()
    }

    /// The planned switch that a switch of the wiring is.
    pub(super) fn planned_switch(&self, switch: Switch) -> Option<Switch> {
        match &self.numbers {
            None => Some(switch),
            Some(numbers) => *numbers.recognised.map.switches.get(switch as usize)?,
        }
    }

    /// The planned host that a host of the wiring is.
    pub(super) fn planned_host(&self, host: Host) -> Option<Host> {
        match &self.numbers {
            None => Some(host),
            Some(numbers) => *numbers.recognised.map.hosts.get(host as usize)?,
        }
    }

    /// The load that leaves a planned switch by a port.
    pub(super) fn load(&self, heat: &Heat, switch: Switch, port: Port) -> f64 {
        match &self.numbers {
            None => heat.on(switch, port),
            Some(numbers) => {
                let found = numbers.ports.get(&(switch, port));
                found.map_or(0.0, |&(switch, port)| heat.on(switch, port))
            }
        }
    }
}
