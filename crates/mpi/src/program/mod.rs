//! Datatypes and operators of the program around us, given by their Fortran handles: what they are
//! like, data in and out of their layout, reductions by them, and MPI's own collectives with them.

mod call;

use std::ffi::c_void;
use std::sync::{Arc, OnceLock};

use laneway_core::{Combine, CommError, Reduction};

use crate::comm::MpiComm;
use crate::error::MpiError;
use crate::flavour::{Family, Handle};
use crate::functions::Typing;
use crate::library::Library;

pub use call::{ProgramCall, ProgramSide};

/// The functions of the process's MPI, found once.
struct Ways {
    calls: Typing,
    /// Both absent where a Fortran handle is the handle.
    type_from_fortran: Option<unsafe extern "C" fn(i32) -> Handle>,
    op_from_fortran: Option<unsafe extern "C" fn(i32) -> Handle>,
}

static WAYS: OnceLock<Ways> = OnceLock::new();

impl Ways {
    fn find(family: Family) -> Result<Ways, MpiError> {
        let library = Library::of_process()?;
        let (of_type, of_op) = match family {
            Family::Mpich => (None, None),
            Family::Standard => (Some("MPI_Type_fromint"), Some("MPI_Op_fromint")),
            Family::OpenMpi => (Some("MPI_Type_f2c"), Some("MPI_Op_f2c")),
            Family::Smpi => return Err(MpiError::Simulated),
        };
        let convert = |name| {
            let address = library.symbol(name)?;
            // SAFETY: all four names are functions of an int with a handle as their result.
            Ok(unsafe {
                std::mem::transmute::<*mut c_void, unsafe extern "C" fn(i32) -> Handle>(address)
            })
        };
        Ok(Ways {
            calls: Typing::of(&library)?,
            type_from_fortran: of_type.map(convert).transpose()?,
            op_from_fortran: of_op.map(convert).transpose()?,
        })
    }
}

/// A datatype of the program.
#[derive(Clone, Copy, Debug)]
pub struct ProgramType {
    handle: Handle,
    size: u64,
    extent: i64,
    /// The first byte of an element, from its address, and the end of the last.
    low: i64,
    high: i64,
    predefined: bool,
}

impl ProgramType {
    /// Bytes of data in one element, without gaps.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Bytes from one element to the next.
    pub fn extent(&self) -> i64 {
        self.extent
    }

    /// Whether MPI itself has it, and the program did not derive it.
    pub fn is_predefined(&self) -> bool {
        self.predefined
    }

    /// Whether its elements lie in memory as they are packed.
    pub fn is_plain(&self) -> bool {
        let size = self.size as i64;
        self.predefined && self.low == 0 && self.high == size && self.extent == size
    }

    /// Whether each element lies within its extent, so that a row of them does not overlap.
    pub fn is_within_extent(&self) -> bool {
        self.extent > 0 && self.low >= 0 && self.high <= self.extent
    }

    /// The first byte and the end of `count` elements from element `at` on, from the address of
    /// element 0; `None` beyond what addresses hold.
    pub fn span(&self, at: i64, count: u64) -> Option<(i64, i64)> {
        if count == 0 {
            return Some((0, 0));
        }
        let first = at.checked_mul(self.extent)?;
        let steps = i64::try_from(count - 1).ok()?;
        let last = first.checked_add(steps.checked_mul(self.extent)?)?;
        Some((first.min(last).checked_add(self.low)?, first.max(last).checked_add(self.high)?))
    }
}

/// A reduction operator of the program.
#[derive(Clone, Copy, Debug)]
pub struct ProgramOperator {
    handle: Handle,
    commutative: bool,
}

/// Access to the datatypes and operators of the program that lent a communicator.
pub struct ProgramTypes<'c> {
    comm: &'c MpiComm,
    ways: &'static Ways,
}

/// Bytes that one call packs: below what an `int` counts.
const MOST_PACKED: u64 = 1 << 30;

impl<'c> ProgramTypes<'c> {
    /// Of a communicator that the program lent.
    pub fn new(comm: &'c MpiComm) -> Result<ProgramTypes<'c>, MpiError> {
        let ways = match WAYS.get() {
            Some(ways) => ways,
            None => {
                let ways = Ways::find(comm.found().family)?;
                WAYS.get_or_init(|| ways)
            }
        };
        Ok(ProgramTypes { comm, ways })
    }

    /// The address that stands for "in place".
    pub fn in_place(&self) -> usize {
        self.comm.mpi().flavour.in_place
    }

    /// A datatype.
    ///
    /// # Safety
    /// The number is the Fortran handle of a datatype.
    pub unsafe fn data_type(&self, fortran: i32) -> Result<ProgramType, CommError> {
        let mpi = self.comm.mpi();
        let handle = match self.ways.type_from_fortran {
            // SAFETY: MPI runs.
            Some(convert) => unsafe { convert(fortran) },
            None => fortran as u32 as Handle,
        };
        if handle == 0 {
            return Err(CommError::Argument { what: format!("no datatype {fortran}") });
        }
        let (mut size, mut lb, mut extent, mut low, mut length) = (0i32, 0, 0, 0, 0);
        let mut parts = [0i32; 4];
        let [integers, addresses, types, combiner] = &mut parts;
        // SAFETY: the caller vouches for the datatype; the results go to words of our own.
        unsafe {
            mpi.check("MPI_Type_size", (mpi.tables.functions.type_size)(handle, &mut size))?;
            let calls = &self.ways.calls;
            let code = (calls.extent)(handle, &mut lb, &mut extent);
            mpi.check("MPI_Type_get_extent", code)?;
            let code = (calls.true_extent)(handle, &mut low, &mut length);
            mpi.check("MPI_Type_get_true_extent", code)?;
            let code = (calls.envelope)(handle, integers, addresses, types, combiner);
            mpi.check("MPI_Type_get_envelope", code)?;
        }
        let Ok(size) = u64::try_from(size) else {
            return Err(CommError::Argument { what: "an element of more than 2 GiB".into() });
        };
        // Whatever else makes a datatype takes something to make it of.
        let predefined = parts[..3] == [0; 3];
        let (extent, low) = (extent as i64, low as i64);
        let high = low.saturating_add(length as i64);
        Ok(ProgramType { handle, size, extent, low, high, predefined })
    }

    /// An operator.
    ///
    /// # Safety
    /// The number is the Fortran handle of an operator.
    pub unsafe fn operator(&self, fortran: i32) -> Result<ProgramOperator, CommError> {
        let handle = match self.ways.op_from_fortran {
            // SAFETY: MPI runs.
            Some(convert) => unsafe { convert(fortran) },
            None => fortran as u32 as Handle,
        };
        if handle == 0 {
            return Err(CommError::Argument { what: format!("no operator {fortran}") });
        }
        let mut commutative = 0i32;
        // SAFETY: the caller vouches for the operator; the result goes to a word of our own.
        let code = unsafe { (self.ways.calls.op_commutative)(handle, &mut commutative) };
        self.comm.mpi().check("MPI_Op_commutative", code)?;
        Ok(ProgramOperator { handle, commutative: commutative != 0 })
    }

    /// Packs `count` elements, without gaps.
    ///
    /// # Safety
    /// The elements from that address on are readable.
    ///
    /// # Panics
    /// Where the room has not the size of the elements.
    pub unsafe fn pack(
        &self,
        ty: &ProgramType,
        from: *const u8,
        count: u64,
        into: &mut [u8],
    ) -> Result<(), CommError> {
        assert_eq!(into.len() as u64, count * ty.size, "room for all elements");
        if ty.is_plain() && !into.is_empty() {
            // SAFETY: the elements are this number of bytes, one after another.
            unsafe { std::ptr::copy(from, into.as_mut_ptr(), into.len()) };
            return Ok(());
        }
        self.in_parts(ty, count, |at, length, offset| {
            let from = from.wrapping_offset(offset);
            let part = &mut into[at..at + length.bytes];
            let (to, room, mut position) = (part.as_mut_ptr(), length.bytes as i32, 0);
            let (pack, comm) = (self.ways.calls.pack, self.comm.handle());
            let place = Place { address: from as usize, elements: length.elements, ty: ty.handle };
            self.with_address(place, |Place { address, elements, ty }| {
                let from = address as *const u8;
                // SAFETY: the elements are readable, and the part has room for them.
                let code = unsafe { pack(from, elements, ty, to, room, &mut position, comm) };
                self.moved("MPI_Pack", code, position, room)
            })
        })
    }

    /// Unpacks `count` elements to where they belong; gaps are left as they are.
    ///
    /// # Safety
    /// The elements from that address on are writable.
    ///
    /// # Panics
    /// Where the data has not the size of the elements.
    pub unsafe fn unpack(
        &self,
        ty: &ProgramType,
        from: &[u8],
        to: *mut u8,
        count: u64,
    ) -> Result<(), CommError> {
        assert_eq!(from.len() as u64, count * ty.size, "data of all elements");
        if ty.is_plain() && !from.is_empty() {
            // SAFETY: the elements are this number of bytes, one after another.
            unsafe { std::ptr::copy(from.as_ptr(), to, from.len()) };
            return Ok(());
        }
        self.in_parts(ty, count, |at, length, offset| {
            let to = to.wrapping_offset(offset);
            let part = &from[at..at + length.bytes];
            let (bytes, mut position) = (length.bytes as i32, 0);
            let (unpack, comm) = (self.ways.calls.unpack, self.comm.handle());
            let place = Place { address: to as usize, elements: length.elements, ty: ty.handle };
            self.with_address(place, |Place { address, elements, ty }| {
                let (from, to) = (part.as_ptr(), address as *mut u8);
                // SAFETY: the elements are writable, and the part has the data of all of them.
                let code = unsafe { unpack(from, bytes, &mut position, to, elements, ty, comm) };
                self.moved("MPI_Unpack", code, position, bytes)
            })
        })
    }

    /// Does `work` for parts of `count` elements: with where the part is in the packed data, how
    /// long it is, and where in memory it begins.
    fn in_parts(
        &self,
        ty: &ProgramType,
        count: u64,
        mut work: impl FnMut(usize, Part, isize) -> Result<(), CommError>,
    ) -> Result<(), CommError> {
        if ty.size == 0 {
            return Ok(());
        }
        let most = (MOST_PACKED / ty.size).max(1);
        let mut done = 0;
        while done < count {
            let elements = most.min(count - done);
            let part = Part { elements: elements as i32, bytes: (elements * ty.size) as usize };
            let offset = (done as i64).wrapping_mul(ty.extent) as isize;
            work((done * ty.size) as usize, part, offset)?;
            done += elements;
        }
        Ok(())
    }

    /// Does `work` for elements, those of MPI_BOTTOM from another address: MPICH 4.0 refuses to
    /// pack from NULL.
    fn with_address(
        &self,
        place: Place,
        work: impl FnOnce(Place) -> Result<(), CommError>,
    ) -> Result<(), CommError> {
        const SHIFT: isize = 64;
        let back = -SHIFT;
        if place.address != 0 {
            return work(place);
        }
        let (mpi, mut shifted) = (self.comm.mpi(), 0 as Handle);
        let functions = &mpi.tables.functions;
        // SAFETY: there is one entry of each, and the result goes to a word of our own.
        let code = unsafe {
            let (length, ty) = (&raw const place.elements, &raw const place.ty);
            (functions.type_create_struct)(1, length, &raw const back, ty, &mut shifted)
        };
        mpi.check("MPI_Type_create_struct", code)?;
        // SAFETY: the datatype was just made.
        let code = unsafe { (functions.type_commit)(&mut shifted) };
        let done = mpi
            .check("MPI_Type_commit", code)
            .and_then(|()| work(Place { address: SHIFT as usize, elements: 1, ty: shifted }));
        // SAFETY: it is used no more.
        unsafe { (functions.type_free)(&mut shifted) };
        done
    }

    /// The verdict on a call that packs or unpacks. An MPI that adds something of its own to packed
    /// data cannot be served.
    fn moved(
        &self,
        call: &'static str,
        code: i32,
        position: i32,
        due: i32,
    ) -> Result<(), CommError> {
        self.comm.mpi().check(call, code)?;
        if position == due {
            return Ok(());
        }
        let why = format!("{call} moved {position} bytes of {due}");
        Err(CommError::Unsupported { what: "a derived datatype".into(), why })
    }

    /// The operator as a reduction over elements that lie in a row, `ty`'s extent apart; MPI
    /// applies it.
    pub fn reduction(&self, ty: &ProgramType, op: &ProgramOperator) -> Reduction {
        let reduce_local = self.comm.mpi().tables.functions.reduce_local;
        let element = u32::try_from(ty.extent).unwrap_or(0).max(1);
        Reduction::User(Arc::new(Local { reduce_local, ty: *ty, op: *op, element }))
    }
}

/// Elements in memory.
struct Place {
    address: usize,
    elements: i32,
    ty: Handle,
}

/// Elements that are packed by one call.
struct Part {
    elements: i32,
    bytes: usize,
}

/// An operator that MPI applies.
struct Local {
    reduce_local: unsafe extern "C" fn(*const u8, *mut u8, i32, Handle, Handle) -> i32,
    ty: ProgramType,
    op: ProgramOperator,
    element: u32,
}

impl Local {
    /// into = from (+) into.
    fn apply(&self, from: &[u8], into: &mut [u8]) {
        let part = self.element as usize * (i32::MAX as usize / self.element as usize).max(1);
        for (from, into) in from.chunks(part).zip(into.chunks_mut(part)) {
            let count = (into.len() / self.element as usize) as i32;
            let (from, into) = (from.as_ptr(), into.as_mut_ptr());
            // SAFETY: both are `count` elements of the type, one extent apart.
            let code =
                unsafe { (self.reduce_local)(from, into, count, self.ty.handle, self.op.handle) };
            assert_eq!(code, 0, "MPI_Reduce_local failed");
        }
    }
}

impl Combine for Local {
    fn element(&self) -> u32 {
        self.element
    }

    fn commutative(&self) -> bool {
        self.op.commutative
    }

    fn combine(&self, from: &[u8], into: &mut [u8], left: bool) {
        if left {
            return self.apply(from, into);
        }
        let mut sum = from.to_vec();
        self.apply(into, &mut sum);
        into.copy_from_slice(&sum);
    }
}
