//! One collective call with real data: the shape, the call, and every byte of the answer compared.

use laneway_coll::{Algorithm, Counts, Params, counts, expected};
use laneway_core::{
    Blocks, Buffers, Collective, Comm, CommError, Exec, Layout, Matrix, NativeCall,
};
use laneway_core::{Place, Rank, Reduction, Shape};

use super::data::{Content, mix};
use crate::placed::Placed;

/// Who answers the call.
#[derive(Clone, Copy)]
pub enum Answerer {
    Ours(&'static Algorithm, Params),
    /// The MPI library's own collective.
    Native,
}

/// One call to make.
#[derive(Clone)]
pub struct Case {
    pub collective: Collective,
    pub answerer: Answerer,
    pub root: Rank,
    /// Bytes, or elements where the collective reduces.
    pub size: u64,
    pub in_place: bool,
    pub content: Content,
}

/// What came of it, on one rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Passed,
    Failed(String),
    /// The algorithm does not serve the shape, and says why.
    Skipped(String),
}

impl Case {
    /// The call as all ranks see it. Blocks that may differ do: none, twice and once the size.
    pub fn shape(&self, ranks: u32) -> Shape {
        let element = self.content.element();
        let size = self.size.saturating_mul(u64::from(element));
        let shape = Shape::new(self.collective, ranks, size).with_root(self.root);
        let commutative = self.content.reduction().is_none_or(|r| r.commutative());
        let shape = shape.with_element(element, commutative).with_in_place(self.in_place);
        let length = |key: u64| match mix(key) % 4 {
            0 => 0,
            1 => size.saturating_mul(2),
            _ => size,
        };
        match self.collective {
            Collective::Alltoallv => {
                // In place every pair must exchange blocks of one length.
                let pair = |s: Rank, d: Rank| u64::from(s.min(d)) << 32 | u64::from(s.max(d));
                let way = |s: Rank, d: Rank| u64::from(s) << 32 | u64::from(d);
                let key = |s, d| if self.in_place { pair(s, d) } else { way(s, d) };
                match Matrix::of_lengths(ranks, |s, d| length(key(s, d))) {
                    Some(matrix) => shape.with_matrix(matrix),
                    None => shape,
                }
            }
            c if c.is_irregular() => {
                let lengths: Vec<u64> = (0..u64::from(ranks)).map(length).collect();
                match Blocks::of_lengths(&lengths) {
                    Some(blocks) => shape.with_blocks(blocks),
                    None => shape,
                }
            }
            _ => shape,
        }
    }

    pub fn algorithm_name(&self) -> &'static str {
        match self.answerer {
            Answerer::Ours(algorithm, _) => algorithm.name,
            Answerer::Native => "native",
        }
    }

    /// Makes the call on this rank and compares its answer.
    pub fn run(
        &self,
        comm: &dyn Comm,
        placed: Option<&Placed>,
        sequence: u16,
    ) -> Result<Outcome, CommError> {
        let shape = self.shape(comm.size());
        if let Err(bad) = shape.validate() {
            return Ok(Outcome::Skipped(bad.0));
        }
        let shape = match placed {
            Some(placed) => placed.place(shape),
            None => shape,
        };
        let reduction = self.content.reduction();
        let mut memory = Memory::new(&shape, comm.rank(), &self.content);
        match self.answerer {
            Answerer::Native if !comm.has_native(&shape) => {
                return Ok(Outcome::Skipped("this library cannot do it".into()));
            }
            Answerer::Native => memory.native(comm, &shape, &self.content)?,
            Answerer::Ours(algorithm, params) => {
                let schedule = match algorithm.schedule(&shape, &params) {
                    Ok(schedule) => schedule,
                    Err(refusal) => return Ok(Outcome::Skipped(refusal.0)),
                };
                if algorithm.counts == Counts::All && self.share(comm, &shape)? != shape.layout {
                    return Ok(Outcome::Failed(
                        "the shared lengths differ from the true ones".into(),
                    ));
                }
                let mut tmp = vec![0xA5; schedule.tmp_len(comm.rank()) as usize];
                let buffers = memory.buffers(&mut tmp);
                Exec::new(comm, &*schedule, buffers, reduction.clone(), sequence)?.run()?;
            }
        }
        let wanted = self.wanted(&shape, comm.rank(), reduction.as_ref());
        if let Some(difference) = memory.difference(&wanted) {
            return Ok(Outcome::Failed(format!("rank {}: {difference}", comm.rank())));
        }
        self.compare_with_native(comm, &shape, memory.output())
    }

    fn wanted(&self, shape: &Shape, rank: Rank, reduction: Option<&Reduction>) -> Vec<u8> {
        let undefined = shape.collective == Collective::Exscan && rank == 0;
        if undefined {
            return Vec::new();
        }
        expected(shape, rank, reduction, |from, off, bytes| self.content.fill(from, off, bytes))
    }

    /// The library's own answer to the same call must be the same.
    fn compare_with_native(
        &self,
        comm: &dyn Comm,
        shape: &Shape,
        output: &[u8],
    ) -> Result<Outcome, CommError> {
        let ours = matches!(self.answerer, Answerer::Ours(..));
        let builtin = !matches!(self.content, Content::Maps);
        if !ours || !builtin || !comm.has_native(shape) {
            return Ok(Outcome::Passed);
        }
        let mut native = Memory::new(shape, comm.rank(), &self.content);
        native.native(comm, shape, &self.content)?;
        let undefined = shape.collective == Collective::Exscan && comm.rank() == 0;
        if !undefined && native.output() != output {
            let rank = comm.rank();
            return Ok(Outcome::Failed(format!("rank {rank}: the library's own answer differs")));
        }
        Ok(Outcome::Passed)
    }

    /// Lets a rank learn from others what MPI would not tell it.
    fn share(&self, comm: &dyn Comm, shape: &Shape) -> Result<Layout, CommError> {
        let (p, me) = (comm.size(), comm.rank());
        let known: Vec<u64> = match (&shape.layout, self.collective) {
            (Layout::Matrix(m), Collective::Alltoallv) => (0..p).map(|to| m.len(me, to)).collect(),
            (Layout::Blocks(b), Collective::Scatterv | Collective::Gatherv) => {
                (0..p).map(|r| if me == self.root { b.len(r) } else { 0 }).collect()
            }
            _ => return Ok(shape.layout.clone()),
        };
        counts::share(comm, self.collective, self.root, &known)
    }
}

const GUARD: usize = 64;
const GUARD_BYTE: u8 = 0xC3;

/// A rank's buffers, with a strip on each side of Out that nobody may touch.
struct Memory {
    place: Place,
    input: Vec<u8>,
    /// Guard, Out (or the one buffer of a call in place), guard.
    output: Vec<u8>,
    in_len: u64,
    out_len: u64,
}

impl Memory {
    fn new(shape: &Shape, rank: Rank, content: &Content) -> Memory {
        let (in_len, out_len) = (shape.in_len(rank), shape.out_len(rank));
        let place = shape.place(rank);
        let room = if place == Place::Apart { out_len } else { in_len.max(out_len) } as usize;
        let mut output = vec![GUARD_BYTE; room + 2 * GUARD];
        output[GUARD..GUARD + room].fill(0x5A);
        let mut input = vec![0; in_len as usize];
        content.fill(rank, 0, &mut input);
        match place {
            Place::Apart if shape.collective == Collective::Bcast && rank == shape.root => {
                content.fill(rank, 0, &mut output[GUARD..GUARD + room]);
            }
            Place::Apart => {}
            Place::InWithinOut(at) => {
                output[GUARD + at as usize..][..input.len()].copy_from_slice(&input);
            }
            Place::OutWithinIn(_) => output[GUARD..][..input.len()].copy_from_slice(&input),
        }
        Memory { place, input, output, in_len, out_len }
    }

    fn room(&mut self) -> &mut [u8] {
        let end = self.output.len() - GUARD;
        &mut self.output[GUARD..end]
    }

    fn buffers<'a>(&'a mut self, tmp: &'a mut [u8]) -> Buffers<'a> {
        let end = self.output.len() - GUARD;
        let room = &mut self.output[GUARD..end];
        match self.place {
            Place::Apart => Buffers::new(&self.input, room, tmp),
            Place::InWithinOut(_) => Buffers::in_place(self.place, room, self.in_len, tmp),
            Place::OutWithinIn(_) => Buffers::in_place(self.place, room, self.out_len, tmp),
        }
    }

    fn native(
        &mut self,
        comm: &dyn Comm,
        shape: &Shape,
        content: &Content,
    ) -> Result<(), CommError> {
        let reduction = match content {
            Content::Elements(op, ty) => Some((*op, *ty)),
            _ => None,
        };
        let input = std::mem::take(&mut self.input);
        let given: &[u8] = if self.place == Place::Apart { &input } else { &[] };
        let output = self.room();
        let result = comm.native(NativeCall { shape, input: given, output, reduction });
        self.input = input;
        result
    }

    /// The Out of the definition.
    fn output(&self) -> &[u8] {
        let at = match self.place {
            Place::OutWithinIn(at) => at as usize,
            _ => 0,
        };
        &self.output[GUARD + at..][..self.out_len as usize]
    }

    /// Where the answer differs from what is wanted, for people.
    fn difference(&self, wanted: &[u8]) -> Option<String> {
        let end = self.output.len() - GUARD;
        if self.output[..GUARD].iter().chain(&self.output[end..]).any(|&b| b != GUARD_BYTE) {
            return Some("bytes outside the output buffer were written".into());
        }
        let found = self.output();
        let at = wanted.iter().zip(found).position(|(a, b)| a != b)?;
        let (is, should) = (found[at], wanted[at]);
        Some(format!("byte {at} of {} is {is:#04x} and should be {should:#04x}", found.len()))
    }
}
