//! A straight line with neither end below 0.
