//! Schedules and the executor, and lists of nodes.

mod exec;
mod node_list;
