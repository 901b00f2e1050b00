//! Which links wait for which: messages hold a link until the next one of their way takes them.
//!
//! A switch that is full holds back the link before it. If links that wait for each other form a
//! credit loop, the fabric can stand still for ever; on one virtual lane a table is safe exactly
//! where the links, each pointing at those that its messages take next, form no credit loop (Dally
//! and Seitz 1987).

mod credit_loops;

use crate::routing::Hop;
use crate::wiring::links::Links;
use crate::wiring::{End, NO_PORT, Port, Switch, Wiring};

/// A set of a switch's ports.
type Ports = [u64; 4];

#[derive(Clone)]
pub(crate) struct Waits {
    pub links: Links,
    ends: Vec<End>,
    /// For each link the ports of the next switch that its messages take.
    next: Vec<Ports>,
}

impl Waits {
    /// A graph without waits.
    pub fn none(wiring: &dyn Wiring) -> Waits {
        let links = Links::of(wiring);
        Waits { ends: links.ends(wiring), next: vec![[0; 4]; links.count() as usize], links }
    }

    /// What is behind a port, which a table may be wrong about.
    pub fn end(&self, switch: Switch, port: Port) -> End {
        let link = self.links.checked(switch, port).filter(|_| port != NO_PORT);
        link.map_or(End::Nothing, |link| self.ends[link as usize])
    }

    /// Messages come by one port of a switch and leave the next switch by another.
    pub fn add(&mut self, switch: Switch, port: Port, next: Switch, after: Port) {
        if after != NO_PORT && self.links.checked(next, after).is_some() {
            let link = self.links.link(switch, port) as usize;
            self.next[link][usize::from(after / 64)] |= 1 << (after % 64);
        }
    }

    /// A link's messages take another one next, which begins where it ends.
    pub fn add_links(&mut self, link: u32, next: u32) {
        let (from, to) = (self.links.hop(link), self.links.hop(next));
        self.add(from.switch, from.port, to.switch, to.port);
    }

    /// The links whose messages take a link next.
    pub fn before(&self, link: u32) -> impl Iterator<Item = u32> + '_ {
        let hop = self.links.hop(link);
        let ports = self.links.link(hop.switch, 0)..self.links.link(hop.switch + 1, 0);
        let back = move |own: u32| match self.ends[own as usize] {
            End::Switch(other, its) => Some(self.links.link(other, its)),
            End::Host(_) | End::Nothing => None,
        };
        let waits = move |before: &u32| {
            let bits = self.next[*before as usize][usize::from(hop.port / 64)];
            bits >> (hop.port % 64) & 1 == 1
        };
        ports.filter_map(back).filter(waits)
    }

    /// The links that a link's messages take next.
    pub fn after(&self, link: u32) -> impl Iterator<Item = u32> + '_ {
        let first = match self.ends[link as usize] {
            End::Switch(next, _) => Some(self.links.link(next, 0)),
            End::Host(_) | End::Nothing => None,
        };
        first.into_iter().flat_map(move |first| {
            let words = self.next[link as usize].iter().enumerate();
            words.flat_map(move |(word, &bits)| {
                ones(bits).map(move |bit| first + 64 * word as u32 + bit)
            })
        })
    }

    /// Whether a link waits for one that it does not wait for over there.
    pub fn waits_more(&self, link: u32, than: &Waits, of: impl Fn(u32) -> bool) -> bool {
        let known: Vec<u32> = than.after(link).collect();
        self.after(link).any(|next| of(next) && !known.contains(&next))
    }

    /// The links of a credit loop; empty where there is none.
    pub fn credit_loop(&self) -> Vec<Hop> {
        // Links that wait for none are taken away, and then those that waited for them alone.
        let count = self.links.count();
        let waits = |link: u32| self.after(link).count() as u32;
        let mut waiting: Vec<u32> = (0..count).map(waits).collect();
        let mut free: Vec<u32> = (0..count).filter(|&link| waiting[link as usize] == 0).collect();
        while let Some(link) = free.pop() {
            for earlier in self.before(link) {
                waiting[earlier as usize] -= 1;
                if waiting[earlier as usize] == 0 {
                    free.push(earlier);
                }
            }
        }
        let is_left = |link: u32| waiting[link as usize] > 0;
        (0..count).find(|&link| is_left(link)).map_or(Vec::new(), |link| self.round(link, is_left))
    }

    /// A credit loop among links each of which waits for another of them: following them comes
    /// round.
    pub fn round(&self, mut link: u32, is_one: impl Fn(u32) -> bool) -> Vec<Hop> {
        let mut passed: Vec<u32> = Vec::new();
        loop {
            if let Some(at) = passed.iter().position(|&earlier| earlier == link) {
                return passed[at..].iter().map(|&link| self.links.hop(link)).collect();
            }
            passed.push(link);
            match self.after(link).find(|&next| is_one(next)) {
                Some(next) => link = next,
                None => return Vec::new(),
            }
        }
    }
}

/// The places of the ones in a word.
fn ones(mut bits: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = bits.trailing_zeros();
        (bits != 0).then(|| {
            bits &= bits - 1;
            bit
        })
    })
}
