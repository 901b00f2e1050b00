//! A fabric as a graph for Graphviz; a cable's labels are its ports.

mod lexer;
mod reading;

use std::fmt::Write;

use crate::wiring::{End, Port, Wiring};
pub use reading::read;

/// Words that a graph begins with.
pub fn is_begin(line: &str) -> bool {
    let word = line.split(|letter: char| !letter.is_ascii_alphabetic()).next().unwrap_or("");
    let is_word = ["strict", "graph", "digraph"].iter().any(|own| word.eq_ignore_ascii_case(own));
    is_word || line.starts_with("//") || line.starts_with("/*")
}

/// Graphviz ignores `kind` and `ports`; they are for [`read`].
pub fn write(wiring: &dyn Wiring) -> String {
    let quote = |name: &str| format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""));
    let mut text = String::from("graph fabric {\n  node [shape=box];\n");
    // Writing to a String cannot fail.
    for switch in 0..wiring.switches() {
        let (name, ports) = (quote(&wiring.switch_name(switch)), wiring.ports(switch));
        let _ = writeln!(text, "  {name} [kind=switch, ports={ports}];");
    }
    for host in 0..wiring.hosts() {
        let name = quote(&wiring.host_name(host));
        let _ = writeln!(text, "  {name} [kind=host, shape=ellipse];");
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
