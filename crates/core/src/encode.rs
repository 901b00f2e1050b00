//! Values as bytes, for messages between ranks of one program: both ends know the type.
//!
//! Every number takes eight bytes, so that the length of a value without lists depends on its type
//! alone.

/// A value that ranks exchange; see [`crate::talk::broadcast_value`].
pub trait Encode: Sized {
    /// Appends the bytes of the value.
    fn encode(&self, out: &mut Vec<u8>);

    /// Takes a value from the front of the bytes; `None` if there are too few.
    fn decode(bytes: &mut &[u8]) -> Option<Self>;

    /// The bytes of the value alone.
    fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.encode(&mut out);
        out
    }
}

impl Encode for u64 {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend(self.to_le_bytes());
    }

    fn decode(bytes: &mut &[u8]) -> Option<u64> {
        let (first, rest) = bytes.split_first_chunk()?;
        *bytes = rest;
        Some(u64::from_le_bytes(*first))
    }
}

impl Encode for f64 {
    fn encode(&self, out: &mut Vec<u8>) {
        self.to_bits().encode(out);
    }

    fn decode(bytes: &mut &[u8]) -> Option<f64> {
        u64::decode(bytes).map(f64::from_bits)
    }
}

impl Encode for u32 {
    fn encode(&self, out: &mut Vec<u8>) {
        u64::from(*self).encode(out);
    }

    fn decode(bytes: &mut &[u8]) -> Option<u32> {
        u32::try_from(u64::decode(bytes)?).ok()
    }
}

impl Encode for bool {
    fn encode(&self, out: &mut Vec<u8>) {
        u64::from(*self).encode(out);
    }

    fn decode(bytes: &mut &[u8]) -> Option<bool> {
        match u64::decode(bytes)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl<T: Encode> Encode for Option<T> {
    fn encode(&self, out: &mut Vec<u8>) {
        self.is_some().encode(out);
        if let Some(value) = self {
            value.encode(out);
        }
    }

    fn decode(bytes: &mut &[u8]) -> Option<Option<T>> {
        match bool::decode(bytes)? {
            true => T::decode(bytes).map(Some),
            false => Some(None),
        }
    }
}

/// Its length, then its values.
impl<T: Encode> Encode for Vec<T> {
    fn encode(&self, out: &mut Vec<u8>) {
        (self.len() as u64).encode(out);
        self.iter().for_each(|value| value.encode(out));
    }

    fn decode(bytes: &mut &[u8]) -> Option<Vec<T>> {
        let length = u64::decode(bytes)?;
        (0..length).map(|_| T::decode(bytes)).collect()
    }
}

macro_rules! encode_tuples {
    ($(($($name:ident $at:tt),+))+) => {
        $(impl<$($name: Encode),+> Encode for ($($name,)+) {
            fn encode(&self, out: &mut Vec<u8>) {
                $(self.$at.encode(out);)+
            }

            fn decode(bytes: &mut &[u8]) -> Option<Self> {
                Some(($($name::decode(bytes)?,)+))
            }
        })+
    };
}

encode_tuples! {
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
}

/// Implements [`Encode`] for a struct by its fields, in the order in which they are named.
#[macro_export]
macro_rules! encode_fields {
    ($type:ty { $($field:ident),+ $(,)? }) => {
        impl $crate::encode::Encode for $type {
            fn encode(&self, out: &mut Vec<u8>) {
                $($crate::encode::Encode::encode(&self.$field, out);)+
            }

            fn decode(bytes: &mut &[u8]) -> Option<Self> {
                Some(Self { $($field: $crate::encode::Encode::decode(bytes)?,)+ })
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, PartialEq)]
    struct Report {
        ranks: u32,
        seconds: f64,
        late: Option<bool>,
        spans: Vec<(f64, f64)>,
    }

    encode_fields!(Report { ranks, seconds, late, spans });

    fn report() -> Report {
        Report { ranks: 7, seconds: -0.5, late: Some(true), spans: vec![(1.0, 2.0), (3.0, 4.5)] }
    }

    #[test]
    fn values_come_back() {
        let bytes = report().to_bytes();
        assert_eq!(bytes.len(), 8 * (1 + 1 + 2 + 1 + 4));
        let mut rest = &bytes[..];
        assert_eq!(Report::decode(&mut rest), Some(report()));
        assert!(rest.is_empty());
        let nan = f64::NAN.to_bytes();
        assert!(f64::decode(&mut &nan[..]).is_some_and(f64::is_nan));
    }

    #[test]
    fn cut_bytes_and_values_out_of_range_are_refused() {
        let bytes = report().to_bytes();
        for length in 0..bytes.len() {
            assert_eq!(Report::decode(&mut &bytes[..length]), None, "{length} bytes");
        }
        assert_eq!(bool::decode(&mut &2u64.to_bytes()[..]), None);
        assert_eq!(u32::decode(&mut &(1u64 << 32).to_bytes()[..]), None);
        // A length that no message can have does not allocate.
        assert_eq!(Vec::<u64>::decode(&mut &u64::MAX.to_bytes()[..]), None);
    }
}
