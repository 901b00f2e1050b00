//! A short program for each job of laneway: the files beside this folder, each of which runs by
//! `cargo run -p laneway-examples --example NAME`. `tests/run.rs` runs them all.
