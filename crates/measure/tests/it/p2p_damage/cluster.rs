//! Random clusters with random damage, by seed: what `laneway measure pairs` should find.
//!
//! Damage that nothing could show is not drawn: a card of a site of two hosts behind a narrower
//! way to the others, or two damages that cover each other.

use std::fmt::Write;

use laneway_sim::platform::Platform;
use laneway_stats::SplitMix64;

/// What is wrong; hosts are named by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Damage {
    Card(u32),
    CardIn(u32),
    CardOut(u32),
    /// The card that a host has for other sites.
    FarCard(u32),
    Link(u32, u32),
    LinkTowards(u32, u32),
    HostLatency(u32),
    LinkLatency(u32, u32),
}

impl Damage {
    pub const KINDS: [&str; 8] = [
        "card",
        "card in",
        "card out",
        "card for other sites",
        "link",
        "link one way",
        "latency of a host",
        "latency of a link",
    ];

    /// Its place among the kinds.
    pub fn kind(self) -> usize {
        match self {
            Damage::Card(_) => 0,
            Damage::CardIn(_) => 1,
            Damage::CardOut(_) => 2,
            Damage::FarCard(_) => 3,
            Damage::Link(..) => 4,
            Damage::LinkTowards(..) => 5,
            Damage::HostLatency(_) => 6,
            Damage::LinkLatency(..) => 7,
        }
    }

    fn hosts(self) -> Vec<u32> {
        match self {
            Damage::Card(a) | Damage::CardIn(a) | Damage::CardOut(a) => vec![a],
            Damage::FarCard(a) | Damage::HostLatency(a) => vec![a],
            Damage::Link(a, b) | Damage::LinkTowards(a, b) | Damage::LinkLatency(a, b) => {
                vec![a, b]
            }
        }
    }
}

/// A cluster as a file of a platform.
pub struct Cluster {
    pub text: String,
    pub damage: Vec<Damage>,
}

/// What all sites are made of.
struct Plan {
    /// Hosts of each site.
    sites: Vec<u32>,
    /// Megabits a second of the cards of each site, and the latency inside it in microseconds.
    rates: Vec<f64>,
    latencies: Vec<f64>,
    wan_latency: f64,
    /// What one connection between sites may have.
    connection: f64,
    /// Whether hosts have a second card for other sites.
    far_cards: bool,
    /// How far a host's card may be from the rate of its site: a part.
    spread: f64,
}

struct Dice(SplitMix64);

impl Dice {
    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.0.uniform()
    }

    fn below(&mut self, end: u32) -> u32 {
        ((self.0.uniform() * f64::from(end)) as u32).min(end.saturating_sub(1))
    }

    fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u32) as usize]
    }

    fn chance(&mut self, part: f64) -> bool {
        self.0.uniform() < part
    }
}

impl Plan {
    fn draw(dice: &mut Dice) -> Plan {
        let count = dice.pick(&[1, 2, 2, 3, 3]);
        let sites: Vec<u32> = match count {
            1 => vec![4 + dice.below(17)],
            2 => {
                let size = 3 + dice.below(8);
                let other = if dice.chance(0.5) { size } else { 2 + dice.below(9) };
                vec![size, other]
            }
            _ => (0..3).map(|_| 2 + dice.below(5)).collect(),
        };
        let sites = if sites.iter().all(|&size| size == 2) { vec![4, 2, 3] } else { sites };
        let (rate, latency) = (dice.pick(&[1e3, 1e4, 2.5e4, 1e5]), dice.between(2.0, 60.0));
        let alike = dice.chance(0.7);
        let mut rates = Vec::new();
        let mut latencies = Vec::new();
        for _ in &sites {
            rates.push(if alike { rate } else { dice.pick(&[1e3, 1e4, 2.5e4]) });
            latencies.push(if alike { latency } else { dice.between(2.0, 60.0) });
        }
        let slowest = rates.iter().copied().fold(f64::MAX, f64::min);
        let connection = match dice.below(3) {
            0 => slowest,
            1 => slowest * 0.25,
            _ => slowest * dice.between(0.02, 1.0),
        };
        let wan_latency = dice.pick(&[300.0, 1000.0, 2000.0, 5000.0, 20_000.0]);
        let far_cards = sites.len() > 1 && dice.chance(0.25);
        let spread = dice.pick(&[0.0, 0.0, 0.02, 0.04]);
        Plan { sites, rates, latencies, wan_latency, connection, far_cards, spread }
    }

    fn hosts(&self) -> u32 {
        self.sites.iter().sum()
    }

    fn site(&self, host: u32) -> usize {
        let mut end = 0;
        self.sites
            .iter()
            .position(|size| {
                end += size;
                host < end
            })
            .unwrap_or(0)
    }

    fn name(&self, host: u32) -> String {
        let site = self.site(host);
        let before: u32 = self.sites[..site].iter().sum();
        format!("s{site}n{}", host - before)
    }

    /// Megabits a second and microseconds of the way between two sound hosts.
    fn way(&self, a: u32, b: u32) -> (f64, f64) {
        let (one, other) = (self.site(a), self.site(b));
        match one == other {
            true => (self.rates[one], self.latencies[one]),
            false => {
                let cards = self.rates[one].min(self.rates[other]);
                (self.connection.min(cards), self.wan_latency)
            }
        }
    }

    /// Whether so slow a card would show on enough ways.
    fn shows(&self, host: u32, factor: f64) -> bool {
        self.sites[self.site(host)] >= 3 || self.shows_abroad(host, factor)
    }

    /// Whether it would on ways to another site.
    fn shows_abroad(&self, host: u32, factor: f64) -> bool {
        let site = self.site(host);
        let far = |(other, size): (usize, &u32)| {
            let way = self.connection.min(self.rates[other]).min(self.rates[site]);
            other != site && *size >= 2 && self.rates[site] * factor < 0.75 * way
        };
        self.sites.iter().enumerate().any(far)
    }

    /// Whether a card for other sites would, while the other card shows that it is sound.
    fn shows_far(&self, host: u32, factor: f64) -> bool {
        let has_company = self.sites[self.site(host)] >= 3;
        self.far_cards && has_company && self.shows_abroad(host, factor)
    }

    fn text(&self, dice: &mut Dice) -> String {
        let mut text = String::new();
        for (site, latency) in self.latencies.iter().enumerate() {
            // Writing to a string cannot fail.
            let _ = write!(text, "[[site]]\nname = \"site{site}\"\nlatency = \"{latency}us\"\n");
        }
        for host in 0..self.hosts() {
            let site = self.site(host);
            let rate = self.rates[site] * (1.0 + dice.between(-self.spread, self.spread));
            let name = self.name(host);
            let _ = write!(
                text,
                "[[host]]\nname = \"{name}\"\nsite = \"site{site}\"\nrate = \"{rate}Mbit\"\n"
            );
            if self.far_cards {
                let _ = writeln!(text, "wan-rate = \"{rate}Mbit\"");
            }
        }
        let _ = write!(
            text,
            "[wan]\nlatency = \"{}us\"\nconnection = \"{}Mbit\"\n",
            self.wan_latency, self.connection
        );
        text
    }

    /// A route of its own for two hosts.
    fn route(
        &self,
        number: usize,
        [a, b]: [u32; 2],
        rate: f64,
        latency: f64,
        both: bool,
    ) -> String {
        format!(
            "[[link]]\nname = \"link{number}\"\nrate = \"{rate}Mbit\"\nlatency = \"{latency}us\"\n\
             duplex = \"full\"\n[[route]]\nfrom = \"{}\"\nto = \"{}\"\nlinks = [\"link{number}\"]\n\
             both-ways = {both}\n",
            self.name(a),
            self.name(b),
        )
    }
}

/// The traffic of others: a few messages now and then, and a little all the time. No host sends or
/// receives for two of them: one that is busy all the time is slow, and found to be.
fn background(plan: &Plan, dice: &mut Dice) -> String {
    let mut text = String::new();
    let level = dice.pick(&[0.0, 0.02, 0.05, 0.1]);
    if level == 0.0 {
        return text;
    }
    let mut busy = Vec::new();
    for _ in 0..1 + dice.below(4) {
        let (a, b) = (dice.below(plan.hosts()), dice.below(plan.hosts()));
        if a == b || busy.contains(&a) || busy.contains(&b) {
            continue;
        }
        busy.extend([a, b]);
        let rate = plan.way(a, b).0 * level;
        let (from, to) = (plan.name(a), plan.name(b));
        let _ = match dice.chance(0.5) {
            true => write!(
                text,
                "[[background]]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"{rate}Mbit\"\n"
            ),
            false => {
                let kibibytes = dice.pick(&[64u32, 256, 1024]);
                let megabits = f64::from(kibibytes) * 1024.0 * 8e-6;
                write!(
                    text,
                    "[[background]]\nfrom = \"{from}\"\nto = \"{to}\"\nsize = \"{kibibytes}K\"\n\
                     every = \"{}us\"\nrandom = true\n",
                    1e6 * megabits / rate
                )
            }
        };
    }
    text
}

/// A platform and nothing wrong with it.
pub fn healthy(seed: u64) -> Cluster {
    let mut dice = Dice(SplitMix64::new(seed));
    let plan = Plan::draw(&mut dice);
    let text = plan.text(&mut dice) + &background(&plan, &mut dice);
    Cluster { text: format!("seed = {}\n{text}", seed % 1000 + 1), damage: Vec::new() }
}

/// One or two things wrong with one.
pub fn damaged(seed: u64) -> Cluster {
    let mut dice = Dice(SplitMix64::new(seed));
    let plan = Plan::draw(&mut dice);
    let mut cluster = Cluster { text: plan.text(&mut dice), damage: Vec::new() };
    cluster.text += &background(&plan, &mut dice);
    cluster.text = format!("seed = {}\n{}", seed % 1000 + 1, cluster.text);
    let wanted = if dice.chance(0.35) { 2 } else { 1 };
    // Some draws would show nothing; others are drawn instead.
    for _ in 0..1000 {
        if cluster.damage.len() == wanted {
            break;
        }
        add(&mut cluster, &plan, &mut dice);
    }
    cluster
}

/// A fleet of `hosts` hosts, at one site or a few, with zero to four things wrong.
#[allow(dead_code)] // The benchmark and the test of all pairs draw smaller ones.
pub fn fleet(seed: u64, hosts: u32) -> Cluster {
    let mut dice = Dice(SplitMix64::new(seed));
    let count = dice.pick(&[1, 1, 1, 1, 2, 3]);
    let mut plan = Plan::draw(&mut dice);
    let part = |site: u32| hosts / count + u32::from(site < hosts % count);
    plan.sites = (0..count).map(part).collect();
    let (rate, latency) = (plan.rates[0], plan.latencies[0]);
    plan.rates.resize(count as usize, rate);
    plan.latencies.resize(count as usize, latency);
    plan.far_cards &= count > 1;
    let slowest = plan.rates.iter().copied().fold(f64::MAX, f64::min);
    plan.connection = plan.connection.min(slowest);
    let mut cluster = Cluster { text: plan.text(&mut dice), damage: Vec::new() };
    cluster.text += &background(&plan, &mut dice);
    cluster.text = format!("seed = {}\n{}", seed % 1000 + 1, cluster.text);
    let wanted = dice.below(5) as usize;
    for _ in 0..1000 {
        if cluster.damage.len() == wanted {
            break;
        }
        add(&mut cluster, &plan, &mut dice);
    }
    cluster
}

/// Adds a damage, if it is distinguishable from all others.
fn add(cluster: &mut Cluster, plan: &Plan, dice: &mut Dice) {
    let a = dice.below(plan.hosts());
    let b = (a + 1 + dice.below(plan.hosts() - 1)) % plan.hosts();
    let (low, high) = (a.min(b), a.max(b));
    let damage = match dice.below(8) {
        0 => Damage::Card(a),
        1 => Damage::CardIn(a),
        2 => Damage::CardOut(a),
        3 => Damage::Link(low, high),
        4 => Damage::LinkTowards(a, b),
        5 => Damage::HostLatency(a),
        6 => Damage::FarCard(a),
        _ => Damage::LinkLatency(low, high),
    };
    let factor = dice.between(0.2, 0.7);
    let least = if cluster.damage.is_empty() { 3 } else { 4 };
    let known: Vec<u32> = cluster.damage.iter().flat_map(|damage| damage.hosts()).collect();
    // Two late hosts would need two routes between them.
    let is_late = |damage: &Damage| matches!(damage, Damage::HostLatency(_));
    let twice_late = is_late(&damage) && cluster.damage.iter().any(is_late);
    if twice_late || damage.hosts().iter().any(|host| known.contains(host)) {
        return;
    }
    let is_link = damage.hosts().len() == 2;
    let near = plan.site(a) == plan.site(b);
    let crowded = |host: &u32| plan.sites[plan.site(*host)] < least;
    let hidden = match damage {
        Damage::Card(_) | Damage::CardIn(_) | Damage::CardOut(_) => !plan.shows(a, factor),
        Damage::FarCard(_) => !plan.shows_far(a, factor),
        Damage::HostLatency(_) => plan.sites[plan.site(a)] < 3,
        _ => near && plan.sites[plan.site(a)] < 3,
    };
    let second = !cluster.damage.is_empty();
    if hidden || second && damage.hosts().iter().chain(&known).any(crowded) {
        return;
    }
    if is_link && !near && [a, b].iter().any(|host| plan.sites[plan.site(*host)] < 2) {
        return;
    }
    let number = cluster.damage.len();
    cluster.text += &written(damage, factor, number, plan, dice);
    cluster.damage.push(damage);
}

/// A damage as it stands in a platform.
fn written(damage: Damage, factor: f64, number: usize, plan: &Plan, dice: &mut Dice) -> String {
    let event = |host: u32, direction: &str| {
        format!(
            "[[event]]\nat = \"0s\"\nhost = \"{}\"\n{direction}factor = {factor}\n",
            plan.name(host)
        )
    };
    match damage {
        Damage::Card(host) => event(host, ""),
        Damage::CardIn(host) => event(host, "direction = \"in\"\n"),
        Damage::CardOut(host) => event(host, "direction = \"out\"\n"),
        Damage::FarCard(host) => event(host, "card = \"wan\"\n"),
        Damage::Link(a, b) | Damage::LinkTowards(a, b) => {
            let (rate, latency) = plan.way(a, b);
            plan.route(number, [a, b], rate * factor, latency, matches!(damage, Damage::Link(..)))
        }
        Damage::LinkLatency(a, b) => {
            let (rate, latency) = plan.way(a, b);
            let times = dice.between(2.5, 12.0);
            plan.route(number, [a, b], rate, latency * times, true)
        }
        Damage::HostLatency(host) => {
            let times = dice.between(1.5, 12.0);
            let mut text = String::new();
            // A route does not pass a card for other sites: where there is one, those ways stay.
            let is_written = |other: &u32| !plan.far_cards || plan.site(*other) == plan.site(host);
            for other in (0..plan.hosts()).filter(|&other| other != host).filter(is_written) {
                let (rate, latency) = plan.way(host, other);
                let own = plan.latencies[plan.site(host)] * times;
                let number = 1000 * (number + 1) + other as usize;
                text += &plan.route(number, [host, other], rate, latency + own, true);
            }
            text
        }
    }
}

impl Cluster {
    /// From a file that is gone when it has been read.
    pub fn platform(&self, name: &str) -> Result<Platform, String> {
        let file = format!("laneway-damage-{name}-{}.toml", std::process::id());
        let file = std::env::temp_dir().join(file);
        std::fs::write(&file, &self.text).map_err(|error| error.to_string())?;
        let found = Platform::read(&file.to_string_lossy());
        std::fs::remove_file(&file).map_err(|error| error.to_string())?;
        found.map_err(|error| error.to_string())
    }
}
