//! Builds a lab: namespaces, cards on switches, addresses and routes, rates, and the WAN.

use std::fmt::Write;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::error::LabError;
use crate::name::{LabName, card, partition_switch, port, switch};
use crate::plan::{
    Host, LEAST_RECEIVE_BUFFER, Plan, address, gateway, management_address, queue_of,
};
use crate::system::{batch, is_root, within};
use crate::wan;

/// The class of what passes.
const PASSING: &str = "1:1";
/// Bytes a second of a card without a rate: 100 Gbit/s.
const UNLIMITED: f64 = 12.5e9;
/// Counters of the kernel end there.
const MOST_BYTES: f64 = 4e9;
/// Bytes that may leave at once after a pause: at least a packet, and what a card carries while a
/// timer is late. With more, a short message would pass faster than its card.
const LEAST_BURST: f64 = 2200.0;
const BURST_SECONDS: f64 = 17.6e-6;
/// The largest packet that the kernel hands over and that passes whole: at least two packets of
/// Ethernet, and on fast cards what takes this time, or a processor could not keep up.
const LEAST_OFFLOAD: f64 = 3028.0;
const OFFLOAD_SECONDS: f64 = 24e-6;
const MOST_OFFLOAD: f64 = 65_536.0;
/// What a socket holds, in every namespace: set, not inherited. A sender may hold four times what
/// is under way on the longest way, so that it fills it, what its card sends while it does not run,
/// and at least this. The more it holds, the earlier a send is over that the network has not
/// carried yet.
const BUFFER_SECONDS: f64 = 4e-3;
const LEAST_SEND_BUFFER: f64 = 128.0 * 1024.0;
const RECEIVE_BUFFER: u64 = 131_072;
const MOST_RECEIVE_BUFFER: u64 = 16 << 20;

/// The network beside the others, at a host.
const MANAGEMENT_CARD: &str = "mgmt";

/// Builds the lab of a plan, whose name a [`crate::Guard`] has taken. `program` calls
/// [`serve`](crate::serve) and is the WAN. [`open`] lets others use it.
pub fn up(lab: &LabName, plan: &Plan, program: &Path) -> Result<(), LabError> {
    if !is_root() {
        return Err(LabError::NotRoot);
    }
    lab.write("plan", &plan.to_text())?;
    lab.write("hosts", &hosts_file(plan))?;
    lab.write("resolv.conf", "")?;
    make_namespaces(lab, plan)?;
    batch("ip", None, &cables(lab, plan))?;
    for site in 0..plan.sites.len() {
        build_site(lab, plan, site)?;
    }
    if plan.options.management {
        build_management(lab, plan)?;
    }
    for host in &plan.hosts {
        build_host(lab, plan, host)?;
    }
    if plan.sites.len() > 1 {
        wan::start(lab, program)?;
        for site in 0..plan.sites.len() {
            batch("ip", Some(&lab.site(site)), WAN_LINES)?;
        }
    }
    Ok(())
}

/// Others may use it from now on.
pub fn open(lab: &LabName) -> Result<(), LabError> {
    lab.write("ready", "")
}

/// The device is there as soon as the WAN has opened it.
const WAN_LINES: &str = "link set wan mtu 1500 txqueuelen 10000 up\nroute add 10.0.0.0/8 dev wan\n";

/// The plan of a lab that stands.
pub fn read_plan(lab: &LabName) -> Result<Plan, LabError> {
    if !lab.file("ready").exists() {
        return Err(LabError::Absent(lab.as_str().to_string()));
    }
    let file = lab.file("plan");
    let text = fs::read_to_string(&file)
        .map_err(|error| LabError::system(format!("reading {}", file.display()), error))?;
    Plan::parse(&text).map_err(LabError::Name)
}

/// Every host by its name, in the management network where there is one: names are for launchers.
fn hosts_file(plan: &Plan) -> String {
    let mut text = String::from("127.0.0.1 localhost\n");
    for host in &plan.hosts {
        let own = match plan.options.management {
            true => management_address(host),
            false => address(0, host),
        };
        // Writing into a string cannot fail.
        _ = writeln!(text, "{own} {}", host.name);
        for path in 0..plan.paths() {
            _ = writeln!(text, "{} {}-{}", address(path, host), host.name, card(path));
        }
    }
    text
}

fn make_namespaces(lab: &LabName, plan: &Plan) -> Result<(), LabError> {
    let mut names: Vec<String> = (0..plan.sites.len()).map(|site| lab.site(site)).collect();
    names.extend(plan.hosts.iter().map(|host| lab.host(&host.name)));
    names.extend((plan.sites.len() > 1).then(|| lab.wan()));
    names.extend(plan.options.management.then(|| lab.management()));
    let lines: String = names.iter().map(|name| format!("netns add {name}\n")).collect();
    batch("ip", None, &lines)
}

/// Both ends of every cable are made where they belong: nothing of this ever lies in the
/// machine's own namespace.
fn cables(lab: &LabName, plan: &Plan) -> String {
    let mut lines = String::new();
    for (number, host) in plan.hosts.iter().enumerate() {
        let (own, site) = (lab.host(&host.name), lab.site(host.site));
        for path in 0..plan.paths() {
            let (port, card) = (port(number, path), card(path));
            _ = writeln!(
                lines,
                "link add {port} netns {site} type veth peer name {card} netns {own}"
            );
        }
        if plan.options.management {
            let (port, switch) = (port(number, 0), lab.management());
            _ = writeln!(
                lines,
                "link add {port} netns {switch} type veth peer name {MANAGEMENT_CARD} netns {own}"
            );
        }
    }
    lines
}

/// The switches of a site, and its router, which is one namespace.
fn build_site(lab: &LabName, plan: &Plan, site: usize) -> Result<(), LabError> {
    let namespace = lab.site(site);
    settle(&namespace, plan, true)?;
    let mut lines = String::from("link set lo up\n");
    let mut rates = String::new();
    let on = |path: usize| if plan.options.one_switch { 0 } else { path };
    for path in 0..plan.paths() {
        let name = switch(on(path));
        if on(path) == path {
            _ = writeln!(lines, "link add {name} type bridge\nlink set {name} up");
        }
        // Where hosts go that are partitioned.
        let apart = partition_switch(path);
        _ = writeln!(lines, "link add {apart} type bridge\nlink set {apart} up");
        _ = writeln!(lines, "addr add {}/24 dev {name}", gateway(path, site));
    }
    for (number, host) in plan.hosts.iter().enumerate().filter(|(_, host)| host.site == site) {
        for path in 0..plan.paths() {
            let (port, switch) = (port(number, path), switch(on(path)));
            _ = writeln!(lines, "link set {port} master {switch} up");
            rates.push_str(&shaping(&port, rates_of(host, path).1, plan.options.switch_queue));
        }
        if host.wan_card.is_some() {
            // What comes from other sites goes through the second card.
            _ = writeln!(lines, "route add {}/32 via {}", address(0, host), address(1, host));
        }
    }
    batch("ip", Some(&namespace), &lines)?;
    batch("tc", Some(&namespace), &rates)
}

fn build_management(lab: &LabName, plan: &Plan) -> Result<(), LabError> {
    let namespace = lab.management();
    settle(&namespace, plan, false)?;
    let name = switch(0);
    let mut lines = format!("link set lo up\nlink add {name} type bridge\nlink set {name} up\n");
    for number in 0..plan.hosts.len() {
        _ = writeln!(lines, "link set {} master {name} up", port(number, 0));
    }
    batch("ip", Some(&namespace), &lines)
}

fn build_host(lab: &LabName, plan: &Plan, host: &Host) -> Result<(), LabError> {
    let namespace = lab.host(&host.name);
    settle(&namespace, plan, false)?;
    let mut lines = String::from("link set lo up\n");
    let mut rates = String::new();
    for path in 0..plan.paths() {
        let card = card(path);
        let (rate, _) = rates_of(host, path);
        let (address, offload) = (address(path, host), offload(rate));
        _ = writeln!(lines, "addr add {address}/24 dev {card}");
        _ = writeln!(lines, "link set {card} gso_max_size {offload} up");
        rates.push_str(&shaping(&card, rate, None));
    }
    for path in 0..plan.paths() {
        lines.push_str(&routes(plan, host, path));
    }
    if plan.options.management {
        let own = management_address(host);
        _ = writeln!(lines, "addr add {own}/16 dev {MANAGEMENT_CARD}");
        _ = writeln!(lines, "link set {MANAGEMENT_CARD} up");
    }
    batch("ip", Some(&namespace), &lines)?;
    batch("tc", Some(&namespace), &rates)
}

/// The ways of a host's card to other sites.
pub(crate) fn routes(plan: &Plan, host: &Host, path: usize) -> String {
    // A second card for other sites carries the first one's addresses.
    let through = if host.wan_card.is_some() { 1 } else { path };
    let (via, card) = (gateway(through, host.site), card(through));
    let own = address(path, host);
    let others = (0..plan.sites.len()).filter(|site| *site != host.site);
    others
        .map(|site| format!("route replace 10.{path}.{site}.0/24 via {via} dev {card} src {own}\n"))
        .collect()
}

/// What a host sends on a path at most, and what it receives; in bytes a second.
pub(crate) fn rates_of(host: &Host, path: usize) -> (Option<f64>, Option<f64>) {
    let card = match (path, host.wan_card) {
        (1, Some(card)) => card,
        _ => host.card,
    };
    (card.out, card.into)
}

/// Lines for `tc` that hold a device to a rate, in bytes a second. One without a rate has the same
/// parts, so that faults find them.
fn shaping(device: &str, rate: Option<f64>, queue: Option<u64>) -> String {
    let rate = rate.unwrap_or(UNLIMITED);
    let queue = queue.unwrap_or(queue_of(rate));
    format!(
        "qdisc add dev {device} root handle 1: htb default 1\n{}\
         qdisc add dev {device} parent {PASSING} handle 2: bfifo limit {}\n",
        rate_class("add", device, Some(rate)),
        queue.min(MOST_BYTES as u64)
    )
}

/// The bytes of TCP that a card takes as one packet.
fn offload(rate: Option<f64>) -> u64 {
    let rate = rate.unwrap_or(UNLIMITED);
    (rate * OFFLOAD_SECONDS).clamp(LEAST_OFFLOAD, MOST_OFFLOAD) as u64
}

/// The line that gives what passes its rate.
pub(crate) fn rate_class(verb: &str, device: &str, rate: Option<f64>) -> String {
    let rate = rate.unwrap_or(UNLIMITED);
    let burst = (rate * BURST_SECONDS).clamp(LEAST_BURST, MOST_BYTES).ceil();
    let bits = (8.0 * rate).round().max(8.0);
    format!(
        "class {verb} dev {device} parent 1: classid {PASSING} htb rate {bits}bit burst {burst} \
         cburst {burst}\n"
    )
}

/// Bytes that a sender may hold.
fn send_buffer(plan: &Plan) -> u64 {
    let under_way = plan.ways.iter().filter_map(|way| {
        let host = |site: usize| plan.hosts.iter().find(|host| host.site == site);
        let rate = plan.rate_of_one(host(way.from)?, host(way.to)?);
        Some(rate.min(FASTEST) * plan.round_trip(way.from, way.to))
    });
    let cards = plan.hosts.iter().filter_map(|host| host.card.out);
    let least = (BUFFER_SECONDS * cards.fold(0.0, f64::max)).max(LEAST_SEND_BUFFER);
    (4.0 * under_way.fold(0.0, f64::max)).max(least) as u64
}

/// Bytes a second that no way here carries.
const FASTEST: f64 = 1.25e9;

/// Settings of a namespace that decide how connections behave there.
fn settle(namespace: &str, plan: &Plan, forward: bool) -> Result<(), LabError> {
    let forward = if forward { "1" } else { "0" };
    let send_buffers = format!("4096 16384 {}", send_buffer(plan));
    let most = plan.options.receive_buffer.unwrap_or(MOST_RECEIVE_BUFFER);
    // One that is asked for is there from the beginning.
    let first = plan.options.receive_buffer.unwrap_or(RECEIVE_BUFFER);
    let receive_buffers = format!("{LEAST_RECEIVE_BUFFER} {first} {most}");
    let settings = [
        ("ipv4/ip_forward", forward),
        ("ipv4/tcp_rmem", &receive_buffers),
        ("ipv4/tcp_wmem", &send_buffers),
        // One that takes the emulator's even pace for a full queue stays at half its rate.
        ("ipv4/tcp_congestion_control", "reno"),
        // A connection must not know what an earlier one has seen, nor begin slowly once more after
        // a pause.
        ("ipv4/tcp_no_metrics_save", "1"),
        ("ipv4/tcp_slow_start_after_idle", "0"),
        ("ipv4/conf/all/rp_filter", "0"),
        ("ipv4/conf/default/rp_filter", "0"),
        // A card answers for its own address alone.
        ("ipv4/conf/all/arp_ignore", "1"),
        ("ipv4/conf/all/arp_announce", "2"),
        ("ipv6/conf/all/disable_ipv6", "1"),
        ("ipv6/conf/default/disable_ipv6", "1"),
    ];
    within(namespace, || {
        for (name, value) in settings {
            let file = format!("/proc/sys/net/{name}");
            match fs::write(&file, value) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(LabError::system(format!("setting {name}"), error));
                }
                _ => {}
            }
        }
        Ok(())
    })?
}
