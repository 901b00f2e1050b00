//! Random flows against a slow reference that works out every rate from nothing at every event.

use laneway_sim::{Carrier, Fairness, Flows, MessageId, Resource, Route};
use laneway_stats::SplitMix64;

use super::support::{links, route};

struct Start {
    time: f64,
    bytes: u64,
    route: Route,
}

fn weight(fairness: Fairness, route: &Route) -> f64 {
    match fairness {
        Fairness::ByLatency if route.latency > 0.0 => 1.0 / route.latency,
        _ => 1.0,
    }
}

/// Rates by raising all flows together until each is stopped, one stop at a time.
fn reference_rates(resources: &[Resource], routes: &[&Route], fairness: Fairness) -> Vec<f64> {
    let mut rates: Vec<Option<f64>> = vec![None; routes.len()];
    while rates.contains(&None) {
        let mut least = f64::INFINITY;
        let level = |link: usize, rates: &[Option<f64>]| {
            let on = |i: &usize| routes[*i].resources.contains(&(link as u32));
            let flows: Vec<usize> = (0..routes.len()).filter(on).collect();
            let taken: f64 = flows.iter().filter_map(|i| rates[*i]).sum();
            let open = flows.iter().filter(|i| rates[**i].is_none());
            let open: f64 = open.map(|i| weight(fairness, routes[*i])).sum();
            if open == 0.0 { f64::INFINITY } else { (resources[link].rate - taken) / open }
        };
        let own = |i: usize| {
            let alone = routes[i].resources.iter().filter(|r| !resources[**r as usize].shared);
            let most = alone.map(|r| resources[*r as usize].rate).fold(routes[i].most, f64::min);
            most / weight(fairness, routes[i])
        };
        let mut levels = vec![f64::INFINITY; resources.len()];
        for link in (0..resources.len()).filter(|link| resources[*link].shared) {
            levels[link] = level(link, &rates);
            least = least.min(levels[link]);
        }
        for i in (0..routes.len()).filter(|i| rates[*i].is_none()) {
            least = least.min(own(i));
        }
        for i in 0..routes.len() {
            let full = |r: &u32| levels[*r as usize] <= least * (1.0 + 1e-12);
            let stops = own(i) <= least || routes[i].resources.iter().any(full);
            if rates[i].is_none() && stops {
                rates[i] = Some(least * weight(fairness, routes[i]));
            }
        }
    }
    rates.into_iter().map(|rate| rate.unwrap_or(0.0)).collect()
}

/// Arrival times, by stepping from event to event.
fn reference(resources: &[Resource], starts: &[Start], fairness: Fairness) -> Vec<f64> {
    let mut left: Vec<f64> = starts.iter().map(|start| start.bytes as f64).collect();
    let mut times = vec![f64::NAN; starts.len()];
    let mut now = 0.0;
    while times.iter().any(|time| time.is_nan()) {
        let begins = |i: usize| starts[i].time + starts[i].route.latency;
        let open: Vec<usize> = (0..starts.len()).filter(|i| times[*i].is_nan()).collect();
        let (here, later): (Vec<usize>, Vec<usize>) =
            open.into_iter().partition(|i| begins(*i) <= now);
        let routes: Vec<&Route> = here.iter().map(|i| &starts[*i].route).collect();
        let rates = reference_rates(resources, &routes, fairness);
        let ends = here.iter().zip(&rates).map(|(i, rate)| now + left[*i] / rate);
        let next = ends.chain(later.iter().map(|i| begins(*i))).fold(f64::INFINITY, f64::min);
        for (i, rate) in here.iter().zip(&rates) {
            left[*i] -= rate * (next - now);
            if left[*i] <= 1e-9 * starts[*i].bytes as f64 {
                times[*i] = next;
            }
        }
        now = next;
    }
    times
}

fn random_case(random: &mut SplitMix64) -> (Vec<Resource>, Vec<Start>) {
    let count = 2 + random.index(9);
    let rates: Vec<f64> = (0..count).map(|_| [1.0, 2.0, 3.0, 10.0][random.index(4)]).collect();
    let mut resources = links(&rates);
    for resource in &mut resources {
        resource.shared = random.index(6) > 0;
    }
    let starts = (0..1 + random.index(40))
        .map(|_| {
            let mut way: Vec<u32> = (0..count as u32).filter(|_| random.index(3) == 0).collect();
            if way.is_empty() {
                way.push(random.index(count) as u32);
            }
            let most = if random.index(4) == 0 { 0.1 + random.uniform() } else { f64::INFINITY };
            let time = if random.index(2) == 0 { 0.0 } else { 20.0 * random.uniform() };
            let latency = [0.0, 0.5, random.uniform()][random.index(3)];
            let bytes = [8, 8, 1 + random.index(100) as u64][random.index(3)];
            Start { time, bytes, route: route(&way, latency, most) }
        })
        .collect();
    (resources, starts)
}

/// No link carries more than it can, and every flow is stopped by its limit or by a full link on
/// which no other has more for its weight: the definition of max-min fairness.
fn assert_fair(resources: &[Resource], starts: &[Start], flows: &Flows, fairness: Fairness) {
    let rates: Vec<(MessageId, f64)> = flows.rates().collect();
    let weigh = |m: MessageId| weight(fairness, &starts[m as usize].route);
    let on = |link: u32| {
        let passes = move |m: &MessageId| starts[*m as usize].route.resources.contains(&link);
        rates.iter().filter(move |(m, _)| passes(m))
    };
    for (message, rate) in &rates {
        let way = &starts[*message as usize].route;
        let stopped = *rate >= way.most * (1.0 - 1e-9)
            || way.resources.iter().any(|link| {
                let resource = &resources[*link as usize];
                let carried: f64 = on(*link).map(|(_, rate)| rate).sum();
                assert!(!resource.shared || carried <= resource.rate * (1.0 + 1e-9));
                let full = resource.shared && carried >= resource.rate * (1.0 - 1e-9);
                let levels = on(*link).map(|(m, rate)| rate / weigh(*m));
                let highest = levels.fold(0.0, f64::max) * weigh(*message);
                let alone = !resource.shared && *rate >= resource.rate * (1.0 - 1e-9);
                alone || (full && *rate >= highest * (1.0 - 1e-9))
            });
        assert!(stopped, "message {message} could have more than {rate}");
    }
}

/// Arrival times from the engine, with every settlement checked.
fn engine(resources: &[Resource], starts: &[Start], fairness: Fairness) -> Vec<f64> {
    let mut flows = Flows::with(resources, fairness);
    let (mut times, mut arrived) = (vec![f64::NAN; starts.len()], Vec::new());
    let (mut now, mut begun) = (0.0, 0);
    loop {
        let start = starts.get(begun).map(|start| start.time);
        let next = flows.next(now).into_iter().chain(start).min_by(f64::total_cmp);
        assert_fair(resources, starts, &flows, fairness);
        let Some(next) = next else { return times };
        now = next;
        flows.arrived(now, &mut arrived);
        for message in arrived.drain(..) {
            times[message as usize] = now;
        }
        while let Some(start) = starts.get(begun).filter(|start| start.time <= now) {
            flows.start(now, now, begun as MessageId, start.bytes, &start.route);
            begun += 1;
        }
    }
}

#[test]
fn random_flows_agree_with_a_slow_reference() {
    let seed = 20_261_115;
    println!("seed {seed}");
    let mut random = SplitMix64::new(seed);
    for case in 0..400 {
        let fairness = if case % 2 == 0 { Fairness::Equal } else { Fairness::ByLatency };
        let (resources, mut starts) = random_case(&mut random);
        starts.sort_by(|a, b| a.time.total_cmp(&b.time));
        let found = engine(&resources, &starts, fairness);
        let wanted = reference(&resources, &starts, fairness);
        for (i, (found, wanted)) in found.into_iter().zip(wanted).enumerate() {
            let error = (found - wanted).abs();
            assert!(error <= 1e-8 * wanted, "case {case}, message {i}: {found} and {wanted}");
        }
    }
}
