//! Reductions over bytes: the usual operators and types, and any function that a user supplies.

use std::fmt;
use std::sync::Arc;

/// The reduction operators of MPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReduceOp {
    /// Sum.
    Sum,
    /// Product.
    Product,
    /// Minimum.
    Min,
    /// Maximum.
    Max,
    /// Bitwise and.
    BitAnd,
    /// Bitwise or.
    BitOr,
    /// Bitwise exclusive or.
    BitXor,
    /// Logical and.
    LogicalAnd,
    /// Logical or.
    LogicalOr,
    /// Logical exclusive or.
    LogicalXor,
}

impl ReduceOp {
    /// All of them.
    pub const ALL: [ReduceOp; 10] = [
        ReduceOp::Sum,
        ReduceOp::Product,
        ReduceOp::Min,
        ReduceOp::Max,
        ReduceOp::BitAnd,
        ReduceOp::BitOr,
        ReduceOp::BitXor,
        ReduceOp::LogicalAnd,
        ReduceOp::LogicalOr,
        ReduceOp::LogicalXor,
    ];

    /// The name of the operator.
    pub fn name(self) -> &'static str {
        match self {
            ReduceOp::Sum => "sum",
            ReduceOp::Product => "product",
            ReduceOp::Min => "min",
            ReduceOp::Max => "max",
            ReduceOp::BitAnd => "bit-and",
            ReduceOp::BitOr => "bit-or",
            ReduceOp::BitXor => "bit-xor",
            ReduceOp::LogicalAnd => "logical-and",
            ReduceOp::LogicalOr => "logical-or",
            ReduceOp::LogicalXor => "logical-xor",
        }
    }

    /// Whether the operator applies to a type: bitwise and logical ones need integers.
    pub fn serves(self, ty: DataType) -> bool {
        !ty.is_float()
            || matches!(self, ReduceOp::Sum | ReduceOp::Product | ReduceOp::Min | ReduceOp::Max)
    }
}

/// The element types of MPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DataType {
    /// 8-bit signed integer.
    I8,
    /// 16-bit signed integer.
    I16,
    /// 32-bit signed integer.
    I32,
    /// 64-bit signed integer.
    I64,
    /// 8-bit unsigned integer.
    U8,
    /// 16-bit unsigned integer.
    U16,
    /// 32-bit unsigned integer.
    U32,
    /// 64-bit unsigned integer.
    U64,
    /// 32-bit floating-point number.
    F32,
    /// 64-bit floating-point number.
    F64,
}

impl DataType {
    /// All of them.
    pub const ALL: [DataType; 10] = [
        DataType::I8,
        DataType::I16,
        DataType::I32,
        DataType::I64,
        DataType::U8,
        DataType::U16,
        DataType::U32,
        DataType::U64,
        DataType::F32,
        DataType::F64,
    ];

    /// The name of the type.
    pub fn name(self) -> &'static str {
        match self {
            DataType::I8 => "i8",
            DataType::I16 => "i16",
            DataType::I32 => "i32",
            DataType::I64 => "i64",
            DataType::U8 => "u8",
            DataType::U16 => "u16",
            DataType::U32 => "u32",
            DataType::U64 => "u64",
            DataType::F32 => "f32",
            DataType::F64 => "f64",
        }
    }

    /// The size of one element in bytes.
    pub fn size(self) -> u32 {
        match self {
            DataType::I8 | DataType::U8 => 1,
            DataType::I16 | DataType::U16 => 2,
            DataType::I32 | DataType::U32 | DataType::F32 => 4,
            DataType::I64 | DataType::U64 | DataType::F64 => 8,
        }
    }

    /// Whether it is a floating-point type.
    pub fn is_float(self) -> bool {
        matches!(self, DataType::F32 | DataType::F64)
    }
}

/// A user-defined reduction: associative, over elements of a fixed size.
pub trait Combine: Send + Sync {
    /// The size of one element in bytes.
    fn element(&self) -> u32;
    /// Whether the reduction is commutative.
    fn commutative(&self) -> bool;
    /// `left`: into = from (+) into; otherwise into = into (+) from. Whole elements, equal lengths.
    fn combine(&self, from: &[u8], into: &mut [u8], left: bool);
}

/// A reduction of two vectors to one.
#[derive(Clone)]
pub enum Reduction {
    /// A predefined operator.
    Builtin(ReduceOp, DataType),
    /// A user-defined operator.
    User(Arc<dyn Combine>),
}

impl fmt::Debug for Reduction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reduction::Builtin(op, ty) => write!(f, "{} of {}", op.name(), ty.name()),
            Reduction::User(user) => write!(f, "a user's function of {} bytes", user.element()),
        }
    }
}

/// A closure as a reduction.
struct Closure<F> {
    element: u32,
    commutative: bool,
    combine: F,
}

impl<F: Fn(&[u8], &mut [u8], bool) + Send + Sync> Combine for Closure<F> {
    fn element(&self) -> u32 {
        self.element
    }

    fn commutative(&self) -> bool {
        self.commutative
    }

    fn combine(&self, from: &[u8], into: &mut [u8], left: bool) {
        (self.combine)(from, into, left);
    }
}

impl Reduction {
    /// A user-defined function over elements of `element` bytes; see [`Combine::combine`] for its
    /// arguments.
    ///
    /// ```
    /// use laneway_core::Reduction;
    ///
    /// // The longer of two lengths, whichever side it is on.
    /// let longest = Reduction::from_fn(1, true, |from, into, _left| {
    ///     into.iter_mut().zip(from).for_each(|(a, b)| *a = (*a).max(*b));
    /// });
    /// let mut lengths = [3, 9];
    /// longest.apply(&[5, 4], &mut lengths, false);
    /// assert_eq!(lengths, [5, 9]);
    /// ```
    pub fn from_fn(
        element: u32,
        commutative: bool,
        combine: impl Fn(&[u8], &mut [u8], bool) + Send + Sync + 'static,
    ) -> Reduction {
        Reduction::User(Arc::new(Closure { element, commutative, combine }))
    }

    /// The size of one element in bytes.
    pub fn element(&self) -> u32 {
        match self {
            Reduction::Builtin(_, ty) => ty.size(),
            Reduction::User(user) => user.element(),
        }
    }

    /// Whether the reduction is commutative.
    pub fn commutative(&self) -> bool {
        match self {
            Reduction::Builtin(..) => true,
            Reduction::User(user) => user.commutative(),
        }
    }

    /// `left`: into = from (+) into; otherwise into = into (+) from.
    ///
    /// # Panics
    /// Where the lengths differ, or an operator is asked of a type it does not serve: both are
    /// refused before a run begins.
    pub fn apply(&self, from: &[u8], into: &mut [u8], left: bool) {
        assert_eq!(from.len(), into.len(), "a reduction joins vectors of one length");
        match self {
            Reduction::User(user) => user.combine(from, into, left),
            Reduction::Builtin(op, ty) => builtin(*op, *ty, from, into),
        }
    }
}

/// Applies `f(into, from)` to each pair of elements; the compiler makes vector code of it.
macro_rules! each {
    ($t:ty, $from:expr, $into:expr, $f:expr) => {{
        const SIZE: usize = size_of::<$t>();
        let f = $f;
        for (a, b) in $into.chunks_exact_mut(SIZE).zip($from.chunks_exact(SIZE)) {
            // Both chunks have SIZE bytes by construction.
            let x = <$t>::from_ne_bytes((&*a).try_into().expect("a whole element"));
            let y = <$t>::from_ne_bytes(b.try_into().expect("a whole element"));
            let z: $t = f(x, y);
            a.copy_from_slice(&z.to_ne_bytes());
        }
    }};
}

macro_rules! whole {
    ($t:ty, $op:expr, $from:expr, $into:expr) => {
        match $op {
            ReduceOp::Sum => each!($t, $from, $into, |a: $t, b: $t| a.wrapping_add(b)),
            ReduceOp::Product => each!($t, $from, $into, |a: $t, b: $t| a.wrapping_mul(b)),
            ReduceOp::Min => each!($t, $from, $into, |a: $t, b: $t| a.min(b)),
            ReduceOp::Max => each!($t, $from, $into, |a: $t, b: $t| a.max(b)),
            ReduceOp::BitAnd => each!($t, $from, $into, |a: $t, b: $t| a & b),
            ReduceOp::BitOr => each!($t, $from, $into, |a: $t, b: $t| a | b),
            ReduceOp::BitXor => each!($t, $from, $into, |a: $t, b: $t| a ^ b),
            ReduceOp::LogicalAnd => {
                each!($t, $from, $into, |a: $t, b: $t| <$t>::from(a != 0 && b != 0))
            }
            ReduceOp::LogicalOr => {
                each!($t, $from, $into, |a: $t, b: $t| <$t>::from(a != 0 || b != 0))
            }
            ReduceOp::LogicalXor => {
                each!($t, $from, $into, |a: $t, b: $t| <$t>::from((a != 0) != (b != 0)))
            }
        }
    };
}

macro_rules! float {
    ($t:ty, $op:expr, $from:expr, $into:expr) => {
        match $op {
            ReduceOp::Sum => each!($t, $from, $into, |a: $t, b: $t| a + b),
            ReduceOp::Product => each!($t, $from, $into, |a: $t, b: $t| a * b),
            ReduceOp::Min => each!($t, $from, $into, |a: $t, b: $t| if b < a { b } else { a }),
            ReduceOp::Max => each!($t, $from, $into, |a: $t, b: $t| if b > a { b } else { a }),
            op => panic!("{} of {} does not exist", op.name(), stringify!($t)),
        }
    };
}

fn builtin(op: ReduceOp, ty: DataType, from: &[u8], into: &mut [u8]) {
    match ty {
        DataType::I8 => whole!(i8, op, from, into),
        DataType::I16 => whole!(i16, op, from, into),
        DataType::I32 => whole!(i32, op, from, into),
        DataType::I64 => whole!(i64, op, from, into),
        DataType::U8 => whole!(u8, op, from, into),
        DataType::U16 => whole!(u16, op, from, into),
        DataType::U32 => whole!(u32, op, from, into),
        DataType::U64 => whole!(u64, op, from, into),
        DataType::F32 => float!(f32, op, from, into),
        DataType::F64 => float!(f64, op, from, into),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reduced<const N: usize>(
        op: ReduceOp,
        ty: DataType,
        from: [u8; N],
        into: [u8; N],
    ) -> [u8; N] {
        let mut into = into;
        Reduction::Builtin(op, ty).apply(&from, &mut into, false);
        into
    }

    #[test]
    fn operators_do_what_they_say() {
        let f = |op, a: f64, b: f64| {
            f64::from_ne_bytes(reduced(op, DataType::F64, b.to_ne_bytes(), a.to_ne_bytes()))
        };
        assert_eq!(f(ReduceOp::Sum, 1.5, 2.0), 3.5);
        assert_eq!(f(ReduceOp::Product, 1.5, 2.0), 3.0);
        assert_eq!(f(ReduceOp::Min, 1.5, 2.0), 1.5);
        assert_eq!(f(ReduceOp::Max, 1.5, 2.0), 2.0);
        let i = |op, a: u8, b: u8| reduced(op, DataType::U8, [b], [a])[0];
        assert_eq!(i(ReduceOp::Sum, 250, 10), 4);
        assert_eq!(i(ReduceOp::BitAnd, 12, 10), 8);
        assert_eq!(i(ReduceOp::BitOr, 12, 10), 14);
        assert_eq!(i(ReduceOp::BitXor, 12, 10), 6);
        assert_eq!(i(ReduceOp::LogicalAnd, 12, 0), 0);
        assert_eq!(i(ReduceOp::LogicalOr, 12, 0), 1);
        assert_eq!(i(ReduceOp::LogicalXor, 12, 10), 0);
        assert_eq!(reduced(ReduceOp::Min, DataType::I8, [(-1i8) as u8], [1]), [255]);
    }

    /// The operator over numbers so wide that nothing is lost.
    fn expected(op: ReduceOp, a: i64, b: i64) -> i64 {
        match op {
            ReduceOp::Sum => a + b,
            ReduceOp::Product => a * b,
            ReduceOp::Min => a.min(b),
            ReduceOp::Max => a.max(b),
            ReduceOp::BitAnd => a & b,
            ReduceOp::BitOr => a | b,
            ReduceOp::BitXor => a ^ b,
            ReduceOp::LogicalAnd => i64::from(a != 0 && b != 0),
            ReduceOp::LogicalOr => i64::from(a != 0 || b != 0),
            ReduceOp::LogicalXor => i64::from((a != 0) != (b != 0)),
        }
    }

    fn bytes_of(ty: DataType, value: i64) -> Vec<u8> {
        match ty {
            DataType::I8 => (value as i8).to_ne_bytes().into(),
            DataType::I16 => (value as i16).to_ne_bytes().into(),
            DataType::I32 => (value as i32).to_ne_bytes().into(),
            DataType::I64 => value.to_ne_bytes().into(),
            DataType::U8 => (value as u8).to_ne_bytes().into(),
            DataType::U16 => (value as u16).to_ne_bytes().into(),
            DataType::U32 => (value as u32).to_ne_bytes().into(),
            DataType::U64 => (value as u64).to_ne_bytes().into(),
            DataType::F32 => (value as f32).to_ne_bytes().into(),
            DataType::F64 => (value as f64).to_ne_bytes().into(),
        }
    }

    #[test]
    fn every_operator_serves_every_type_it_claims() {
        // Pairs whose every result fits a signed byte.
        let pairs = [(0, 0), (0, 5), (3, 0), (3, 5), (12, 10), (1, 1), (5, 3)];
        for op in ReduceOp::ALL {
            for ty in DataType::ALL.into_iter().filter(|&ty| op.serves(ty)) {
                let vector = |value: &dyn Fn(&(i64, i64)) -> i64| -> Vec<u8> {
                    pairs.iter().flat_map(|pair| bytes_of(ty, value(pair))).collect()
                };
                let (from, right) = (vector(&|pair| pair.1), vector(&|&(a, b)| expected(op, a, b)));
                for left in [false, true] {
                    let mut into = vector(&|pair| pair.0);
                    Reduction::Builtin(op, ty).apply(&from, &mut into, left);
                    assert_eq!(into, right, "{} of {}", op.name(), ty.name());
                }
            }
        }
    }
}
