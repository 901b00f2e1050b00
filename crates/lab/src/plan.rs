//! What a lab is made of: hosts with cards, sites, and what lies between the sites. A plan is read
//! from a platform, and written to a file so that later commands know the lab.

use std::fmt::Write;
use std::net::Ipv4Addr;

use laneway_sim::platform::{CardRates, Layout, Platform};
pub use laneway_sim::platform::{LayoutHost as Host, LayoutWay as Way};

pub use crate::emulator::Pipe;

/// More hosts in one site than this have no addresses.
pub const MOST_HOSTS_OF_SITE: usize = 250;
/// More sites than this have no addresses.
pub const MOST_SITES: usize = 200;
/// More cards of a host than this have none either.
pub const MOST_CARDS: usize = 8;
/// The latency inside a site that the kernel causes: a way there cannot be made longer, and
/// platforms that ask for up to this get what the kernel gives.
pub const MOST_LAN_LATENCY: f64 = 100e-6;
/// The network beside the others, that no fault touches.
const MANAGEMENT: u8 = 255;
/// The kernel gives a socket no less.
pub(crate) const LEAST_RECEIVE_BUFFER: u64 = 4096;
/// The longest packets must fit.
const LEAST_SWITCH_QUEUE: u64 = 4096;
/// Bytes that may wait before a rate, at least, and the seconds that they may wait.
const LEAST_QUEUE: f64 = 512.0 * 1024.0;
const QUEUE_SECONDS: f64 = 0.02;

/// Beyond what a platform says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Cards of each host, each a path of its own.
    pub cards: usize,
    /// All cards of a site on one switch, instead of a switch for each path.
    pub one_switch: bool,
    /// A network beside the others for launchers and control.
    pub management: bool,
    /// Bytes that may wait before the WAN's rates; none: 20 ms, at least 512 KiB.
    pub queue_bytes: Option<u64>,
    /// Of all that is random between the sites.
    pub seed: u64,
    /// What a socket's receive buffer holds at most; windows of the platform are then what the
    /// kernel announces of it, about 6 tenths, and connections are not paced to them.
    pub receive_buffer: Option<u64>,
    /// Bytes that may wait at a port of a switch; none: 20 ms, at least 512 KiB.
    pub switch_queue: Option<u64>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            cards: 1,
            one_switch: false,
            management: false,
            queue_bytes: None,
            seed: 1,
            receive_buffer: None,
            switch_queue: None,
        }
    }
}

/// What a lab is made of.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Plan {
    /// The name that the platform was read by.
    pub platform: String,
    /// What goes beyond the platform.
    pub options: Options,
    /// The names of the sites.
    pub sites: Vec<String>,
    /// The hosts of all sites.
    pub hosts: Vec<Host>,
    /// From site to site.
    pub ways: Vec<Way>,
    /// What these ways share.
    pub pipes: Vec<Pipe>,
}

/// Bytes that may wait before a rate.
pub fn queue_of(rate: f64) -> u64 {
    (rate * QUEUE_SECONDS).max(LEAST_QUEUE) as u64
}

impl Plan {
    /// A plan of a platform; the error names what cannot be built.
    pub fn new(platform: &Platform, options: Options) -> Result<Plan, String> {
        let layout = platform.layout()?;
        check(&layout, &options)?;
        if let Some(pipe) = layout.pipes.iter().find(|pipe| !pipe.congestion.is_none()) {
            return Err(format!("congestion of {}: the WAN carries its rate", pipe.name));
        }
        let queue = |rate: f64| options.queue_bytes.unwrap_or(queue_of(rate));
        let pipes = layout.pipes.iter().map(|pipe| Pipe {
            name: pipe.name.clone(),
            rate: pipe.rate,
            queue_bytes: queue(pipe.rate),
        });
        Ok(Plan {
            platform: platform.name().to_string(),
            options,
            pipes: pipes.collect(),
            sites: layout.sites.into_iter().map(|site| site.name).collect(),
            hosts: layout.hosts,
            ways: layout.ways,
        })
    }

    /// The host of that name.
    pub fn host(&self, name: &str) -> Option<&Host> {
        self.hosts.iter().find(|host| host.name == name)
    }

    /// The number of the site of that name.
    pub fn site(&self, name: &str) -> Option<usize> {
        self.sites.iter().position(|site| site == name)
    }

    /// The way from a site to another; none within a site.
    pub fn way(&self, from: usize, to: usize) -> Option<&Way> {
        self.ways.iter().find(|way| way.from == from && way.to == to)
    }

    /// How many networks of cards there are; a second card for other sites is one more.
    pub fn paths(&self) -> usize {
        let second = self.hosts.iter().any(|host| host.wan_card.is_some());
        self.options.cards + usize::from(second)
    }

    /// Seconds there and back; none inside a site.
    pub fn round_trip(&self, a: usize, b: usize) -> f64 {
        let latency = |from, to| self.way(from, to).map_or(0.0, |way| way.latency);
        latency(a, b) + latency(b, a)
    }

    /// What a way leaves one connection: its rate, or its window for each round trip.
    fn rate_of_connection(&self, way: &Way) -> Option<f64> {
        let trip = self.round_trip(way.from, way.to);
        let window = way.window.map(|bytes| bytes as f64 / trip);
        let both = [way.connection, window].into_iter().flatten();
        both.reduce(f64::min).filter(|rate| rate.is_finite())
    }

    /// What one connection of a way is paced to. Kernels take the window of a route for a rough
    /// hint, so that it is paced as well, unless receive buffers hold it.
    pub fn paced(&self, way: &Way) -> Option<f64> {
        match self.options.receive_buffer {
            Some(_) => way.connection.filter(|rate| rate.is_finite()),
            None => self.rate_of_connection(way),
        }
    }

    /// What limits one connection between two hosts, in bytes a second; infinite without a limit.
    pub fn rate_of_one(&self, from: &Host, to: &Host) -> f64 {
        let far = from.site != to.site;
        let card = |host: &Host| match (far, host.wan_card) {
            (true, Some(card)) => card,
            _ => host.card,
        };
        let cards = [card(from).out, card(to).into].into_iter().flatten();
        let least = cards.fold(f64::INFINITY, f64::min);
        let Some(way) = self.way(from.site, to.site) else { return least };
        let pipes = way.pipes.iter().map(|pipe| self.pipes[*pipe].rate);
        pipes.fold(least, f64::min).min(self.rate_of_connection(way).unwrap_or(f64::INFINITY))
    }

    /// The plan as text, for [`Plan::parse`].
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        let rate = |rate: Option<f64>| rate.map_or("-".to_string(), |rate| rate.to_string());
        let card = |card: CardRates| format!("{} {}", rate(card.out), rate(card.into));
        let Options { cards, one_switch, management, queue_bytes, seed, .. } = self.options;
        let sizes = [queue_bytes, self.options.receive_buffer, self.options.switch_queue];
        let [queue, buffer, ports] =
            sizes.map(|bytes| bytes.map_or("-".to_string(), |bytes| bytes.to_string()));
        // Writing into a string cannot fail.
        _ = writeln!(text, "platform {}", self.platform);
        _ = writeln!(
            text,
            "options {cards} {one_switch} {management} {queue} {seed} {buffer} {ports}"
        );
        for site in &self.sites {
            _ = writeln!(text, "site {site}");
        }
        for Pipe { name, rate, queue_bytes } in &self.pipes {
            _ = writeln!(text, "pipe {name} {rate} {queue_bytes}");
        }
        for host in &self.hosts {
            let wan = host.wan_card.map_or("none none".to_string(), card);
            _ = writeln!(text, "host {} {} {} {wan}", host.name, host.site, card(host.card));
        }
        for way in &self.ways {
            let window = way.window.map_or("-".to_string(), |bytes| bytes.to_string());
            let pipes: Vec<String> = way.pipes.iter().map(|pipe| pipe.to_string()).collect();
            let Way { from, to, latency, connection, .. } = way;
            let connection = rate(*connection);
            let pipes = pipes.join(" ");
            _ = writeln!(text, "way {from} {to} {latency} {connection} {window} {pipes}");
        }
        text
    }

    /// Reads what [`Plan::to_text`] wrote; the error is the line that is none of it.
    pub fn parse(text: &str) -> Result<Plan, String> {
        let (sites, hosts) = (Vec::new(), Vec::new());
        let (platform, options) = (String::new(), Options::default());
        let (ways, pipes) = (Vec::new(), Vec::new());
        let mut plan = Plan { platform, options, sites, hosts, ways, pipes };
        for line in text.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            plan.take(&words).ok_or_else(|| format!("not a line of a plan: {line}"))?;
        }
        let (sites, pipes) = (plan.sites.len(), plan.pipes.len());
        let known = |way: &Way| {
            way.from < sites && way.to < sites && way.pipes.iter().all(|pipe| *pipe < pipes)
        };
        if plan.hosts.is_empty()
            || !plan.ways.iter().all(known)
            || plan.hosts.iter().any(|host| host.site >= sites)
        {
            return Err("a plan that names what it has not".to_string());
        }
        Ok(plan)
    }

    fn take(&mut self, words: &[&str]) -> Option<()> {
        match *words {
            ["platform", ref name @ ..] => self.platform = name.join(" "),
            ["options", cards, one_switch, management, queue, seed, buffer, ports] => {
                self.options = Options {
                    cards: cards.parse().ok()?,
                    one_switch: one_switch.parse().ok()?,
                    management: management.parse().ok()?,
                    queue_bytes: optional(queue)?,
                    seed: seed.parse().ok()?,
                    receive_buffer: optional(buffer)?,
                    switch_queue: optional(ports)?,
                };
            }
            ["site", name] => self.sites.push(name.to_string()),
            ["pipe", name, rate, queue] => self.pipes.push(Pipe {
                name: name.to_string(),
                rate: rate.parse().ok()?,
                queue_bytes: queue.parse().ok()?,
            }),
            ["host", name, site, out, into, wan_out, wan_in] => {
                let site = site.parse().ok()?;
                let number = self.hosts.iter().filter(|host| host.site == site).count();
                let card = CardRates { out: optional(out)?, into: optional(into)? };
                let wan_card = match wan_out {
                    "none" => None,
                    _ => Some(CardRates { out: optional(wan_out)?, into: optional(wan_in)? }),
                };
                self.hosts.push(Host { name: name.to_string(), site, number, card, wan_card });
            }
            ["way", from, to, latency, connection, window, ref pipes @ ..] => self.ways.push(Way {
                from: from.parse().ok()?,
                to: to.parse().ok()?,
                latency: latency.parse().ok()?,
                connection: optional(connection)?,
                window: optional(window)?,
                pipes: pipes.iter().map(|pipe| pipe.parse().ok()).collect::<Option<_>>()?,
            }),
            _ => return None,
        }
        Some(())
    }
}

/// A number, or `-` for none.
fn optional<T: std::str::FromStr>(word: &str) -> Option<Option<T>> {
    if word == "-" { Some(None) } else { word.parse().ok().map(Some) }
}

fn check(layout: &Layout, options: &Options) -> Result<(), String> {
    if !(1..=MOST_CARDS).contains(&options.cards) {
        return Err(format!("{} cards: a host has 1 to {MOST_CARDS}", options.cards));
    }
    if options.receive_buffer.is_some_and(|bytes| bytes < LEAST_RECEIVE_BUFFER) {
        return Err(format!("a receive buffer of less than {LEAST_RECEIVE_BUFFER} B"));
    }
    if options.switch_queue.is_some_and(|bytes| bytes < LEAST_SWITCH_QUEUE) {
        return Err(format!("a switch whose ports hold less than {LEAST_SWITCH_QUEUE} B"));
    }
    if layout.sites.len() > MOST_SITES {
        return Err(format!("{} sites: at most {MOST_SITES}", layout.sites.len()));
    }
    for host in &layout.hosts {
        // Launchers refuse others, or crash.
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
        if !host.name.chars().all(fits) {
            return Err(format!("host `{}`: a name has letters, digits, - and .", host.name));
        }
    }
    for (number, site) in layout.sites.iter().enumerate() {
        if site.latency > MOST_LAN_LATENCY {
            let us = 1e6 * site.latency;
            return Err(format!("latency of {us} us inside site {}", site.name));
        }
        let hosts = layout.hosts.iter().filter(|host| host.site == number).count();
        if hosts > MOST_HOSTS_OF_SITE {
            return Err(format!("{hosts} hosts in site {}", site.name));
        }
    }
    let second = layout.hosts.iter().any(|host| host.wan_card.is_some());
    if second && options.cards > 1 {
        return Err("a second card for other sites (wan-rate) beside several cards".to_string());
    }
    Ok(())
}

/// The address of a card; the network of path p is 10.p.0.0/16, of one site 10.p.site.0/24.
pub fn address(path: usize, host: &Host) -> Ipv4Addr {
    Ipv4Addr::new(10, path as u8, host.site as u8, host.number as u8 + 1)
}

/// The address of a host in the network beside the others.
pub fn management_address(host: &Host) -> Ipv4Addr {
    Ipv4Addr::new(10, MANAGEMENT, host.site as u8, host.number as u8 + 1)
}

/// The address of a site's router on a path.
pub fn gateway(path: usize, site: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, path as u8, site as u8, 254)
}

/// The site that an address belongs to.
pub fn site_of(address: Ipv4Addr) -> Option<usize> {
    let [ten, path, site, _] = address.octets();
    (ten == 10 && path != MANAGEMENT).then_some(site as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(spec: &str, options: Options) -> Result<Plan, String> {
        Plan::new(&Platform::read(spec).expect(spec), options)
    }

    #[test]
    fn a_plan_is_the_same_after_writing_and_reading() {
        for spec in [
            "cluster:4",
            "two-sites:8x8,connection=25Mbit,wan=100Mbit",
            "sites:2,3,4,window=156K,uplink=1Gbit",
            "two-sites:2x2,wan-rate=100Mbit",
        ] {
            let options = Options {
                management: true,
                receive_buffer: Some(9000),
                switch_queue: Some(65_536),
                ..Options::default()
            };
            let made = plan(spec, options).expect(spec);
            assert_eq!(Plan::parse(&made.to_text()), Ok(made), "{spec}");
        }
    }

    #[test]
    fn what_limits_a_connection_is_the_least_on_its_way() {
        let spec = "two-sites:2x2,latency=5ms,connection=25Mbit,wan=100Mbit,rate=1Gbit";
        let made = plan(spec, Options::default()).expect(spec);
        assert_eq!(made.rate_of_one(&made.hosts[0], &made.hosts[2]), 25e6 / 8.0);
        assert_eq!(made.rate_of_one(&made.hosts[0], &made.hosts[1]), 1e9 / 8.0);
        let made = plan("two-sites:2x2,latency=5ms,window=10000", Options::default()).expect(spec);
        assert_eq!(made.rate_of_one(&made.hosts[0], &made.hosts[2]), 1e6);
        assert_eq!((made.ways[0].connection, made.paced(&made.ways[0])), (None, Some(1e6)));
        let options = Options { receive_buffer: Some(17_000), ..Options::default() };
        let made = plan("two-sites:2x2,latency=5ms,window=10000", options).expect(spec);
        assert_eq!(made.rate_of_one(&made.hosts[0], &made.hosts[2]), 1e6);
        assert_eq!(made.paced(&made.ways[0]), None, "sockets hold the window");
    }

    #[test]
    fn what_cannot_be_built_is_named() {
        let many = Options { cards: 9, ..Options::default() };
        let two = Options { cards: 2, ..Options::default() };
        for (spec, options, word) in [
            ("cluster:4,latency=1ms", Options::default(), "latency of 1000 us inside"),
            ("cluster:300", Options::default(), "300 hosts"),
            ("cluster:4", many, "9 cards"),
            ("two-sites:2x2,wan-rate=1Gbit", two, "wan-rate"),
        ] {
            let refused = plan(spec, options);
            assert!(refused.as_ref().is_err_and(|why| why.contains(word)), "{refused:?}");
        }
        for text in ["host a", "host a 0 - - none none", "way 0 1 x - -", "nonsense", "pipe a"] {
            assert!(Plan::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn addresses_identify_their_site() {
        let made = plan("two-sites:3x3", Options::default()).expect("two sites");
        let address = address(1, &made.hosts[5]);
        assert_eq!(address, Ipv4Addr::new(10, 1, 1, 3));
        assert_eq!(site_of(address), Some(1));
        assert_eq!(site_of(management_address(&made.hosts[5])), None);
        assert_eq!(site_of(Ipv4Addr::LOCALHOST), None);
    }
}
