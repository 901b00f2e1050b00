//! The bound against every cut of small platforms, tried one by one.

use laneway_sim::platform::{Layout, LayoutHost};
use laneway_sites::bound::{Bound, gather, scatter};

use super::support::{Case, Drawn, draw};

/// Rates of everything that a message can pass: for each host four (out and in of both cards), then
/// the pipes. A card that is missing has the number of the other.
struct Parts {
    rates: Vec<f64>,
}

impl Parts {
    fn new(layout: &Layout) -> Parts {
        let mut rates = Vec::new();
        for host in &layout.hosts {
            let wan = host.wan_card.unwrap_or(host.card);
            let all = [host.card.out, host.card.into, wan.out, wan.into];
            rates.extend(all.map(|rate| rate.expect("a rate")));
        }
        rates.extend(layout.pipes.iter().map(|pipe| pipe.rate));
        Parts { rates }
    }

    /// What a message passes, and its latency.
    fn message(layout: &Layout, from: usize, to: usize) -> (Vec<usize>, f64) {
        let host = |host: usize| -> &LayoutHost { &layout.hosts[host] };
        let (a, b) = (host(from).site, host(to).site);
        if a == b {
            return (vec![4 * from, 4 * to + 1], layout.sites[a].latency);
        }
        let card = |at: usize| if host(at).wan_card.is_some() { 4 * at + 2 } else { 4 * at };
        let way = layout.ways.iter().find(|way| (way.from, way.to) == (a, b)).expect("a way");
        let pipes = way.pipes.iter().map(|pipe| 4 * layout.hosts.len() + pipe);
        let parts = [card(from), card(to) + 1].into_iter().chain(pipes).collect();
        (parts, way.latency)
    }

    /// The least rate of parts that stop all of these messages: some part of the first that is
    /// not stopped must be among them.
    fn least(&self, messages: &[Vec<usize>], stopped: &mut Vec<usize>, sum: f64, best: &mut f64) {
        if sum >= *best {
            return;
        }
        let open = |parts: &&Vec<usize>| !parts.iter().any(|part| stopped.contains(part));
        let Some(parts) = messages.iter().find(open) else {
            *best = sum;
            return;
        };
        for part in parts {
            stopped.push(*part);
            self.least(messages, stopped, sum + self.rates[*part], best);
            stopped.pop();
        }
    }
}

/// Latencies of the shortest ways, over relays.
fn shortest(layout: &Layout) -> Vec<Vec<f64>> {
    let hosts = layout.hosts.len();
    let one = |a: usize, b: usize| if a == b { 0.0 } else { Parts::message(layout, a, b).1 };
    let mut all: Vec<Vec<f64>> =
        (0..hosts).map(|a| (0..hosts).map(|b| one(a, b)).collect()).collect();
    for over in 0..hosts {
        for a in 0..hosts {
            for b in 0..hosts {
                all[a][b] = all[a][b].min(all[a][over] + all[over][b]);
            }
        }
    }
    all
}

/// The largest time of any set of hosts without the root.
fn by_all_cuts(case: &Case, is_gather: bool) -> f64 {
    let layout = case.platform.layout().expect("a layout");
    let parts = Parts::new(&layout);
    let shortest = shortest(&layout);
    let hosts = layout.hosts.len();
    let root = case.hosts[case.root as usize] as usize;
    let mut bytes = vec![0.0; hosts];
    for (host, block) in case.hosts.iter().zip(&case.blocks) {
        bytes[*host as usize] += *block as f64;
    }
    let mut time: f64 = 0.0;
    for set in (1..1usize << hosts).filter(|set| set & (1 << root) == 0) {
        let behind = |host: &usize| set & (1 << host) != 0;
        let sum: f64 = (0..hosts).filter(behind).map(|host| bytes[host]).sum();
        if sum == 0.0 {
            continue;
        }
        let inside: Vec<usize> = (0..hosts).filter(behind).collect();
        let pairs = inside.iter().flat_map(|&a| {
            let outside = (0..hosts).filter(|host| !behind(host));
            outside.map(move |b| if is_gather { (a, b) } else { (b, a) })
        });
        let pairs: Vec<(usize, usize)> = pairs.collect();
        let messages: Vec<(Vec<usize>, f64)> =
            pairs.iter().map(|(a, b)| Parts::message(&layout, *a, *b)).collect();
        let least = |numbers: &mut dyn Iterator<Item = f64>| numbers.fold(f64::INFINITY, f64::min);
        let latency = match is_gather {
            false => least(&mut inside.iter().map(|host| shortest[root][*host])),
            true => {
                least(&mut messages.iter().map(|message| message.1))
                    + least(&mut pairs.iter().map(|pair| shortest[pair.1][root]))
            }
        };
        let messages: Vec<Vec<usize>> = messages.into_iter().map(|message| message.0).collect();
        // Whatever hides behind what, a byte comes from where it is.
        let far = |host: &usize| if bytes[*host] > 0.0 { shortest[*host][root] } else { 0.0 };
        if is_gather {
            time = inside.iter().map(far).fold(time, f64::max);
        }
        let mut rate = f64::INFINITY;
        parts.least(&messages, &mut Vec::new(), 0.0, &mut rate);
        time = time.max(sum / rate + latency);
    }
    time
}

fn bounds(case: &Case) -> [Bound; 2] {
    let layout = case.platform.layout().expect("a layout");
    let Case { hosts, root, blocks, .. } = case;
    [scatter, gather].map(|bound| bound(&layout, hosts, *root, blocks).expect("a bound"))
}

#[test]
fn no_cut_says_more_and_one_says_as_much() {
    let (mut limits, mut weaker) = (std::collections::BTreeSet::new(), 0);
    for seed in 0..400 {
        let case = draw(seed, Drawn { most_hosts: 7, aggregate: false });
        let [there, back] = bounds(&case);
        let all = by_all_cuts(&case, false);
        let same = (there.time - all).abs() <= 1e-11 * all;
        assert!(same, "seed {seed}: {there:?}, by all cuts {all}");
        // A gather's latency is that of the set that is found, which need not be the largest sum.
        let all = by_all_cuts(&case, true);
        let most = all * (1.0 + 1e-11);
        assert!(back.time <= most, "seed {seed}: {back:?}, by all cuts {all}");
        weaker += u32::from(back.time < all * (1.0 - 1e-11));
        limits.insert(there.limit);
    }
    println!("{} different limits; {weaker} of 400 gathers could have a later bound", limits.len());
    assert!(limits.len() > 30 && weaker < 4, "{} limits, {weaker} weaker", limits.len());
}

/// What all sites share can only add to what single cuts say.
#[test]
fn an_aggregate_is_at_least_what_cuts_say() {
    let mut more = 0;
    for seed in 1_000..1_200 {
        let case = draw(seed, Drawn { most_hosts: 6, aggregate: true });
        let [there, _] = bounds(&case);
        let all = by_all_cuts(&case, false);
        assert!(there.time >= all * (1.0 - 1e-11), "seed {seed}: {there:?}, by cuts {all}");
        more += u32::from(there.time > all * (1.0 + 1e-9));
    }
    println!("{more} of 200 are more than any single cut");
}

/// The same bytes the other way, with every direction exchanged, take as long but for latency.
#[test]
fn a_gather_is_a_scatter_reversed() {
    for seed in 2_000..2_400 {
        let case = draw(seed, Drawn { most_hosts: 12, aggregate: seed % 2 == 0 });
        let Case { hosts, root, blocks, .. } = &case;
        let mut layout = case.platform.layout().expect("a layout");
        layout.sites.iter_mut().for_each(|site| site.latency = 0.0);
        layout.ways.iter_mut().for_each(|way| way.latency = 0.0);
        let there = scatter(&layout, hosts, *root, blocks).expect("a bound");
        for host in &mut layout.hosts {
            for card in [Some(&mut host.card), host.wan_card.as_mut()].into_iter().flatten() {
                std::mem::swap(&mut card.out, &mut card.into);
            }
        }
        layout.ways.iter_mut().for_each(|way| std::mem::swap(&mut way.from, &mut way.to));
        let back = gather(&layout, hosts, *root, blocks).expect("a bound");
        let same = (there.time - back.time).abs() <= 1e-11 * there.time;
        assert!(same, "seed {seed}: {there:?}, {back:?}");
    }
}
