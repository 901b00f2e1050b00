//! Advice on platforms.

use laneway_sim::platform::{Fault, PlatformError};

use crate::failure::{Exit, Failure};

/// What the screen shows of a platform that cannot be used; `option` is what stood before its name,
/// such as `--platform `.
pub fn platform(option: &str, error: &PlatformError) -> Failure {
    Failure::new(exit(error), error.to_string(), error.cause(), advice(option, error))
}

pub fn exit(error: &PlatformError) -> Exit {
    if error.is_unread() { Exit::Environment } else { Exit::Usage }
}

pub fn advice(option: &str, error: &PlatformError) -> String {
    let example = |usual| error.generator().map_or(usual, |generator| generator.example);
    let listed = |named: &str| format!("{option}{named}; laneway info platforms lists all");
    match error.fault {
        Fault::Unknown => listed(example("cluster:16")),
        Fault::Missing => listed(error.similar_file().as_deref().unwrap_or("cluster:16")),
        Fault::File => "a file that exists and can be read".into(),
        Fault::Syntax => listed(example("two-sites:32x32,latency=20ms")),
        Fault::Word => "laneway info platforms; docs/platforms.md lists the keys".into(),
        Fault::Value => {
            let usual = "rate=10Gbit, latency=20us, eager=64K";
            let is_random = error.place.file.starts_with("random");
            if is_random { example(usual).into() } else { usual.into() }
        }
        Fault::Name => "one [[host]], [[site]] or [[link]] with this name".into(),
        Fault::Way => "[wan] with a latency and a rate, and a rate for every [[host]]".into(),
        Fault::Size => format!("{option}cluster:16, or sites:32,16,8"),
        _ => "laneway info platforms".into(),
    }
}

#[cfg(test)]
mod tests {
    use laneway_sim::platform::Platform;

    use super::*;

    #[test]
    fn advice_is_a_platform() {
        for (spec, example) in [
            ("clutser:4", "--platform cluster:16,"),
            ("two-sites:32", "--platform two-sites:32x32,"),
            ("sites:", "--platform sites:32,16,8,"),
            ("nothing-like-it", "--platform cluster:16"),
        ] {
            let error = Platform::read(spec).expect_err(spec);
            let advice = advice("--platform ", &error);
            assert!(advice.starts_with(example), "{spec}: {advice}");
            let advised = advice.split("; ").next().unwrap_or_default();
            let advised = advised.trim_start_matches("--platform ");
            assert!(Platform::read(advised).is_ok(), "{spec}: {advised}");
        }
    }
}
