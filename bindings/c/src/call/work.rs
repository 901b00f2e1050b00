//! One call: from the arguments to a shape and its buffers, and the call itself.

use laneway_coll::{Counts, counts};
use laneway_core::{
    Blocks, Buffers, Collective, Comm, Exec, Layout, Matrix, Rank, Reduction, Schedule, Shape,
};
use laneway_measure::operation::Answerer;
use laneway_mpi::{MpiComm, ProgramCall, ProgramOperator, ProgramTypes};
use laneway_sites::Placed;

use super::given::{Given, GivenSide, How, Names};
use super::reduce::reduction;
use super::side::{Form, Side, native, room};
use crate::arguments::refused;
use crate::failure::Failure;
use crate::sites::placed;
use crate::together::{broken, mpi_failed};

/// The input of a reduction has the counts and the datatype of its output.
const REDUCED: Names = Names {
    buffer: "sendbuf",
    count: "recvcount",
    counts: "recvcounts",
    offsets: "rdispls",
    ty: "recvtype",
};

/// The forms of the two buffers on this rank; `None` if it has no such buffer.
fn forms(collective: Collective, at_root: bool) -> (Option<Form>, Option<Form>) {
    use Collective::*;
    let root = |form| at_root.then_some(form);
    match collective {
        Barrier => (None, None),
        Bcast => (None, Some(Form::One)),
        Scatter => (root(Form::Each), Some(Form::One)),
        Scatterv => (root(Form::Listed), Some(Form::One)),
        Gather => (Some(Form::One), root(Form::Each)),
        Gatherv => (Some(Form::One), root(Form::Listed)),
        Reduce => (Some(Form::One), root(Form::One)),
        Allreduce | Scan | Exscan => (Some(Form::One), Some(Form::One)),
        Allgather => (Some(Form::One), Some(Form::Each)),
        Allgatherv => (Some(Form::One), Some(Form::Listed)),
        Alltoall => (Some(Form::Each), Some(Form::Each)),
        Alltoallv => (Some(Form::Listed), Some(Form::Listed)),
        ReduceScatter => (Some(Form::Total), Some(Form::Own)),
        ReduceScatterBlock => (Some(Form::Each), Some(Form::One)),
    }
}

/// What one rank does of a call.
pub struct Work<'a> {
    comm: &'a MpiComm,
    types: &'a ProgramTypes<'a>,
    given: &'a Given,
    root: Rank,
    /// Where the input is; in place, in the output's buffer.
    input: Option<Side>,
    /// Where the output goes; `None` if it is already there.
    output: Option<Side>,
    operator: Option<ProgramOperator>,
}

/// The buffers of a call by a schedule, and how an element is handled.
struct Plan {
    /// Bytes of an element in the buffers.
    unit: u64,
    /// Whether elements keep their gaps in the buffers.
    spread: bool,
    reduction: Option<Reduction>,
}

impl<'a> Work<'a> {
    /// # Safety
    /// Handles are live, and lists are null or have an entry for each rank.
    pub unsafe fn new(
        comm: &'a MpiComm,
        types: &'a ProgramTypes<'a>,
        given: &'a Given,
    ) -> Result<Work<'a>, Failure> {
        let (rank, ranks, collective) = (comm.rank(), comm.size(), given.collective);
        let root = match u32::try_from(given.root).ok().filter(|&root| root < ranks) {
            _ if !collective.has_root() => 0,
            Some(root) => root,
            None => {
                let cause = format!("root is {}, and the ranks are 0 to {}", given.root, ranks - 1);
                return Err(refused("invalid root", cause, "a rank of the communicator"));
            }
        };
        let (send_form, receive_form) = forms(collective, rank == root);
        let send_in_place = given.send.buffer as usize == types.in_place();
        let receive_in_place = given.receive.buffer as usize == types.in_place();
        let (may_send, may_receive) = may_be_in_place(collective, rank == root);
        if (send_in_place && !may_send && send_form.is_some())
            || (receive_in_place && !may_receive && receive_form.is_some())
        {
            let cause = format!("{} takes no MPI_IN_PLACE here", collective.name());
            let try_this = "a buffer; MPI_IN_PLACE is the root's recvbuf of scatter, and else a \
                            sendbuf: of gather and reduce the root's";
            return Err(refused("a buffer is missing", cause, try_this));
        }
        // SAFETY: as promised.
        let side =
            |given: &GivenSide, form: Form| unsafe { Side::new(types, given, form, rank, ranks) };
        let output = match receive_form {
            Some(form) if !receive_in_place => Some(side(&given.receive, form)?),
            _ => None,
        };
        let input = match send_form {
            None => None,
            Some(form) if collective.reduces() => {
                let buffer = if send_in_place { given.receive.buffer } else { given.send.buffer };
                Some(side(&GivenSide { buffer, names: &REDUCED, ..given.receive }, form)?)
            }
            Some(form) if !send_in_place => Some(side(&given.send, form)?),
            Some(form) if collective.family() == Collective::Alltoall => {
                Some(side(&given.receive, form)?)
            }
            Some(_) => {
                let form = receive_form.unwrap_or(Form::Each);
                output.as_ref().map(|output| output.block(form, rank, ranks))
            }
        };
        let operator = match collective.reduces() {
            // SAFETY: as promised.
            true => Some(unsafe { types.operator(given.op) }.map_err(mpi_failed)?),
            false => None,
        };
        Ok(Work { comm, types, given, root, input, output, operator })
    }

    /// Collective.
    ///
    /// # Safety
    /// The buffers are as MPI takes them for this call.
    pub unsafe fn run(&self) -> Result<(), Failure> {
        match self.given.how {
            // SAFETY: as promised.
            How::By(Answerer::Native) => unsafe { self.run_native() },
            // SAFETY: as promised.
            How::By(Answerer::Ours(algorithm, params)) => unsafe {
                let plan = self.plan()?;
                let shape = self.shape(&plan, algorithm.counts == Counts::All)?;
                let schedule = algorithm.schedule(&shape, &params).map_err(|refusal| {
                    let try_this = "another algorithm, or native";
                    refused("the algorithm cannot do it", refusal.0, try_this)
                })?;
                self.run_schedule(&plan, &shape, &*schedule)
            },
            // SAFETY: as promised.
            How::Chosen => unsafe {
                let placed: std::rc::Rc<Placed> = placed(self.comm)?;
                let plan = self.plan()?;
                let shape = self.shape(&plan, true)?;
                let chosen = placed.choose_together(self.comm, &shape).map_err(|error| {
                    let try_this = "another root or size";
                    refused("nothing can be chosen for this call", error.to_string(), try_this)
                });
                self.run_schedule(&plan, &shape, &*chosen?.schedule)
            },
        }
    }

    /// # Safety
    /// As for `run`.
    unsafe fn run_native(&self) -> Result<(), Failure> {
        let (ranks, given) = (self.comm.size(), self.given);
        // SAFETY: lists were seen to be there where this rank has to give them.
        let (send, receive) = unsafe {
            (
                native(&given.send, self.input.as_ref(), ranks),
                native(&given.receive, self.output.as_ref(), ranks),
            )
        };
        let mut call = ProgramCall {
            collective: given.collective,
            root: self.root,
            send,
            receive,
            operator: self.operator,
        };
        if given.collective.reduces() {
            // All ranks have the datatype, but only some an output.
            call.receive.ty = self.input.as_ref().map(|input| input.ty);
        }
        // SAFETY: as promised.
        unsafe { self.types.call(&call) }.map_err(mpi_failed)
    }

    /// How elements are handled.
    fn plan(&self) -> Result<Plan, Failure> {
        let (Some(operator), Some(input)) = (&self.operator, &self.input) else {
            return Ok(Plan { unit: 1, spread: false, reduction: None });
        };
        let ty = &input.ty;
        let kind = self.given.operator_kind;
        let reduction = reduction(self.types, ty, input.element, operator, kind)?;
        let spread = !ty.is_plain();
        let unit = if spread { ty.extent() as u64 } else { ty.size() };
        Ok(Plan { unit, spread, reduction: Some(reduction) })
    }

    /// Bytes of `elements` elements of a side in the buffers.
    fn bytes(plan: &Plan, side: &Side, elements: u64) -> Result<u64, Failure> {
        let unit = if plan.reduction.is_some() { plan.unit } else { side.ty.size() };
        let long = || refused("a buffer is too long", "more than 2^63 bytes", "lower counts");
        elements.checked_mul(unit).filter(|&bytes| bytes < i64::MAX as u64).ok_or_else(long)
    }

    fn length(plan: &Plan, side: Option<&Side>) -> Result<Option<u64>, Failure> {
        side.map(|side| Work::bytes(plan, side, side.elements())).transpose()
    }

    fn lengths(plan: &Plan, side: &Side) -> Result<Vec<u64>, Failure> {
        side.lengths.iter().map(|&elements| Work::bytes(plan, side, elements)).collect()
    }

    /// Collective where `all` is set and only one rank has the lengths of all blocks: the call as
    /// all ranks see it.
    fn shape(&self, plan: &Plan, all: bool) -> Result<Shape, Failure> {
        use Collective::*;
        let (collective, ranks) = (self.given.collective, self.comm.size());
        let input = Work::length(plan, self.input.as_ref())?;
        let output = Work::length(plan, self.output.as_ref())?;
        let of_all = |bytes: Option<u64>| bytes.map(|bytes| bytes / u64::from(ranks));
        let regular = match collective {
            Barrier => Some(0),
            Bcast | ReduceScatterBlock => output,
            Scatter => output.or(of_all(input)),
            Gather | Reduce | Allreduce | Scan | Exscan | Allgather => input,
            Alltoall => of_all(input),
            _ => None,
        };
        let mut shape = Shape::new(collective, ranks, regular.unwrap_or(0)).with_root(self.root);
        if regular.is_none() {
            shape.layout = self.irregular(plan, input, output, all)?;
        }
        if let Some(reduction) = &plan.reduction {
            shape = shape.with_element(reduction.element(), reduction.commutative());
        }
        let impossible =
            |what| refused("the operation cannot be done", what, "another root or count");
        shape.validate().map_err(|bad| impossible(bad.0))?;
        self.check_lengths(&shape, input, output)?;
        Ok(shape)
    }

    /// What is sent and what is received must have the same lengths, as far as this rank knows.
    fn check_lengths(
        &self,
        shape: &Shape,
        input: Option<u64>,
        output: Option<u64>,
    ) -> Result<(), Failure> {
        let rank = self.comm.rank();
        let sides = [(input, shape.in_len(rank)), (output, shape.out_len(rank))];
        let bad = sides.into_iter().find(|&(given, due)| given.is_some_and(|given| given != due));
        let Some((given, due)) = bad else { return Ok(()) };
        let cause = format!("a buffer of {} bytes where {due} are due", given.unwrap_or(0));
        let what = "what is sent and what is received differ in bytes";
        Err(refused(what, cause, "counts and datatypes of the same size together"))
    }

    /// Blocks that differ.
    fn irregular(
        &self,
        plan: &Plan,
        input: Option<u64>,
        output: Option<u64>,
        all: bool,
    ) -> Result<Layout, Failure> {
        use Collective::*;
        let (collective, rank, ranks) = (self.given.collective, self.comm.rank(), self.comm.size());
        let overflow = || refused("a buffer is too long", "the blocks overflow", "lower counts");
        let of = |side: &Option<Side>| match side {
            Some(side) => Work::lengths(plan, side),
            None => Ok(Vec::new()),
        };
        let (sent, received) = (of(&self.input)?, of(&self.output)?);
        // What this rank knows of the blocks: all, or its own.
        let own = |bytes: Option<u64>| {
            let mut known = vec![0; ranks as usize];
            known[rank as usize] = bytes.unwrap_or(0);
            known
        };
        let known = match collective {
            Alltoallv => sent.clone(),
            Scatterv if self.input.is_some() => sent,
            Scatterv => own(output),
            Gatherv if self.output.is_some() => received.clone(),
            Gatherv => own(input),
            Allgatherv => received.clone(),
            // reduce_scatter: the input has the lengths of all blocks.
            _ => sent,
        };
        if all && matches!(collective, Scatterv | Gatherv | Alltoallv) {
            return counts::share(self.comm, collective, self.root, &known).map_err(broken);
        }
        if collective != Alltoallv {
            return Blocks::of_lengths(&known).map(Layout::Blocks).ok_or_else(overflow);
        }
        let length = |from: Rank, to: Rank| match (from == rank, to == rank) {
            (true, _) => known[to as usize],
            (false, true) => received[from as usize],
            (false, false) => 0,
        };
        Matrix::of_lengths(ranks, length).map(Layout::Matrix).ok_or_else(overflow)
    }

    /// # Safety
    /// As for `run`.
    unsafe fn run_schedule(
        &self,
        plan: &Plan,
        shape: &Shape,
        schedule: &dyn Schedule,
    ) -> Result<(), Failure> {
        let (rank, in_len, out_len) =
            (self.comm.rank(), shape.in_len(self.comm.rank()), shape.out_len(self.comm.rank()));
        // MPI leaves the first rank's output of an exclusive scan alone.
        let unwritten = shape.collective == Collective::Exscan && rank == 0;
        let output = self.output.as_ref().filter(|_| !unwritten);
        let in_place = self.given.send.buffer as usize == self.types.in_place();
        let direct_in = self.input.as_ref().filter(|_| !in_place).and_then(Side::in_a_row);
        let direct_out = output.and_then(Side::in_a_row);
        if let (Some(from), Some(to)) = (direct_in, direct_out) {
            let (from, to) = (from as u64, to as u64);
            if in_len > 0 && out_len > 0 && from < to + out_len && to < from + in_len {
                let cause = "sendbuf and recvbuf share bytes";
                return Err(refused("the buffers overlap", cause, "MPI_IN_PLACE, or two buffers"));
            }
        }
        let mut staged_in = room(if direct_in.is_some() { 0 } else { in_len })?;
        let mut staged_out = room(if direct_out.is_some() { 0 } else { out_len })?;
        let mut tmp = room(schedule.tmp_len(rank))?;
        // SAFETY: as promised; direct buffers are as long as the shape says, as was seen, and lie
        // apart.
        unsafe {
            if let (Some(side), None) = (&self.input, direct_in) {
                side.load(self.types, plan.spread, &mut staged_in)?;
            }
            // The root of a broadcast has its data in the output.
            if let (Some(side), None, Collective::Bcast) = (output, direct_out, shape.collective)
                && rank == self.root
            {
                side.load(self.types, plan.spread, &mut staged_out)?;
            }
            {
                let input: &[u8] = match direct_in.filter(|_| in_len > 0) {
                    Some(from) => std::slice::from_raw_parts(from, in_len as usize),
                    None => &staged_in,
                };
                let into: &mut [u8] = match direct_out.filter(|_| out_len > 0) {
                    Some(to) => std::slice::from_raw_parts_mut(to, out_len as usize),
                    None => &mut staged_out,
                };
                let buffers = Buffers::new(input, into, &mut tmp);
                let reduction = plan.reduction.clone();
                let exec = Exec::new(self.comm, schedule, buffers, reduction, 0);
                exec.and_then(|mut exec| exec.run()).map_err(broken)?;
            }
            if let (Some(side), None) = (output, direct_out) {
                side.store(self.types, plan.spread, &staged_out)?;
            }
        }
        Ok(())
    }
}

/// Whether the send and the receive buffer may be MPI_IN_PLACE on this rank.
fn may_be_in_place(collective: Collective, at_root: bool) -> (bool, bool) {
    use Collective::*;
    match collective.family() {
        Barrier | Bcast => (false, false),
        Scatter => (false, at_root),
        Gather | Reduce => (at_root, false),
        _ => (true, false),
    }
}
