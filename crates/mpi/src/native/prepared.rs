//! What a call depends on besides its buffers, found out once for all calls that are alike: those
//! that are timed are, and their time should be the library's.

use laneway_core::{Collective, CommError, DataType, Form, NativeCall, Place, ReduceOp, Shape};

use super::call::{Lists, Narrow, Ready, Unit, Wide};
use super::{
    by_long_type, exchange_is_symmetric, has_wide, known_flaw, moved, needs_wide, no_wide,
};
use crate::flavour::Handle;
use crate::large::LongType;
use crate::member::Member;

/// How counts are given, with the lists of blocks that differ.
pub enum Counts {
    Narrow(Lists<Narrow>),
    Wide(Lists<Wide>),
    /// As one element of a datatype that is as long as the block.
    Long,
}

/// A call that was looked at and can be made.
pub struct Prepared {
    shape: Shape,
    form: Form,
    reduction: Option<(ReduceOp, DataType)>,
    /// Bytes that the buffers have at least.
    input: u64,
    output: u64,
    place: Place,
    unit: Unit,
    operator: Handle,
    pub counts: Counts,
}

impl Prepared {
    /// Refuses what would make MPI fail or wait for ever.
    pub fn new(comm: &Member, call: &NativeCall<'_>, form: Form) -> Result<Prepared, CommError> {
        check(comm, call, form)?;
        let (shape, rank, flavour) = (call.shape, comm.rank, &comm.mpi().flavour);
        let mut unit = Unit { handle: flavour.byte, bytes: 1 };
        let mut operator = 0;
        if let Some((op, ty)) = call.reduction.filter(|_| shape.collective.reduces()) {
            unit = Unit { handle: flavour.data_type(ty), bytes: u64::from(ty.size()) };
            operator = flavour.operator(op);
        }
        let counts = match needs_wide(shape, rank, unit.bytes) {
            false => Counts::Narrow(Lists::new(shape, rank, unit)),
            true if has_wide(comm, form) => Counts::Wide(Lists::new(shape, rank, unit)),
            true => Counts::Long,
        };
        let place = shape.place(rank);
        let (reads, writes) = (shape.in_len(rank), shape.out_len(rank));
        let (input, output) = match place {
            Place::Apart => (reads, writes),
            Place::InWithinOut(_) => (0, writes),
            Place::OutWithinIn(_) => (0, reads),
        };
        let (shape, reduction) = (shape.clone(), call.reduction);
        Ok(Prepared { shape, form, reduction, input, output, place, unit, operator, counts })
    }

    /// Whether the call is one of those that this was made for.
    pub fn serves(&self, call: &NativeCall<'_>, form: Form) -> bool {
        self.form == form && self.reduction == call.reduction && self.shape == *call.shape
    }

    pub fn is_barrier(&self) -> bool {
        self.shape.collective == Collective::Barrier
    }

    /// The datatype that stands for counts beyond an `int`, where the library has no others.
    pub fn long_type<'m>(&self, comm: &'m Member) -> Result<Option<LongType<'m>>, CommError> {
        match self.counts {
            Counts::Long => LongType::new(comm.mpi(), moved(&self.shape) as usize).map(Some),
            _ => Ok(None),
        }
    }

    /// The call with its buffers as MPI takes them; refused where they are too short.
    pub fn ready<'a>(
        &'a self,
        comm: &'a Member,
        call: &mut NativeCall<'_>,
        long: Option<&LongType>,
    ) -> Result<Ready<'a>, CommError> {
        let (has_in, has_out) = (call.input.len() as u64, call.output.len() as u64);
        if has_in < self.input || has_out < self.output {
            let (name, input, output) = (self.shape.collective.name(), self.input, self.output);
            let what = format!(
                "{name} needs buffers of {input} and {output} bytes, not {has_in} and {has_out}"
            );
            return Err(CommError::Argument { what });
        }
        let whole = |long: &LongType| Unit { handle: long.handle(), bytes: moved(&self.shape) };
        let (send, receive) = self.buffers(comm, call);
        Ok(Ready {
            comm,
            shape: &self.shape,
            unit: long.map_or(self.unit, whole),
            operator: self.operator,
            send,
            receive,
        })
    }

    /// The two buffers as MPI takes them. An empty slice has an address of its own, which for two
    /// flavours is the very word for "in place": such a slice becomes null, or, for SMPI, which
    /// refuses that also where nothing is received, the address of unused bytes.
    fn buffers(&self, comm: &Member, call: &mut NativeCall<'_>) -> (*const u8, *mut u8) {
        static UNTOUCHED: [u8; 2] = [0; 2];
        let flavour = &comm.mpi().flavour;
        let here = flavour.in_place as *mut u8;
        let nothing = |number: usize| match flavour.simulator {
            Some(_) => &raw const UNTOUCHED[number],
            None => std::ptr::null(),
        };
        let input = if call.input.is_empty() { nothing(0) } else { call.input.as_ptr() };
        let output =
            if call.output.is_empty() { nothing(1).cast_mut() } else { call.output.as_mut_ptr() };
        match self.place {
            Place::Apart => (input, output),
            Place::OutWithinIn(_) if self.shape.collective.family() == Collective::Scatter => {
                (output, here)
            }
            Place::InWithinOut(_) | Place::OutWithinIn(_) => (here, output),
        }
    }
}

fn check(comm: &Member, call: &NativeCall<'_>, form: Form) -> Result<(), CommError> {
    let (shape, rank) = (call.shape, comm.rank);
    let refuse = |what: String| Err(CommError::Argument { what });
    let name = shape.collective.name();
    if let Err(bad) = shape.validate() {
        return refuse(bad.0);
    }
    if shape.ranks != comm.size {
        return refuse(format!("{name} for {} ranks on {}", shape.ranks, comm.size));
    }
    if !exchange_is_symmetric(shape, rank) {
        return refuse(format!("{name} in place needs as much from each rank as to it"));
    }
    if shape.collective.reduces() {
        match call.reduction {
            None => return refuse(format!("{name} was given no reduction")),
            Some((op, ty)) if !op.serves(ty) => {
                return refuse(format!("{} of {} does not exist", op.name(), ty.name()));
            }
            Some((_, ty)) if shape.element % ty.size() != 0 => {
                return refuse(format!("elements of {} bytes are no {}", shape.element, ty.name()));
            }
            Some(_) => {}
        }
    }
    if let Some(why) = known_flaw(comm, shape, form, rank..rank + 1) {
        let place = if shape.in_place { " in place" } else { "" };
        let what = format!("{} native {name}{place}", form.name());
        return Err(CommError::Unsupported { what, why: why.into() });
    }
    let unit = call.reduction.map_or(1, |(_, ty)| u64::from(ty.size()));
    if needs_wide(shape, rank, unit) && !has_wide(comm, form) && !by_long_type(shape) {
        let what = format!("native {name} with counts over 2 GiB");
        return Err(CommError::Unsupported { what, why: no_wide(comm) });
    }
    Ok(())
}
