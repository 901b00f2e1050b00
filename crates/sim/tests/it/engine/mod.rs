//! The engine against what can be worked out on paper, and against slower ways to the same figure.

mod algorithms;
mod coarse;
mod connections;
mod events;
mod failures;
mod fairness;
mod overflow;
mod programs;
mod random;
mod record;
mod repeat;
mod support;
mod timing;
