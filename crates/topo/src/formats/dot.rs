//! A fabric as a graph for Graphviz; a cable's labels are its ports.

use std::fmt::Write;

use crate::wiring::{End, Port, Wiring};

pub fn write(wiring: &dyn Wiring) -> String {
    let quote = |name: &str| format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""));
    let mut text = String::from("graph fabric {\n  node [shape=box];\n");
    // Writing to a String cannot fail.
    for switch in 0..wiring.switches() {
        let _ = writeln!(text, "  {};", quote(&wiring.switch_name(switch)));
    }
    for host in 0..wiring.hosts() {
        let _ = writeln!(text, "  {} [shape=ellipse];", quote(&wiring.host_name(host)));
    }
    for switch in 0..wiring.switches() {
        for port in 0..wiring.ports(switch) as Port {
            let (from, own) = (quote(&wiring.switch_name(switch)), u32::from(port) + 1);
            let _ = match wiring.end(switch, port) {
                End::Host(host) => {
                    let to = quote(&wiring.host_name(host));
                    writeln!(text, "  {from} -- {to} [taillabel={own}];")
                }
                End::Switch(other, its) if (switch, port) < (other, its) => {
                    let (to, its) = (quote(&wiring.switch_name(other)), u32::from(its) + 1);
                    writeln!(text, "  {from} -- {to} [taillabel={own}, headlabel={its}];")
                }
                End::Nothing | End::Switch(..) => continue,
            };
        }
    }
    text + "}\n"
}
