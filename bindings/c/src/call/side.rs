//! Where the data of one buffer lies: elements of a datatype, in pieces.

use std::ffi::c_int;

use laneway_mpi::{ProgramSide, ProgramType, ProgramTypes};

use super::given::GivenSide;
use crate::arguments::{list, refused};
use crate::failure::Failure;
use crate::together::mpi_failed;

/// How the counts of a buffer are to be read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// One count: of a block or a vector.
    One,
    /// One count, of each rank's block.
    Each,
    /// A count and a displacement for each rank.
    Listed,
    /// A count for each rank, one block after another.
    Total,
    /// This rank's entry of the counts.
    Own,
}

/// A number of elements from element `at` on.
#[derive(Clone, Copy)]
struct Piece {
    at: i64,
    count: u64,
}

/// The data of one buffer.
pub struct Side {
    buffer: *mut u8,
    pub ty: ProgramType,
    pub element: c_int,
    pieces: Vec<Piece>,
    /// Elements of each rank's block, where counts are listed.
    pub lengths: Vec<u64>,
}

impl Side {
    /// # Safety
    /// Lists are null or have an entry for each rank, and the handle is that of a datatype.
    pub unsafe fn new(
        types: &ProgramTypes,
        given: &GivenSide,
        form: Form,
        rank: u32,
        ranks: u32,
    ) -> Result<Side, Failure> {
        let names = given.names;
        if given.has_null_type() {
            let cause = format!("{} is MPI_DATATYPE_NULL", names.ty);
            return Err(refused("invalid datatype", cause, "a datatype that is committed"));
        }
        // SAFETY: as promised.
        let ty = unsafe { types.data_type(given.handle) }.map_err(mpi_failed)?;
        let (rank, n) = (rank as usize, ranks as c_int);
        let lengths = match form {
            Form::One | Form::Each => Vec::new(),
            // SAFETY: as promised.
            _ => counts(unsafe { list(given.counts, n, names.counts)? }, names.counts)?,
        };
        let count = || counts(&[given.count], names.count).map(|counts| counts[0]);
        let pieces = match form {
            Form::One => vec![Piece { at: 0, count: count()? }],
            Form::Each => vec![Piece { at: 0, count: count()? * u64::from(ranks) }],
            Form::Total => vec![Piece { at: 0, count: lengths.iter().sum() }],
            Form::Own => vec![Piece { at: 0, count: lengths[rank] }],
            Form::Listed => {
                // SAFETY: as promised.
                let offsets = unsafe { list(given.offsets, n, names.offsets)? };
                let pair = |(&at, &count): (&c_int, &u64)| Piece { at: at.into(), count };
                offsets.iter().zip(&lengths).map(pair).collect()
            }
        };
        let side = Side { buffer: given.buffer, ty, element: given.element, pieces, lengths };
        side.check_addresses(names.buffer)?;
        Ok(side)
    }

    /// Only a datatype with absolute addresses has data at NULL, which is MPI_BOTTOM.
    fn check_addresses(&self, name: &str) -> Result<(), Failure> {
        const FIRST_PAGES: i64 = 1 << 16;
        for piece in self.pieces.iter().filter(|piece| piece.count > 0 && self.ty.size() > 0) {
            let Some((low, _)) = self.ty.span(piece.at, piece.count) else {
                let cause = format!("{name} reaches beyond what addresses hold");
                return Err(refused("a buffer is too long", cause, "lower counts"));
            };
            if (self.buffer as i64).wrapping_add(low).unsigned_abs() < FIRST_PAGES as u64 {
                let cause = format!("{name} is NULL or MPI_IN_PLACE");
                return Err(refused("a buffer is missing", cause, "an address with room for it"));
            }
        }
        Ok(())
    }

    /// This rank's block of it alone; `form` is that of the buffer.
    pub fn block(&self, form: Form, rank: u32, ranks: u32) -> Side {
        let piece = match form {
            Form::Listed => self.pieces[rank as usize],
            _ => {
                let count = self.elements() / u64::from(ranks);
                Piece { at: (u64::from(rank) * count) as i64, count }
            }
        };
        Side { pieces: vec![piece], lengths: Vec::new(), ..*self }
    }

    pub fn elements(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.count).sum()
    }

    /// The address of the data where it lies in a row as it is packed.
    pub fn in_a_row(&self) -> Option<*mut u8> {
        let mut next = None;
        let mut first = 0;
        for piece in self.pieces.iter().filter(|piece| piece.count > 0) {
            match next {
                None => first = piece.at,
                Some(next) if next == piece.at => {}
                Some(_) => return None,
            }
            next = Some(piece.at + piece.count as i64);
        }
        let offset = first.checked_mul(self.ty.extent())?;
        self.ty.is_plain().then(|| self.buffer.wrapping_offset(offset as isize))
    }

    /// Copies the data into a row: packed, or where `spread` is set as elements with their gaps.
    ///
    /// # Safety
    /// The elements are readable, and the room is as long as they are.
    pub unsafe fn load(
        &self,
        types: &ProgramTypes,
        spread: bool,
        into: &mut [u8],
    ) -> Result<(), Failure> {
        let mut packed = if spread { self.packed_room()? } else { Vec::new() };
        let target = if spread { &mut packed[..] } else { &mut *into };
        let mut at = 0;
        for piece in &self.pieces {
            let length = (piece.count * self.ty.size()) as usize;
            let part = &mut target[at..at + length];
            // SAFETY: as promised.
            unsafe { types.pack(&self.ty, self.address(piece), piece.count, part) }
                .map_err(mpi_failed)?;
            at += length;
        }
        if spread {
            let (to, count) = (into.as_mut_ptr(), self.elements());
            // SAFETY: each element lies within its extent, for which there is room.
            unsafe { types.unpack(&self.ty, &packed, to, count) }.map_err(mpi_failed)?;
        }
        Ok(())
    }

    /// Copies data from a row to where it belongs; gaps are left as they are.
    ///
    /// # Safety
    /// The elements are writable, and the row is as long as they are.
    pub unsafe fn store(
        &self,
        types: &ProgramTypes,
        spread: bool,
        from: &[u8],
    ) -> Result<(), Failure> {
        let mut packed = if spread { self.packed_room()? } else { Vec::new() };
        if spread {
            let (from, count) = (from.as_ptr(), self.elements());
            // SAFETY: each element lies within its extent, and all of them are there.
            unsafe { types.pack(&self.ty, from, count, &mut packed) }.map_err(mpi_failed)?;
        }
        let source = if spread { &packed[..] } else { from };
        let mut at = 0;
        for piece in &self.pieces {
            let length = (piece.count * self.ty.size()) as usize;
            let part = &source[at..at + length];
            // SAFETY: as promised.
            unsafe { types.unpack(&self.ty, part, self.address(piece), piece.count) }
                .map_err(mpi_failed)?;
            at += length;
        }
        Ok(())
    }

    fn address(&self, piece: &Piece) -> *mut u8 {
        self.buffer.wrapping_offset(piece.at.wrapping_mul(self.ty.extent()) as isize)
    }

    fn packed_room(&self) -> Result<Vec<u8>, Failure> {
        room(self.elements().saturating_mul(self.ty.size()))
    }
}

fn counts(given: &[c_int], name: &str) -> Result<Vec<u64>, Failure> {
    let count = |&count: &c_int| {
        let bad = || refused("invalid count", format!("{name} has {count}"), "0 or more");
        u64::try_from(count).map_err(|_| bad())
    };
    given.iter().map(count).collect()
}

/// Room for `length` bytes, or an error that there is no memory for them.
pub fn room(length: u64) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let fits = usize::try_from(length).is_ok_and(|length| bytes.try_reserve_exact(length).is_ok());
    if !fits {
        let cause = format!("a buffer of {length} bytes");
        return Err(Failure::environment("there is not enough memory", cause, "lower counts"));
    }
    bytes.resize(length as usize, 0);
    Ok(bytes)
}

/// A buffer as MPI's own function takes it.
///
/// # Safety
/// Lists are null or have an entry for each rank.
pub unsafe fn native<'a>(given: &'a GivenSide, side: Option<&Side>, ranks: u32) -> ProgramSide<'a> {
    let list = |first: *const c_int| match first.is_null() {
        true => &[][..],
        // SAFETY: as promised.
        false => unsafe { std::slice::from_raw_parts(first, ranks as usize) },
    };
    // MPICH 5.0 leaves early where a count is 0, but not where a datatype has no data: ranks that
    // differ in this lose each other's messages.
    let has_data = side.is_none_or(|side| side.ty.size() > 0);
    ProgramSide {
        buffer: given.buffer,
        count: if has_data { given.count } else { 0 },
        counts: list(given.counts),
        offsets: list(given.offsets),
        ty: side.map(|side| side.ty),
    }
}
