//! The bound against closed forms, against every cut of small platforms, and against everything
//! that the simulator runs.

mod closed_forms;
mod cuts;
mod simulated;
mod support;
