//! Files of fabric software: formats, the addresses in them, and what a machine is exported as.

pub mod addresses;
pub mod export;
pub mod formats;
