//! What is printed against what is true, on simulated clusters: accuracy, clocks, cost.

mod bounds;
mod clocks;
mod methods;
mod support;
