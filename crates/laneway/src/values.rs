//! Values that ranks exchange.

use laneway_core::{Comm, talk};

use crate::error::{Error, Result};

/// A value that travels between ranks as bytes, the same on every machine.
pub trait Exchange: Sized {
    /// Its bytes.
    fn to_bytes(&self) -> Vec<u8>;

    /// The value of these bytes; `None` if they are not one.
    fn from_bytes(bytes: &[u8]) -> Option<Self>;
}

macro_rules! numbers {
    ($($number:ty),*) => {
        $(
            impl Exchange for $number {
                fn to_bytes(&self) -> Vec<u8> {
                    self.to_le_bytes().to_vec()
                }

                fn from_bytes(bytes: &[u8]) -> Option<$number> {
                    Some(<$number>::from_le_bytes(bytes.try_into().ok()?))
                }
            }

            impl Exchange for Vec<$number> {
                fn to_bytes(&self) -> Vec<u8> {
                    self.iter().flat_map(|number| number.to_le_bytes()).collect()
                }

                fn from_bytes(bytes: &[u8]) -> Option<Vec<$number>> {
                    let (chunks, rest) = bytes.as_chunks();
                    let numbers = chunks.iter().map(|chunk| <$number>::from_le_bytes(*chunk));
                    rest.is_empty().then(|| numbers.collect())
                }
            }
        )*
    };
}

numbers!(f64, f32, u64, u32, i64, i32, u8);

impl Exchange for bool {
    fn to_bytes(&self) -> Vec<u8> {
        vec![u8::from(*self)]
    }

    fn from_bytes(bytes: &[u8]) -> Option<bool> {
        match bytes {
            [0] => Some(false),
            [1] => Some(true),
            _ => None,
        }
    }
}

impl Exchange for String {
    fn to_bytes(&self) -> Vec<u8> {
        self.as_bytes().to_vec()
    }

    fn from_bytes(bytes: &[u8]) -> Option<String> {
        String::from_utf8(bytes.to_vec()).ok()
    }
}

/// Collective: gathers the values of all ranks at rank 0, in rank order; `None` on the others.
///
/// ```
/// use laneway::{Platform, gather, simulate};
///
/// let platform = Platform::read("cluster:3")?;
/// let all = simulate(&platform, 3, |comm| gather(comm, &(10 * comm.rank())))?;
/// let [first, second, third] = [0, 1, 2].map(|rank| all[rank].as_ref().ok().cloned().flatten());
/// assert_eq!((first, second, third), (Some(vec![0, 10, 20]), None, None));
/// # Ok::<(), laneway::Error>(())
/// ```
pub fn gather<T: Exchange>(comm: &dyn Comm, value: &T) -> Result<Option<Vec<T>>> {
    let all = talk::gather(comm, &value.to_bytes())?;
    if comm.rank() > 0 {
        return Ok(None);
    }
    let read = |(rank, bytes): (usize, &Vec<u8>)| T::from_bytes(bytes).ok_or_else(|| wrong(rank));
    all.iter().enumerate().map(read).collect::<Result<Vec<T>>>().map(Some)
}

/// Collective: broadcasts the value of rank 0; those of the other ranks are ignored.
pub fn broadcast<T: Exchange>(comm: &dyn Comm, value: &T) -> Result<T> {
    let bytes = talk::broadcast(comm, &value.to_bytes())?;
    T::from_bytes(&bytes).ok_or_else(|| wrong(0))
}

fn wrong(rank: usize) -> Error {
    Error::Value(format!("rank {rank} sent a value of another type"))
}
