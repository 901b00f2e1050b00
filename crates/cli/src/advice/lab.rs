//! Advice on labs.

use laneway_lab::LabError;

use crate::failure::Failure;

/// How an error of a lab reaches a person.
pub fn failure(error: LabError) -> Failure {
    let what = error.to_string();
    match error {
        LabError::NotRoot => {
            let cause = "this user may not make network namespaces";
            Failure::environment(what, cause, "sudo laneway lab …")
        }
        LabError::Name(_) => Failure::usage(what, "", "--lab test-1"),
        LabError::Stands(name) => {
            let cause = "its folder exists, perhaps from an interrupted run";
            let try_this = format!("laneway lab down --lab {name}, or another --lab");
            Failure::environment(what, cause, try_this)
        }
        LabError::Absent(name) => {
            let try_this = format!("laneway lab up --lab {name} --sites 2x4 --wan 5ms");
            Failure::environment(what, "it was never built, or not completely", try_this)
        }
        LabError::Unbuildable(_) => {
            let cause = "a lab has hosts with cards, sites, and a WAN between them";
            Failure::usage(what, cause, "a platform without it; laneway sim can simulate it")
        }
        LabError::Fault(_) => Failure::usage(what, "", "laneway lab fault --help"),
        LabError::Start { program, error } => {
            let what = format!("cannot run `{program}` on a host of the lab");
            Failure::environment(what, error.to_string(), "laneway lab run -- hostname")
        }
        LabError::Probe(_) => {
            let cause = "a link does not have its planned rate or latency; the machine may be busy";
            Failure::environment(what, cause, "--no-probe, lower rates, or an idle machine")
        }
        // What the system, `ip` or `tc` refused, and whatever a lab may meet later.
        _ => {
            let cause = "the system refused (iproute2, network namespaces, veth, HTB and TUN are \
                         needed)";
            Failure::environment(what, cause, "laneway lab down, then the same command again")
        }
    }
}
