//! What a choice is compared with: every algorithm of the operation with settings drawn at random,
//! over the ranks as they are and in other orders.

use laneway_coll::{Algorithm, Parameter, Params, algorithms, permuted};
use laneway_core::{Schedule, Shape};
use laneway_sim::platform::Platform;
use laneway_sim::{Effort, HostId, Network, Route, Simulation};
use laneway_sites::Sites;

use crate::dice::Dice;

/// A setting whose ranks have more rounds than this together is drawn again: it would take minutes.
const MOST_ROUNDS: u64 = 100_000;
/// Nor is a setting an opponent whose simulation is more work than this, about half a minute.
const MOST_EFFORT: u64 = 300_000_000;
/// A block is cut into at most this many pieces.
const MOST_PIECES: u64 = 1 << 10;

/// An algorithm with settings, and with the ranks in other places if there are any.
#[derive(Clone, Debug)]
pub struct Opponent {
    algorithm: &'static Algorithm,
    params: Params,
    order: Order,
    places: Vec<u32>,
}

/// The order of the ranks that an algorithm sees.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Order {
    Given,
    /// The root's site first, then site by site.
    Sites,
    /// The same with the fastest hosts of a site first.
    Rates,
    /// The same with the sites in any order.
    AnySites,
}

/// Where a call is made.
pub struct Ground<'a> {
    pub platform: &'a Platform,
    pub sites: &'a Sites<'a>,
    pub shape: &'a Shape,
    /// Bytes of a block or of the vector.
    pub size: u64,
}

impl Opponent {
    pub fn is_in_given_order(&self) -> bool {
        self.order == Order::Given
    }

    /// As `laneway sim` takes it; the order of the ranks before it, if that is not the given one.
    pub fn spelled(&self) -> String {
        let name = self.algorithm.spelled(&self.params);
        match self.order {
            Order::Given => name,
            order => format!("{order:?}/{name}").to_lowercase(),
        }
    }
}

impl Ground<'_> {
    pub fn draw(&self, dice: &mut Dice) -> Opponent {
        let all: Vec<&'static Algorithm> = algorithms(self.shape.collective).collect();
        let algorithm = dice.one_of(&all);
        let mut params = algorithm.defaults();
        for (parameter, usual) in algorithm.parameters {
            let value = self.value(dice, *parameter, *usual);
            // A value outside of its range leaves the usual one.
            let _ = params.set(*parameter, value);
        }
        let orders =
            [Order::Given, Order::Given, Order::Given, Order::Sites, Order::Rates, Order::AnySites];
        let order = dice.one_of(&orders);
        let places = self.places(dice, order);
        Opponent { algorithm, params, order, places }
    }

    /// Any value of a parameter's real range.
    fn value(&self, dice: &mut Dice, parameter: Parameter, usual: u64) -> u64 {
        let ranks = u64::from(self.shape.ranks);
        let longest = self.size.max(1);
        let placement = self.sites.placement();
        let sizes = (0..placement.sites()).map(|site| placement.members(site).len() as u64);
        let largest = sizes.max().unwrap_or(1);
        match parameter {
            Parameter::Radix => dice.whole(2, ranks.max(2)),
            Parameter::Segment => match self.platform.eager_bytes() {
                eager if (1..longest).contains(&eager) && dice.is(0.2) => eager,
                _ => dice.whole(longest.div_ceil(MOST_PIECES), longest),
            },
            Parameter::Window => dice.whole(1, 2 * ranks),
            Parameter::Lanes if dice.is(0.3) => 0,
            Parameter::Lanes => dice.whole(1, largest),
            Parameter::Near if dice.is(0.3) => 0,
            Parameter::Near => dice.whole(1, ranks),
            Parameter::Own if dice.is(0.25) => dice.one_of(&[0, 1000]),
            Parameter::Own => dice.index(1001) as u64,
            Parameter::Stripes => dice.whole(1, 64),
            Parameter::Connections => dice.whole(1, u64::from(self.platform.connections())),
            _ if dice.is(0.3) => usual,
            _ => dice.index(9) as u64,
        }
    }

    /// The place of each rank; none for the given order.
    fn places(&self, dice: &mut Dice, order: Order) -> Vec<u32> {
        if order == Order::Given {
            return Vec::new();
        }
        let placement = self.sites.placement();
        let root = self.shape.root;
        let home = placement.location(root).site;
        let mut sites: Vec<u32> = (0..placement.sites()).filter(|site| *site != home).collect();
        if order == Order::AnySites {
            dice.shuffle(&mut sites);
        }
        sites.insert(0, home);
        let mut ranks: Vec<u32> = Vec::new();
        for site in sites {
            let mut members = placement.members(site).to_vec();
            if order == Order::Rates {
                members.sort_by(|a, b| self.rate(*b).total_cmp(&self.rate(*a)));
            }
            members.sort_by_key(|rank| *rank != root);
            ranks.extend(members);
        }
        let mut places = vec![0; ranks.len()];
        (0..).zip(&ranks).for_each(|(place, rank)| places[*rank as usize] = place);
        places
    }

    /// Bytes a second that a rank's host sends.
    fn rate(&self, rank: u32) -> f64 {
        let other = u32::from(rank == 0);
        let mut route = Route::default();
        self.platform.route(rank, other, &mut route);
        let first = route.resources.first();
        first.map_or(f64::INFINITY, |id| self.platform.resources()[*id as usize].rate)
    }

    /// The seconds that an opponent takes; `None` if it does not serve the call, has too many
    /// rounds, is too much work, or takes longer than a limit.
    pub fn time(&self, opponent: &Opponent, limit: f64) -> Option<f64> {
        let Opponent { algorithm, params, order, places } = opponent;
        let schedule = match order {
            Order::Given => algorithm.placed(self.shape, params, self.sites.placement()).ok()?,
            _ => {
                let placement = self.platform.placement(&hosts_by_place(places));
                let shape = self.shape.clone().with_placement(placement.into());
                permuted(algorithm, &shape, params, places).ok()?
            }
        };
        self.time_of(&*schedule, limit)
    }

    /// The same for any schedule.
    pub fn time_of(&self, schedule: &dyn Schedule, limit: f64) -> Option<f64> {
        if rounds(schedule) > MOST_ROUNDS {
            return None;
        }
        let effort = Effort::new(MOST_EFFORT);
        let simulation = Simulation::new(self.platform).within(limit).effort(&effort);
        let outcome = simulation.run(schedule).ok()?;
        Some(outcome.finish)
    }
}

/// The host of each place, where rank r is on host r.
fn hosts_by_place(places: &[u32]) -> Vec<HostId> {
    let mut hosts = vec![0; places.len()];
    (0..).zip(places).for_each(|(rank, place)| hosts[*place as usize] = rank);
    hosts
}

/// Rounds of all ranks, each of which starts about one message.
fn rounds(schedule: &dyn Schedule) -> u64 {
    let of = |rank: u32| -> u64 {
        (0..schedule.lanes(rank)).map(|lane| schedule.rounds(rank, lane)).sum()
    };
    (0..schedule.ranks()).map(of).sum()
}
