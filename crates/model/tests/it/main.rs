//! Models fitted to simulated clusters.

mod alike;
mod beyond;
mod clusters;
mod compare;
mod drawn;
mod files;
mod intervals;
mod limits;
mod lmo;
mod noise;
mod order;
mod overheads;
mod readers;
mod sweeps;
