//! Which messages of a rank are one bar of a timeline: those that paper cannot tell apart.

use laneway_sim::Delivery;

/// The number of preceding bars among which a message looks for one to join.
const LOOK_BACK: usize = 32;

/// One bar: a message, or several of the same sender.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    pub from: u32,
    /// The receiver of each message, in the order in which they leave.
    pub to: Vec<u32>,
    pub bytes: u64,
    pub start: f64,
    pub end: f64,
    /// Its row within the line of its sender.
    pub row: u32,
    /// The times of the first message, which the others are compared with.
    first: (f64, f64),
}

/// What paper cannot tell apart, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Messages so short that follow each other so closely are one bar.
    pub narrow: f64,
    /// Messages that begin and end so close to each other are one bar; `None` if all that
    /// overlap are to be seen.
    pub alike: Option<f64>,
}

impl Block {
    fn of(message: &Delivery) -> Block {
        Block {
            from: message.from,
            to: vec![message.to],
            bytes: message.bytes,
            start: message.start,
            end: message.end,
            row: 0,
            first: (message.start, message.end),
        }
    }

    fn takes(&self, message: &Delivery, limits: Limits) -> bool {
        let is_alike = limits.alike.is_some_and(|alike| {
            (message.start - self.first.0).abs() <= alike
                && (message.end - self.first.1).abs() <= alike
        });
        let is_short = |(start, end): (f64, f64)| end - start < limits.narrow;
        let follows = message.start >= self.end && message.start - self.end < limits.narrow;
        is_alike || (follows && is_short(self.first) && is_short((message.start, message.end)))
    }

    fn add(&mut self, message: &Delivery) {
        self.to.push(message.to);
        self.bytes += message.bytes;
        self.start = self.start.min(message.start);
        self.end = self.end.max(message.end);
    }
}

/// The bars for the messages of one rank, which are sorted by when they leave, each in the first
/// row that is free; and how many rows there are.
pub fn blocks(sent: &[Delivery], limits: Limits) -> (Vec<Block>, u32) {
    let mut blocks: Vec<Block> = Vec::new();
    for message in sent {
        let near = blocks.iter_mut().rev().take(LOOK_BACK);
        match near.into_iter().find(|block| block.takes(message, limits)) {
            Some(block) => block.add(message),
            None => blocks.push(Block::of(message)),
        }
    }
    let mut free: Vec<f64> = Vec::new();
    for block in &mut blocks {
        let row = free.iter().position(|&until| until <= block.start).unwrap_or(free.len());
        if row == free.len() {
            free.push(0.0);
        }
        free[row] = block.end;
        block.row = row as u32;
    }
    (blocks, free.len() as u32)
}

/// Ranks as a person writes them: 0-3,7.
pub fn ranges(ranks: &[u32]) -> String {
    let mut sorted = ranks.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let runs = sorted.chunk_by(|a, b| a + 1 == *b).map(|run| match run {
        [first, .., last] => format!("{first}-{last}"),
        run => run[0].to_string(),
    });
    runs.collect::<Vec<_>>().join(",")
}

/// The times at which at least one of some messages is under way, as spans that do not touch.
pub fn covered(mut spans: Vec<(f64, f64)>, apart: f64) -> Vec<(f64, f64)> {
    spans.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut joined: Vec<(f64, f64)> = Vec::new();
    for (start, end) in spans {
        match joined.last_mut() {
            Some(last) if start - last.1 <= apart => last.1 = last.1.max(end),
            _ => joined.push((start, end)),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(to: u32, start: f64, end: f64) -> Delivery {
        Delivery { from: 0, to, bytes: 8, start, end }
    }

    const ALL: Limits = Limits { narrow: 0.0, alike: None };

    #[test]
    fn messages_that_overlap_stand_below_each_other() {
        let (blocks, depth) = blocks(&[sent(1, 0., 2.), sent(2, 1., 3.), sent(3, 2., 4.)], ALL);
        let rows: Vec<u32> = blocks.iter().map(|block| block.row).collect();
        assert_eq!((rows, depth), (vec![0, 1, 0], 2));
    }

    #[test]
    fn messages_too_close_to_draw_are_one_bar() {
        let together: Vec<Delivery> =
            (1..24).map(|to| sent(to, 0.01 * f64::from(to), 9.)).collect();
        assert_eq!(blocks(&together, ALL).1, 23);
        let (merged, depth) = blocks(&together, Limits { narrow: 0.0, alike: Some(0.5) });
        assert_eq!((merged.len(), depth), (1, 1));
        assert_eq!((merged[0].to.len(), merged[0].bytes), (23, 184));
        assert_eq!((merged[0].start, merged[0].end), (0.01, 9.));
        // One that ends earlier is seen.
        let early = [&together[..], &[sent(30, 0.3, 5.)]].concat();
        assert_eq!(blocks(&early, Limits { narrow: 0.0, alike: Some(0.5) }).0.len(), 2);
    }

    #[test]
    fn short_messages_that_follow_each_other_are_one_bar() {
        let short: Vec<Delivery> = (0..100u32)
            .map(|i| sent(i, f64::from(i) * 0.1, f64::from(i + 1) * 0.1))
            .chain([sent(7, 10.0, 20.0), sent(8, 25.0, 25.1)])
            .collect();
        let (merged, depth) = blocks(&short, Limits { narrow: 0.15, alike: None });
        let counts: Vec<usize> = merged.iter().map(|block| block.to.len()).collect();
        assert_eq!((counts, depth), (vec![100, 1, 1], 1));
    }

    #[test]
    fn ranks_and_times_are_written_as_spans() {
        assert_eq!(ranges(&[3, 1, 2, 7, 9, 8, 2, 12]), "1-3,7-9,12");
        assert_eq!(ranges(&[]), "");
        let times = vec![(4.0, 5.0), (0.0, 2.0), (1.0, 3.0), (3.05, 3.2)];
        assert_eq!(covered(times, 0.1), [(0.0, 3.2), (4.0, 5.0)]);
    }
}
