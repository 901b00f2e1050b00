//! The functions of MPI that are called, as tables of resolved pointers: no name is looked up
//! after the start. Those with counts exist twice in MPI-4, with `int` and, as `_c`, with 64 bits;
//! one generic table describes both.

use std::ffi::c_void;

use crate::error::MpiError;
use crate::flavour::{Handle, smpi};
use crate::library::Library;

/// A user's error handler. C declares more arguments after these two, which are unused.
pub type OnError = extern "C" fn(*mut Handle, *mut i32);

/// Declares a table and its loader from the C names and signatures of the MPI standard.
macro_rules! table {
    (
        $(#[$about:meta])*
        $table:ident $(<$($parameter:ident),*>)? {
            $($field:ident = $symbol:literal ($($argument:ty),* $(,)?) -> $result:ty;)*
        }
    ) => {
        $(#[$about])*
        pub struct $table $(<$($parameter),*>)? {
            $(pub $field: unsafe extern "C" fn($($argument),*) -> $result,)*
        }

        impl $(<$($parameter),*>)? $table $(<$($parameter),*>)? {
            /// Resolves every name with `suffix` behind it.
            fn load(library: &Library, suffix: &str) -> Result<Self, MpiError> {
                Ok($table {
                    $($field: {
                        let address = library.symbol(&format!(concat!($symbol, "{}"), suffix))?;
                        // SAFETY: the MPI standard gives this name this signature, with handles as
                        // machine words by the crate's rule.
                        unsafe {
                            std::mem::transmute::<
                                *mut c_void,
                                unsafe extern "C" fn($($argument),*) -> $result,
                            >(address)
                        }
                    },)*
                })
            }
        }
    };
}

table! {
    /// What takes no count, or only a small one.
    Functions {
        init_thread = "MPI_Init_thread" (*mut i32, *mut u8, i32, *mut i32) -> i32;
        initialized = "MPI_Initialized" (*mut i32) -> i32;
        finalized = "MPI_Finalized" (*mut i32) -> i32;
        finalize = "MPI_Finalize" () -> i32;
        query_thread = "MPI_Query_thread" (*mut i32) -> i32;
        abort = "MPI_Abort" (Handle, i32) -> i32;
        wtime = "MPI_Wtime" () -> f64;
        processor_name = "MPI_Get_processor_name" (*mut u8, *mut i32) -> i32;
        error_class = "MPI_Error_class" (i32, *mut i32) -> i32;
        error_string = "MPI_Error_string" (i32, *mut u8, *mut i32) -> i32;
        comm_rank = "MPI_Comm_rank" (Handle, *mut i32) -> i32;
        comm_size = "MPI_Comm_size" (Handle, *mut i32) -> i32;
        comm_split = "MPI_Comm_split" (Handle, i32, i32, *mut Handle) -> i32;
        comm_dup = "MPI_Comm_dup" (Handle, *mut Handle) -> i32;
        comm_free = "MPI_Comm_free" (*mut Handle) -> i32;
        comm_get_attr = "MPI_Comm_get_attr" (Handle, i32, *mut *const i32, *mut i32) -> i32;
        comm_create_errhandler = "MPI_Comm_create_errhandler" (OnError, *mut Handle) -> i32;
        comm_set_errhandler = "MPI_Comm_set_errhandler" (Handle, Handle) -> i32;
        probe = "MPI_Probe" (i32, i32, Handle, *mut i32) -> i32;
        iprobe = "MPI_Iprobe" (i32, i32, Handle, *mut i32, *mut i32) -> i32;
        wait = "MPI_Wait" (*mut u8, *mut i32) -> i32;
        test = "MPI_Test" (*mut u8, *mut i32, *mut i32) -> i32;
        waitsome = "MPI_Waitsome" (i32, *mut u8, *mut i32, *mut i32, *mut i32) -> i32;
        waitany = "MPI_Waitany" (i32, *mut u8, *mut i32, *mut i32) -> i32;
        testsome = "MPI_Testsome" (i32, *mut u8, *mut i32, *mut i32, *mut i32) -> i32;
        cancel = "MPI_Cancel" (*mut u8) -> i32;
        type_size = "MPI_Type_size" (Handle, *mut i32) -> i32;
        type_contiguous = "MPI_Type_contiguous" (i32, Handle, *mut Handle) -> i32;
        type_create_struct = "MPI_Type_create_struct"
            (i32, *const i32, *const isize, *const Handle, *mut Handle) -> i32;
        type_commit = "MPI_Type_commit" (*mut Handle) -> i32;
        type_free = "MPI_Type_free" (*mut Handle) -> i32;
        barrier = "MPI_Barrier" (Handle) -> i32;
        reduce_local = "MPI_Reduce_local" (*const u8, *mut u8, i32, Handle, Handle) -> i32;
    }
}

table! {
    /// What takes counts of type C and displacements of type D.
    Counted<C, D> {
        send = "MPI_Send" (*const u8, C, Handle, i32, i32, Handle) -> i32;
        recv = "MPI_Recv" (*mut u8, C, Handle, i32, i32, Handle, *mut i32) -> i32;
        isend = "MPI_Isend" (*const u8, C, Handle, i32, i32, Handle, *mut u8) -> i32;
        irecv = "MPI_Irecv" (*mut u8, C, Handle, i32, i32, Handle, *mut u8) -> i32;
        bcast = "MPI_Bcast" (*mut u8, C, Handle, i32, Handle) -> i32;
        scatter = "MPI_Scatter"
            (*const u8, C, Handle, *mut u8, C, Handle, i32, Handle) -> i32;
        scatterv = "MPI_Scatterv"
            (*const u8, *const C, *const D, Handle, *mut u8, C, Handle, i32, Handle) -> i32;
        gather = "MPI_Gather"
            (*const u8, C, Handle, *mut u8, C, Handle, i32, Handle) -> i32;
        gatherv = "MPI_Gatherv"
            (*const u8, C, Handle, *mut u8, *const C, *const D, Handle, i32, Handle) -> i32;
        reduce = "MPI_Reduce" (*const u8, *mut u8, C, Handle, Handle, i32, Handle) -> i32;
        allreduce = "MPI_Allreduce" (*const u8, *mut u8, C, Handle, Handle, Handle) -> i32;
        allgather = "MPI_Allgather"
            (*const u8, C, Handle, *mut u8, C, Handle, Handle) -> i32;
        allgatherv = "MPI_Allgatherv"
            (*const u8, C, Handle, *mut u8, *const C, *const D, Handle, Handle) -> i32;
        alltoall = "MPI_Alltoall"
            (*const u8, C, Handle, *mut u8, C, Handle, Handle) -> i32;
        alltoallv = "MPI_Alltoallv" (
            *const u8, *const C, *const D, Handle,
            *mut u8, *const C, *const D, Handle, Handle,
        ) -> i32;
        reduce_scatter = "MPI_Reduce_scatter"
            (*const u8, *mut u8, *const C, Handle, Handle, Handle) -> i32;
        reduce_scatter_block = "MPI_Reduce_scatter_block"
            (*const u8, *mut u8, C, Handle, Handle, Handle) -> i32;
        scan = "MPI_Scan" (*const u8, *mut u8, C, Handle, Handle, Handle) -> i32;
        exscan = "MPI_Exscan" (*const u8, *mut u8, C, Handle, Handle, Handle) -> i32;
    }
}

table! {
    /// The non-blocking forms of MPI-3: the same arguments, and last the room for a request.
    Started<C, D> {
        bcast = "MPI_Ibcast" (*mut u8, C, Handle, i32, Handle, *mut u8) -> i32;
        scatter = "MPI_Iscatter"
            (*const u8, C, Handle, *mut u8, C, Handle, i32, Handle, *mut u8) -> i32;
        scatterv = "MPI_Iscatterv" (
            *const u8, *const C, *const D, Handle,
            *mut u8, C, Handle, i32, Handle, *mut u8,
        ) -> i32;
        gather = "MPI_Igather"
            (*const u8, C, Handle, *mut u8, C, Handle, i32, Handle, *mut u8) -> i32;
        gatherv = "MPI_Igatherv" (
            *const u8, C, Handle,
            *mut u8, *const C, *const D, Handle, i32, Handle, *mut u8,
        ) -> i32;
        reduce = "MPI_Ireduce"
            (*const u8, *mut u8, C, Handle, Handle, i32, Handle, *mut u8) -> i32;
        allreduce = "MPI_Iallreduce"
            (*const u8, *mut u8, C, Handle, Handle, Handle, *mut u8) -> i32;
        allgather = "MPI_Iallgather"
            (*const u8, C, Handle, *mut u8, C, Handle, Handle, *mut u8) -> i32;
        allgatherv = "MPI_Iallgatherv" (
            *const u8, C, Handle,
            *mut u8, *const C, *const D, Handle, Handle, *mut u8,
        ) -> i32;
        alltoall = "MPI_Ialltoall"
            (*const u8, C, Handle, *mut u8, C, Handle, Handle, *mut u8) -> i32;
        alltoallv = "MPI_Ialltoallv" (
            *const u8, *const C, *const D, Handle,
            *mut u8, *const C, *const D, Handle, Handle, *mut u8,
        ) -> i32;
        reduce_scatter = "MPI_Ireduce_scatter"
            (*const u8, *mut u8, *const C, Handle, Handle, Handle, *mut u8) -> i32;
        reduce_scatter_block = "MPI_Ireduce_scatter_block"
            (*const u8, *mut u8, C, Handle, Handle, Handle, *mut u8) -> i32;
        scan = "MPI_Iscan" (*const u8, *mut u8, C, Handle, Handle, Handle, *mut u8) -> i32;
        exscan = "MPI_Iexscan" (*const u8, *mut u8, C, Handle, Handle, Handle, *mut u8) -> i32;
    }
}

table! {
    /// The non-blocking form that takes no count.
    StartedBarrier {
        barrier = "MPI_Ibarrier" (Handle, *mut u8) -> i32;
    }
}

/// All non-blocking collectives of a library.
pub struct NonBlocking {
    pub barrier: StartedBarrier,
    pub small: Started<i32, i32>,
    pub large: Option<Started<i64, isize>>,
}

impl NonBlocking {
    /// A library from before MPI-3 has none; the error is the first name that it lacks.
    fn load(library: &Library) -> Result<NonBlocking, String> {
        let absent = |error: MpiError| match error {
            MpiError::NotMpi { symbol, .. } => symbol,
            other => other.to_string(),
        };
        Ok(NonBlocking {
            barrier: StartedBarrier::load(library, "").map_err(absent)?,
            small: Started::load(library, "").map_err(absent)?,
            large: Started::load(library, "_c").ok(),
        })
    }
}

/// Asked whether an attribute goes along with a duplicate of its communicator.
pub type OnCopy =
    extern "C" fn(Handle, i32, *mut c_void, *mut c_void, *mut c_void, *mut i32) -> i32;

/// Called when an attribute is deleted with its communicator.
pub type OnDelete = extern "C" fn(Handle, i32, *mut c_void, *mut c_void) -> i32;

table! {
    /// What it takes to keep something with a communicator that is not ours.
    Keeping {
        initialized = "MPI_Initialized" (*mut i32) -> i32;
        finalized = "MPI_Finalized" (*mut i32) -> i32;
        test_inter = "MPI_Comm_test_inter" (Handle, *mut i32) -> i32;
        create_keyval = "MPI_Comm_create_keyval"
            (OnCopy, OnDelete, *mut i32, *mut c_void) -> i32;
        set_attr = "MPI_Comm_set_attr" (Handle, i32, *mut c_void) -> i32;
        get_attr = "MPI_Comm_get_attr" (Handle, i32, *mut *mut c_void, *mut i32) -> i32;
    }
}

impl Keeping {
    pub fn of(library: &Library) -> Result<Keeping, MpiError> {
        Keeping::load(library, "")
    }
}

table! {
    /// What it takes to handle datatypes and operators that are not ours.
    Typing {
        extent = "MPI_Type_get_extent" (Handle, *mut isize, *mut isize) -> i32;
        true_extent = "MPI_Type_get_true_extent" (Handle, *mut isize, *mut isize) -> i32;
        envelope = "MPI_Type_get_envelope"
            (Handle, *mut i32, *mut i32, *mut i32, *mut i32) -> i32;
        pack = "MPI_Pack" (*const u8, i32, Handle, *mut u8, i32, *mut i32, Handle) -> i32;
        unpack = "MPI_Unpack" (*const u8, i32, *mut i32, *mut u8, i32, Handle, Handle) -> i32;
        op_commutative = "MPI_Op_commutative" (Handle, *mut i32) -> i32;
    }
}

impl Typing {
    pub fn of(library: &Library) -> Result<Typing, MpiError> {
        Typing::load(library, "")
    }
}

/// The functions of every MPI, with counts of type `int`.
pub type Small = Counted<i32, i32>;

/// The functions of MPI-4 and later, with counts of 64 bits.
pub type Large = Counted<i64, isize>;

type ReadLength<C> = unsafe extern "C" fn(*const i32, Handle, *mut C) -> i32;

/// Reads the length of a message from its status: in 64 bits, or as the `int` of every MPI.
pub enum Length {
    Wide(ReadLength<i64>),
    Narrow(ReadLength<i32>),
}

impl Length {
    fn load(library: &Library) -> Result<Length, MpiError> {
        if library.has(smpi::MARK) {
            // SimGrid ends the simulation in MPI_Get_elements_x: "not yet implemented".
            let address = library.symbol("MPI_Get_count")?;
            // SAFETY: the MPI standard gives this name this signature.
            let read = unsafe { std::mem::transmute::<*mut c_void, ReadLength<i32>>(address) };
            return Ok(Length::Narrow(read));
        }
        // MPI-4 has the first; the second is older and deprecated since MPI-4.1.
        let name = ["MPI_Get_count_c", "MPI_Get_elements_x"];
        let address = library.symbol(name[0]).or_else(|_| library.symbol(name[1]))?;
        // SAFETY: both have this one signature in the MPI standard.
        let read = unsafe { std::mem::transmute::<*mut c_void, ReadLength<i64>>(address) };
        Ok(Length::Wide(read))
    }

    /// MPI's code, and the length in elements of `ty`.
    ///
    /// # Safety
    /// The library filled the status.
    #[inline]
    pub unsafe fn read(&self, status: *const i32, ty: Handle) -> (i32, i64) {
        let (mut wide, mut narrow) = (0, 0);
        // SAFETY: as promised; the results go to words of our own.
        unsafe {
            match self {
                Length::Wide(read) => (read(status, ty, &mut wide), wide),
                Length::Narrow(read) => (read(status, ty, &mut narrow), i64::from(narrow)),
            }
        }
    }
}

/// All tables of one library.
pub struct Tables {
    pub functions: Functions,
    pub small: Small,
    pub large: Option<Large>,
    /// Or the name of a function that the library lacks.
    pub non_blocking: Result<NonBlocking, String>,
    pub length: Length,
}

impl Tables {
    pub fn load(library: &Library) -> Result<Tables, MpiError> {
        let (functions, small) = (Functions::load(library, "")?, Small::load(library, "")?);
        // A library that lacks one of them is taken to have none.
        let large = Large::load(library, "_c").ok();
        let non_blocking = NonBlocking::load(library);
        Ok(Tables { functions, small, large, non_blocking, length: Length::load(library)? })
    }
}
