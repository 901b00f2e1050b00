//! Topologies, routing, files and operations.

mod agents;
mod alternates;
mod change;
mod cost;
mod engines;
mod failures;
mod formats;
mod fuzz;
mod job;
mod observer;
mod recognise;
mod repair;
mod topologies;
