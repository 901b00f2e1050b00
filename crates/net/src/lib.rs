//! Ranks over connections that migrate between paths: on this host, on hosts of a lab or on real
//! ones, started by ssh or srun, without MPI. Internal to laneway: it may change in any version,
//! and programs use the crate `laneway`.
//!
//! [`Launch`] runs the program again as N processes; in each of them [`attach`] gives the
//! communicator of all. This crate must never know another backend, a collective or a measurement:
//! it moves bytes for [`laneway_core::Comm`] and nothing else.
//!
//! Begin reading with `launch` and `attach` (the two sides of the start, and in `words` what they
//! say to each other), then `link` and `peer`, which make messages of the connections of
//! `laneway-connections` a [`laneway_message::Link`]. `roster` knows where every rank is and
//! how it ended.
//!
//! ```
//! let hosts = laneway_net::parse_hosts("node1,node2:4").expect("a list");
//! assert_eq!(hosts.iter().map(|host| host.slots).sum::<u32>(), 5);
//! ```

#![warn(missing_docs)]

#[cfg(not(target_os = "linux"))]
compile_error!("ranks over the network need Linux, as the driver of their connections does");

mod attach;
mod error;
mod hosts;
mod launch;
mod link;
mod machine;
mod output;
mod paths;
mod peer;
mod roster;
mod side;
mod signals;
mod starter;
mod supervise;
mod words;

pub use attach::{attach, is_rank};
pub use error::{Death, MOST_RANKS, RanksError};
pub use hosts::{Host, parse_hostfile, parse_hosts, read_hostfile};
pub use launch::{Launch, MOST_CONNECTIONS};
pub use starter::Starter;

/// A communicator of ranks over connections that migrate.
pub type RanksComm = laneway_message::MessageComm;
