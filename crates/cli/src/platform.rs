//! The platform that a person named.

use laneway_sim::platform::Platform;

use crate::advice;
use crate::failure::Failure;

/// Reads the platform of a file or a generator, which stood behind this option.
pub fn read(option: &str, spec: &str) -> Result<Platform, Failure> {
    Platform::read(spec).map_err(|error| advice::platform(option, &error))
}
