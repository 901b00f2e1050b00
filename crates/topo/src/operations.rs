//! Running fabrics: tables installed step by step, and fabrics that are followed as they change.

pub mod change;
pub mod install;
pub mod watch;
