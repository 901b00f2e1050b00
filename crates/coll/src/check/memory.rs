//! The symbolic memory of one rank: what each span holds, who wrote it, who may still be reading.

use laneway_core::{Buf, Place, Rank, Shape, Span, span};

use super::Fault;
use super::order::{Access, Order};
use super::terms::{Term, Terms, UNDEFINED};

/// What a run of bytes holds: byte i is byte `off + i` of the term's vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    pub term: Term,
    pub off: u64,
}

/// The contents of a span: lengths and what they hold, one after another.
pub type Holds = [(u64, Value)];

#[derive(Clone)]
struct Cell {
    end: u64,
    value: Value,
    writer: Option<Access>,
    /// The last read of each lane and kind since the write.
    readers: Vec<Access>,
}

/// Cells one after another from 0 on.
#[derive(Default)]
struct Strip(Vec<Cell>);

/// One rank's In, Out and Tmp, with In or Out laid into the other where the call is in place.
pub struct Memory {
    rank: Rank,
    place: Place,
    lens: [u64; 3],
    strips: [Strip; 3],
}

impl Memory {
    pub fn new(shape: &Shape, rank: Rank, tmp: u64) -> Memory {
        let lens = [shape.in_len(rank), shape.out_len(rank), tmp];
        let strips = lens.map(|len| {
            let value = Value { term: UNDEFINED, off: 0 };
            let cell = Cell { end: len, value, writer: None, readers: Vec::new() };
            Strip(if len > 0 { vec![cell] } else { vec![] })
        });
        Memory { rank, place: shape.place(rank), lens, strips }
    }

    /// Sets what the caller brought.
    pub fn set(&mut self, buf: Buf, value: Value) {
        let whole = self.physical(span(buf, 0, self.lens[buf as usize]));
        let strip = &mut self.strips[whole.buf as usize];
        for index in strip.cut(whole.off, whole.end()) {
            strip.0[index].value = value;
        }
    }

    /// Whether the span lies within its buffer.
    pub fn contains(&self, span: Span) -> bool {
        span.off.checked_add(span.len).is_some_and(|end| end <= self.lens[span.buf as usize])
    }

    /// The span in the buffer that really holds it.
    pub fn physical(&self, s: Span) -> Span {
        match (self.place, s.buf) {
            (Place::InWithinOut(at), Buf::In) => span(Buf::Out, s.off + at, s.len),
            (Place::OutWithinIn(at), Buf::Out) => span(Buf::In, s.off + at, s.len),
            _ => s,
        }
    }

    /// Reads a span: every byte must be there, its writer over. Appends what it holds.
    pub fn read(
        &mut self,
        order: &Order,
        access: Access,
        s: Span,
        holds: &mut Vec<(u64, Value)>,
    ) -> Result<(), Fault> {
        let at = self.physical(s);
        let rank = self.rank;
        let strip = &mut self.strips[at.buf as usize];
        let mut from = at.off;
        for index in strip.cut(at.off, at.end()) {
            let cell = &mut strip.0[index];
            if let Some(writer) = cell.writer
                && !order.over(&writer, access.lane)
            {
                return Err(race(rank, s, access, writer));
            }
            if cell.value.term == UNDEFINED {
                return Err(Fault::Undefined { rank, span: s });
            }
            cell.readers.retain(|r| r.lane != access.lane || r.kind != access.kind);
            cell.readers.push(access);
            let len = cell.end - from;
            match holds.last_mut() {
                Some((before, value))
                    if value.term == cell.value.term && value.off + *before == cell.value.off =>
                {
                    *before += len;
                }
                _ => holds.push((len, cell.value)),
            }
            from = cell.end;
        }
        Ok(())
    }

    /// Begins to write a span: everything that used it must be over. It holds nothing until
    /// [`Memory::fill`].
    pub fn write(&mut self, order: &Order, access: Access, s: Span) -> Result<(), Fault> {
        let at = self.physical(s);
        let rank = self.rank;
        if at.buf == Buf::In && !matches!(self.place, Place::OutWithinIn(_)) {
            return Err(Fault::ConstInput { rank, span: s });
        }
        let strip = &mut self.strips[at.buf as usize];
        let cut = strip.cut(at.off, at.end());
        for index in cut.clone() {
            let cell = &mut strip.0[index];
            for earlier in cell.writer.iter().chain(&cell.readers) {
                if !order.over(earlier, access.lane) {
                    return Err(race(rank, s, access, *earlier));
                }
            }
        }
        let value = Value { term: UNDEFINED, off: 0 };
        let cell = Cell { end: at.end(), value, writer: Some(access), readers: Vec::new() };
        if !cut.is_empty() {
            strip.0.splice(cut, [cell]);
        }
        Ok(())
    }

    /// Puts values into a span that was begun to be written.
    pub fn fill(&mut self, s: Span, holds: &Holds) {
        let at = self.physical(s);
        let strip = &mut self.strips[at.buf as usize];
        let cut = strip.cut(at.off, at.end());
        let Some(cell) = strip.0.get(cut.start).filter(|_| !cut.is_empty()).cloned() else {
            return;
        };
        if let [(_, value)] = holds
            && cut.len() == 1
        {
            strip.0[cut.start].value = *value;
            return;
        }
        let mut end = at.off;
        let cells = holds.iter().map(|&(len, value)| {
            end += len;
            Cell { end, value, ..cell.clone() }
        });
        strip.0.splice(cut, cells);
    }

    /// into = into (+) from where `joined` says so; both were read and `into` was begun to be
    /// written.
    pub fn join(
        terms: &mut Terms,
        rank: Rank,
        into: Span,
        (from_holds, into_holds): (&Holds, &Holds),
        left: bool,
        holds: &mut Vec<(u64, Value)>,
    ) -> Result<(), Fault> {
        let (mut a, mut b) = (from_holds.iter().copied(), into_holds.iter().copied());
        let (mut x, mut y) = (a.next(), b.next());
        while let (Some((x_len, from)), Some((y_len, held))) = (x, y) {
            let len = x_len.min(y_len);
            if from.off != held.off {
                let why = "it joins different parts of the vector";
                return Err(Fault::Reduction { rank, span: into, why });
            }
            let (first, second) = if left { (from, held) } else { (held, from) };
            let Some(term) = terms.join(first.term, second.term) else {
                let why = "an input would count twice";
                return Err(Fault::Reduction { rank, span: into, why });
            };
            holds.push((len, Value { term, off: held.off }));
            let rest = |whole: u64, v: Value| (whole - len, Value { off: v.off + len, ..v });
            x = if x_len > len { Some(rest(x_len, from)) } else { a.next() };
            y = if y_len > len { Some(rest(y_len, held)) } else { b.next() };
        }
        Ok(())
    }

    /// Compares a run of Out with what it should hold.
    pub fn expect(&mut self, terms: &Terms, at: u64, len: u64, value: Value) -> Result<(), Fault> {
        let s = self.physical(span(Buf::Out, at, len));
        let strip = &mut self.strips[s.buf as usize];
        let mut from = s.off;
        for index in strip.cut(s.off, s.end()) {
            let cell = &strip.0[index];
            let wanted = Value { term: value.term, off: value.off + (from - s.off) };
            if cell.value != wanted {
                let say = |v: Value| format!("{} from byte {}", terms.describe(v.term), v.off);
                return Err(Fault::Result {
                    rank: self.rank,
                    at: at + (from - s.off),
                    len: cell.end - from,
                    expected: say(wanted),
                    found: say(cell.value),
                });
            }
            from = cell.end;
        }
        Ok(())
    }
}

fn race(rank: Rank, span: Span, access: Access, other: Access) -> Fault {
    Fault::Race {
        rank,
        span,
        lane: access.lane,
        round: access.round,
        other_lane: other.lane,
        other_round: other.round,
    }
}

impl Strip {
    /// Cuts cells so that `from..to` is whole cells, and gives their indices.
    fn cut(&mut self, from: u64, to: u64) -> std::ops::Range<usize> {
        if from == to {
            return 0..0;
        }
        let first = self.split(from);
        let last = self.split(to);
        first..last
    }

    /// Makes a boundary at `at`; the index of the cell that begins there.
    fn split(&mut self, at: u64) -> usize {
        let index = self.0.partition_point(|cell| cell.end <= at);
        let start = if index == 0 { 0 } else { self.0[index - 1].end };
        if start == at || index == self.0.len() {
            return index;
        }
        let mut front = self.0[index].clone();
        front.end = at;
        self.0[index].value.off += at - start;
        self.0.insert(index, front);
        index + 1
    }
}
