//! All-to-all over sites by lanes: what one site has for a part of another is collected and crosses
//! as one message.
//!
//! For short blocks, of which each would cross by itself. A block is sent three times at most:
//! within its site, across, and within the other.

use laneway_core::{Buf, Collective, Matrix, Rank, Span, span};

use crate::registry::{Algorithm, Counts, Parameter};
use crate::script::{Lane, Script, Scripted};
use crate::sites::Lanes;

pub const ALGORITHM: Algorithm = Algorithm {
    family: Collective::Alltoall,
    name: "site-lanes",
    sentence: "`lanes` ranks collect what their site has for a part of another site, send it \
               across as one message, and hand out what comes from there",
    source: "laneway; after Chiba, Endo, Matsuoka 2007",
    parameters: &[(Parameter::Lanes, 0), Parameter::BY_RANK],
    // Blocks arrive before those that lie in their places have left.
    in_place: false,
    counts: Counts::All,
    build: |shape, params, placement| {
        let (matrix, lanes) = (shape.matrix(), Lanes::new(placement, params.lanes()));
        Ok(Box::new(Scripted::new(SiteLanes { matrix, lanes })))
    },
    ..Algorithm::BASE
};

struct SiteLanes {
    matrix: Matrix,
    lanes: Lanes,
}

/// Lanes of a rank: within its site; to those who collect, and from those it collects for; across;
/// and what came from there, handed out and received.
const NEAR: usize = 0;
const GIVE: usize = 1;
const COLLECT: usize = 2;
const CROSS: usize = 3;
const ARRIVE: usize = 4;
const HAND_OUT: usize = 5;
const TAKE: usize = 6;
const KEEP: usize = 7;

/// Channels within a site; what crosses has others' ends.
const DIRECT: u16 = 0;
const COLLECTED: u16 = 1;
const HANDED: u16 = 2;

/// Scratch that is given out from its front on.
struct Scratch(u64);

impl Scratch {
    fn take(&mut self, len: u64) -> Span {
        self.0 += len;
        span(Buf::Tmp, self.0 - len, len)
    }
}

impl SiteLanes {
    /// How many lanes there are between two sites.
    fn between(&self, a: usize, b: usize) -> usize {
        self.lanes.count(a).min(self.lanes.count(b))
    }

    /// The ranks of a site that a lane is for.
    fn group(&self, site: usize, lane: usize, lanes: usize) -> Vec<Rank> {
        self.lanes.order(site).iter().copied().skip(lane).step_by(lanes).collect()
    }

    /// Bytes that some ranks have for some others.
    fn bytes(&self, sources: &[Rank], targets: &[Rank]) -> u64 {
        let row =
            |from: &Rank| -> u64 { targets.iter().map(|to| self.matrix.len(*from, *to)).sum() };
        sources.iter().map(row).sum()
    }

    fn near(&self, rank: Rank, lane: &mut Lane) {
        let order = self.lanes.order(self.lanes.site(rank));
        let others = || order.iter().copied().filter(|other| *other != rank);
        let out = lane.round();
        others().for_each(|from| out.recv_on(from, DIRECT, self.matrix.received(from, rank)));
        others().for_each(|to| out.send_on(to, DIRECT, self.matrix.sent(rank, to)));
        out.copy(self.matrix.sent(rank, rank), self.matrix.received(rank, rank));
    }

    /// Gives to each who collects for a part of another site what it is for.
    fn give(&self, rank: Rank, far: usize, lanes: &mut [Lane], scratch: &mut Scratch) {
        let own = self.lanes.site(rank);
        let count = self.between(own, far);
        for lane in 0..count {
            let collector = self.lanes.order(own)[lane];
            if collector == rank {
                continue;
            }
            let group = self.group(far, lane, count);
            let out = lanes[GIVE].round();
            let packed = match group[..] {
                [to] => self.matrix.sent(rank, to),
                _ => self.pack(rank, &group, scratch, out),
            };
            out.send_on(collector, COLLECTED, packed);
        }
    }

    /// A rank's blocks for some others, one after another.
    fn pack(
        &self,
        rank: Rank,
        group: &[Rank],
        scratch: &mut Scratch,
        out: &mut laneway_core::Round,
    ) -> Span {
        let packed = scratch.take(self.bytes(&[rank], group));
        let mut off = packed.off;
        for &to in group {
            let block = self.matrix.sent(rank, to);
            out.copy(block, span(Buf::Tmp, off, block.len));
            off += block.len;
        }
        packed
    }

    /// Collects what the own site has for a part of another, and sends it across.
    fn collect(&self, rank: Rank, far: usize, lanes: &mut [Lane], scratch: &mut Scratch) {
        let own = self.lanes.site(rank);
        let (lane, count) = (self.lanes.place(rank), self.between(own, far));
        let group = self.group(far, lane, count);
        let begin = scratch.0;
        let collected = lanes[COLLECT].round();
        for &from in self.lanes.order(own) {
            if from == rank {
                self.pack(rank, &group, scratch, collected);
            } else {
                let len = self.bytes(&[from], &group);
                collected.recv_on(from, COLLECTED, scratch.take(len));
            }
        }
        let round = lanes[COLLECT].last();
        let out = lanes[CROSS].round();
        if scratch.0 > begin {
            out.after(COLLECT as u32, round);
        }
        let partner = self.lanes.order(far)[lane];
        out.send_on(partner, DIRECT, span(Buf::Tmp, begin, scratch.0 - begin));
    }

    /// Takes what another site has for the own part of this one, and hands it out.
    fn hand_out(&self, rank: Rank, far: usize, lanes: &mut [Lane], scratch: &mut Scratch) {
        let own = self.lanes.site(rank);
        let (lane, count) = (self.lanes.place(rank), self.between(own, far));
        let (group, sources) = (self.group(own, lane, count), self.lanes.order(far));
        let arrived = scratch.take(self.bytes(sources, &group));
        lanes[ARRIVE].round().recv_on(self.lanes.order(far)[lane], DIRECT, arrived);
        let round = lanes[ARRIVE].last();
        let out = lanes[HAND_OUT].round();
        if arrived.len > 0 {
            out.after(ARRIVE as u32, round);
        }
        for &to in &group {
            let packed = match to == rank {
                true => None,
                false => Some(scratch.take(self.bytes(sources, &[to]))),
            };
            let (mut off, mut end) = (arrived.off, packed.map_or(0, |packed| packed.off));
            for &from in sources {
                for &other in &group {
                    let block = span(Buf::Tmp, off, self.matrix.len(from, other));
                    off += block.len;
                    if other == to {
                        let kept = span(Buf::Tmp, end, block.len);
                        out.copy(block, packed.map_or(self.matrix.received(from, to), |_| kept));
                        end += block.len;
                    }
                }
            }
            if let Some(packed) = packed {
                out.send_on(to, HANDED, packed);
            }
        }
    }

    /// Takes what a lane hands out.
    fn take(&self, rank: Rank, far: usize, lanes: &mut [Lane], scratch: &mut Scratch) {
        let own = self.lanes.site(rank);
        let (sources, count) = (self.lanes.order(far), self.between(own, far));
        let packed = scratch.take(self.bytes(sources, &[rank]));
        let server = self.lanes.order(own)[self.lanes.place(rank) % count];
        lanes[TAKE].round().recv_on(server, HANDED, packed);
        let round = lanes[TAKE].last();
        let (out, mut off) = (lanes[KEEP].round(), packed.off);
        if packed.len > 0 {
            out.after(TAKE as u32, round);
        }
        for &from in sources {
            let block = self.matrix.received(from, rank);
            out.copy(span(Buf::Tmp, off, block.len), block);
            off += block.len;
        }
    }

    fn written(&self, rank: Rank) -> (Vec<Lane>, u64) {
        let mut lanes: Vec<Lane> = (0..=KEEP).map(|_| Lane::default()).collect();
        let mut scratch = Scratch(0);
        let own = self.lanes.site(rank);
        for far in self.lanes.others(own) {
            self.give(rank, far, &mut lanes, &mut scratch);
            if self.lanes.place(rank) < self.between(own, far) {
                self.collect(rank, far, &mut lanes, &mut scratch);
                self.hand_out(rank, far, &mut lanes, &mut scratch);
            } else {
                self.take(rank, far, &mut lanes, &mut scratch);
            }
        }
        self.near(rank, &mut lanes[NEAR]);
        (lanes, scratch.0)
    }
}

impl Script for SiteLanes {
    fn ranks(&self) -> u32 {
        self.lanes.placement.ranks()
    }

    fn tmp_len(&self, rank: Rank) -> u64 {
        self.written(rank).1
    }

    fn lanes(&self, rank: Rank) -> Vec<Lane> {
        self.written(rank).0
    }
}
