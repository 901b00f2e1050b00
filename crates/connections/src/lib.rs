//! Drives connections of `laneway-path` over UDP: one socket for each path, bound to its interface,
//! with segmentation and receive offload, and a tag of the job's secret on every packet. The same
//! interface, [`Driver`], over libibverbs is in [`verbs`], and in virtual time in [`simulated`].
//! Internal to laneway: it may change in any version, and programs use the crate `laneway`.
//!
//! Any program can use it as the communication layer of the path-migration paper (section 3): four
//! parts that the program calls, and three modules that are called at any time.
//!
//! | part | calls |
//! |---|---|
//! | initialisation | [`Endpoint::open`]; [`Service::start`] for a thread beside the program |
//! | communication | [`Endpoint::connect`], [`Endpoint::send`], [`Endpoint::post_receive`] |
//! | progress engine | [`Endpoint::progress`], [`Endpoint::wait`], [`Endpoint::poll`] |
//! | finalisation | [`Endpoint::close`]; the rest goes with its value |
//!
//! | module | call | done when |
//! |---|---|---|
//! | alternate path specification | [`Endpoint::specify`] | it returns |
//! | path loading request | [`Endpoint::load`] | `Event::Armed`, or a look at [`Endpoint::get`] |
//! | path migration | [`Endpoint::migrate`], or by itself when a path dies | `Event::Migrated` |
//!
//! The asynchronous thread is a [`Service`]. What it does on ARMED and on MIGRATED is the `policy`
//! of [`Setup`]: it keeps an alternate path armed if nothing else is said. [`Service::start_with`]
//! has it call a function of the program, too. In the program below nothing is done by itself.
//!
//! ```
//! use std::error::Error;
//! use std::time::{Duration, Instant};
//!
//! use laneway_connections::{
//!     ConnectionId, Endpoint, LocalPath, NetError, Options, Secret, Service, Setup, What,
//! };
//! use laneway_path::{Event, OnMigrated, PathId, Policy};
//!
//! const LIMIT: Duration = Duration::from_secs(10);
//!
//! /// Initialisation: two paths, here two addresses of this machine.
//! fn open() -> Result<Service, Box<dyn Error>> {
//!     let policy = Policy { on_migrated: OnMigrated::Nothing, ..Policy::keep_armed(false) };
//!     let endpoint = Endpoint::open(Options {
//!         paths: vec![
//!             LocalPath::at("127.0.0.1:0".parse()?),
//!             LocalPath::at("127.0.0.2:0".parse()?),
//!         ],
//!         secret: Secret::from_bytes(b"what all processes of the job know")?,
//!         accepts: true,
//!         setup: Setup { policy, arms: false, ..Setup::usual() },
//!     })?;
//!     Ok(Service::start(endpoint)?)
//! }
//!
//! /// Progress engine: the next thing of this kind that happens; others are passed over.
//! fn next<T>(
//!     at: &Service,
//!     mut wanted: impl FnMut(ConnectionId, What) -> Option<T>,
//! ) -> Result<T, Box<dyn Error>> {
//!     let begun = Instant::now();
//!     while begun.elapsed() < LIMIT {
//!         while let Some(notice) = at.with(Endpoint::poll) {
//!             if let Some(found) = wanted(notice.connection, notice.what) {
//!                 return Ok(found);
//!             }
//!         }
//!         at.wait(LIMIT);
//!     }
//!     Err("nothing of this kind happened".into())
//! }
//!
//! /// One message from here to there.
//! fn send(
//!     here: (&Service, ConnectionId),
//!     there: (&Service, ConnectionId),
//!     text: &str,
//! ) -> Result<Vec<u8>, Box<dyn Error>> {
//!     there.0.with(|end| end.post_receive(there.1, 1, Vec::with_capacity(100)))?;
//!     here.0.with(|end| end.send(here.1, 1, text.into()))?;
//!     next(there.0, |_, what| match what {
//!         What::Event(Event::Received { message, .. }) => Some(message),
//!         _ => None,
//!     })
//! }
//!
//! fn main() -> Result<(), Box<dyn Error>> {
//!     let (here, there) = (open()?, open()?);
//!     let to = there.with(|end| end.addresses());
//!     let id = here.with(|end| end.connect(&to, 7, LIMIT))?;
//!     let accepted = What::Accepted { label: 7 };
//!     let peer = next(&there, |peer, what| (what == accepted).then_some(peer))?;
//!     assert_eq!(send((&here, id), (&there, peer), "over path 0")?, b"over path 0");
//!
//!     // A migration before the alternate path is loaded is refused; the connection goes on.
//!     let refused = here.with(|end| end.migrate(&[id]));
//!     assert!(matches!(refused, Err(NetError::Refused(_))));
//!     here.with(|end| end.specify(&[id], PathId(1)))?;
//!     here.with(|end| end.load(&[id]))?;
//!     next(&here, |_, what| matches!(what, What::Event(Event::Armed { .. })).then_some(()))?;
//!     here.with(|end| end.migrate(&[id]))?;
//!     assert_eq!(send((&here, id), (&there, peer), "over path 1")?, b"over path 1");
//!     assert_eq!(here.with(|end| end.get(id).map(|one| one.primary()))?, PathId(1));
//!
//!     // Finalisation: notifies the peer; the sockets and the thread go with their values.
//!     here.with(|end| end.close(id))?;
//!     next(&there, |_, what| (what == What::Closed).then_some(()))
//! }
//! ```

#![warn(missing_docs)]

#[cfg(not(target_os = "linux"))]
compile_error!("the driver needs Linux: devices that sockets are bound to, and UDP segmentation");

pub mod control;
pub mod drill;
pub mod driver;
pub mod reach;
pub mod simulated;
pub mod survey;
pub mod verbs;
pub mod watch;

mod endpoint;
mod error;
mod inventory;
mod service;
mod system;

pub use driver::kind::PathKind;
pub use driver::notice::{ConnectionId, Notice, What};
pub use driver::seal::Security;
pub use driver::secret::Secret;
pub use driver::setup::Setup;
pub use driver::{Driver, Status};
pub use endpoint::{Dropped, Endpoint, LocalPath, Options, Traffic, wait_for_any};
pub use error::NetError;
pub use inventory::carrier::{Carrier, Change};
pub use inventory::interfaces::{Interface, InterfaceError};
pub use inventory::path_name::PathName;
pub use inventory::{advice, carrier, interfaces, offload};
pub use service::Service;
pub use system::clock::now;
