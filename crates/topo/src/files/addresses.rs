//! The addresses of a machine's parts, and as many paths to each host as it has addresses.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use crate::error::{Error, ErrorKind};
use crate::files::formats::{self, Identity, ReadError, lft};
use crate::machine::Machine;
use crate::routing::table::Table;

/// Installed tables from a file, which is parsed once for their addresses and their entries.
pub struct Installed {
    file: PathBuf,
    dump: lft::Dump,
}

impl Installed {
    /// Reads the tables that are installed on a machine.
    pub fn read(machine: &Machine, file: &Path) -> Result<Installed, Error> {
        let read = formats::load(file)
            .and_then(|text| lft::Dump::parse(&text, machine.whole(), &machine.identity()));
        match read {
            Ok(dump) => Ok(Installed { file: file.to_owned(), dump }),
            Err(error) => Err(Error::of_file("forwarding table", file, &error)),
        }
    }

    /// The tables to hosts and to switches.
    pub fn tables(&self, machine: &Machine) -> Result<(Table, Table), Error> {
        let tables = self.dump.tables(machine.whole(), &machine.identity());
        tables.map_err(|error| self.refused(&error))
    }

    fn refused(&self, error: &ReadError) -> Error {
        Error::of_file("forwarding table", &self.file, error)
    }
}

/// The addresses of a machine's parts, and the number of paths of its forwarding.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Addressed {
    /// The names and numbers of the parts.
    pub identity: Identity,
    /// Parts that had an address and have another one now, or had none among others that had.
    pub new: usize,
    routed: u32,
    /// Why there are no addresses, where there are none: a fabric that does not fit into a subnet
    /// has GUIDs alone.
    missing: Option<String>,
}

impl Addressed {
    /// Addresses of [`Machine::address`] or of `installed` tables, else those of the fabric's own
    /// file, else in order. A host has as many as there are paths in the routing or in `paths`, and
    /// never fewer than it has already.
    pub fn new(
        machine: &Machine,
        installed: Option<&Installed>,
        paths: Option<u32>,
    ) -> Result<Addressed, Error> {
        let mut identity = machine.identity().into_owned();
        if let Some(installed) = installed.filter(|_| !machine.is_addressed()) {
            let read = installed.dump.address(&mut identity);
            read.map_err(|error| installed.refused(&error))?;
        }
        let (routed, own) = (machine.routed_paths(), identity.paths());
        let wanted = paths.unwrap_or(if routed > 1 { routed } else { own });
        let is_fixed = machine.is_addressed();
        if (routed > 1 && wanted != routed) || wanted < own || (is_fixed && wanted != own) {
            let cause = format!(
                "a host has {own} addresses, the routing has {routed} paths to it, and {wanted} \
                 are asked for"
            );
            let what = "addresses and paths do not agree";
            let hint = own.max(routed).to_string();
            return Err(Error::new(ErrorKind::Addresses, what, cause).with_hint(hint));
        }
        let had = identity.hosts.iter().chain(&identity.switches).any(|id| id.lid != 0);
        let (new, missing) = match identity.pin(wanted.next_power_of_two().ilog2() as u8) {
            Err(cause) => (0, Some(cause)),
            Ok(new) => (if had { new } else { 0 }, None),
        };
        Ok(Addressed { identity, new, routed, missing })
    }

    /// The machine's own table, with further paths where hosts have more addresses.
    pub fn table<'m>(&self, machine: &'m Machine) -> Cow<'m, Table> {
        match (self.routed, self.identity.paths()) {
            (1, paths @ 2..) => Cow::Owned(machine.paths(paths)),
            _ => machine.table(),
        }
    }

    /// Refuses a fabric that does not fit into one subnet.
    pub fn ensure_pinned(&self) -> Result<(), Error> {
        match &self.missing {
            None => Ok(()),
            Some(cause) => {
                let what = "this fabric has no addresses of its own for all its ports";
                let hint = "a smaller fabric, or one subnet for each part of it";
                Err(Error::new(ErrorKind::Format, what, cause.clone()).with_hint(hint))
            }
        }
    }
}
