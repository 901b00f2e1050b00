//! A vector cut into even parts by a formula, so that a million ranks need no table of offsets.

use laneway_core::{Buf, Shape, Span, span};

/// Parts of whole elements, as even as can be, the longer ones first.
#[derive(Clone, Copy, Debug)]
pub struct Even {
    element: u64,
    /// Elements of each part, and how many parts have one more.
    each: u64,
    longer: u64,
}

impl Even {
    /// The shape's vector in `parts` parts, at least one.
    pub fn new(shape: &Shape, parts: u32) -> Even {
        let element = u64::from(shape.element);
        let (elements, parts) = (shape.vector() / element, u64::from(parts));
        Even { element, each: elements / parts, longer: elements % parts }
    }

    fn off(self, part: u32) -> u64 {
        let part = u64::from(part);
        (part * self.each + part.min(self.longer)) * self.element
    }

    /// Parts from `a` up to but not including `b`.
    pub fn span(self, buf: Buf, a: u32, b: u32) -> Span {
        span(buf, self.off(a), self.off(b) - self.off(a))
    }

    /// Part `number` alone.
    pub fn part(self, buf: Buf, number: u32) -> Span {
        self.span(buf, number, number + 1)
    }

    /// No part is longer.
    pub fn longest(self) -> u64 {
        self.part(Buf::In, 0).len
    }
}

/// A segment's length in whole elements: at least one, and no more than the data that it cuts.
pub fn whole_elements(shape: &Shape, segment: u64, data: u64) -> u64 {
    let element = u64::from(shape.element);
    (segment / element * element).clamp(element, data.max(element))
}

#[cfg(test)]
mod tests {
    use super::*;
    use laneway_core::{Blocks, Collective};

    #[test]
    fn segments_hold_whole_elements() {
        let shape = Shape::new(Collective::Scan, 3, 80).with_element(8, true);
        let cases = [(1, 80), (8, 80), (23, 80), (100, 80), (100, 0), (u64::MAX, 40)];
        let lengths = cases.map(|(segment, data)| whole_elements(&shape, segment, data));
        assert_eq!(lengths, [8, 8, 16, 80, 8, 40]);
    }

    #[test]
    fn the_formula_cuts_as_the_table_does() {
        for parts in 1..20 {
            for elements in 0..50 {
                let vector = elements * 8;
                let shape = Shape::new(Collective::Allreduce, 3, vector).with_element(8, true);
                let (even, table) = (Even::new(&shape, parts), Blocks::cut(vector, parts, 8));
                for part in 0..parts {
                    assert_eq!(even.part(Buf::Out, part), table.block(Buf::Out, part));
                }
                assert_eq!(even.longest(), table.longest(parts));
                assert_eq!(even.span(Buf::In, 0, parts).len, vector);
            }
        }
    }
}
