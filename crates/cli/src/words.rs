//! Words that several verbs take on the command line: operations and sizes.

use laneway_core::error::nearest;
use laneway_core::units::{format_size, parse_size};
use laneway_core::{Collective, Failure};

/// More bytes than any machine holds, and far from overflow.
const LARGEST: u64 = 1 << 40;

/// An operation by its name; `verb` is who asks, for the example.
pub fn collective(verb: &str, name: &str) -> Result<Collective, Failure> {
    Collective::by_name(name).ok_or_else(|| {
        let all = Collective::ALL.map(Collective::name);
        let try_this = match nearest(name, all) {
            Some(near) => format!("laneway {verb} {near}"),
            None => "laneway info algorithms".into(),
        };
        let cause = format!("the operations are {}", all.join(", "));
        Failure::usage(format!("no operation `{name}`"), cause, try_this)
    })
}

/// A size in bytes.
pub fn size(text: &str) -> Result<u64, Failure> {
    let size = parse_size(text).map_err(|cause| {
        Failure::usage(format!("no size `{text}`"), cause, "--sizes 0,1,7,1K,64K+1")
    })?;
    if size > LARGEST {
        let cause = format!("the largest size is {}", format_size(LARGEST));
        return Err(Failure::usage(format!("size `{text}` is absurd"), cause, "--sizes 1G"));
    }
    Ok(size)
}
