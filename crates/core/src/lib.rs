//! The words that all of laneway shares: ranks, spans, schedules and the executor that walks them,
//! the shape of a collective call, reductions, the traits [`Comm`] and [`Clock`], and rows.
//! Public API, with the crate `laneway`, which passes on what most programs need.
//!
//! It must never know a clock, a socket, a thread or an MPI: everything here is a pure function of
//! its arguments, and the one file that moves bytes ([`exec`]) does so through [`Comm`].
//!
//! Begin with [`schedule`], then [`run`], then [`comm`].
//!
//! ```
//! use laneway_core::{Collective, Document, Row, Shape};
//!
//! // Each of four ranks has a block of 8 bytes for each of them.
//! let shape = Shape::new(Collective::Alltoall, 4, 8);
//! assert_eq!((shape.in_len(0), shape.out_len(3)), (32, 32));
//! let row = Row::new().with("op", shape.collective.name()).with("time_us", 2.5);
//! let (env, params) = (Row::new(), Row::new().with("ranks", shape.ranks));
//! let document = Document { verb: "measure", env, params, rows: vec![row], summary: None };
//! assert_eq!(document.schema(), "laneway.measure/1");
//! ```

#![warn(missing_docs)]

pub mod blocks;
mod buffers;
pub mod clock;
pub mod comm;
pub mod encode;
pub mod error;
pub mod exec;
mod in_flight;
pub mod node_list;
pub mod observer;
pub mod placement;
pub mod prometheus;
pub mod reduce;
pub mod row;
pub mod run;
pub mod schedule;
pub mod shape;
pub mod talk;
pub mod units;

pub use blocks::{Blocks, Matrix};
pub use buffers::Buffers;
pub use clock::Clock;
pub use comm::{Comm, CommError, Form, Meanwhile, Message, NativeCall, Queue, Tag, USER_TAGS};
pub use exec::Exec;
pub use observer::{Observer, Stage};
pub use placement::{Location, Placement};
pub use reduce::{Combine, DataType, ReduceOp, Reduction};
pub use row::{Document, Partial, Row, Value};
pub use run::{At, Port, Progress, Run, Slot};
pub use schedule::{ANY, Buf, Chan, Phases, Rank, Round, Schedule, Span, Step, own_partners, span};
pub use shape::{BadShape, Collective, Layout, Place, Shape};
