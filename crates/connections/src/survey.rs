//! What this machine has for paths: its interfaces, what stands in the way of them, which two can
//! be paths of one connection, and what the kernel and InfiniBand offer.
//!
//! ```
//! use laneway_connections::survey::Survey;
//!
//! let survey = Survey::new(&[], &[])?;
//! for row in survey.rows() {
//!     println!("{:?}: {:?}", row.get("device"), row.get("usable"));
//! }
//! survey.sentences().iter().for_each(|line| println!("{line}"));
//! # Ok::<(), laneway_connections::survey::SurveyError>(())
//! ```

use std::error::Error;
use std::fmt;
use std::io;
use std::net::IpAddr;

use laneway_core::Row;
use laneway_core::units::{are, counted};

use crate::inventory::advice::{self, Choice, Finding, WhyNot};
use crate::inventory::interfaces::{self, Interface, InterfaceError};
use crate::inventory::offload::Offload;
use crate::inventory::path_name::PathName;
use crate::verbs::{self, Device, NoDevices};

/// Why nothing was found out.
#[derive(Debug)]
#[non_exhaustive]
pub enum SurveyError {
    /// The kernel's list of interfaces or routes could not be read.
    Interfaces(InterfaceError),
    /// No interface has this name.
    Unknown {
        /// As it was asked for.
        name: String,
        /// The names that there are.
        have: Vec<String>,
    },
    /// No UDP socket could be opened.
    Socket(io::Error),
}

impl fmt::Display for SurveyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SurveyError::Interfaces(error) => error.fmt(f),
            SurveyError::Unknown { name, .. } => write!(f, "unknown interface `{name}`"),
            SurveyError::Socket(error) => write!(f, "cannot open a UDP socket: {error}"),
        }
    }
}

impl Error for SurveyError {}

impl From<InterfaceError> for SurveyError {
    fn from(error: InterfaceError) -> SurveyError {
        SurveyError::Interfaces(error)
    }
}

/// What was found out.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Survey {
    /// The interfaces that were asked for.
    pub interfaces: Vec<Interface>,
    /// What is to be said of them.
    pub findings: Vec<Finding>,
    /// Which of them leads to which address of a peer.
    pub choice: Choice,
    /// The addresses that were asked for.
    pub peers: Vec<IpAddr>,
    /// What the kernel offers to UDP.
    pub offload: Offload,
    /// InfiniBand devices, in a sentence.
    pub infiniband: String,
}

impl Survey {
    /// Looks at the interfaces of these paths, or at all where none is named, and gives each of a
    /// peer's addresses an interface. Nothing is changed, and no root is needed.
    pub fn new(paths: &[PathName], peers: &[IpAddr]) -> Result<Survey, SurveyError> {
        let all = interfaces::list()?;
        let names: Vec<&str> = paths.iter().map(|path| path.device.as_str()).collect();
        let is_known = |name: &&&str| all.iter().any(|one| one.name == **name);
        if let Some(name) = names.iter().find(|name| !is_known(name)) {
            let have = all.iter().map(|one| one.name.clone()).collect();
            return Err(SurveyError::Unknown { name: (*name).into(), have });
        }
        let mut findings = advice::examine(&all)?;
        findings.extend(advice::of_one_device(&all, paths));
        let choice = advice::choose(&all, &names, peers)?;
        let mut survey = Survey {
            interfaces: all,
            findings,
            choice,
            peers: peers.to_vec(),
            offload: Offload::find().map_err(SurveyError::Socket)?,
            infiniband: infiniband(verbs::devices()),
        };
        survey.keep(&names);
        Ok(survey)
    }

    /// Keeps what concerns the devices in `names`, or everything where there are none.
    fn keep(&mut self, names: &[&str]) {
        let is_wanted = |name: &String| names.is_empty() || names.contains(&name.as_str());
        // That a filter is strict is said once, if not of the peer, then of the subnet.
        let is_strict = |finding: &Finding| matches!(finding, Finding::StrictReversePath { .. });
        let strict = self.choice.findings.iter().filter(|finding| is_strict(finding));
        let said: Vec<&[String]> = strict.map(Finding::devices).collect();
        self.findings.retain(|finding| !(is_strict(finding) && said.contains(&finding.devices())));
        self.findings.retain(|finding| finding.devices().iter().any(is_wanted));
        self.interfaces.retain(|interface| is_wanted(&interface.name));
    }

    /// What the kernel and InfiniBand offer.
    pub fn environment(&self) -> Row {
        Row::new()
            .with("udp_segmentation", self.offload.sends_segments)
            .with("udp_receive_offload", self.offload.receives_together)
            .with("most_receive_buffer_bytes", self.offload.most_receive_bytes)
            .with("most_send_buffer_bytes", self.offload.most_send_bytes)
            .with("infiniband", self.infiniband.as_str())
    }

    /// A row for each interface, with what is to be said of it.
    pub fn rows(&self) -> Vec<Row> {
        self.interfaces.iter().map(|interface| self.row(interface)).collect()
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

    fn usable(&self) -> u64 {
        self.interfaces.iter().filter(|found| WhyNot::of(found).is_none()).count() as u64
    }

    /// What the rows add up to.
    pub fn summary(&self) -> Row {
        let summary = Row::new()
            .with("devices", self.interfaces.len() as u64)
            .with("usable", self.usable())
            .with("path_pairs", self.pairs().len() as u64);
        match &self.unreached()[..] {
            [] => summary,
            peers => {
                let peers: Vec<String> = peers.iter().map(ToString::to_string).collect();
                summary.with("unreached", peers.join(" "))
            }
        }
    }

    fn all_findings(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().chain(&self.choice.findings)
    }

    /// The peer's addresses that got no interface.
    pub fn unreached(&self) -> Vec<IpAddr> {
        let unreached = |finding: &Finding| match finding {
            Finding::NoInterfaceFor { peer, .. } => Some(*peer),
            _ => None,
        };
        self.choice.findings.iter().filter_map(unreached).collect()
    }

    /// What can be two paths of one connection, as `eth0 and eth1`.
    pub fn pairs(&self) -> Vec<String> {
        let findings: Vec<Finding> = self.all_findings().cloned().collect();
        let pairs = advice::pairs(&self.interfaces, &findings);
        let of_one = findings.iter().filter_map(|finding| match finding {
            Finding::OneDevice { names: [one, other], .. } => Some(format!("{one} and {other}")),
            _ => None,
        });
        pairs.iter().map(|pair| pair.join(" and ")).chain(of_one).collect()
    }

    /// What could be tried where no second path through a device was named.
    fn hint(&self) -> Option<String> {
        let is_one_device = |finding: &Finding| matches!(finding, Finding::OneDevice { .. });
        let usable = self.interfaces.iter().find(|found| WhyNot::of(found).is_none());
        let device = &usable.filter(|_| !self.findings.iter().any(is_one_device))?.name;
        Some(format!(
            "One interface can be several paths where the network spreads flows by their UDP ports \
             (ECMP): {device} and {device}/2."
        ))
    }

    /// What a person reads below the rows, a sentence each.
    pub fn sentences(&self) -> Vec<String> {
        // The rows say why an interface cannot be used.
        let is_new = |finding: &&Finding| !matches!(finding, Finding::Unusable { .. });
        let (devices, usable) = (self.interfaces.len() as u64, self.usable());
        let devices = counted(devices, "device");
        let mut lines = vec![format!("{usable} of {devices} {} usable.", are(usable))];
        lines.extend(self.all_findings().filter(is_new).map(ToString::to_string));
        let pairs = self.choice.pairs.iter();
        lines
            .extend(pairs.map(|pair| {
                format!("{} leads from {} to {}.", pair.device, pair.local, pair.peer)
            }));
        lines.push(match &self.pairs()[..] {
            [] => "No two interfaces can be two paths of one connection.".into(),
            pairs => format!("Two paths of one connection can be {}.", pairs.join(", or ")),
        });
        lines.extend(self.hint());
        lines.push(kernel(&self.offload));
        lines.push(format!("InfiniBand: {}", self.infiniband));
        lines
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
