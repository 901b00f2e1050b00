//! The least that a schedule can take on a platform: what its busiest part has to carry.
//!
//! Nothing is simulated. The bytes of all messages are added up for each resource that they pass,
//! for each connection and each processor; each takes at least as long as its bytes at its full
//! rate, after the latency of the nearest message. Who cannot be faster than what is known already
//! need not be simulated. Schedules whose transfers are the same, in the same order, have the same
//! fingerprint: they take the same time.

use laneway_core::{Rank, Round, Schedule, Step};
use laneway_sim::{HostId, Network, Route};

/// What a rank sends to a host.
#[derive(Clone, Copy, Default)]
struct Sent {
    bytes: u64,
    messages: u64,
}

/// What a schedule takes at least.
#[derive(Clone, Copy, Debug, Default)]
pub struct Load {
    /// Seconds; 0 where rates change during a run.
    pub time: f64,
    /// Seconds that the busiest part is occupied: `time` without latencies.
    pub busy: f64,
    /// What all ranks send.
    pub messages: u64,
    /// Of all transfers and gates.
    pub fingerprint: u64,
}

/// A resource: how long its bytes take, and the least that they wait before.
#[derive(Clone, Copy)]
struct Part {
    seconds: f64,
    latency: f64,
}

/// The least time of a schedule, in seconds; 0 where rates change during a run.
#[cfg(test)]
pub fn least_time(network: &dyn Network, hosts: &[HostId], schedule: &dyn Schedule) -> f64 {
    load(network, hosts, schedule).time
}

/// What a schedule takes at least.
pub fn load(network: &dyn Network, hosts: &[HostId], schedule: &dyn Schedule) -> Load {
    let mut sums = Sums {
        network,
        busy: vec![0.0; network.hosts() as usize],
        parts: vec![Part { seconds: 0.0, latency: f64::INFINITY }; network.resources().len()],
        route: Route::default(),
        least: Load::default(),
    };
    let mut sent = vec![Sent::default(); network.hosts() as usize];
    let mut receivers = Vec::new();
    let mut out = Round::default();
    let mut fingerprint = Fingerprint(0);
    for rank in 0..schedule.ranks() {
        let from = hosts[rank as usize];
        add_up(schedule, rank, hosts, &mut out, &mut sent, &mut receivers, &mut fingerprint);
        for to in receivers.drain(..) {
            let sent = std::mem::take(&mut sent[to as usize]);
            sums.least.messages += sent.messages;
            // What stays on a host takes no time.
            if to != from {
                sums.add(from, to, sent);
            }
        }
    }
    let Sums { busy, parts, least, .. } = sums;
    let least = Load { fingerprint: fingerprint.0, ..least };
    let parts = parts.iter().filter(|part| part.seconds > 0.0);
    let of_hosts = busy.into_iter().fold(0.0, f64::max);
    let all = parts.clone().map(|part| part.seconds).fold(of_hosts, f64::max);
    let time = parts.map(|part| part.seconds + part.latency).fold(of_hosts, f64::max);
    // Rates that change during a run may be higher.
    match network.changes().is_empty() {
        true => Load { time: time.max(least.time), busy: all.max(least.busy), ..least },
        false => Load { time: 0.0, busy: 0.0, ..least },
    }
}

/// What is added up over all pairs of hosts.
struct Sums<'a> {
    network: &'a dyn Network,
    busy: Vec<f64>,
    parts: Vec<Part>,
    route: Route,
    least: Load,
}

impl Sums<'_> {
    fn add(&mut self, from: HostId, to: HostId, Sent { bytes, messages }: Sent) {
        let (network, route) = (self.network, &mut self.route);
        let (bytes, messages) = (bytes as f64, messages as f64);
        let (sender, receiver) = (network.cost(from), network.cost(to));
        self.busy[from as usize] += messages * sender.per_send + bytes * sender.per_byte_sent;
        self.busy[to as usize] += messages * receiver.per_recv + bytes * receiver.per_byte_received;
        route.resources.clear();
        (route.latency, route.most) = (0.0, f64::INFINITY);
        network.route(from, to, route);
        let bytes = bytes + messages * network.header_bytes() as f64;
        // Messages that flow beside each other have a limit each.
        let all = f64::from(network.connections()) * route.most;
        let connection = if network.in_order() { bytes / all } else { 0.0 };
        self.least.time = self.least.time.max(route.latency + connection);
        self.least.busy = self.least.busy.max(connection);
        for &number in &route.resources {
            let (resource, part) =
                (&network.resources()[number as usize], &mut self.parts[number as usize]);
            part.latency = part.latency.min(route.latency);
            part.seconds += if resource.shared { bytes / resource.rate } else { 0.0 };
        }
    }
}

/// What a rank sends to each host, and to which hosts it sends.
fn add_up(
    schedule: &dyn Schedule,
    rank: Rank,
    hosts: &[HostId],
    out: &mut Round,
    sent: &mut [Sent],
    receivers: &mut Vec<HostId>,
    fingerprint: &mut Fingerprint,
) {
    for lane in 0..schedule.lanes(rank) {
        for k in 0..schedule.rounds(rank, lane) {
            out.steps.clear();
            schedule.round(rank, lane, k, out);
            fingerprint.add([u64::from(rank), u64::from(lane), k]);
            for step in &out.steps {
                fingerprint.add_step(step);
                if let Step::Send { to, span, .. } = step {
                    let host = hosts[*to as usize];
                    let sent = &mut sent[host as usize];
                    if sent.messages == 0 {
                        receivers.push(host);
                    }
                    sent.bytes += span.len;
                    sent.messages += 1;
                }
            }
        }
    }
}

/// A hash of the steps that take time.
struct Fingerprint(u64);

impl Fingerprint {
    fn add<const N: usize>(&mut self, words: [u64; N]) {
        for word in words {
            // Multiplies by the odd number next to 2^64 over the golden ratio.
            self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
    }

    fn add_step(&mut self, step: &Step) {
        match *step {
            Step::Send { to, chan, span } => self.add([1, to.into(), chan.into(), span.len]),
            Step::Recv { from, chan, span } => self.add([2, from.into(), chan.into(), span.len]),
            Step::AtMost { sends, recvs } => self.add([3, sends.into(), recvs.into()]),
            Step::After { lane, round } => self.add([4, lane.into(), round]),
            Step::Copy { .. } | Step::Reduce { .. } => {}
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
