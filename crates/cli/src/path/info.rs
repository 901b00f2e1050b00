//! `laneway path info`: the interfaces that can be paths, what stands in the way of the others, and
//! what the kernel and InfiniBand offer.

use std::net::IpAddr;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use laneway_core::error::nearest;
use laneway_core::{Document, Exit, Failure, Row};
use laneway_draw::Format;
use laneway_net::advice::{self, Choice, Finding, WhyNot};
use laneway_net::offload::Offload;
use laneway_net::verbs::{self, Device, NoDevices};
use laneway_net::{Interface, InterfaceError, PathName, interfaces};

use super::reach;
use crate::output::{self, Output};

pub fn command() -> Command {
    Command::new("info")
        .about("Which interfaces can be paths of their own, and why others cannot")
        .after_help(
            "`usable` tells whether an interface can be a path now, `why_not` why it cannot. Below \
             the table stand findings about interfaces that disturb each other, which pairs can \
             be two paths, what the kernel offers to UDP, and InfiniBand devices. Nothing is \
             changed, and no root is needed. JSON and CSV have the findings in each row, and JSON \
             what the kernel offers under `env`. An address of `--peer` that gets no interface \
             ends with exit code 1.\n\n\
             Examples:\n  \
             laneway path info\n  \
             laneway path info eth0 eth1\n  \
             laneway path info eth0 eth0/2\n  \
             laneway path info --peer 10.0.0.2,10.1.0.2\n  \
             laneway path info --format json",
        )
        .arg(
            Arg::new("device")
                .value_name("DEVICE")
                .action(ArgAction::Append)
                .help("Only these interfaces; eth0/2 is a second path through one"),
        )
        .arg(
            Arg::new("peer")
                .long("peer")
                .value_name("ADDRESS")
                .action(ArgAction::Append)
                .value_delimiter(',')
                .value_parser(value_parser!(IpAddr))
                .help("Addresses of another machine: gives each an interface of its own"),
        )
        .args(output::args())
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let output = Output::from(matches)?;
    let peers: Vec<IpAddr> = matches.get_many("peer").into_iter().flatten().copied().collect();
    let words = matches.get_many::<String>("device").into_iter().flatten();
    let paths = PathName::list(words.map(String::as_str)).map_err(reach::failure)?;
    let names: Vec<&str> = paths.iter().map(|path| path.device.as_str()).collect();
    let all = interfaces::list().map_err(failure)?;
    refuse_unknown(&all, &names)?;
    let mut findings = advice::examine(&all).map_err(failure)?;
    findings.extend(advice::of_one_device(&all, &paths));
    let choice = advice::choose(&all, &names, &peers).map_err(failure)?;
    let found = Found::new(all, findings, choice, peers, &names);
    let offload = Offload::find().map_err(|error| {
        let what = "cannot open a UDP socket";
        Failure::environment(what, error.to_string(), "a machine with IPv4 or IPv6")
    })?;
    let infiniband = infiniband(verbs::devices());
    let full = found.document(&offload, &infiniband);
    output.write(&full, Some(&found.brief(&full)))?;
    if output.format == Format::Table {
        output::print(&found.text(&offload, &infiniband))?;
    }
    Ok(if found.without_interface().is_empty() { Exit::Done } else { Exit::Gate })
}

fn refuse_unknown(all: &[Interface], names: &[&str]) -> Result<(), Failure> {
    let known = || all.iter().map(|interface| interface.name.as_str());
    let Some(name) = names.iter().find(|name| known().all(|known| known != **name)) else {
        return Ok(());
    };
    let cause = format!("there are {}", known().collect::<Vec<_>>().join(", "));
    let try_this = match nearest(name, known()) {
        Some(near) => format!("laneway path info {near}, or laneway path info for all"),
        None => "laneway path info".into(),
    };
    Err(Failure::environment(format!("no interface is called `{name}`"), cause, try_this))
}

/// What was found out.
struct Found {
    interfaces: Vec<Interface>,
    findings: Vec<Finding>,
    choice: Choice,
    peers: Vec<IpAddr>,
}

impl Found {
    /// Keeps what concerns the devices in `names`, or everything where there are none.
    fn new(
        mut interfaces: Vec<Interface>,
        mut findings: Vec<Finding>,
        choice: Choice,
        peers: Vec<IpAddr>,
        names: &[&str],
    ) -> Found {
        let is_wanted = |name: &String| names.is_empty() || names.contains(&name.as_str());
        // That a filter is strict is said once, if not of the peer, then of the subnet.
        let is_strict = |finding: &Finding| matches!(finding, Finding::StrictReversePath { .. });
        let strict = choice.findings.iter().filter(|finding| is_strict(finding));
        let told: Vec<&[String]> = strict.map(Finding::devices).collect();
        findings.retain(|finding| !(is_strict(finding) && told.contains(&finding.devices())));
        findings.retain(|finding| finding.devices().iter().any(is_wanted));
        interfaces.retain(|interface| is_wanted(&interface.name));
        Found { interfaces, findings, choice, peers }
    }

    fn document(&self, offload: &Offload, infiniband: &str) -> Document {
        let usable =
            self.interfaces.iter().filter(|found| WhyNot::of(found).is_none()).count() as u64;
        let env = Row::new()
            .with("udp_segmentation", offload.sends_segments)
            .with("udp_receive_offload", offload.receives_together)
            .with("most_receive_buffer_bytes", offload.most_receive_bytes)
            .with("most_send_buffer_bytes", offload.most_send_bytes)
            .with("infiniband", infiniband);
        let peers: Vec<String> = self.peers.iter().map(ToString::to_string).collect();
        let params = Row::new().with("peers", peers.join(" "));
        let rows = self.interfaces.iter().map(|interface| self.row(interface)).collect();
        let summary = Row::new()
            .with("devices", self.interfaces.len() as u64)
            .with("usable", usable)
            .with("path_pairs", self.pairs().len() as u64);
        let summary = match &self.without_interface()[..] {
            [] => summary,
            peers => summary.with("unreached", peers.join(" ")),
        };
        Document { verb: "path", env, params, rows, summary: Some(summary) }
    }

    fn row(&self, interface: &Interface) -> Row {
        let why_not = WhyNot::of(interface);
        let addresses: Vec<String> = interface.addresses.iter().map(ToString::to_string).collect();
        let about = |finding: &&Finding| finding.devices().contains(&interface.name);
        let said: Vec<String> =
            self.all_findings().filter(about).map(ToString::to_string).collect();
        let pair = self.choice.pairs.iter().find(|pair| pair.device == interface.name);
        Row::new()
            .with("device", interface.name.as_str())
            .with("kind", interface.kind.as_str())
            .with("driver", interface.driver.clone())
            .with("state", if interface.is_up { interface.state.name() } else { "off" })
            .with("carrier", interface.has_carrier)
            .with("mtu", interface.mtu)
            .with("addresses", addresses.join(" "))
            .with("speed_mbit", interface.speed_mbit)
            .with("usable", why_not.is_none())
            .with("why_not", why_not.map(WhyNot::sentence))
            .with("peer", pair.map(|pair| pair.peer.to_string()))
            .with("findings", said.join(" "))
    }

    /// Without what stands below the table.
    fn brief(&self, full: &Document) -> Document {
        let is_shown = |name: &str| match name {
            "driver" | "findings" => false,
            "peer" => !self.peers.is_empty(),
            _ => true,
        };
        let shown = |row: &Row| row.only(is_shown);
        Document { rows: full.rows.iter().map(shown).collect(), ..full.clone() }
    }

    fn all_findings(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().chain(&self.choice.findings)
    }

    fn without_interface(&self) -> Vec<String> {
        let unreached = |finding: &Finding| match finding {
            Finding::NoInterfaceFor { peer, .. } => Some(peer.to_string()),
            _ => None,
        };
        self.choice.findings.iter().filter_map(unreached).collect()
    }

    fn pairs(&self) -> Vec<String> {
        let findings: Vec<Finding> = self.all_findings().cloned().collect();
        let pairs = advice::pairs(&self.interfaces, &findings);
        let of_one = findings.iter().filter_map(|finding| match finding {
            Finding::OneDevice { names: [one, other], .. } => Some(format!("{one} and {other}")),
            _ => None,
        });
        pairs.iter().map(|pair| pair.join(" and ")).chain(of_one).collect()
    }

    /// What could be tried where nobody has named a second path through a device.
    fn hint(&self) -> Option<String> {
        let is_told = |finding: &Finding| matches!(finding, Finding::OneDevice { .. });
        let usable = self.interfaces.iter().find(|found| WhyNot::of(found).is_none());
        let device = &usable.filter(|_| !self.findings.iter().any(is_told))?.name;
        Some(format!(
            "One interface can be several paths where the network spreads flows by their UDP ports \
             (ECMP): {device} and {device}/2."
        ))
    }

    fn text(&self, offload: &Offload, infiniband: &str) -> String {
        let mut lines = vec![String::new()];
        // The table says why an interface cannot be used.
        let told = |finding: &&Finding| !matches!(finding, Finding::Unusable { .. });
        lines.extend(self.all_findings().filter(told).map(ToString::to_string));
        lines.extend(
            self.choice
                .pairs
                .iter()
                .map(|pair| format!("{} leads from {} to {}.", pair.device, pair.local, pair.peer)),
        );
        lines.push(match &self.pairs()[..] {
            [] => "No two interfaces can be two paths of one connection.".into(),
            pairs => format!("Two paths of one connection can be {}.", pairs.join(", or ")),
        });
        lines.extend(self.hint());
        lines.push(kernel(offload));
        lines.push(format!("InfiniBand: {infiniband}"));
        lines.join("\n") + "\n"
    }
}

fn kernel(offload: &Offload) -> String {
    let has = |has: bool| if has { "yes" } else { "no" };
    let most = |bytes: Option<u64>| bytes.map_or("unknown".into(), |bytes| bytes.to_string());
    format!(
        "UDP: segmentation {}, receive offload {}; buffers without privilege at most {} bytes to \
         receive and {} to send (net.core.rmem_max, wmem_max).",
        has(offload.sends_segments),
        has(offload.receives_together),
        most(offload.most_receive_bytes),
        most(offload.most_send_bytes),
    )
}

fn infiniband(found: Result<Vec<Device>, NoDevices>) -> String {
    let devices = match found {
        Ok(devices) => devices,
        Err(why) => return format!("none: {why}."),
    };
    let sentence = |device: &Device| {
        let ports = device.ports.iter();
        let ports: Vec<String> =
            ports.map(|port| format!("port {} {}", port.number, port.link_layer)).collect();
        let can = match device.may_migrate_by_itself() {
            true => "the device migrates by itself, if its firmware can",
            false => "software migration: devices migrate by themselves on native InfiniBand alone",
        };
        let ports = if ports.is_empty() { "no ports".into() } else { ports.join(", ") };
        format!("{} ({ports}): {can}.", device.name)
    };
    let sentences: Vec<String> = devices.iter().map(sentence).collect();
    format!("{} Connections over libibverbs are untested on hardware.", sentences.join(" "))
}

fn failure(error: InterfaceError) -> Failure {
    let cause = "the kernel's list of interfaces or routes could not be read";
    Failure::environment(error.to_string(), cause, "ip link, to see whether others can read it")
}
