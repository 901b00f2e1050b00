//! Requests for many connections, carried out in turns beside their messages.

use laneway_path::Nanos;

use super::{ConnectionId, End, Endpoint, mark, place};
use crate::turns::Turned;

impl Turned for Vec<Option<End>> {
    fn waits(&self, place: u32) -> bool {
        self.get(place as usize)
            .and_then(Option::as_ref)
            .is_some_and(|end| end.connection.is_held())
    }

    fn is_settled(&self, place: u32) -> bool {
        let end = self.get(place as usize).and_then(Option::as_ref);
        end.is_none_or(|end| end.connection.is_settled())
    }
}

impl Endpoint {
    /// What follows from a request is seen to in turn; the messages of the connection go on.
    pub(super) fn wait_for_turn(&mut self, id: ConnectionId) {
        let index = place(id.0) as u32;
        let Some(end) = self.ends.get_mut(index as usize).and_then(Option::as_mut) else { return };
        if !end.connection.is_held() {
            end.connection.hold();
            self.turns.push(index);
        }
        if !end.connection.is_idle() {
            mark(end, index, &mut self.dirty);
        }
    }

    /// When the next turn can begin; `None` if no connection waits for one.
    pub(super) fn next_turn(&mut self, now: Nanos) -> Option<Nanos> {
        self.turns.next_at(now, &self.ends)
    }

    /// The connection whose turn it is has something to do, behind those that had before.
    pub(super) fn begin_turn(&mut self, now: Nanos) {
        let next = self.turns.begin(now, &self.ends);
        let Some(index) = next else { return };
        if let Some(end) = self.ends[index as usize].as_mut() {
            end.connection.resume();
            mark(end, index, &mut self.dirty);
        }
    }
}
