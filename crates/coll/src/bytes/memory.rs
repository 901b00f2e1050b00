//! The buffers of a checked call on one rank, and what the call has done to them.

use laneway_core::{Buffers, Collective, Comm, CommError, NativeCall, Place, Rank, Shape};

use super::content::{Content, difference};

const GUARD: usize = 64;
const GUARD_BYTE: u8 = 0xC3;

/// A rank's buffers, with a guard strip on each side of Out that must stay unchanged.
pub struct Memory {
    place: Place,
    input: Vec<u8>,
    /// Guard, Out (or the one buffer of a call in place), guard.
    output: Vec<u8>,
    in_len: u64,
    out_len: u64,
}

impl Memory {
    pub fn new(shape: &Shape, rank: Rank, content: &Content) -> Memory {
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

    pub fn buffers<'a>(&'a mut self, tmp: &'a mut [u8]) -> Buffers<'a> {
        let end = self.output.len() - GUARD;
        let room = &mut self.output[GUARD..end];
        match self.place {
            Place::Apart => Buffers::new(&self.input, room, tmp),
            Place::InWithinOut(_) => Buffers::in_place(self.place, room, self.in_len, tmp),
            Place::OutWithinIn(_) => Buffers::in_place(self.place, room, self.out_len, tmp),
        }
    }

    pub fn native(
        &mut self,
        comm: &dyn Comm,
        shape: &Shape,
        content: &Content,
    ) -> Result<(), CommError> {
        let reduction = content.builtin();
        let input = std::mem::take(&mut self.input);
        let given: &[u8] = if self.place == Place::Apart { &input } else { &[] };
        let output = self.room();
        let result = comm.native(NativeCall { shape, input: given, output, reduction });
        self.input = input;
        result
    }

    /// The Out of the definition.
    pub fn output(&self) -> &[u8] {
        let at = match self.place {
            Place::OutWithinIn(at) => at as usize,
            _ => 0,
        };
        &self.output[GUARD + at..][..self.out_len as usize]
    }

    /// Where the answer differs from what is wanted, for people.
    pub fn difference(&self, wanted: &[u8]) -> Option<String> {
        let end = self.output.len() - GUARD;
        if self.output[..GUARD].iter().chain(&self.output[end..]).any(|&b| b != GUARD_BYTE) {
            return Some("bytes outside the output buffer were written".into());
        }
        difference(self.output(), wanted)
    }
}
