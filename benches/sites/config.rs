//! Sites, links and calls drawn at random, every number over its range on a logarithmic scale.

use laneway_core::Collective;
use laneway_stats::SplitMix64;

/// Bytes that all ranks together may have, so that a run fits into memory.
const MOST_BYTES: f64 = 256e6;
const MOST_HOSTS: u32 = 64;

/// What a platform file says to be SimGrid's: its header, shares by latency, and messages of a pair
/// beside each other.
pub const SIMGRIDS_WAY: &str = "header = \"16\"\nsharing = \"by-latency\"\n";
pub const BESIDE_EACH_OTHER: &str = "in-order = false\n";

/// A platform of sites, and a call on it.
#[derive(Clone, Debug)]
pub struct Config {
    pub op: Collective,
    pub hosts: Vec<u32>,
    pub root: u32,
    pub size: u64,
    /// Bits a second of a host: B.
    pub rate: f64,
    /// Of a second card for other sites, if there is one.
    wan_rate: Option<f64>,
    /// Of one connection between sites: b.
    connection: f64,
    uplink: f64,
    /// Of all connections between sites together, if that is less.
    aggregate: Option<f64>,
    /// Seconds between sites, and inside one.
    latency: f64,
    lan_latency: f64,
    /// SimGrid stops where messages below and above the limit meet: all of them are, or none.
    eager: bool,
}

impl Config {
    pub fn draw(random: &mut SplitMix64) -> Config {
        let mut log = |low: f64, high: f64| low * (high / low).powf(random.uniform());
        let sites = log(2.0, 5.9) as usize;
        let mut hosts: Vec<u32> = (0..sites).map(|_| log(1.0, 32.9) as u32).collect();
        while hosts.iter().sum::<u32>() > MOST_HOSTS {
            hosts.iter_mut().for_each(|count| *count = (*count / 2).max(1));
        }
        let ranks: u32 = hosts.iter().sum();
        let rate = log(1e8, 1e11);
        let connection = rate / log(1.0, 32.0);
        let size = log(1.0, (8 << 20) as f64).min(MOST_BYTES / f64::from(ranks)) as u64;
        let (latency, lan_latency) = (log(2e-4, 5e-2), log(5e-6, 1e-4));
        let (uplink, aggregate) = (log(1.0, 32.0), log(1.0, 32.0));
        let wan_rate = log(0.1, 1.0);
        let mut coin = || random.uniform() < 0.5;
        let (scatter, eager, has_aggregate) = (coin(), coin(), coin());
        let has_card = coin() && coin();
        Config {
            op: if scatter { Collective::Scatter } else { Collective::Gather },
            root: (random.uniform() * f64::from(ranks)) as u32,
            hosts,
            size,
            rate,
            wan_rate: has_card.then_some(wan_rate * rate),
            connection,
            uplink: uplink * connection,
            aggregate: has_aggregate.then_some(aggregate * connection),
            latency,
            lan_latency,
            eager,
        }
    }

    /// Bits a second of one connection to another site, where as many as there are sites share a
    /// card.
    pub fn far_rate(&self) -> f64 {
        self.connection.min(self.wan_rate.unwrap_or(self.rate) / self.hosts.len() as f64)
    }

    /// Bits a second of a way to another site, where every way has as much of each link.
    pub fn far_share(&self) -> f64 {
        let sites = self.hosts.len() as f64;
        let ways = sites * (sites - 1.0);
        let share = self.far_rate().min(self.uplink / (sites - 1.0));
        self.aggregate.map_or(share, |together| share.min(together / ways))
    }

    pub fn ranks(&self) -> u32 {
        self.hosts.iter().sum()
    }

    /// The call in words.
    pub fn describe(&self) -> String {
        format!("{} of {} bytes from rank {}", self.op.name(), self.size, self.root)
    }

    /// The platform's name, as SimGrid has it ([`SIMGRIDS_WAY`]).
    pub fn platform(&self) -> String {
        let hosts: Vec<String> = self.hosts.iter().map(u32::to_string).collect();
        let rate = |name: &str, rate: f64| format!(",{name}={:.6}Mbit", rate / 1e6);
        let time = |name: &str, time: f64| format!(",{name}={:.3}us", time * 1e6);
        let mut spec =
            format!("sites:{},header=16,in-order=false,sharing=by-latency", hosts.join(","));
        spec += &rate("rate", self.rate);
        spec += &self.wan_rate.map_or(String::new(), |card| rate("wan-rate", card));
        spec += &rate("connection", self.connection);
        spec += &rate("uplink", self.uplink);
        spec += &self.aggregate.map_or(String::new(), |together| rate("aggregate", together));
        spec += &time("latency", self.latency);
        spec += &time("lan-latency", self.lan_latency);
        spec += if self.eager { ",eager=1G" } else { ",eager=0" };
        spec
    }

    /// The rule of thumb: flat, with as many under way as fill the card, and one more.
    pub fn rule_of_thumb(&self) -> String {
        let window = (self.rate / self.connection).round() as u32 + 1;
        let name = if self.op == Collective::Scatter { "windowed" } else { "credits" };
        format!("{name}:window={window}")
    }
}
