//! Requirements of tests, and tests without them.

mod marked;
mod needs;
