//! `--refine N`: more sizes where a curve bends, as at escalations and switches of the protocol.

use clap::{Arg, ArgMatches, value_parser};

pub fn arg() -> Arg {
    let arg = Arg::new("refine").long("refine").value_name("N").value_parser(value_parser!(u32));
    arg.help("Add up to N sizes to each curve, where it bends")
}

/// How many sizes to add to each curve of these.
pub fn from_args(matches: &ArgMatches, sizes: &[u64]) -> Result<u32, Failure> {
    let most = matches.get_one::<u32>("refine").copied().unwrap_or(0);
    if most > 0 && sizes.len() < 2 {
        let cause = "a curve has two sizes at least, and there is one";
        return Err(Failure::usage("nothing to refine", cause, "--sizes 1K,1M --refine 3"));
    }
    Ok(most)
}

pub use super::coll::note_straight;

use crate::failure::Failure;
