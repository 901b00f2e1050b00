//! Platforms of SimGrid drawn at random: links and rules that are not LMO's.
//!
//! Links of each pair, or cards, or both with links between them; a backbone for all of them, which
//! is wide (or which all share: no such model can hold then). Half of them have SimGrid's own
//! factors for latency and bandwidth by size, its cross traffic and its shares by latency; half
//! have costs of sends and receives by size.

use std::fmt::Write;

use laneway_stats::SplitMix64;

/// Messages up to this size leave before their receive is there: all of them, as SimGrid stops
/// where such messages and others meet on one channel.
const EAGER: u64 = 1 << 30;

/// What leaves the time of the links alone.
const PLAIN: [&str; 6] = [
    "network/model:CM02",
    "network/TCP-gamma:0",
    "network/latency-factor:1",
    "network/bandwidth-factor:1",
    "network/weight-S:0",
    "network/crosstraffic:0",
];

/// How hosts are joined.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Wires {
    Pairs,
    CardsAndPairs,
    WideBackbone,
    SharedBackbone,
}

pub struct Drawn {
    pub what: String,
    pub xml: String,
    pub hosts: u32,
    /// For smpirun.
    pub settings: Vec<String>,
    /// Nothing is shared but cards and the ways of pairs.
    pub can_hold: bool,
}

impl Drawn {
    /// Every fourth seed has a backbone that all share.
    pub fn new(seed: u64) -> Drawn {
        let random = &mut SplitMix64::new(seed);
        let others = [Wires::Pairs, Wires::CardsAndPairs, Wires::WideBackbone];
        let wires = match seed.is_multiple_of(4) {
            true => Wires::SharedBackbone,
            false => others[random.index(others.len())],
        };
        let mut log = |low: f64, high: f64| low * (high / low).powf(random.uniform());
        let hosts = log(8.0, 16.99) as u32;
        let (rate, latency) = (log(5e7, 5e9), log(5e-6, 1e-4));
        let [send, receive] = [(); 2].map(|()| [log(2e-7, 1e-5), log(0.02, 0.5) / rate]);
        let xml = xml(wires, hosts, rate, latency, &mut log);
        let mut coin = || random.uniform() < 0.5;
        let (plain, costs) = (coin(), coin());
        let mut settings: Vec<String> = [
            "network/optim:Full".to_string(),
            "smpi/simulate-computation:no".into(),
            "smpi/wtime:0".into(),
            format!("smpi/async-small-thresh:{EAGER}"),
            format!("smpi/send-is-detached-thresh:{EAGER}"),
        ]
        .into();
        if plain {
            settings.extend(PLAIN.map(String::from));
        }
        if costs {
            // Longer messages have another line.
            let line = |[each, byte]: [f64; 2]| {
                format!("0:{each}:{byte};8192:{}:{}", 2.0 * each, 0.8 * byte)
            };
            for (key, cost) in [("os", send), ("ois", send), ("or", receive)] {
                settings.push(format!("smpi/{key}:{}", line(cost)));
            }
        }
        let settings = settings.iter().map(|setting| format!("--cfg={setting}")).collect();
        let what = format!(
            "{wires:?}, {hosts} hosts, {:.0} MB/s, {:.1} us, {} factors, {} costs",
            rate / 1e6,
            latency * 1e6,
            if plain { "no" } else { "SimGrid's" },
            if costs { "with" } else { "no" },
        );
        let can_hold = wires != Wires::SharedBackbone;
        Drawn { what, xml, hosts, settings, can_hold }
    }
}

fn xml(
    wires: Wires,
    hosts: u32,
    rate: f64,
    latency: f64,
    log: &mut dyn FnMut(f64, f64) -> f64,
) -> String {
    let mut xml = String::from(
        "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n\
         <platform version=\"4.1\">\n<zone id=\"all\" routing=\"Full\">\n",
    );
    // Writing into a string cannot fail.
    let link = |xml: &mut String, name: &str, rate: f64, latency: f64, policy: &str| {
        let _ = writeln!(
            xml,
            "<link id=\"{name}\" bandwidth=\"{rate}Bps\" latency=\"{latency}s\" \
             sharing_policy=\"{policy}\"/>"
        );
    };
    for host in 0..hosts {
        let _ = writeln!(xml, "<host id=\"h{host}\" speed=\"{}Gf\"/>", log(1.0, 10.0));
    }
    let has_cards = wires != Wires::Pairs;
    for host in (0..hosts).filter(|_| has_cards) {
        let (rate, latency) = (rate * log(0.4, 1.0), latency * log(0.1, 0.4));
        link(&mut xml, &format!("card{host}"), rate, latency, "SPLITDUPLEX");
    }
    match wires {
        Wires::WideBackbone => link(&mut xml, "bone", 4.0 * rate, latency, "FATPIPE"),
        // Fewer hosts fill it than there are.
        Wires::SharedBackbone => {
            link(&mut xml, "bone", rate * log(1.2, f64::from(hosts) / 4.0), latency, "SHARED");
        }
        Wires::Pairs | Wires::CardsAndPairs => {}
    }
    let mut routes = String::new();
    for (i, j) in (0..hosts).flat_map(|i| (i + 1..hosts).map(move |j| (i, j))) {
        let way = match wires {
            Wires::Pairs | Wires::CardsAndPairs => {
                let name = format!("pair{i}-{j}");
                let (rate, latency) = (rate * log(0.3, 2.0), latency * log(0.5, 2.0));
                link(&mut xml, &name, rate, latency, "SPLITDUPLEX");
                format!("<link_ctn id=\"{name}\" direction=\"UP\"/>")
            }
            Wires::WideBackbone | Wires::SharedBackbone => "<link_ctn id=\"bone\"/>".into(),
        };
        let way = match has_cards {
            true => format!(
                "<link_ctn id=\"card{i}\" direction=\"UP\"/>{way}\
                 <link_ctn id=\"card{j}\" direction=\"DOWN\"/>"
            ),
            false => way,
        };
        let _ = writeln!(routes, "<route src=\"h{i}\" dst=\"h{j}\">{way}</route>");
    }
    xml + &routes + "</zone>\n</platform>\n"
}
