//! Messages between ranks over anything that brings frames to each peer in order: matching, short
//! messages that go at once, long ones that are offered first, and the communicator over them.
//! Internal to laneway: it may change in any version, and programs use the crate `laneway`.
//!
//! A backend brings a [`Link`], which moves frames, and a [`World`], which knows the ranks of the
//! run; [`MessageComm::world`] makes a communicator of them. This crate must never know a process,
//! a socket or shared memory.
//!
//! Begin reading with `link` and `world` (what a backend brings), then `engine` (what joins
//! `matching`, `outbound` and `inbound`), then `comm`.
//!
//! Ranks as threads of one process, whose frames go through channels:
//!
//! ```
//! use std::collections::VecDeque;
//! use std::rc::Rc;
//! use std::sync::mpsc::{Receiver, Sender, channel};
//! use std::time::{Duration, Instant};
//!
//! use laneway_core::{Clock, Comm, CommError, Rank};
//! use laneway_message::{Header, Link, MessageComm, World};
//!
//! type Frame = (Rank, Header, VecDeque<u8>);
//!
//! struct Channels {
//!     rank: Rank,
//!     to: [Sender<Frame>; 2],
//!     from: Receiver<Frame>,
//!     /// What has come from each rank, and what is left of its open frame.
//!     here: [VecDeque<(Header, VecDeque<u8>)>; 2],
//!     open: [VecDeque<u8>; 2],
//! }
//!
//! impl Link for Channels {
//!     fn eager_limit(&self) -> usize {
//!         4096
//!     }
//!     fn spins(&self) -> u32 {
//!         100
//!     }
//!     unsafe fn begin(
//!         &mut self,
//!         to: Rank,
//!         header: &Header,
//!         data: *const u8,
//!         len: usize,
//!     ) -> Result<Option<usize>, CommError> {
//!         // SAFETY: the caller vouches for the data.
//!         let bytes = (0..len).map(|at| unsafe { *data.add(at) }).collect();
//!         // A rank that has ended hears nothing more.
//!         let _ = self.to[to as usize].send((self.rank, *header, bytes));
//!         Ok(Some(len))
//!     }
//!     unsafe fn more(&mut self, _: Rank, _: *const u8, _: usize) -> Result<usize, CommError> {
//!         unreachable!("a frame goes whole")
//!     }
//!     fn poll(&mut self, ready: &mut Vec<Rank>) -> Result<(), CommError> {
//!         for (from, header, bytes) in self.from.try_iter() {
//!             self.here[from as usize].push_back((header, bytes));
//!         }
//!         ready.extend((0..2).filter(|&from| !self.here[from as usize].is_empty()));
//!         Ok(())
//!     }
//!     fn open(&mut self, from: Rank) -> Result<Option<Header>, CommError> {
//!         let next = self.here[from as usize].pop_front();
//!         Ok(next.map(|(header, bytes)| {
//!             self.open[from as usize] = bytes;
//!             header
//!         }))
//!     }
//!     unsafe fn take(
//!         &mut self,
//!         from: Rank,
//!         into: *mut u8,
//!         len: usize,
//!     ) -> Result<usize, CommError> {
//!         for (at, byte) in self.open[from as usize].drain(..len).enumerate() {
//!             // SAFETY: the caller vouches for the room.
//!             unsafe { into.add(at).write(byte) };
//!         }
//!         Ok(len)
//!     }
//!     fn sleep(&mut self, limit: Duration, _writers: &[Rank]) -> Result<(), CommError> {
//!         if let Ok((from, header, bytes)) = self.from.recv_timeout(limit) {
//!             self.here[from as usize].push_back((header, bytes));
//!         }
//!         Ok(())
//!     }
//! }
//!
//! struct Threads(Watch);
//! # struct Watch(Instant);
//! # impl Clock for Watch {
//! #     fn now(&self) -> f64 {
//! #         self.0.elapsed().as_secs_f64()
//! #     }
//! #     fn sleep_until(&self, instant: f64) {
//! #         std::thread::sleep(Duration::from_secs_f64((instant - self.now()).max(0.0)));
//! #     }
//! # }
//!
//! impl World for Threads {
//!     fn size(&self) -> u32 {
//!         2
//!     }
//!     fn clock(&self) -> &dyn Clock {
//!         &self.0
//!     }
//!     fn host(&self, _rank: Rank) -> String {
//!         "here".into()
//!     }
//!     fn describe(&self) -> Vec<(&'static str, String)> {
//!         vec![("backend", "channels".into())]
//!     }
//!     fn any_ended(&self) -> bool {
//!         false
//!     }
//!     fn ended(&self, _rank: Rank) -> Option<String> {
//!         None
//!     }
//!     fn abort(&self, code: i32, _missed: Option<Rank>) -> ! {
//!         std::process::exit(code)
//!     }
//! }
//!
//! let (one, other) = (channel(), channel());
//! let to = [one.0, other.0];
//! std::thread::scope(|scope| {
//!     for (rank, from) in [(0, one.1), (1, other.1)] {
//!         let to = to.clone();
//!         scope.spawn(move || {
//!             let (here, open) = Default::default();
//!             let link = Channels { rank, to, from, here, open };
//!             let world = Rc::new(Threads(Watch(Instant::now())));
//!             let limit = Duration::from_secs(10);
//!             let comm = MessageComm::world(Box::new(link), world, rank, limit);
//!             let long = vec![7; 1 << 20];
//!             if comm.rank() == 0 {
//!                 comm.send(1, 5, &long).unwrap();
//!             } else {
//!                 let mut into = vec![0; 1 << 20];
//!                 assert_eq!(comm.recv(None, Some(5), &mut into).unwrap().from, 0);
//!                 assert_eq!(into, long);
//!             }
//!         });
//!     }
//! });
//! ```

#![warn(missing_docs)]

mod comm;
mod direct;
mod engine;
mod frame;
mod inbound;
mod link;
mod matching;
mod outbound;
mod queue;
mod slab;
mod world;

pub use comm::MessageComm;
pub use direct::{Direct, Stage};
pub use frame::{HEADER, Header, Kind, broken};
pub use link::Link;
pub use outbound::PART;
pub use world::World;
