//! What the ranks contribute to a checked collective: a pure function of rank and position, so that
//! every rank can compute what every rank should hold.

use laneway_core::{Collective, DataType, Rank, ReduceOp, Reduction, Shape};

use crate::definition::expected;

/// What fills the buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// Any bytes, each one telling its rank and position.
    Bytes,
    /// Elements on which the reduction is exact in any order.
    Elements(ReduceOp, DataType),
    /// Maps x -> a x + b, whose composition keeps the order.
    Maps,
}

impl Content {
    /// What joins the contributions, where something does.
    pub fn reduction(&self) -> Option<Reduction> {
        match self {
            Content::Bytes => None,
            Content::Elements(op, ty) => Some(Reduction::Builtin(*op, *ty)),
            Content::Maps => Some(Reduction::from_fn(8, false, join_maps)),
        }
    }

    /// The operator and the type, where they are those that every library has.
    pub fn builtin(&self) -> Option<(ReduceOp, DataType)> {
        match self {
            Content::Elements(op, ty) => Some((*op, *ty)),
            _ => None,
        }
    }

    /// The operator and the type, for people.
    pub fn name(&self) -> Option<String> {
        match self {
            Content::Bytes => None,
            Content::Elements(op, ty) => Some(format!("{} {}", op.name(), ty.name())),
            Content::Maps => Some("user maps".into()),
        }
    }

    /// Bytes of one element.
    pub fn element(&self) -> u32 {
        self.reduction().map_or(1, |reduction| reduction.element())
    }

    /// Every operator with every type it serves.
    pub fn reductions() -> Vec<Content> {
        let pairs = ReduceOp::ALL.into_iter().flat_map(|op| {
            DataType::ALL.into_iter().filter(move |&ty| op.serves(ty)).map(move |ty| (op, ty))
        });
        pairs.map(|(op, ty)| Content::Elements(op, ty)).collect()
    }

    /// What `rank` contributes from byte `off` on.
    pub fn fill(&self, rank: Rank, off: u64, into: &mut [u8]) {
        match self {
            Content::Bytes => {
                let mut word = [0; 8];
                for (position, byte) in (off..).zip(into) {
                    if position % 8 == 0 || position == off {
                        word = mix(u64::from(rank) << 40 ^ (position / 8)).to_ne_bytes();
                    }
                    *byte = word[(position % 8) as usize];
                }
            }
            Content::Elements(op, ty) => {
                let size = ty.size() as usize;
                let first = off / size as u64;
                for (index, element) in (first..).zip(into.chunks_exact_mut(size)) {
                    write(*ty, operand(*op, rank, index), element);
                }
            }
            Content::Maps => {
                for (index, element) in (off / 8..).zip(into.chunks_exact_mut(8)) {
                    let word = mix(u64::from(rank) << 40 ^ index) | 1;
                    element.copy_from_slice(&word.to_ne_bytes());
                }
            }
        }
    }

    /// What `rank` must hold in the end, by the definition of the call; nothing where it leaves
    /// that open, as it does for rank 0 of an exscan.
    pub fn wanted(&self, shape: &Shape, rank: Rank) -> Option<Vec<u8>> {
        let open = shape.collective == Collective::Exscan && rank == 0;
        let fill = |from: Rank, off: u64, bytes: &mut [u8]| self.fill(from, off, bytes);
        (!open).then(|| expected(shape, rank, self.reduction().as_ref(), fill))
    }
}

/// Where an answer differs from what is wanted, for people.
pub fn difference(found: &[u8], wanted: &[u8]) -> Option<String> {
    let at = wanted.iter().zip(found).position(|(a, b)| a != b)?;
    let (is, should) = (found[at], wanted[at]);
    Some(format!("byte {at} of {} is {is:#04x} and should be {should:#04x}", found.len()))
}

/// Scatters the bits of a number: a hash without a state, and no generator, so that the word at any
/// position is known without those before it.
pub(super) fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Small whole numbers: every float represents them and their sums and products exactly.
fn operand(op: ReduceOp, rank: Rank, index: u64) -> u8 {
    let (rank, bits) = (u64::from(rank), mix(u64::from(rank) << 40 ^ index));
    let value = match op {
        ReduceOp::Sum => (rank * 7 + index * 3) % 13,
        // At most one rank in sixteen doubles an element.
        ReduceOp::Product => 1 + u64::from((rank + index).is_multiple_of(16)),
        ReduceOp::Min | ReduceOp::Max => bits % 101,
        ReduceOp::LogicalAnd => bits % 8,
        ReduceOp::LogicalOr | ReduceOp::LogicalXor => (bits % 8).saturating_sub(5),
        ReduceOp::BitAnd | ReduceOp::BitOr | ReduceOp::BitXor => bits % 128,
    };
    value as u8
}

fn write(ty: DataType, value: u8, element: &mut [u8]) {
    match ty {
        DataType::F32 => element.copy_from_slice(&f32::from(value).to_ne_bytes()),
        DataType::F64 => element.copy_from_slice(&f64::from(value).to_ne_bytes()),
        _ => {
            let bytes = u64::from(value).to_le_bytes();
            element.copy_from_slice(&bytes[..element.len()]);
            if cfg!(target_endian = "big") {
                element.reverse();
            }
        }
    }
}

/// Two u32: the map x -> a x + b modulo 2^32. Joined maps are carried out one after the other.
fn join_maps(from: &[u8], into: &mut [u8], left: bool) {
    // Each chunk has eight bytes by construction.
    let map = |bytes: &[u8]| u64::from_ne_bytes(bytes.try_into().expect("eight bytes"));
    let parts = |map: u64| (map as u32, (map >> 32) as u32);
    for (x, y) in into.chunks_exact_mut(8).zip(from.chunks_exact(8)) {
        let (first, second) = if left { (map(y), map(x)) } else { (map(x), map(y)) };
        let ((a, b), (c, d)) = (parts(first), parts(second));
        let joined = (a.wrapping_mul(c), c.wrapping_mul(b).wrapping_add(d));
        x.copy_from_slice(&(u64::from(joined.1) << 32 | u64::from(joined.0)).to_ne_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_does_not_depend_on_how_it_is_cut() {
        for content in Content::reductions().into_iter().chain([Content::Bytes, Content::Maps]) {
            let element = u64::from(content.element());
            let mut whole = vec![0; 64 * element as usize];
            content.fill(3, 0, &mut whole);
            let mut part = vec![0; 11 * element as usize];
            content.fill(3, 5 * element, &mut part);
            assert_eq!(part, whole[5 * element as usize..16 * element as usize], "{content:?}");
        }
    }

    #[test]
    fn maps_keep_their_order() {
        let mut maps = [[0u8; 8]; 3];
        for (rank, map) in maps.iter_mut().enumerate() {
            Content::Maps.fill(rank as u32, 0, map);
        }
        let join = |a: [u8; 8], b: [u8; 8], left: bool| {
            let mut into = if left { b } else { a };
            join_maps(if left { &a } else { &b }, &mut into, left);
            into
        };
        let [a, b, c] = maps;
        assert_eq!(join(join(a, b, false), c, false), join(a, join(b, c, true), true));
        assert_ne!(join(a, b, false), join(b, a, false));
    }
}
