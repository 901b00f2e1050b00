//! The least that a schedule can take on a platform: what its busiest part has to carry.
//!
//! Nothing is simulated. The bytes of all messages are added up for each resource that they pass,
//! for each connection and each processor; each takes at least as long as its bytes at its full
//! rate, after the latency of the nearest message. Who cannot be faster than what is known already
//! need not be simulated.

use laneway_core::{Rank, Round, Schedule, Step};
use laneway_sim::{HostId, Network, Route};

/// What a rank sends to a host.
#[derive(Clone, Copy, Default)]
struct Sent {
    bytes: u64,
    messages: u64,
}

/// A resource: how long its bytes take, and the least that they wait before.
#[derive(Clone, Copy)]
struct Load {
    seconds: f64,
    latency: f64,
}

/// Seconds; 0 where rates change during a run.
pub fn least_time(network: &dyn Network, hosts: &[HostId], schedule: &dyn Schedule) -> f64 {
    if !network.changes().is_empty() {
        return 0.0;
    }
    let mut busy = vec![0.0; network.hosts() as usize];
    let mut loads = vec![Load { seconds: 0.0, latency: f64::INFINITY }; network.resources().len()];
    let mut sent = vec![Sent::default(); network.hosts() as usize];
    let (mut route, mut least) = (Route::default(), 0.0_f64);
    for rank in 0..schedule.ranks() {
        let from = hosts[rank as usize];
        add_up(schedule, rank, hosts, &mut sent);
        // What stays on a host takes no time.
        sent[from as usize] = Sent::default();
        for (to, sent) in sent.iter_mut().enumerate().filter(|(_, sent)| sent.messages > 0) {
            let Sent { bytes, messages } = std::mem::take(sent);
            let (bytes, messages) = (bytes as f64, messages as f64);
            let (sender, receiver) = (network.cost(from), network.cost(to as HostId));
            busy[from as usize] += messages * sender.per_send + bytes * sender.per_byte_sent;
            busy[to] += messages * receiver.per_recv + bytes * receiver.per_byte_received;
            route.resources.clear();
            (route.latency, route.most) = (0.0, f64::INFINITY);
            network.route(from, to as HostId, &mut route);
            let bytes = bytes + messages * network.header_bytes() as f64;
            // Messages that flow beside each other have a limit each.
            let all = f64::from(network.connections()) * route.most;
            let connection = if network.in_order() { bytes / all } else { 0.0 };
            least = least.max(route.latency + connection);
            for &number in &route.resources {
                let (resource, load) =
                    (&network.resources()[number as usize], &mut loads[number as usize]);
                load.latency = load.latency.min(route.latency);
                load.seconds += if resource.shared { bytes / resource.rate } else { 0.0 };
            }
        }
    }
    let loads = loads.iter().filter(|load| load.seconds > 0.0);
    let loads = loads.map(|load| load.seconds + load.latency);
    busy.into_iter().chain(loads).fold(least, f64::max)
}

/// What a rank sends to each host.
fn add_up(schedule: &dyn Schedule, rank: Rank, hosts: &[HostId], sent: &mut [Sent]) {
    let mut out = Round::default();
    for lane in 0..schedule.lanes(rank) {
        for k in 0..schedule.rounds(rank, lane) {
            out.steps.clear();
            schedule.round(rank, lane, k, &mut out);
            for step in &out.steps {
                if let Step::Send { to, span, .. } = step {
                    let sent = &mut sent[hosts[*to as usize] as usize];
                    sent.bytes += span.len;
                    sent.messages += 1;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use laneway_coll::{algorithms, find};
    use laneway_core::{Collective, Shape};
    use laneway_sim::platform::Platform;
    use laneway_sim::simulate;

    use super::*;

    #[test]
    fn no_schedule_is_faster_than_its_busiest_part() {
        let mut nearest = f64::INFINITY;
        for spec in [
            "two-sites:5x3,connection=100Mbit",
            "sites:4,2,3,rate=1Gbit,wan-rate=100Mbit,connection=20Mbit,connections=3",
            "sites:2,5,header=16,in-order=false,sharing=by-latency,connection=10Mbit,eager=0",
            "random:7",
            "mpiblib16",
        ] {
            let platform = Platform::read(spec).expect("a platform");
            let hosts: Vec<HostId> = (0..platform.hosts()).collect();
            let placement = platform.placement(&hosts);
            for op in
                [Collective::Scatter, Collective::Gather, Collective::Bcast, Collective::Alltoall]
            {
                for (algorithm, size) in algorithms(op).flat_map(|one| [(one, 900), (one, 300_000)])
                {
                    let shape = Shape::new(op, platform.hosts(), size).with_root(1);
                    let schedule = algorithm.placed(&shape, &algorithm.defaults(), &placement);
                    let Ok(schedule) = schedule else { continue };
                    let least = least_time(&platform, &hosts, &*schedule);
                    let time = simulate(&platform, &*schedule, None).expect("a run").finish;
                    assert!(
                        least <= time * (1.0 + 1e-9),
                        "{spec} {algorithm:?} {size}: {least}, {time}"
                    );
                    nearest = nearest.min(time / least);
                }
            }
        }
        assert!(nearest < 1.01, "{nearest}");
    }

    #[test]
    fn the_root_sends_all_blocks_through_its_card() {
        let platform = Platform::read("cluster:5,rate=1Gbit,latency=1ms").expect("a platform");
        let shape = Shape::new(Collective::Scatter, 5, 1_250_000);
        let (linear, params) = find(Collective::Scatter, "linear").expect("an algorithm");
        let schedule = linear.schedule(&shape, &params).expect("a schedule");
        let least = least_time(&platform, &[0, 1, 2, 3, 4], &*schedule);
        assert!((least - 0.041).abs() < 1e-9, "{least}");
        // All on one host: nothing takes time.
        assert_eq!(least_time(&platform, &[2; 5], &*schedule), 0.0);
    }
}
