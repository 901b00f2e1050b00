//! Random simulated sites: what `measure_sites` finds of them, and whether choices made from that
//! are as good as those made from the truth. `LANEWAY_SEEDS=100:400` tries other seeds.

use std::fmt::Write;

use laneway_core::{Collective, Shape};
use laneway_measure::Rule;
use laneway_measure::sites::{Asked, Found, Kind, measure_sites};
use laneway_needs::amount;
use laneway_sim::Program;
use laneway_sim::platform::{Layout, Platform};
use laneway_sites::Sites;
use laneway_sites::found::{HostLimits, Limits, helpers, lanes, limits, platform_text};
use laneway_stats::SplitMix64;

/// Between two numbers, each of their powers as likely.
fn scale(draws: &mut SplitMix64, low: f64, high: f64) -> f64 {
    low * (high / low).powf(draws.uniform())
}

/// The text of a platform of two or three sites, and how many hosts it has.
fn drawn(seed: u64) -> (String, u32) {
    let draws = &mut SplitMix64::new(seed);
    let sites = 2 + draws.index(2);
    let counts: Vec<u64> = (0..sites).map(|_| 2 + draws.index(11) as u64).collect();
    let fewest = counts.iter().copied().min().unwrap_or(2) as f64;
    let cards: Vec<f64> = match draws.index(3) {
        0 => (0..sites).map(|_| scale(draws, 1e8, 1e10)).collect(),
        _ => vec![scale(draws, 1e8, 1e10); sites],
    };
    let slowest = cards.iter().copied().fold(f64::INFINITY, f64::min);
    let one = slowest / scale(draws, 1.0, 32.0);
    let wan_card = (draws.index(4) == 0).then(|| slowest * scale(draws, 0.05, 1.0));
    let capacity = one.min(wan_card.unwrap_or(one)) * scale(draws, 0.7, 2.0 * fewest);
    let (mut uplink, mut rate, mut aggregate) = (None, None, None);
    match draws.index(4) {
        0 => uplink = Some(capacity),
        1 => aggregate = Some(capacity),
        2 => rate = Some(capacity),
        _ => {}
    }
    let bits = |rate: f64| format!("{:.3}kbit", rate / 1e3);
    let time = |seconds: f64| format!("{:.3}us", seconds * 1e6);
    let mut text = String::new();
    for (site, _) in counts.iter().enumerate() {
        let latency = time(scale(draws, 10e-6, 100e-6));
        let _ = write!(text, "[[site]]\nname = \"place{site}\"\nlatency = \"{latency}\"\n");
        if let Some(uplink) = uplink {
            let _ = writeln!(text, "uplink = \"{}\"", bits(uplink));
        }
    }
    let mut order: Vec<usize> =
        counts.iter().enumerate().flat_map(|(site, &count)| vec![site; count as usize]).collect();
    if draws.index(2) == 0 {
        // Round robin: one of each site in its turn.
        let mut left = counts.clone();
        let mut turns = (0..sites).cycle();
        order = std::iter::from_fn(|| {
            if left.iter().all(|count| *count == 0) {
                return None;
            }
            let site = turns.by_ref().find(|&site| left[site] > 0)?;
            left[site] -= 1;
            Some(site)
        })
        .collect();
    } else if draws.index(2) == 0 {
        order.reverse();
    }
    for (number, &site) in order.iter().enumerate() {
        let card = bits(cards[site]);
        let _ = write!(
            text,
            "[[host]]\nname = \"n{number}\"\nsite = \"place{site}\"\nrate = \"{card}\"\n"
        );
        if let Some(card) = wan_card {
            let _ = writeln!(text, "wan-rate = \"{}\"", bits(card));
        }
    }
    let limited = draws.index(8) > 0;
    let _ = writeln!(text, "[wan]\nlatency = \"1ms\"");
    if let Some(aggregate) = aggregate {
        let _ = writeln!(text, "aggregate = \"{}\"", bits(aggregate));
    }
    for (a, b) in (0..sites).flat_map(|a| (a + 1..sites).map(move |b| (a, b))) {
        let latency = time(scale(draws, 0.5e-3, 50e-3));
        let _ = write!(
            text,
            "[[between]]\nsites = [\"place{a}\", \"place{b}\"]\nlatency = \"{latency}\"\n"
        );
        if limited {
            let _ = writeln!(text, "connection = \"{}\"", bits(one));
        }
        if let Some(rate) = rate {
            let _ = writeln!(text, "rate = \"{}\"", bits(rate));
        }
    }
    (text, order.len() as u32)
}

fn measured(platform: &Platform) -> Found {
    let program = |comm: &dyn laneway_core::Comm| {
        let rule = Rule::fixed(1);
        measure_sites(
            comm,
            &Asked {
                sites: None,
                message: None,
                every: false,
                anyway: true,
                rule,
                alive: &|| {},
                observer: &(),
            },
        )
    };
    let ended = Program::new(platform, platform.hosts()).run(program).expect("it ends");
    let all: Vec<Found> =
        ended.results.into_iter().map(|found| found.expect("it is measured")).collect();
    assert!(all.windows(2).all(|two| two[0] == two[1]), "every rank has found the same");
    all.into_iter().next().expect("a rank")
}

/// What differs from the truth by more than 5 %.
fn faults(layout: &Layout, found: &Found, limits: &Limits) -> Vec<String> {
    let mut faults = Vec::new();
    let mut hold = |what: String, seen: f64, truth: f64| {
        if (seen / truth - 1.0).abs() > 0.05 {
            faults.push(format!("{what}: {seen:.0} for {truth:.0}"));
        }
    };
    // Sites are numbered as they appear.
    let place = |site: usize| layout.hosts[found.members(site)[0]].site;
    for (host, about) in layout.hosts.iter().enumerate() {
        hold(
            format!("site of {}", about.name),
            place(found.hosts[host].site) as f64 + 1.0,
            about.site as f64 + 1.0,
        );
        hold(
            format!("card of {}", about.name),
            limits.hosts[host].out,
            about.card.out.unwrap_or(0.0),
        );
    }
    for way in &limits.ways {
        let (from, to) = (place(way.from), place(way.to));
        let truth = layout.ways.iter().find(|way| (way.from, way.to) == (from, to)).expect("a way");
        let card = |site: usize| {
            let host = &layout.hosts[found.members(site)[0]];
            host.wan_card.unwrap_or(host.card).out.unwrap_or(0.0)
        };
        let capacity =
            truth.pipes.iter().map(|pipe| layout.pipes[*pipe].rate).fold(f64::INFINITY, f64::min);
        let cards = card(way.from).min(card(way.to));
        let one = truth.connection.unwrap_or(f64::INFINITY).min(cards).min(capacity);
        hold(format!("one of {from} to {to}"), way.one, one);
        let (near, far) = (found.members(way.from).len(), found.members(way.to).len());
        let seen = (near * far).min(64) as f64 * one;
        let seen = seen.min(near as f64 * card(way.from)).min(far as f64 * card(way.to));
        if capacity < 0.9 * seen {
            hold(format!("capacity of {from} to {to}"), way.capacity.unwrap_or(way.most), capacity);
        }
    }
    faults
}

/// How much longer the choice from what was found takes on the true platform.
fn losses(truth: &Platform, found: &Platform, seed: u64) -> Vec<(String, f64)> {
    let (truth_sites, found_sites) = (Sites::one_each(truth), Sites::one_each(found));
    let ranks = truth.hosts();
    let root = (seed % u64::from(ranks)) as u32;
    let mut losses = Vec::new();
    for op in [Collective::Scatter, Collective::Gather] {
        for size in [64 << 10, 1 << 20] {
            let shape = Shape::new(op, ranks, size).with_root(root);
            let best = truth_sites.choose(&shape).expect("a choice").best;
            let chosen = found_sites.choose(&shape).expect("a choice").best;
            let outcome = truth_sites.simulate(&shape, chosen.algorithm, &chosen.params);
            let time = outcome.expect("it runs").finish;
            let what = format!("{} {size}: {} for {}", op.name(), chosen.spelled(), best.spelled());
            losses.push((what, time / best.time - 1.0));
        }
    }
    losses
}

#[test]
fn random_sites_are_found_and_choices_from_that_are_as_good() {
    let seeds = std::env::var("LANEWAY_SEEDS").unwrap_or(amount("1:16", "1:41").into());
    let (first, end) = seeds.split_once(':').expect("two seeds");
    let seeds = first.parse::<u64>().expect("a seed")..end.parse().expect("a seed");
    let (mut wrong, mut worst) = (Vec::new(), (0.0, String::new()));
    for seed in seeds {
        let (text, _) = drawn(seed);
        let truth =
            Platform::parse("drawn", &text).unwrap_or_else(|e| panic!("{seed}: {e}\n{text}"));
        let found = measured(&truth);
        let limits = limits(&found);
        let layout = truth.layout().expect("a layout");
        wrong.extend(
            faults(&layout, &found, &limits).into_iter().map(|what| format!("seed {seed}: {what}")),
        );
        let written = platform_text(&found, &limits);
        let again = Platform::parse("found", &written)
            .unwrap_or_else(|e| panic!("seed {seed}: {e}\n{written}"));
        if let Ok(folder) = std::env::var("LANEWAY_KEEP") {
            for (name, text) in [("truth", &text), ("found", &written)] {
                std::fs::write(format!("{folder}/{seed}-{name}.toml"), text).expect("a file");
            }
        }
        for (what, loss) in losses(&truth, &again, seed) {
            if loss > worst.0 {
                worst = (loss, format!("seed {seed}: {what}"));
            }
            if loss > 0.03 {
                wrong.push(format!("seed {seed}: {what}: {:.1} % longer", 100.0 * loss));
            }
        }
    }
    println!("the worst choice takes {:.2} % longer, {}", 100.0 * worst.0, worst.1);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_rate_of_nothing_is_not_a_figure() {
    let truth = Platform::read("two-sites:3x2,connection=250Mbit").expect("a platform");
    let mut found = measured(&truth);
    assert!(found.is_measured());
    for row in &mut found.rows {
        let nothing = row.kind == Kind::Pairs;
        row.rated.each.value *= f64::from(u8::from(!nothing));
        row.rated.rates.iter_mut().filter(|_| nothing).for_each(|rate| *rate = 0.0);
    }
    assert!(!found.is_measured(), "it is not a figure");
    let limits = limits(&found);
    assert_eq!(limits.ways.len(), 2);
    assert!(lanes(&found, 0, 1, 1 << 20).is_err(), "the model has no answer");
    assert_eq!(helpers(&found, 0, 1).len(), 3);
}

#[test]
fn sites_that_are_given_may_be_single_hosts() {
    let truth = Platform::read("cluster:5,rate=1Gbit").expect("a platform");
    let names = ["a", "b", "a", "c", "b"].map(String::from);
    let program = |comm: &dyn laneway_core::Comm| {
        let sites = Some(&names[..]);
        let rule = Rule::fixed(1);
        let (alive, observer) = (&|| {}, &());
        let asked =
            Asked { sites, message: None, every: true, anyway: true, rule, alive, observer };
        measure_sites(comm, &asked)
    };
    let ended = Program::new(&truth, 5).run(program).expect("it ends");
    let found = ended.results[0].clone().expect("it is measured");
    assert_eq!(found.sites, ["a", "b", "c"]);
    assert_eq!(found.hosts.iter().map(|host| host.site).collect::<Vec<_>>(), [0, 1, 0, 2, 1]);
    let limits = limits(&found);
    assert!((limits.hosts[3].out / 125e6 - 1.0).abs() < 0.01, "{:?}", limits.hosts[3]);
    let written = platform_text(&found, &limits);
    let again = Platform::parse("found", &written).expect("it can be read");
    assert_eq!(again.site_names(), ["a", "b", "c"]);
}

/// Three connections to a site do not fill the card for other sites, six to two sites do.
#[test]
fn a_card_for_other_sites_is_not_an_uplink() {
    let spec = "sites:3,3,3,rate=1Gbit,wan-rate=100Mbit,connection=20Mbit";
    let limits = limits(&measured(&Platform::read(spec).expect("a platform")));
    for host in &limits.hosts {
        for rate in [host.wan_out, host.wan_into] {
            let rate = rate.expect("a card for other sites");
            assert!((rate / 12.5e6 - 1.0).abs() < 0.01, "{host:?}");
        }
    }
    assert_eq!(limits.uplinks, [[None, None]; 3]);
}

/// Three hosts do not fill the uplink, five do: two send to one site and three to the other.
#[test]
fn an_uplink_wider_than_a_few_cards_is_found() {
    let spec = "sites:6,2,3,rate=4Gbit,wan-rate=300Mbit,uplink=1Gbit";
    let limits = limits(&measured(&Platform::read(spec).expect("a platform")));
    for uplink in limits.uplinks[0] {
        let uplink = uplink.expect("an uplink");
        assert!((uplink / 125e6 - 1.0).abs() < 0.01, "{uplink}");
    }
}

/// Two sites are as far from the third to a hundredth, as far as measuring tells.
#[test]
fn sites_that_are_equally_far_have_one_latency() {
    let mut found = measured(&Platform::read("sites:2,2,2,latency=5ms").expect("a platform"));
    let [there, back] = [2, 6];
    (found.latencies[there], found.latencies[back]) = (5.05e-3, 5.05e-3);
    let text = platform_text(&found, &limits(&found));
    let mut far: Vec<&str> = text.split("[[between]]").skip(1).collect();
    far = far.into_iter().filter_map(|part| part.lines().nth(2)).collect();
    assert!(far.len() == 3 && far.windows(2).all(|two| two[0] == two[1]), "{far:?}");
}

/// A second card of which what crosses is only a twentieth of the card inside.
#[test]
fn a_second_card_is_found_by_slow_connections() {
    let spec = "two-sites:5x5,rate=2Gbit,wan-rate=1Gbit,connection=20Mbit";
    let one_card = "two-sites:5x5,rate=2Gbit,connection=20Mbit";
    for (spec, cards) in [(spec, 2), (one_card, 1)] {
        let limits = limits(&measured(&Platform::read(spec).expect("a platform")));
        let has_two = |host: &HostLimits| host.wan_out.is_some() && host.wan_into.is_some();
        assert!(limits.hosts.iter().all(|host| has_two(host) == (cards == 2)), "{spec}");
    }
}

#[test]
fn a_slow_host_helps_last() {
    let host = |name: &str, site: &str, rate: &str| {
        format!("[[host]]\nname = \"{name}\"\nsite = \"{site}\"\nrate = \"{rate}\"\n")
    };
    let site = |name: &str| format!("[[site]]\nname = \"{name}\"\nlatency = \"50us\"\n");
    let parts = [
        site("a"),
        site("b"),
        host("slow", "a", "100Mbit"),
        host("a[1-4]", "a", "1Gbit"),
        host("b[0-5]", "b", "1Gbit"),
        "[wan]\nlatency = \"5ms\"\nconnection = \"250Mbit\"\n".to_string(),
    ];
    let text = parts.concat();
    let found = measured(&Platform::parse("uneven", &text).expect("a platform"));
    let limits = limits(&found);
    assert!((limits.hosts[0].out / 12.5e6 - 1.0).abs() < 0.05, "{:?}", limits.hosts[0]);
    assert!((limits.hosts[4].out / 125e6 - 1.0).abs() < 0.05, "{:?}", limits.hosts[4]);
    assert_eq!(helpers(&found, 0, 1), [1, 2, 3, 4, 0]);
}

fn near(seen: f64, truth: f64) -> bool {
    (seen / truth - 1.0).abs() < 0.01
}

/// A header of 1500 bytes takes a millisecond on the way, and pairs that are measured at once take
/// each other's time: neither is latency.
#[test]
fn a_header_does_not_pass_for_latency() {
    for (header, sharing) in [(0, "equal"), (16, "by-latency"), (1500, "equal")] {
        let spec =
            format!("two-sites:4x4,wan=12Mbit,latency=1ms,header={header},sharing={sharing}");
        let found = measured(&Platform::read(&spec).expect("a platform"));
        assert_eq!(found.header_bytes, Some(header), "{spec}");
        assert!(near(found.wire_latency(0, 1), 1e-3), "{spec}: {}", found.wire_latency(0, 1));
        let text = platform_text(&found, &limits(&found));
        assert_eq!(text.contains(&format!("header = {header}\n")), header > 0, "{text}");
    }
}

/// Whatever the ways have, with messages of a pair one after the other or not.
#[test]
fn shares_by_latency_are_distinguished_from_equal_ones() {
    for ways in ["", ",connection=100Mbit", ",wan=100Mbit", ",in-order=false", ",rate=10Gbit"] {
        for (sharing, is_by_latency) in [("equal", false), ("by-latency", true)] {
            let spec = format!("two-sites:5x5{ways},sharing={sharing}");
            let found = measured(&Platform::read(&spec).expect("a platform"));
            assert_eq!(found.by_latency, Some(is_by_latency), "{spec}");
        }
    }
}

/// Flows inside and across do not meet where hosts have two cards: those to two other sites do.
#[test]
fn two_cards_are_not_taken_for_shares() {
    let spec = "sites:4,4,4,rate=2Gbit,wan-rate=100Mbit";
    for sharing in ["equal", "by-latency"] {
        let found =
            measured(&Platform::read(&format!("{spec},sharing={sharing}")).expect("a platform"));
        assert_eq!(found.by_latency, None, "{sharing}: all other sites are as far");
    }
}

/// Cards have more than one connection inside their site.
#[test]
fn connections_inside_a_site_are_limited() {
    let text = "[[site]]\nname = \"a\"\nlatency = \"50us\"\nconnection = \"200Mbit\"\n\
                [[site]]\nname = \"b\"\nlatency = \"50us\"\n\
                [[host]]\nname = \"a[0-5]\"\nsite = \"a\"\nrate = \"1Gbit\"\n\
                [[host]]\nname = \"b[0-5]\"\nsite = \"b\"\nrate = \"1Gbit\"\n\
                [wan]\nlatency = \"5ms\"\n";
    let limits = limits(&measured(&Platform::parse("inside", text).expect("a platform")));
    assert!(limits.inside[0].is_some_and(|rate| near(rate, 25e6)), "{:?}", limits.inside);
    assert_eq!(limits.inside[1], None);
    for host in &limits.hosts {
        assert!(near(host.out, 125e6) && near(host.into, 125e6), "{host:?}");
        assert_eq!([host.wan_out, host.wan_into], [None; 2]);
    }
}

/// What all ways share looks like an uplink of each site while one site sends.
#[test]
fn what_all_ways_share_is_not_an_uplink() {
    for (spec, [is_one, has_uplinks]) in [
        ("sites:4,4,4,4,uplink=10Gbit,aggregate=1500Mbit", [true, false]),
        ("sites:4,4,4,4,uplink=1500Mbit", [false, true]),
        ("two-sites:6x6,wan=10Gbit,aggregate=1500Mbit,connection=1Gbit", [true, false]),
        ("two-sites:6x6,wan=1500Mbit,connection=1Gbit", [false, false]),
    ] {
        let found = measured(&Platform::read(spec).expect("a platform"));
        let limits = limits(&found);
        assert_eq!(limits.all.is_some(), is_one, "{spec}: {:?}", limits.all);
        assert!(limits.all.is_none_or(|rate| near(rate, 187.5e6)), "{spec}: {:?}", limits.all);
        let mut uplinks = limits.uplinks.iter().flatten();
        assert_eq!(uplinks.any(Option::is_some), has_uplinks, "{spec}: {:?}", limits.uplinks);
        let text = platform_text(&found, &limits);
        let platform = Platform::parse("found", &text).expect("a platform");
        assert_eq!(platform.hosts(), found.hosts.len() as u32);
    }
}
