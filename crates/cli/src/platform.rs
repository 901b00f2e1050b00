//! The platform that a person named, and which verb helps where there is none.

use laneway_core::Failure;
use laneway_sim::platform::{Fault, Platform, PlatformError};

/// Reads the platform of a file or a generator, which stood behind this option.
pub fn read(option: &str, spec: &str) -> Result<Platform, Failure> {
    Platform::read(spec).map_err(|error| refused(option, error))
}

/// What the screen shows of a platform that cannot be used.
pub fn refused(option: &str, error: PlatformError) -> Failure {
    let fault = error.fault;
    let mut failure = error.into_failure();
    if matches!(fault, Fault::Unknown | Fault::Missing | Fault::Syntax | Fault::Size) {
        failure.try_this.insert_str(0, option);
    }
    match fault {
        Fault::Unknown | Fault::Missing | Fault::Syntax => {
            failure.try_this += "; laneway info platforms lists all";
        }
        Fault::Word => failure.try_this = format!("laneway info platforms; {}", failure.try_this),
        _ => {}
    }
    failure
}
