//! Where messages lie: in one buffer that stays in the cache, or in ever new ones that are not.

use std::fmt;
use std::hint::black_box;
use std::str::FromStr;

use laneway_core::units::{format_size, parse_size};

use crate::repeat::Rule;

/// Whether the bytes of a message are in the cache before it is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cache {
    /// The same buffer each time.
    #[default]
    Warm,
    /// March through this number of bytes, more than the cache holds: when a place comes again,
    /// what was there has been driven out by what came after.
    Cold {
        /// The length of the march.
        bytes: usize,
    },
}

/// More than the last cache of most machines.
pub const COLD_BYTES: usize = 256 << 20;

impl FromStr for Cache {
    type Err = String;

    /// `warm`, `cold` or `cold:SIZE`.
    fn from_str(text: &str) -> Result<Cache, String> {
        match text.split_once(':').unwrap_or((text, "")) {
            ("warm", "") => Ok(Cache::Warm),
            ("cold", "") => Ok(Cache::Cold { bytes: COLD_BYTES }),
            ("cold", size) => match parse_size(size)? {
                0 => Err("the size must be above 0".to_string()),
                bytes => Ok(Cache::Cold { bytes: bytes as usize }),
            },
            _ => Err("a cache is warm, cold or cold:SIZE".to_string()),
        }
    }
}

/// As it is read.
impl fmt::Display for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cache::Warm => write!(f, "warm"),
            Cache::Cold { bytes } => write!(f, "cold:{}", format_size(*bytes as u64)),
        }
    }
}

/// The buffers of one rank.
pub struct Buffers {
    out: March,
    into: March,
}

impl Buffers {
    /// Buffers of these lengths.
    pub fn new(cache: Cache, out_bytes: usize, into_bytes: usize) -> Buffers {
        Buffers { out: March::new(cache, out_bytes), into: March::new(cache, into_bytes) }
    }

    /// Warm buffers of these lengths whose pages may be missing: in virtual time a page that is
    /// written takes memory and no time.
    pub(crate) fn untouched(out_bytes: usize, into_bytes: usize) -> Buffers {
        let march = |size| March { bytes: vec![0; size], size, stride: 0, first: 0, next: 0 };
        Buffers { out: march(out_bytes), into: march(into_bytes) }
    }

    /// What to send from and to receive into next.
    pub fn advance(&mut self) -> (&mut [u8], &mut [u8]) {
        (self.out.advance(), self.into.advance())
    }
}

/// Processors fetch what follows as well, but not across pages: each place is in pages of its own.
const PAGE: usize = 4096;
/// A line and the neighbour that is fetched with it.
const LINES: usize = 128;

struct March {
    bytes: Vec<u8>,
    size: usize,
    /// From one place to the next; `None` if there is one.
    stride: usize,
    /// Where in its pages a place begins, this time through.
    first: usize,
    next: usize,
}

impl March {
    fn new(cache: Cache, size: usize) -> March {
        let (stride, whole) = match cache {
            Cache::Warm => (0, size),
            Cache::Cold { bytes } => {
                let stride = size.div_ceil(PAGE).max(1).saturating_mul(PAGE);
                (stride, bytes.div_ceil(stride).max(2).saturating_mul(stride))
            }
        };
        // Written once, so that every page is there.
        March { bytes: vec![1; whole], size, stride, first: 0, next: 0 }
    }

    fn advance(&mut self) -> &mut [u8] {
        if self.next + self.size > self.bytes.len() {
            // Short messages leave most of a page out: the next time through takes other lines, so
            // that a line comes again only after all bytes of the march.
            self.first += self.size.next_multiple_of(LINES).max(LINES);
            if self.first + self.size > self.stride {
                self.first = 0;
            }
            self.next = self.first;
        }
        let from = self.next;
        self.next += self.stride;
        &mut self.bytes[from..from + self.size]
    }
}

/// Buffers of one rank for the calls of a collective, In and Out: enough for a march between two
/// uses of one. A place is in pages of its own, as those of a `March`.
pub struct Places {
    input: Line,
    output: Line,
}

/// As many buffers of one length.
struct Line {
    bytes: Vec<u8>,
    len: usize,
    count: usize,
}

impl Line {
    fn stride(len: usize) -> usize {
        len.div_ceil(PAGE).saturating_mul(PAGE)
    }

    fn new(len: usize, count: usize) -> Line {
        // Written once, so that every page is there.
        Line { bytes: vec![1; Line::stride(len).saturating_mul(count)], len, count }
    }

    fn parts(&mut self) -> Vec<&mut [u8]> {
        if self.len == 0 {
            return (0..self.count).map(|_| &mut [][..]).collect();
        }
        let (len, stride) = (self.len, Line::stride(self.len));
        self.bytes.chunks_exact_mut(stride).map(|place| &mut place[..len]).collect()
    }
}

impl Places {
    /// `None` if buffers stay the same.
    pub fn new(cache: Cache, in_bytes: usize, out_bytes: usize) -> Option<Places> {
        let Cache::Cold { bytes } = cache else { return None };
        let count = bytes.div_ceil(Line::stride(in_bytes.max(out_bytes)).max(PAGE)).max(2);
        Some(Places { input: Line::new(in_bytes, count), output: Line::new(out_bytes, count) })
    }

    /// What they need at most, in bytes.
    pub fn need(cache: Cache, in_bytes: u64, out_bytes: u64) -> u64 {
        let Cache::Cold { bytes } = cache else { return 0 };
        let largest = in_bytes.max(out_bytes).saturating_add(PAGE as u64);
        let line = |len: u64| if len == 0 { 0 } else { largest.max(bytes as u64) };
        line(in_bytes).saturating_add(line(out_bytes)).saturating_add(largest.saturating_mul(4))
    }

    /// An In and an Out for each call, in the order of the march.
    pub fn pairs(&mut self) -> impl Iterator<Item = (&[u8], &mut [u8])> {
        let input = self.input.parts().into_iter().map(|part| &*part);
        input.zip(self.output.parts())
    }
}

/// Seconds that a sample of copies lasts at least: far above what reading a clock costs.
const COPY_SECONDS: f64 = 20e-6;

/// Samples of one copy of `size` bytes within this process, the layer under all others; `now` reads
/// a clock.
pub fn memcpy(size: usize, cache: Cache, rule: &Rule, now: &dyn Fn() -> f64) -> Vec<f64> {
    let mut buffers = Buffers::new(cache, size, size);
    let mut series = |copies: u32| {
        let begun = now();
        for _ in 0..copies {
            let (out, into) = buffers.advance();
            black_box(into).copy_from_slice(black_box(out));
        }
        now() - begun
    };
    let mut copies = 1;
    while series(copies) < COPY_SECONDS && copies < 1 << 24 {
        copies *= 2;
    }
    let (begun, mut samples) = (now(), Vec::new());
    loop {
        match rule.wanted(&samples, now() - begun) {
            0 => return samples,
            wanted => samples.extend((0..wanted).map(|_| series(copies) / f64::from(copies))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cold_buffers_march_and_warm_ones_stay() {
        let mut warm = Buffers::new(Cache::Warm, 8, 4);
        let first = warm.advance().0.as_ptr();
        assert_eq!(warm.advance().0.as_ptr(), first);
        let mut cold = Buffers::new(Cache::Cold { bytes: 9000 }, 30, 0);
        let places: Vec<usize> = (0..7).map(|_| cold.advance().0.as_ptr() as usize).collect();
        let steps: Vec<usize> = places.iter().map(|place| place - places[0]).collect();
        assert_eq!(steps, [0, 4096, 8192, 128, 4224, 8320, 256]);
        assert_eq!(cold.advance().1.len(), 0);
        // Every line of it is in some place before the first comes again.
        let (mut cold, mut seen) = (March::new(Cache::Cold { bytes: 9000 }, 8), Vec::new());
        (0..96).for_each(|_| seen.push(cold.advance().as_ptr()));
        assert_eq!(cold.advance().as_ptr(), seen[0]);
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 3 * 4096 / LINES);
        let mut long = March::new(Cache::Cold { bytes: 100 }, 5000);
        let places: Vec<usize> = (0..3).map(|_| long.advance().as_ptr() as usize).collect();
        assert_eq!([places[1] - places[0], places[2] - places[0]], [8192, 0]);
    }

    #[test]
    fn places_of_a_collective_are_apart_and_there_for_either_buffer_alone() {
        assert!(Places::new(Cache::Warm, 8, 8).is_none());
        let cold = Cache::Cold { bytes: 20_000 };
        for (input, output, count) in [(8, 0, 5), (0, 5000, 3), (8, 5000, 3), (0, 0, 5)] {
            let mut places = Places::new(cold, input, output).expect("places");
            let pairs: Vec<_> = places.pairs().collect();
            assert_eq!(pairs.len(), count, "{input} {output}");
            assert!(pairs.iter().all(|(i, o)| i.len() == input && o.len() == output));
            let mut starts: Vec<_> = pairs.iter().map(|(_, out)| out.as_ptr()).collect();
            starts.sort_unstable();
            starts.dedup();
            assert!(output == 0 || starts.len() == count, "{input} {output}");
            let need = Places::need(cold, input as u64, output as u64);
            drop(pairs);
            let taken = places.input.bytes.len() + places.output.bytes.len();
            assert!(taken as u64 <= need, "{taken} of {need}");
        }
        // A buffer longer than the march still has two places.
        let mut long = Places::new(Cache::Cold { bytes: 1 }, 9000, 0).expect("places");
        assert_eq!(long.pairs().count(), 2);
    }

    #[test]
    fn longer_copies_take_longer() {
        let start = std::time::Instant::now();
        let now = || start.elapsed().as_secs_f64();
        let rule = Rule { max_reps: 40, budget: 0.5, ..Rule::default() };
        let [short, long] =
            [64, 1 << 20].map(|size| rule.estimate(&memcpy(size, Cache::Warm, &rule, &now)));
        assert!(short > 0.0 && long > 10.0 * short, "{short} {long}");
    }
}
