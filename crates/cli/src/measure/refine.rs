//! `--refine N`: more sizes where a curve bends, as at escalations and switches of the protocol.

use clap::{Arg, ArgMatches, value_parser};
use laneway_core::Failure;
use laneway_measure::sizes;

use crate::output;

/// A curve that is straight to this part is not refined.
const STRAIGHT: f64 = 0.05;

pub fn arg() -> Arg {
    let arg = Arg::new("refine").long("refine").value_name("N").value_parser(value_parser!(u32));
    arg.help("Add up to N sizes to each curve, where it bends")
}

/// How many sizes to add to each curve of these.
pub fn asked(matches: &ArgMatches, sizes: &[u64]) -> Result<u32, Failure> {
    let most = matches.get_one::<u32>("refine").copied().unwrap_or(0);
    if most > 0 && sizes.len() < 2 {
        let cause = "a curve has two sizes at least, and there is one";
        return Err(Failure::usage("nothing to refine", cause, "--sizes 1K,1M --refine 3"));
    }
    Ok(most)
}

/// The size that a curve wants next, if it seems to bend: of sizes and times in any order.
pub fn next(mut points: Vec<(u64, f64)>) -> Option<u64> {
    points.sort_by_key(|(size, _)| *size);
    points.dedup_by_key(|(size, _)| *size);
    // Two points are always on a line; a third tells whether the curve is.
    if let [(low, _), (high, _)] = points[..] {
        let middle = low + (high - low) / 2;
        return (middle > low).then_some(middle);
    }
    sizes::refine(&points, STRAIGHT)
}

/// Says so where no size was added.
pub fn note_straight() {
    let percent = STRAIGHT * 100.0;
    output::note(&format!(
        "nothing was refined: straight lines between the sizes are within {percent} %"
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_points_get_a_third_and_then_bends_decide() {
        assert_eq!(next(vec![(1000, 2.0), (0, 1.0)]), Some(500));
        assert_eq!(next(vec![(1000, 2.0), (0, 1.0), (500, 1.5)]), None);
        assert_eq!(next(vec![(1000, 2.0), (0, 1.0), (500, 1.9)]), Some(250));
        // No room, and no curve.
        assert_eq!(next(vec![(7, 1.0), (8, 2.0)]), None);
        assert_eq!(next(vec![(7, 1.0), (7, 2.0)]), None);
        assert_eq!(next(Vec::new()), None);
    }
}
