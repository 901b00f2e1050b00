//! What stands of a lab.

use crate::name::LabName;
use crate::system::{namespaces, processes};
use crate::wan;

/// How much of a lab there is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Status {
    /// Whether it was built to the end.
    pub ready: bool,
    /// Whether its WAN answers; `None` if it has one site.
    pub wan: Option<bool>,
    /// Network namespaces.
    pub namespaces: usize,
    /// Processes in them.
    pub processes: usize,
}

/// What there is of a lab of this name; nothing where there is none.
pub fn status(lab: &LabName) -> Status {
    let names = namespaces(&lab.prefix());
    Status {
        ready: lab.file("ready").exists(),
        wan: names.contains(&lab.wan()).then(|| wan::is_there(lab)),
        namespaces: names.len(),
        processes: processes(&names).len(),
    }
}
