//! Which operator serves which datatype, and how it is applied: by us to the numbers that we know,
//! by MPI to all others.

use std::ffi::c_int;

use laneway_core::{DataType, ReduceOp, Reduction};
use laneway_mpi::{ProgramOperator, ProgramType, ProgramTypes};

use super::{Element, Operator};
use crate::arguments::refused;
use crate::failure::Failure;

/// The number that a `laneway_element` names; they begin in the order of [`DataType::ALL`].
fn number(element: c_int) -> Option<DataType> {
    if element == Element::Byte as c_int {
        return Some(DataType::U8);
    }
    DataType::ALL.get(usize::try_from(element).ok()?.checked_sub(1)?).copied()
}

/// The operator that a `laneway_operator` names; they begin in the order of [`ReduceOp::ALL`].
fn operator(kind: c_int) -> Option<ReduceOp> {
    ReduceOp::ALL.get(usize::try_from(kind).ok()?.checked_sub(1)?).copied()
}

/// Whether MPI itself applies one of its operators to elements that we do not know as numbers.
fn is_served_by_mpi(kind: c_int, element: c_int) -> bool {
    let of = |elements: &[Element]| elements.iter().any(|one| element == *one as c_int);
    let by = |kinds: &[Operator]| kinds.iter().any(|one| kind == *one as c_int);
    use Operator::*;
    (of(&[Element::Pair]) && by(&[Minloc, Maxloc]))
        || (of(&[Element::LongDouble]) && by(&[Sum, Prod, Min, Max]))
        || (of(&[Element::Complex]) && by(&[Sum, Prod]))
        || (of(&[Element::Bool]) && by(&[Land, Lor, Lxor]))
}

/// The reduction of a call by an algorithm of ours, or why there is none.
pub fn reduction(
    types: &ProgramTypes,
    ty: &ProgramType,
    element: c_int,
    op: &ProgramOperator,
    kind: c_int,
) -> Result<Reduction, Failure> {
    let numbers_of_c = "MPI_INT, MPI_DOUBLE or another number of C with an operator for it";
    if kind == Operator::User as c_int {
        return if ty.is_within_extent() {
            Ok(types.reduction(ty, op))
        } else {
            let cause = "its elements overlap or reach beyond their extent";
            let try_this = "a datatype whose extent holds an element: MPI_Type_create_resized";
            Err(refused("a datatype that cannot be reduced", cause, try_this))
        };
    }
    if let (Some(number), Some(operator)) = (number(element), operator(kind)) {
        let bits = [ReduceOp::BitAnd, ReduceOp::BitOr, ReduceOp::BitXor].contains(&operator);
        let is_byte = element == Element::Byte as c_int;
        if operator.serves(number) && (bits || !is_byte) {
            return Ok(Reduction::Builtin(operator, number));
        }
    } else if is_served_by_mpi(kind, element) && ty.is_within_extent() {
        return Ok(types.reduction(ty, op));
    }
    let cause = match ty.is_predefined() {
        true => "MPI has no such operator for elements of this datatype",
        false => "an operator of MPI does not take a derived datatype",
    };
    let try_this = match ty.is_predefined() {
        true => numbers_of_c,
        false => "an operator of your own: MPI_Op_create",
    };
    Err(refused("the operator does not serve the datatype", cause, try_this))
}
