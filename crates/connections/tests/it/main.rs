//! Connections over sockets and libibverbs.

mod beside_tcp;
mod capture;
mod control;
mod hosts;
mod interfaces;
mod many;
mod pair;
mod ports;
mod requests;
mod security;
mod service;
mod spread;
mod streams;
mod talk;
mod verbs;
