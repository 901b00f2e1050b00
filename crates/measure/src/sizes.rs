//! Which sizes are measured: lists, ranges, and more of them where the curve bends.

use laneway_core::units::parse_size;

/// More sizes than this are a mistake.
const MOST_SIZES: usize = 100_000;

/// `8,64,1K`, `8:4M` (each twice the one before), `8:4M:*4`, `0:100K:+1K`, and lists of these.
pub fn parse(text: &str) -> Result<Vec<u64>, String> {
    let mut sizes = Vec::new();
    for item in text.split(',') {
        range(item, &mut sizes).map_err(|reason| {
            match reason.starts_with(&format!("`{item}`")) {
                true => reason,
                false => format!("`{item}`: {reason}"),
            }
        })?;
        if sizes.len() > MOST_SIZES {
            return Err(format!("`{item}`: more than {MOST_SIZES} sizes"));
        }
    }
    sizes.sort_unstable();
    sizes.dedup();
    Ok(sizes)
}

fn range(item: &str, sizes: &mut Vec<u64>) -> Result<(), String> {
    let mut parts = item.split(':');
    let first = parse_size(parts.next().unwrap_or(""))?;
    let Some(last) = parts.next() else {
        sizes.push(first);
        return Ok(());
    };
    if last.is_empty() {
        return Err("the end of the range is missing".to_string());
    }
    let (last, step) = (parse_size(last)?, parts.next().unwrap_or("*2"));
    if parts.next().is_some() {
        return Err("a range is FIRST:LAST or FIRST:LAST:STEP".to_string());
    }
    if last < first {
        return Err("its end is below its start".to_string());
    }
    let next: Box<dyn Fn(u64) -> u64> = if let Some(step) = step.strip_prefix('+') {
        let step = parse_size(step)?;
        if step == 0 {
            return Err("the step must be above 0".to_string());
        }
        Box::new(move |size| size.saturating_add(step))
    } else if let Some(factor) = step.strip_prefix('*') {
        let factor: u64 = factor.parse().map_err(|_| format!("`{factor}` is not a factor"))?;
        if factor < 2 {
            return Err("the factor must be at least 2".to_string());
        }
        // From nothing the first step is to one byte.
        Box::new(move |size| if size == 0 { 1 } else { size.saturating_mul(factor) })
    } else {
        return Err("a step is +SIZE or *FACTOR".to_string());
    };
    let mut size = first;
    while size <= last && sizes.len() <= MOST_SIZES {
        sizes.push(size);
        if size == u64::MAX {
            break;
        }
        size = next(size);
    }
    // The end that was named belongs to it.
    if sizes.last().is_some_and(|&reached| reached < last) {
        sizes.push(last);
    }
    Ok(())
}

/// Where the curve bends most: the size to measure next, so that straight lines between the points
/// are at most `tolerance` wrong; `None` if they seem to be. The points are in order of size.
pub fn refine(points: &[(u64, f64)], tolerance: f64) -> Option<u64> {
    let mut worst: Option<(f64, u64)> = None;
    for three in points.windows(3) {
        let [(a, time_a), (b, time_b), (c, time_c)] = [three[0], three[1], three[2]];
        let along = (b - a) as f64 / (c - a) as f64;
        let straight = time_a + along * (time_c - time_a);
        let wrong = (time_b - straight).abs() / time_b.abs().max(f64::MIN_POSITIVE);
        // The steeper of the two sides, if there is room on it.
        let steep = (time_b - time_a).abs() > (time_c - time_b).abs();
        let (low, high) = if steep { (a, b) } else { (b, c) };
        let middle = low + (high - low) / 2;
        let room = middle > low && middle < high;
        if room && wrong > tolerance && worst.is_none_or(|(most, _)| wrong > most) {
            worst = Some((wrong, middle));
        }
    }
    worst.map(|(_, size)| size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_ranges_are_read() {
        assert_eq!(parse("8,1K,8"), Ok(vec![8, 1024]));
        assert_eq!(parse("8:64"), Ok(vec![8, 16, 32, 64]));
        assert_eq!(parse("1:100:*10"), Ok(vec![1, 10, 100]));
        assert_eq!(parse("0:4:+1,16"), Ok(vec![0, 1, 2, 3, 4, 16]));
        assert_eq!(parse("0:8"), Ok(vec![0, 1, 2, 4, 8]));
        assert_eq!(parse("10:25"), Ok(vec![10, 20, 25]));
        assert_eq!(parse("0:100K:+1K").map(|sizes| sizes.len()), Ok(101));
        for bad in ["", "x", "8:4", "1:8:+0", "1:8:*1", "1:8:2", "1:2:+1:3", "0:1G:+1", "8:"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn bends_are_refined_and_straight_lines_are_not() {
        let straight: Vec<(u64, f64)> = (1..10).map(|i| (i * 1000, i as f64)).collect();
        assert_eq!(refine(&straight, 0.01), None);
        let mut jump = straight.clone();
        for point in &mut jump[5..] {
            point.1 += 100.0;
        }
        let next = refine(&jump, 0.01).expect("a bend");
        assert!((5_000..7_000).contains(&next), "{next}");
        // It ends: between neighbours there is no room.
        assert_eq!(refine(&[(1, 1.0), (2, 9.0), (3, 1.0)], 0.01), None);
    }
}
