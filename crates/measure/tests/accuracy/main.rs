//! What is printed against what is true, on simulated clusters: accuracy, clocks, cost.

mod clocks;
mod methods;
mod support;
