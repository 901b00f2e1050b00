//! What is timed: a schedule of the registry, the library's own collective, or any closure.

use laneway_coll::Refusal;
use laneway_coll::bytes::{Content, difference};
use laneway_core::{
    Buffers, Comm, CommError, DataType, Exec, Form, Meanwhile, NativeCall, ReduceOp, Schedule,
    Shape,
};

use crate::cache::{Cache, Places};

pub use laneway_coll::Answerer;

/// One collective call on this rank, as often as wanted.
pub trait Operation {
    /// Does it once, and returns when this rank is done.
    fn call(&mut self) -> Result<(), CommError>;

    /// Whether it has been called before, so that buffers and connections are there.
    fn is_warm(&self) -> bool {
        false
    }
}

impl<F: FnMut() -> Result<(), CommError>> Operation for F {
    fn call(&mut self) -> Result<(), CommError> {
        self()
    }
}

/// A collective with its buffers, filled so that its answer can be checked.
pub struct Collective<'c> {
    comm: &'c dyn Comm,
    shape: Shape,
    form: Form,
    content: Content,
    schedule: Option<Box<dyn Schedule>>,
    input: Vec<u8>,
    output: Vec<u8>,
    tmp: Vec<u8>,
    /// Other buffers for each call, where caches are to be cold.
    places: Option<Places>,
    warm: bool,
}

impl<'c> Collective<'c> {
    /// Buffers and schedule of one blocking call; a reason where it cannot be made.
    pub fn new(
        comm: &'c dyn Comm,
        shape: &Shape,
        answerer: Answerer,
    ) -> Result<Collective<'c>, Refusal> {
        Collective::in_form(comm, shape, answerer, Form::Blocking)
    }

    /// The same of a call in either form.
    pub fn in_form(
        comm: &'c dyn Comm,
        shape: &Shape,
        answerer: Answerer,
        form: Form,
    ) -> Result<Collective<'c>, Refusal> {
        let rank = comm.rank();
        // Doubles are summed, as most programs do; of other lengths bytes are compared.
        let reduces = shape.collective.reduces();
        let doubles = shape.clone().with_element(8, true);
        let bytes = shape.clone().with_element(1, true);
        let (shape, content) = match (reduces, doubles.validate()) {
            (true, Ok(())) => (doubles, Content::Elements(ReduceOp::Sum, DataType::F64)),
            (true, Err(_)) => (bytes, Content::Elements(ReduceOp::Max, DataType::U8)),
            (false, _) => (bytes, Content::Bytes),
        };
        if let Err(bad) = shape.validate() {
            return Err(Refusal(bad.0));
        }
        let schedule = match answerer {
            Answerer::Native => match comm.native_objection(&shape, form) {
                Some(why) => return Err(Refusal(why)),
                None => None,
            },
            Answerer::Ours(algorithm, params) => match algorithm.schedule(&shape, &params) {
                Ok(schedule) => Some(schedule),
                Err(refusal) => return Err(refusal),
            },
        };
        let tmp = schedule.as_ref().map_or(0, |schedule| schedule.tmp_len(rank));
        let mut made = Collective {
            comm,
            form,
            content,
            schedule,
            input: vec![0; shape.in_len(rank) as usize],
            output: vec![0; shape.out_len(rank) as usize],
            tmp: vec![0; tmp as usize],
            places: None,
            warm: false,
            shape,
        };
        made.refill();
        Ok(made)
    }

    /// With In and Out that lie in the cache before each call, or not.
    pub fn with_cache(self, cache: Cache) -> Collective<'c> {
        let places = Places::new(cache, self.input.len(), self.output.len());
        Collective { places, ..self }
    }

    /// What is called, with the element that reductions work on.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    fn refill(&mut self) {
        let rank = self.comm.rank();
        self.content.fill(rank, 0, &mut self.input);
        self.output.fill(0xA5);
        // A broadcast has one buffer.
        if self.shape.collective == laneway_core::Collective::Bcast && rank == self.shape.root {
            self.content.fill(rank, 0, &mut self.output);
        }
    }

    /// Lets it be called: the calls borrow its buffers.
    pub fn ready(&mut self) -> Result<Ready<'_>, CommError> {
        let pairs = self.places.as_mut().into_iter().flat_map(Places::pairs);
        let by = match &self.schedule {
            None => By::Library {
                comm: self.comm,
                shape: &self.shape,
                reduction: self.content.builtin(),
                input: &self.input,
                output: &mut self.output,
                places: pairs.collect(),
            },
            Some(schedule) => {
                let buffers = Buffers::new(&self.input, &mut self.output, &mut self.tmp);
                By::Schedule {
                    exec: Box::new(Exec::new(
                        self.comm,
                        &**schedule,
                        buffers,
                        self.content.reduction(),
                        0,
                    )?),
                    places: pairs.map(|(i, o)| Buffers::new(i, o, &mut [])).collect(),
                }
            }
        };
        Ok(Ready { by, next: 0, form: self.form, warm: self.warm })
    }

    /// Calls it once and compares every byte of this rank's answer; what is wrong, if something is.
    pub fn validate(&mut self) -> Result<Option<String>, CommError> {
        self.refill();
        // The answer is looked for in the buffers themselves.
        let places = self.places.take();
        let called = self.ready()?.call();
        self.places = places;
        called?;
        self.warm = true;
        let rank = self.comm.rank();
        let wanted = self.content.wanted(&self.shape, rank).unwrap_or_default();
        let difference = difference(&self.output, &wanted);
        Ok(difference.map(|difference| format!("rank {rank}: {difference}")))
    }
}

/// A collective that can be called.
pub struct Ready<'a> {
    by: By<'a>,
    /// Where the buffers of the next call are, if each has others.
    next: usize,
    form: Form,
    warm: bool,
}

/// Who does it, with everything at hand.
enum By<'a> {
    Schedule {
        exec: Box<Exec<'a>>,
        places: Vec<Buffers<'a>>,
    },
    Library {
        comm: &'a dyn Comm,
        shape: &'a Shape,
        reduction: Option<(ReduceOp, DataType)>,
        input: &'a [u8],
        output: &'a mut [u8],
        places: Vec<(&'a [u8], &'a mut [u8])>,
    },
}

impl Ready<'_> {
    /// Other buffers for the next call, if each has others: those that were not used for longest.
    fn advance(&mut self) -> Result<(), CommError> {
        let count = match &mut self.by {
            By::Schedule { exec, places } => {
                places.get_mut(self.next).map_or(Ok(()), |place| exec.exchange(place))?;
                places.len()
            }
            By::Library { input, output, places, .. } => {
                if let Some((other_input, other_output)) = places.get_mut(self.next) {
                    std::mem::swap(input, other_input);
                    std::mem::swap(output, other_output);
                }
                places.len()
            }
        };
        self.next = if self.next + 1 < count { self.next + 1 } else { 0 };
        Ok(())
    }

    /// The non-blocking form: starts the call, does `meanwhile`, and returns when both are done.
    pub fn call_meanwhile(&mut self, meanwhile: &mut Meanwhile<'_>) -> Result<(), CommError> {
        self.advance()?;
        match &mut self.by {
            By::Schedule { exec, .. } => exec.run_meanwhile(meanwhile),
            By::Library { comm, shape, reduction, input, output, .. } => {
                let call = NativeCall { shape, input, output, reduction: *reduction };
                comm.native_meanwhile(call, meanwhile)
            }
        }
    }
}

impl Operation for Ready<'_> {
    fn call(&mut self) -> Result<(), CommError> {
        if self.form == Form::NonBlocking {
            return self.call_meanwhile(&mut |_| Ok(()));
        }
        self.advance()?;
        match &mut self.by {
            By::Schedule { exec, .. } => exec.run(),
            By::Library { comm, shape, reduction, input, output, .. } => {
                comm.native(NativeCall { shape, input, output, reduction: *reduction })
            }
        }
    }

    fn is_warm(&self) -> bool {
        self.warm
    }
}
