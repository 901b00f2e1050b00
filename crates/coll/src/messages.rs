//! Messages between given pairs, all begun at once: permutations, fan-in, whatever a list says.

use laneway_core::{Buf, Rank, Round, Schedule, Step, span};

use crate::registry::Refusal;

/// One message of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Who sends it.
    pub from: Rank,
    /// Who receives it.
    pub to: Rank,
    /// How long it is.
    pub bytes: u64,
}

/// A schedule in which every rank starts all its receives and all its sends, and waits for them.
/// Every send is from the front of In; what is received lies in Out in the order of the list.
#[derive(Clone, Debug)]
pub struct Messages {
    steps: Vec<Vec<Step>>,
    in_len: Vec<u64>,
    out_len: Vec<u64>,
}

impl Messages {
    /// The exchange of these messages between `ranks` ranks.
    pub fn new(ranks: u32, list: &[Message]) -> Result<Messages, Refusal> {
        let mut recvs = vec![Vec::new(); ranks as usize];
        let mut sends = recvs.clone();
        let (mut in_len, mut out_len) = (vec![0; ranks as usize], vec![0; ranks as usize]);
        for &Message { from, to, bytes } in list {
            if from >= ranks || to >= ranks {
                let what = format!("a message from rank {from} to {to}, and there are {ranks}");
                return Err(Refusal(what));
            }
            let (sent, room) = (&mut in_len[from as usize], &mut out_len[to as usize]);
            let into = span(Buf::Out, *room, bytes);
            *sent = bytes.max(*sent);
            *room += bytes;
            recvs[to as usize].push(Step::Recv { from, chan: 0, span: into });
            sends[from as usize].push(Step::Send { to, chan: 0, span: span(Buf::In, 0, bytes) });
        }
        let steps = recvs.into_iter().zip(sends).map(|(recvs, sends)| [recvs, sends].concat());
        Ok(Messages { steps: steps.collect(), in_len, out_len })
    }

    /// Bytes that a rank sends.
    pub fn in_len(&self, rank: Rank) -> u64 {
        self.in_len[rank as usize]
    }

    /// Bytes that a rank receives.
    pub fn out_len(&self, rank: Rank) -> u64 {
        self.out_len[rank as usize]
    }
}

impl Schedule for Messages {
    fn ranks(&self) -> u32 {
        self.steps.len() as u32
    }

    fn rounds(&self, _rank: Rank, _lane: u32) -> u64 {
        1
    }

    fn round(&self, rank: Rank, _lane: u32, _k: u64, out: &mut Round) {
        out.steps.extend(&self.steps[rank as usize]);
    }
}
