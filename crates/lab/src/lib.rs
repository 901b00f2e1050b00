//! A laboratory of sites on one machine, each in network namespaces of its own, and the wide-area
//! network between them.
//!
//! This crate must never know a backend, a collective or a measurement: programs run in the
//! laboratory as they would run at real sites. Begin reading with `emulator`.

#[cfg(not(target_os = "linux"))]
compile_error!("the laboratory needs Linux: network namespaces and TUN devices");

pub mod emulator;
