//! What is emulated: the sites, the ways between them, and the pipes that ways share.

/// A wide-area network.
#[derive(Clone, Debug)]
pub struct Wan {
    /// How many sites there are.
    pub sites: usize,
    /// The way from a site to another is at `from * sites + to`; `None` if there is no way.
    pub ways: Vec<Option<Way>>,
    /// What ways share.
    pub pipes: Vec<Pipe>,
    /// Of all that is random.
    pub seed: u64,
}

/// Capacity that ways share: an uplink, what a pair of sites may use, an aggregate.
#[derive(Clone, Debug, PartialEq)]
pub struct Pipe {
    /// What it is called.
    pub name: String,
    /// Bytes a second, of whole IP packets; may be infinite.
    pub rate: f64,
    /// A packet that would make more bytes wait is dropped. The one being served does not wait.
    pub queue_bytes: u64,
}

/// How packets travel from one site to another. Rates are bytes a second of whole IP packets.
#[derive(Clone, Debug, PartialEq)]
pub struct Way {
    /// Seconds, one way.
    pub delay: f64,
    /// Seconds: up to so much, uniformly distributed, is added to the delay. Order is kept.
    pub jitter: f64,
    /// The rate to which each connection (protocol, addresses and ports) is paced.
    pub connection: Option<f64>,
    /// Indices of the pipes that a packet passes, in order.
    pub pipes: Vec<usize>,
    /// The probability that a packet is lost before it passes anything.
    pub loss: f64,
    /// The probability that a copy follows a packet.
    pub duplicate: f64,
    /// The probability that a packet overtakes: it leaves without its delay.
    pub reorder: f64,
    /// The probability that one bit behind the IP header is flipped.
    pub corrupt: f64,
    /// The most bytes that wait in each paced connection.
    pub queue_bytes: u64,
    /// Nothing enters; what is already on its way arrives. Counted as lost.
    pub down: bool,
}

/// Without delay, rate or fault.
impl Default for Way {
    fn default() -> Way {
        Way {
            delay: 0.0,
            jitter: 0.0,
            connection: None,
            pipes: Vec::new(),
            loss: 0.0,
            duplicate: 0.0,
            reorder: 0.0,
            corrupt: 0.0,
            queue_bytes: u64::MAX,
            down: false,
        }
    }
}

/// Thirty years: sums of some of them still fit the clock.
const LONGEST_S: f64 = 1e9;

impl Wan {
    /// The index of a way in `ways`; `None` if there is no such way.
    pub fn find_way(&self, from: usize, to: usize) -> Option<usize> {
        if from >= self.sites || to >= self.sites {
            return None;
        }
        let index = from * self.sites + to;
        self.ways.get(index)?.as_ref().map(|_| index)
    }

    pub(super) fn check(&self) -> Result<(), String> {
        if self.sites.checked_mul(self.sites) != Some(self.ways.len()) {
            return Err(format!("{} sites, but {} ways", self.sites, self.ways.len()));
        }
        for (index, pipe) in self.pipes.iter().enumerate() {
            pipe.check()?;
            if self.pipes[..index].iter().any(|other| other.name == pipe.name) {
                return Err(format!("two pipes are called {:?}", pipe.name));
            }
        }
        for (index, way) in self.ways.iter().enumerate() {
            let Some(way) = way else { continue };
            let place = |why| {
                let (from, to) = (index / self.sites, index % self.sites);
                format!("way from {from} to {to}: {why}")
            };
            way.check().map_err(place)?;
            if let Some(pipe) = way.pipes.iter().find(|&&pipe| pipe >= self.pipes.len()) {
                return Err(place(format!("there is no pipe {pipe}")));
            }
        }
        Ok(())
    }
}

impl Pipe {
    pub(super) fn check(&self) -> Result<(), String> {
        if self.name.is_empty() || self.name.contains(|c: char| c.is_whitespace() || c == '=') {
            return Err(format!("{:?} is not a name of a pipe: one word without =", self.name));
        }
        check_rate("rate", self.rate).map_err(|why| format!("pipe {}: {why}", self.name))
    }
}

impl Way {
    pub(super) fn check(&self) -> Result<(), String> {
        for (name, seconds) in [("delay", self.delay), ("jitter", self.jitter)] {
            if !(0.0..=LONGEST_S).contains(&seconds) {
                return Err(format!("{name} {seconds} is not between 0 and {LONGEST_S} seconds"));
            }
        }
        let shares = [
            ("loss", self.loss),
            ("duplicate", self.duplicate),
            ("reorder", self.reorder),
            ("corrupt", self.corrupt),
        ];
        for (name, share) in shares {
            if !(0.0..=1.0).contains(&share) {
                return Err(format!("{name} {share} is not a probability"));
            }
        }
        self.connection.map_or(Ok(()), |rate| check_rate("connection", rate))
    }
}

fn check_rate(name: &str, rate: f64) -> Result<(), String> {
    // False for what is not a number.
    match rate > 0.0 {
        true => Ok(()),
        false => Err(format!("{name} {rate} is not a rate: it must be above 0 bytes per second")),
    }
}
