//! Puts messages into phases where there is room, and gives up phases that waste what is scarce.

use super::roads::{Message, Roads};
use super::thin::Thinned;
use crate::wiring::Host;

/// Brings the total down while it can: what is left out needs at least as many phases as its most
/// wanted link has messages.
pub(super) fn merge(roads: &Roads, thinned: &mut Thinned, allowed: &mut Vec<u32>) {
    let mut wanted = vec![0u32; roads.count()];
    for &message in &thinned.out {
        roads.needs(message).for_each(|need| wanted[need] += 1);
    }
    let total = |thinned: &Thinned, wanted: &[u32]| {
        thinned.rows.len() + wanted.iter().copied().max().unwrap_or(0) as usize
    };
    let mut before = usize::MAX;
    while total(thinned, &wanted) < before {
        before = total(thinned, &wanted);
        if !thinned.out.is_empty() {
            exchange(roads, thinned, allowed, &mut wanted);
        }
        give_up_phases(roads, thinned, allowed, &mut wanted);
    }
}

/// Puts messages that want scarce links into phases where those are idle and no other message is in
/// their way, or where one is whose links are less scarce and that can go out instead.
fn exchange(roads: &Roads, thinned: &mut Thinned, allowed: &[u32], wanted: &mut [u32]) {
    let mut scarce = Scarce::new(roads, &thinned.out, wanted);
    let mut phase = Phase::new(roads);
    for (row, &allowed) in thinned.rows.iter_mut().zip(allowed) {
        phase.fill(row, allowed);
        for (link, askers) in &mut scarce.links {
            if !phase.has_room(*link) {
                continue;
            }
            askers.retain(|&at| scarce.asked[at].is_some());
            let found = askers.iter().find_map(|&at| {
                let message = scarce.asked[at]?;
                let most = roads.needs(message).map(|need| wanted[need]).max().unwrap_or(0);
                let less = |other| roads.needs(other).all(|need| wanted[need] + 1 < most);
                let displaced = phase.room_for(row, message, less)?;
                Some((at, message, displaced))
            });
            let Some((at, message, displaced)) = found else { continue };
            scarce.asked[at] = None;
            if let Some(other) = displaced {
                phase.take(row, other);
                roads.needs(other).for_each(|need| wanted[need] += 1);
                scarce.asked.push(Some(other));
            }
            phase.put(row, message);
            roads.needs(message).for_each(|need| wanted[need] -= 1);
        }
    }
    thinned.out = scarce.asked.into_iter().flatten().collect();
}

/// The scarcest links or senders, and the messages that want them.
struct Scarce {
    /// `None` if a message has found a phase.
    asked: Vec<Option<Message>>,
    /// Each with the places of its messages in `asked`.
    links: Vec<(usize, Vec<usize>)>,
}

impl Scarce {
    fn new(roads: &Roads, out: &[Message], wanted: &[u32]) -> Scarce {
        let scarcest = wanted.iter().copied().max().unwrap_or(0);
        let enough = (scarcest - scarcest / NEARLY).max(1);
        let scarce = (0..wanted.len()).filter(|&need| wanted[need] >= enough);
        let mut links: Vec<_> = scarce.map(|need| (need, Vec::new())).collect();
        let mut place = vec![usize::MAX; wanted.len()];
        links.iter().enumerate().for_each(|(at, link)| place[link.0] = at);
        for (at, &message) in out.iter().enumerate() {
            for need in roads.needs(message) {
                if let Some(link) = links.get_mut(place[need]) {
                    link.1.push(at);
                }
            }
        }
        links.sort_by_key(|link| std::cmp::Reverse(wanted[link.0]));
        Scarce { asked: out.iter().copied().map(Some).collect(), links }
    }
}

/// Links that are wanted nearly as much as the scarcest are looked after too: less by one part in
/// this number.
const NEARLY: u32 = 16;

/// The owner of each resource in one phase.
struct Phase<'a> {
    roads: &'a Roads,
    counts: Vec<u32>,
    /// The sender that uses a thing, where one does.
    senders: Vec<Host>,
    allowed: u32,
}

impl Phase<'_> {
    fn new(roads: &Roads) -> Phase<'_> {
        let (counts, senders) = (vec![0; roads.count()], vec![0; roads.count()]);
        Phase { roads, counts, senders, allowed: 1 }
    }

    fn fill(&mut self, row: &mut [Host], allowed: u32) {
        self.counts.fill(0);
        self.allowed = allowed;
        for message in self.roads.messages(row) {
            self.count(message);
        }
    }

    fn count(&mut self, message: Message) {
        for need in self.roads.needs(message) {
            self.counts[need] += 1;
            self.senders[need] = message.0;
        }
    }

    fn put(&mut self, row: &mut [Host], message: Message) {
        row[message.0 as usize] = message.1;
        self.count(message);
    }

    fn take(&mut self, row: &mut [Host], message: Message) {
        row[message.0 as usize] = message.0;
        self.roads.needs(message).for_each(|need| self.counts[need] -= 1);
    }

    /// A host sends one message in a phase, however many a link may carry.
    fn has_room(&self, need: usize) -> bool {
        self.counts[need] < if self.roads.is_link(need) { self.allowed } else { 1 }
    }

    /// Whom a message would displace here; none at all where it is more than one, or one who may
    /// not go.
    fn room_for(
        &self,
        row: &[Host],
        message: Message,
        may_go: impl Fn(Message) -> bool,
    ) -> Option<Option<Message>> {
        let mut displaced = None;
        for need in self.roads.needs(message) {
            if self.has_room(need) {
                continue;
            }
            let sender = self.senders[need];
            let other = (sender, row[sender as usize]);
            // Which of several messages on a link should go is not worth the search.
            if self.allowed > 1 || displaced.is_some_and(|known| known != other) {
                return None;
            }
            displaced = Some(other);
        }
        match displaced {
            Some(other) => may_go(other).then_some(displaced),
            None => Some(None),
        }
    }
}

/// What was taken out needs at least as many more phases as its most wanted link has messages. A
/// phase that uses none of the most wanted links can be given up for nothing: its messages go where
/// the others go.
fn give_up_phases(
    roads: &Roads,
    thinned: &mut Thinned,
    allowed: &mut Vec<u32>,
    wanted: &mut [u32],
) {
    let most = wanted.iter().copied().max().unwrap_or(0);
    let rows = std::mem::take(&mut thinned.rows).into_iter();
    for (row, most_there) in rows.zip(std::mem::take(allowed)) {
        let can_wait = |message: Message| roads.needs(message).all(|need| wanted[need] < most);
        if most_there > 1 || !roads.messages(&row).all(can_wait) {
            thinned.rows.push(row);
            allowed.push(most_there);
            continue;
        }
        for message in roads.messages(&row) {
            roads.needs(message).for_each(|need| wanted[need] += 1);
            thinned.out.push(message);
        }
    }
}
