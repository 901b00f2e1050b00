//! A fabric and its forwarding as a platform of SimGrid, every pair of hosts with its own way.
//!
//! Switches are routers, which SimGrid has no use for; they and the properties are for [`read`].

mod reading;

use std::fmt::Write;

use crate::routing::{Routing, walk};
use crate::wiring::{End, Host, Port, Wiring};
pub use reading::read;

/// Properties of a link: what it joins, a host or SWITCH/PORT.
const FROM: &str = "from";
const TO: &str = "to";

/// Before the name of a switch: how many ports it has, a property of the zone, because routers have
/// none.
const PORTS: &str = "ports of ";

/// Hosts of a platform at most: it lists the ways of all pairs.
pub const MOST_HOSTS: u32 = 1024;

/// What every cable is like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cable {
    /// In each direction.
    pub bandwidth_gbit_s: f64,
    /// Of the cable and the switch before it.
    pub latency_us: f64,
}

impl Default for Cable {
    /// EDR, which netlists here say too; a switch and its cable take about this long.
    fn default() -> Cable {
        Cable { bandwidth_gbit_s: 100.0, latency_us: 0.2 }
    }
}

/// Pairs that are not reached have no route; names must differ from those of ports.
pub fn write(wiring: &dyn Wiring, routing: &dyn Routing, cable: Cable) -> Result<String, String> {
    let hosts = wiring.hosts();
    if hosts > MOST_HOSTS {
        return Err(format!(
            "the routes of all pairs of {hosts} hosts; at most {MOST_HOSTS} hosts"
        ));
    }
    super::ensure_unique_names(wiring)?;
    let mut text = String::from(
        "<?xml version=\"1.0\"?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n\
         <platform version=\"4.1\">\n<zone id=\"fabric\" routing=\"Full\">\n",
    );
    // Writing to a String cannot fail.
    for switch in 0..wiring.switches() {
        let (name, ports) = (escaped(&wiring.switch_name(switch)), wiring.ports(switch));
        let _ = writeln!(text, "<prop id=\"{PORTS}{name}\" value=\"{ports}\"/>");
    }
    for host in 0..hosts {
        let name = escaped(&wiring.host_name(host));
        let _ = writeln!(text, "<host id=\"{name}\" speed=\"1Gf\"/>");
    }
    for switch in 0..wiring.switches() {
        let _ = writeln!(text, "<router id=\"{}\"/>", escaped(&wiring.switch_name(switch)));
    }
    for switch in 0..wiring.switches() {
        for port in 0..wiring.ports(switch) as Port {
            if wiring.end(switch, port) == End::Nothing {
                continue;
            }
            if let (name, "UP") = cable_of(wiring, switch, port) {
                let (rate, late) = (cable.bandwidth_gbit_s, cable.latency_us);
                let to = escaped(&wiring.end_name(switch, port));
                let _ = writeln!(
                    text,
                    "<link id=\"{name}\" bandwidth=\"{rate}Gbps\" latency=\"{late}us\" \
                     sharing_policy=\"SPLITDUPLEX\"><prop id=\"{FROM}\" value=\"{name}\"/>\
                     <prop id=\"{TO}\" value=\"{to}\"/></link>"
                );
            }
        }
    }
    for from in 0..hosts {
        for to in (0..hosts).filter(|&to| to != from) {
            let _ = write_route(&mut text, wiring, routing, from, to);
        }
    }
    Ok(text + "</zone>\n</platform>\n")
}

/// A cable is called after its smaller end; away from there is up.
fn cable_of(wiring: &dyn Wiring, switch: u32, port: Port) -> (String, &'static str) {
    let ((switch, port), way) = match wiring.end(switch, port) {
        End::Switch(other, its) if (other, its) < (switch, port) => ((other, its), "DOWN"),
        _ => ((switch, port), "UP"),
    };
    (escaped(&wiring.port_name(switch, port)), way)
}

fn write_route(
    text: &mut String,
    wiring: &dyn Wiring,
    routing: &dyn Routing,
    from: Host,
    to: Host,
) -> std::fmt::Result {
    let mut way = String::new();
    if let Some((switch, port)) = wiring.attached(from) {
        let (name, _) = cable_of(wiring, switch, port);
        // The first cable leads from the host to its switch.
        write!(way, "<link_ctn id=\"{name}\" direction=\"DOWN\"/>")?;
    }
    let walked = walk(wiring, routing, from, to, |hop| {
        let (name, direction) = cable_of(wiring, hop.switch, hop.port);
        let _ = write!(way, "<link_ctn id=\"{name}\" direction=\"{direction}\"/>");
    });
    if walked.is_err() {
        return Ok(());
    }
    let (from, to) = (escaped(&wiring.host_name(from)), escaped(&wiring.host_name(to)));
    writeln!(text, "<route src=\"{from}\" dst=\"{to}\" symmetrical=\"NO\">{way}</route>")
}

fn escaped(name: &str) -> String {
    let name = name.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    name.replace('"', "&quot;")
}
