//! Watches interfaces for loss and return of their carrier.
//!
//! The kernel delays repeated events of links by up to a second. So an event is only a reason to
//! ask, and an endpoint with queued traffic polls the drivers without one, every millisecond.

use std::os::fd::{AsFd, BorrowedFd};

use crate::inventory::ethtool::{Ethtool, LONGEST_NAME};
use crate::inventory::interfaces::InterfaceError;
use crate::inventory::netlink::Socket;

/// Watches some interfaces, in the network namespace of the thread that made it.
pub struct Carrier {
    events: Socket,
    drivers: Ethtool,
    watched: Vec<Watched>,
    lost_events: u64,
}

/// An interface as it was when it was last asked.
struct Watched {
    name: String,
    /// Its last index; one that was never there has 0.
    index: u32,
    is_up: bool,
}

/// An interface that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its name.
    pub name: String,
    /// Its index in the kernel.
    pub index: u32,
    /// Whether it can carry packets now.
    pub is_up: bool,
}

impl Carrier {
    /// Watches interfaces by their names. One that is not there is down until it is.
    pub fn new(names: &[&str]) -> Result<Carrier, InterfaceError> {
        let failed = || InterfaceError::system("watching network interfaces");
        let possible = |name: &str| {
            !name.is_empty() && name.len() <= LONGEST_NAME && !name.contains(['/', '\0'])
        };
        if let Some(name) = names.iter().find(|name| !possible(name)) {
            return Err(InterfaceError::Name((*name).into()));
        }
        // Events first: nothing that happens while the drivers are asked is missed.
        let events = Socket::of_link_events().map_err(failed())?;
        let drivers = Ethtool::open().map_err(failed())?;
        // At the beginning what the driver says is enough.
        let unknown = |name: &&str| Watched { name: (*name).into(), index: 0, is_up: true };
        let watched = names.iter().map(unknown).collect();
        let mut carrier = Carrier { events, drivers, watched, lost_events: 0 };
        carrier.query()?;
        Ok(carrier)
    }

    /// Whether an interface that is watched could carry packets when last asked.
    pub fn is_up(&self, name: &str) -> bool {
        self.watched.iter().any(|watched| watched.name == name && watched.is_up)
    }

    /// How often the kernel had to drop events, after which everything was asked anew.
    pub fn lost_events(&self) -> u64 {
        self.lost_events
    }

    /// What changed, if there was an event; never blocks.
    pub fn poll(&mut self) -> Result<Vec<Change>, InterfaceError> {
        let drained =
            self.events.drain().map_err(InterfaceError::system("reading events of links"))?;
        self.lost_events += u64::from(drained.is_lossy);
        if drained.events == 0 && !drained.is_lossy {
            return Ok(Vec::new());
        }
        self.query()
    }

    /// Asks every driver now; gives what changed since it was last asked. One that was made again
    /// goes down under its old index and comes up under the new one.
    pub fn query(&mut self) -> Result<Vec<Change>, InterfaceError> {
        let failed = || InterfaceError::system("asking the driver of a network interface");
        let mut changes = Vec::new();
        for watched in &mut self.watched {
            let index = self.drivers.index(&watched.name).map_err(failed())?;
            let is_up = match (index, watched.is_up) {
                (None, _) => None,
                (Some(_), true) => self.drivers.has_link(&watched.name).map_err(failed())?,
                // The kernel, and a switch that it is, use a link a while after it is there: what
                // is sent before is lost, and the search for the neighbour's address with it.
                (Some(_), false) => self.drivers.is_running(&watched.name).map_err(failed())?,
            };
            let is_up = is_up.unwrap_or(false);
            let index = index.unwrap_or(watched.index);
            if watched.is_up && (!is_up || index != watched.index) {
                changes.push(watched.turn(false));
            }
            watched.index = index;
            if is_up && !watched.is_up {
                changes.push(watched.turn(true));
            }
        }
        Ok(changes)
    }
}

impl Watched {
    fn turn(&mut self, is_up: bool) -> Change {
        self.is_up = is_up;
        Change { name: self.name.clone(), index: self.index, is_up }
    }
}

/// Readable when there is an event to [`Carrier::poll`].
impl AsFd for Carrier {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.events.as_fd()
    }
}
