//! Reads the arguments of a call: every word is checked before it is used.

use std::ffi::{CStr, c_int};

use laneway_core::Collective;
use laneway_measure::operation::Answerer;

use super::{CallArguments, Element, Operator};
use crate::arguments::{answerer, refused, word};
use crate::failure::Failure;

/// The algorithm that is best where the ranks are.
const CHOSEN: &str = "chosen";

/// What does a call.
#[derive(Clone, Copy)]
pub enum How {
    By(Answerer),
    Chosen,
}

/// One buffer as C gives it.
#[derive(Clone, Copy)]
pub struct GivenSide {
    pub buffer: *mut u8,
    pub count: c_int,
    pub counts: *const c_int,
    pub offsets: *const c_int,
    pub handle: c_int,
    pub element: c_int,
    /// MPI's names of these arguments.
    pub names: &'static Names,
}

/// MPI's names of the arguments of one buffer.
pub struct Names {
    pub buffer: &'static str,
    pub count: &'static str,
    pub counts: &'static str,
    pub offsets: &'static str,
    pub ty: &'static str,
}

const SEND: Names = Names {
    buffer: "sendbuf",
    count: "sendcount",
    counts: "sendcounts",
    offsets: "sdispls",
    ty: "sendtype",
};

const RECEIVE: Names = Names {
    buffer: "recvbuf",
    count: "recvcount",
    counts: "recvcounts",
    offsets: "rdispls",
    ty: "recvtype",
};

/// A call as C gives it.
pub struct Given {
    pub collective: Collective,
    pub how: How,
    pub send: GivenSide,
    pub receive: GivenSide,
    pub op: c_int,
    pub operator_kind: c_int,
    pub root: c_int,
}

/// The names of [`Collective::ALL`] for C, in its order.
const NAMES: [&CStr; 16] = [
    c"barrier",
    c"bcast",
    c"scatter",
    c"scatterv",
    c"gather",
    c"gatherv",
    c"reduce",
    c"allreduce",
    c"allgather",
    c"allgatherv",
    c"alltoall",
    c"alltoallv",
    c"reduce_scatter",
    c"reduce_scatter_block",
    c"scan",
    c"exscan",
];

/// A `laneway_operation` counts from 1 in the order of [`Collective::ALL`].
fn place(operation: c_int) -> Option<usize> {
    usize::try_from(operation).ok()?.checked_sub(1).filter(|&at| at < NAMES.len())
}

pub fn operation_name(operation: c_int) -> Option<&'static CStr> {
    Some(NAMES[place(operation)?])
}

impl Given {
    /// # Safety
    /// `arguments` is null or has as many bytes as it says; the algorithm is null or a C string.
    pub unsafe fn read(arguments: *const CallArguments) -> Result<Given, Failure> {
        // SAFETY: as promised.
        let arguments = unsafe { complete(arguments)? };
        let operation = arguments.operation;
        let collective = place(operation).map(|at| Collective::ALL[at]).ok_or_else(|| {
            let cause = format!("there is no laneway_operation {operation}");
            refused("unknown operation", cause, "LANEWAY_BARRIER to LANEWAY_EXSCAN")
        })?;
        // SAFETY: as promised.
        let algorithm = unsafe { word(arguments.algorithm, "algorithm")? };
        let how = match algorithm {
            CHOSEN => How::Chosen,
            name => How::By(answerer(collective, name)?),
        };
        let send = GivenSide {
            buffer: arguments.sendbuf.cast_mut().cast(),
            count: arguments.sendcount,
            counts: arguments.sendcounts,
            offsets: arguments.sdispls,
            handle: arguments.sendtype,
            element: arguments.sendelement,
            names: &SEND,
        };
        let receive = GivenSide {
            buffer: arguments.recvbuf.cast(),
            count: arguments.recvcount,
            counts: arguments.recvcounts,
            offsets: arguments.rdispls,
            handle: arguments.recvtype,
            element: arguments.recvelement,
            names: &RECEIVE,
        };
        let CallArguments { op, operator_kind, root, .. } = arguments;
        if collective.reduces() && operator_kind == Operator::Null as c_int {
            return Err(refused("invalid operator", "op is MPI_OP_NULL", "MPI_SUM"));
        }
        Ok(Given { collective, how, send, receive, op, operator_kind, root })
    }
}

/// The arguments of a program that knows them all.
///
/// # Safety
/// `arguments` is null or has as many bytes as it says.
unsafe fn complete(arguments: *const CallArguments) -> Result<CallArguments, Failure> {
    const WHOLE: usize = size_of::<CallArguments>();
    let try_this = "laneway_call_options options = LANEWAY_CALL_OPTIONS;";
    if arguments.is_null() {
        return Err(refused("an argument is missing", "the options are NULL", try_this));
    }
    // SAFETY: the size is there in every version.
    let size = unsafe { (&raw const (*arguments).size).read() };
    if size > WHOLE && size < 16 * WHOLE {
        let cause = format!("options of {size} bytes, of which this library knows {WHOLE}");
        let try_this = "the laneway.h of this library, or a newer library";
        return Err(refused("the program is newer than the library", cause, try_this));
    }
    // There is one version so far: a smaller size is that of no laneway.h.
    if size != WHOLE {
        let cause = "their size is not that of laneway_call_options";
        return Err(refused("the options are not initialised", cause, try_this));
    }
    // SAFETY: it has all members.
    Ok(unsafe { arguments.read() })
}

impl GivenSide {
    /// Whether no datatype is given.
    pub fn has_null_type(&self) -> bool {
        self.element == Element::Null as c_int
    }
}

#[cfg(test)]
mod tests {
    use super::super::Operation;
    use super::*;

    #[test]
    fn operations_of_c_are_the_collectives_in_their_order() {
        for (at, collective) in Collective::ALL.into_iter().enumerate() {
            let name = operation_name(at as c_int + 1).expect("a name");
            assert_eq!(name.to_str(), Ok(collective.name()));
        }
        assert_eq!(operation_name(Operation::LanewayExscan as c_int), Some(c"exscan"));
        assert_eq!(operation_name(Operation::LanewayReduce as c_int), Some(c"reduce"));
        for none in [0, -1, 17, c_int::MIN, c_int::MAX] {
            assert_eq!(operation_name(none), None);
        }
    }
}
