//! Choices, bounds and measured sites.

mod bound;
mod choice;
mod congestion;
mod drawn;
mod found;
mod model;
mod near_bound;
mod nearest;
mod order;
mod settings;
mod third_sites;
mod uneven;
mod users;
