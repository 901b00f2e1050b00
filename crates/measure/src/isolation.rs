//! What keeps one repetition from meeting the next, and what lets all ranks start together: a
//! barrier or two of any algorithm, a reduction, empty messages, or nothing.

use std::fmt;

use laneway_coll::{Algorithm, Params, find};
use laneway_core::{
    Buffers, Collective, Comm, CommError, DataType, Exec, NativeCall, Rank, ReduceOp, Reduction,
    Schedule, Shape,
};

use crate::talk::START;

/// The barrier that is used where none is named.
const BARRIER: &str = "dissemination";

/// How repetitions are kept apart.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Isolation {
    /// Repetitions follow each other without waiting.
    None,
    /// A barrier of our own, and whether it is done twice.
    Barrier {
        /// An algorithm of the registry for barriers.
        algorithm: &'static Algorithm,
        /// Its parameters.
        params: Params,
        /// Whether it is done once more right after it.
        twice: bool,
    },
    /// The library's own barrier.
    Native {
        /// Whether it is done once more right after it.
        twice: bool,
    },
    /// A reduction of one byte to rank 0.
    Reduce,
    /// An empty message of every rank to rank 0, and one back.
    PointToPoint,
}

impl Isolation {
    /// `none`, `barrier[:ALGORITHM]`, `double-barrier[:ALGORITHM]`, `reduce` or `p2p`.
    pub fn parse(text: &str) -> Result<Isolation, String> {
        let (word, algorithm) = match text.split_once(':') {
            Some((word, algorithm)) => (word, Some(algorithm)),
            None => (text, None),
        };
        let barrier = |twice: bool| match algorithm {
            Some("native") => Ok(Isolation::Native { twice }),
            name => {
                let found = find(Collective::Barrier, name.unwrap_or(BARRIER));
                let (algorithm, params) = found.map_err(|refusal| refusal.0)?;
                Ok(Isolation::Barrier { algorithm, params, twice })
            }
        };
        match (word, algorithm) {
            ("barrier", _) => barrier(false),
            ("double-barrier", _) => barrier(true),
            ("none", None) => Ok(Isolation::None),
            ("reduce", None) => Ok(Isolation::Reduce),
            ("p2p", None) => Ok(Isolation::PointToPoint),
            _ => Err(format!(
                "`{text}`: none, barrier[:ALGORITHM], double-barrier[:ALGORITHM], reduce or p2p"
            )),
        }
    }

    /// A barrier of our own.
    pub fn barrier() -> Isolation {
        // The registry has this barrier; a test holds it.
        Isolation::parse("barrier").unwrap_or(Isolation::PointToPoint)
    }

    /// Prepares to pass it often.
    pub(crate) fn gate<'c>(&self, comm: &'c dyn Comm) -> Result<Gate<'c>, CommError> {
        self.gate_to(comm, 0)
    }

    /// The same, whose reduction ends at this rank.
    pub(crate) fn gate_to<'c>(
        &self,
        comm: &'c dyn Comm,
        root: Rank,
    ) -> Result<Gate<'c>, CommError> {
        Ok(Gate { comm, parts: vec![(*self, self.schedule(comm.size(), root)?)] })
    }

    /// The same, and then another one.
    pub(crate) fn gate_and<'c>(
        &self,
        then: Isolation,
        comm: &'c dyn Comm,
    ) -> Result<Gate<'c>, CommError> {
        let mut gate = self.gate(comm)?;
        gate.parts.push((then, then.schedule(comm.size(), 0)?));
        Ok(gate)
    }

    /// What our own ones are executed from.
    fn schedule(&self, ranks: u32, root: Rank) -> Result<Option<Box<dyn Schedule>>, CommError> {
        let refused = |refusal: laneway_coll::Refusal| CommError::Argument { what: refusal.0 };
        Ok(match self {
            Isolation::Barrier { algorithm, params, .. } => {
                let shape = Shape::new(Collective::Barrier, ranks, 0);
                Some(algorithm.schedule(&shape, params).map_err(refused)?)
            }
            Isolation::Reduce => {
                let (algorithm, params) = find(Collective::Reduce, "binomial").map_err(refused)?;
                let shape = Shape::new(Collective::Reduce, ranks, 1).with_root(root);
                let shape = shape.with_element(1, true);
                Some(algorithm.schedule(&shape, &params).map_err(refused)?)
            }
            _ => None,
        })
    }
}

impl fmt::Display for Isolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = |twice: &bool| if *twice { "double-barrier" } else { "barrier" };
        match self {
            Isolation::None => write!(f, "none"),
            Isolation::Barrier { algorithm, twice, .. } => {
                write!(f, "{}:{}", word(twice), algorithm.name)
            }
            Isolation::Native { twice } => write!(f, "{}:native", word(twice)),
            Isolation::Reduce => write!(f, "reduce"),
            Isolation::PointToPoint => write!(f, "p2p"),
        }
    }
}

/// Isolations with their schedules, passed one after the other.
pub(crate) struct Gate<'c> {
    comm: &'c dyn Comm,
    parts: Vec<(Isolation, Option<Box<dyn Schedule>>)>,
}

/// A gate with its buffers, ready to be passed.
pub(crate) struct OpenGate<'g> {
    comm: &'g dyn Comm,
    parts: Vec<(Isolation, Option<Exec<'g>>)>,
}

/// The buffers of a gate.
#[derive(Default)]
pub(crate) struct Room {
    parts: Vec<Buffer>,
}

#[derive(Default)]
struct Buffer {
    out: Vec<u8>,
    tmp: Vec<u8>,
}

impl Gate<'_> {
    pub fn open<'g>(&'g self, room: &'g mut Room) -> Result<OpenGate<'g>, CommError> {
        room.parts.resize_with(self.parts.len(), Buffer::default);
        let mut parts = Vec::new();
        for ((isolation, schedule), buffer) in self.parts.iter().zip(&mut room.parts) {
            let exec = match schedule {
                Some(schedule) => Some(buffer.exec(self.comm, isolation, &**schedule)?),
                None => None,
            };
            parts.push((*isolation, exec));
        }
        Ok(OpenGate { comm: self.comm, parts })
    }
}

impl Buffer {
    fn exec<'g>(
        &'g mut self,
        comm: &'g dyn Comm,
        isolation: &Isolation,
        schedule: &'g dyn Schedule,
    ) -> Result<Exec<'g>, CommError> {
        self.tmp = vec![0; schedule.tmp_len(comm.rank()) as usize];
        self.out = vec![0; 1];
        let reduces = *isolation == Isolation::Reduce;
        let input: &[u8] = if reduces { &[1] } else { &[] };
        let out = if reduces { &mut self.out[..] } else { &mut [] };
        let reduction = reduces.then_some(Reduction::Builtin(ReduceOp::Max, DataType::U8));
        let buffers = Buffers::new(input, out, &mut self.tmp);
        Exec::new(comm, schedule, buffers, reduction, 1)
    }
}

impl OpenGate<'_> {
    /// Collective: synchronises all ranks, as far as the isolation holds.
    pub fn pass(&mut self) -> Result<(), CommError> {
        self.parts.iter_mut().try_for_each(|(isolation, exec)| pass(self.comm, *isolation, exec))
    }
}

fn pass(
    comm: &dyn Comm,
    isolation: Isolation,
    exec: &mut Option<Exec<'_>>,
) -> Result<(), CommError> {
    let twice = match isolation {
        Isolation::None => return Ok(()),
        Isolation::PointToPoint => return point_to_point(comm),
        Isolation::Native { twice } | Isolation::Barrier { twice, .. } => twice,
        Isolation::Reduce => false,
    };
    for _ in 0..=u32::from(twice) {
        match exec {
            Some(exec) => exec.run()?,
            None => native_barrier(comm)?,
        }
    }
    Ok(())
}

fn native_barrier(comm: &dyn Comm) -> Result<(), CommError> {
    let shape = Shape::new(Collective::Barrier, comm.size(), 0);
    comm.native(NativeCall { shape: &shape, input: &[], output: &mut [], reduction: None })
}

fn point_to_point(comm: &dyn Comm) -> Result<(), CommError> {
    if comm.rank() > 0 {
        comm.send(0, START, &[])?;
        comm.recv(Some(0), Some(START), &mut [])?;
        return Ok(());
    }
    for other in 1..comm.size() {
        comm.recv(Some(other), Some(START), &mut [])?;
    }
    for other in 1..comm.size() {
        comm.send(other, START, &[])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_and_written_alike() {
        for word in ["none", "barrier:dissemination", "double-barrier:tree", "reduce", "p2p"] {
            assert_eq!(Isolation::parse(word).map(|i| i.to_string()), Ok(word.to_string()));
        }
        assert_eq!(Isolation::barrier().to_string(), "barrier:dissemination");
        assert_eq!(Isolation::parse("barrier:native"), Ok(Isolation::Native { twice: false }));
        for word in ["", "barriers", "barrier:none", "p2p:x", "none:"] {
            assert!(Isolation::parse(word).is_err(), "{word}");
        }
    }
}
