//! More sizes where a curve bends, as at escalations and switches of the protocol.

use crate::sizes;

/// A curve that is straight to this part is not refined.
pub const STRAIGHT: f64 = 0.05;

/// The size that a curve wants next, if it seems to bend: of sizes and times in any order.
pub fn next_size(mut points: Vec<(u64, f64)>) -> Option<u64> {
    points.sort_by_key(|(size, _)| *size);
    points.dedup_by_key(|(size, _)| *size);
    // Two points are always on a line; a third tells whether the curve is.
    if let [(low, _), (high, _)] = points[..] {
        let middle = low + (high - low) / 2;
        return (middle > low).then_some(middle);
    }
    sizes::refine(&points, STRAIGHT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_points_get_a_third_and_then_bends_decide() {
        assert_eq!(next_size(vec![(1000, 2.0), (0, 1.0)]), Some(500));
        assert_eq!(next_size(vec![(1000, 2.0), (0, 1.0), (500, 1.5)]), None);
        assert_eq!(next_size(vec![(1000, 2.0), (0, 1.0), (500, 1.9)]), Some(250));
        // No room, and no curve.
        assert_eq!(next_size(vec![(7, 1.0), (8, 2.0)]), None);
        assert_eq!(next_size(vec![(7, 1.0), (7, 2.0)]), None);
        assert_eq!(next_size(Vec::new()), None);
    }
}
