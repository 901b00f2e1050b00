//! Drawings of fabrics, papers and damaged data.

mod fabric;
mod fuzz;
mod gnuplot;
mod paper;
