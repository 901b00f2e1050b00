//! Heterogeneous clusters drawn from a seed, and others who use them.

use std::fmt::Write;

use laneway_sim::platform::Platform;
use laneway_stats::SplitMix64;

/// Hosts behind one switch that differ in all that a message costs: cards, processors, and latency
/// and limit of each pair; with traffic of others.
pub struct Cluster {
    pub what: String,
    text: String,
}

impl Cluster {
    /// Others take such a part of every card.
    pub fn draw(seed: u64, hosts: u32, load: f64) -> Cluster {
        let mut draws = SplitMix64::new(seed);
        let mut between = |low: f64, high: f64| low * (high / low).powf(draws.uniform());
        let eager = [4, 16, 64][(between(1.0, 4.0) as usize - 1).min(2)];
        let in_order = between(1.0, 4.0) < 2.0;
        let card = between(50e6, 5e9);
        let cost = between(0.2e-6, 20e-6);
        // From a processor that is hardly felt to one that is slower than the card.
        let per_byte = between(0.03, 1.5) / card;
        let latency = between(2e-6, 100e-6);
        let bytes = between(1e3, 1e5).round();
        let mut text = format!("eager = \"{eager}K\"\nin-order = {in_order}\n");
        text.push_str("\n[[link]]\nname = \"wire\"\nrate = \"1TB/s\"\nshared = false\n");
        let mut others = String::new();
        // Writing into a string cannot fail.
        for host in 0..hosts {
            let [out, into] = [(); 2].map(|()| card * between(0.4, 1.0));
            let [send, receive] = [(); 2].map(|()| cost * between(1.0, 3.0) * 1e6);
            let [sent, received] = [(); 2].map(|()| per_byte * between(1.0, 2.0) * 1e9);
            let _ = write!(
                text,
                "\n[[host]]\nname = \"n{host}\"\nrate-out = \"{:.6}MB/s\"\n\
                 rate-in = \"{:.6}MB/s\"\nsend = \"{send:.6}us\"\nreceive = \"{receive:.6}us\"\n\
                 per-byte-sent = \"{sent:.9}ns\"\nper-byte-received = \"{received:.9}ns\"\n",
                out / 1e6,
                into / 1e6
            );
            let every = bytes / out / load * 1e6;
            let to = (host + 1) % hosts;
            let _ = write!(
                others,
                "\n[[background]]\nfrom = \"n{host}\"\nto = \"n{to}\"\nsize = \"{bytes}\"\n\
                 every = \"{every:.6}us\"\nrandom = true\n"
            );
        }
        for (i, j) in (0..hosts).flat_map(|i| (i + 1..hosts).map(move |j| (i, j))) {
            let latency = latency * between(1.0, 1.5) * 1e6;
            let most = card * between(0.5, 2.0) / 1e6;
            let _ = write!(
                text,
                "\n[[route]]\nfrom = \"n{i}\"\nto = \"n{j}\"\nlinks = [\"wire\"]\n\
                 latency = \"{latency:.6}us\"\nconnection = \"{most:.6}MB/s\"\n"
            );
        }
        let what = format!(
            "{hosts} hosts, {:.0} MB/s, {:.1} us and {:.2} ns/B a message, {:.1} us, eager \
             {eager}K, in order {in_order}, others {:.0} % in {bytes} B",
            card / 1e6,
            cost * 1e6,
            per_byte * 1e9,
            latency * 1e6,
            100.0 * load
        );
        Cluster { what, text: text + &others }
    }

    /// The cluster while others send at other times.
    pub fn at(&self, time: u64) -> Result<Platform, String> {
        let text = format!("seed = {time}\n{}", self.text);
        Platform::parse(&self.what, &text).map_err(|error| error.to_string())
    }
}
