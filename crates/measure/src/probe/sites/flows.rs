//! Messages from some hosts to others that all begin together, one repetition of them.

use std::cell::Cell;

use laneway_core::{Comm, CommError, Progress, Rank, Slot, Tag};

use crate::talk::{CHANNEL, DATA, WORD};

/// A message from one rank to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Who sends it.
    pub from: Rank,
    /// Who receives it; never one that sends at the same time.
    pub to: Rank,
}

/// What a rank needs for its part.
pub struct Work {
    /// Bytes of the long message, and of the short one.
    pub size: usize,
    pub short: usize,
    /// Room for the long one, of who sends or receives.
    pub buffer: Vec<u8>,
    /// Messages of one pair have different tags, which may be different connections.
    pub channels: bool,
    /// Seconds that each of this rank's own messages waits after all have met: those that begin
    /// sooner leave later, so that all are under way at once.
    pub delays: Vec<f64>,
}

/// One message of `size` bytes for each flow, and an empty answer to each; on a sender the seconds
/// of each of its own, in the order of the flows, and nothing elsewhere.
///
/// No rank may send and receive. Receivers are ready before the first send, and senders wait for
/// each other alone: where they are at one site, they begin within a latency of that site.
pub fn once(
    comm: &dyn Comm,
    flows: &[Flow],
    size: usize,
    work: &mut Work,
) -> Result<Vec<f64>, CommError> {
    let own = comm.rank();
    if let Some(both) = flows.iter().find(|flow| flows.iter().any(|other| other.to == flow.from)) {
        let what = format!("rank {} would send and receive at once", both.from);
        return Err(CommError::Argument { what });
    }
    let partners = |chosen: &dyn Fn(&Flow) -> Option<Rank>| -> Vec<Rank> {
        flows.iter().filter_map(chosen).collect()
    };
    let from = partners(&|flow| (flow.to == own).then_some(flow.from));
    let to = partners(&|flow| (flow.from == own).then_some(flow.to));
    if from.is_empty() && to.is_empty() {
        return Ok(Vec::new());
    }
    let Some(buffer) = work.buffer.get_mut(..size) else {
        let what = format!("a message of {size} bytes, and no room for it");
        return Err(CommError::Argument { what });
    };
    if !from.is_empty() {
        receive(comm, &tagged(&from, work.channels), buffer)?;
        return Ok(Vec::new());
    }
    for &receiver in &to {
        comm.recv(Some(receiver), Some(WORD), &mut [])?;
    }
    send(comm, &senders(flows), &tagged(&to, work.channels), buffer, &work.delays)
}

/// The partner of each message, and its tag.
fn tagged(partners: &[Rank], channels: bool) -> Vec<(Rank, Tag)> {
    let tag = |place: usize| {
        let before = partners[..place].iter().filter(|one| **one == partners[place]).count();
        if channels { CHANNEL + before as Tag } else { DATA }
    };
    partners.iter().enumerate().map(|(place, &partner)| (partner, tag(place))).collect()
}

/// Each of them once, in the order of the flows.
fn senders(flows: &[Flow]) -> Vec<Rank> {
    let mut senders: Vec<Rank> = Vec::new();
    for flow in flows {
        if !senders.contains(&flow.from) {
            senders.push(flow.from);
        }
    }
    senders
}

/// Collective among the senders: all are there.
fn meet(comm: &dyn Comm, senders: &[Rank]) -> Result<(), CommError> {
    let Some((&leader, others)) = senders.split_first() else { return Ok(()) };
    if comm.rank() != leader {
        comm.send(leader, WORD, &[])?;
        return comm.recv(Some(leader), Some(WORD), &mut []).map(|_| ());
    }
    for &other in others {
        comm.recv(Some(other), Some(WORD), &mut [])?;
    }
    others.iter().try_for_each(|&other| comm.send(other, WORD, &[]))
}

/// Takes what the senders send, to one place again and again, as nobody reads it, and answers each.
fn receive(comm: &dyn Comm, senders: &[(Rank, Tag)], into: &mut [u8]) -> Result<(), CommError> {
    let into = Cell::from_mut(into).as_slice_of_cells();
    let mut queue = comm.queue();
    let mut done = Vec::new();
    for (slot, &(from, tag)) in senders.iter().enumerate() {
        let place = into.as_ptr().cast_mut().cast();
        // SAFETY: the cells are borrowed until this function returns, and may be written to;
        // nobody looks at them before the queue has said that all is over, or is dropped.
        let progress = unsafe { queue.recv(slot as Slot, from, tag, place, into.len()) }?;
        done.extend((progress == Progress::Done).then_some(slot as Slot));
    }
    for &(sender, _) in senders {
        comm.send(sender, WORD, &[])?;
    }
    let mut pending = senders.len();
    while pending > 0 {
        if done.is_empty() {
            queue.wait(&mut done)?;
        }
        for slot in done.drain(..) {
            let (sender, tag) = senders[slot as usize];
            comm.send(sender, tag, &[])?;
            pending -= 1;
        }
    }
    Ok(())
}

/// Sends to each receiver when all senders are there; the seconds until each has answered.
fn send(
    comm: &dyn Comm,
    senders: &[Rank],
    receivers: &[(Rank, Tag)],
    data: &[u8],
    delays: &[f64],
) -> Result<Vec<f64>, CommError> {
    let answers = receivers.len();
    let mut queue = comm.queue();
    let (mut done, mut pending) = (Vec::new(), 2 * answers);
    let mut nothing = [0u8; 0];
    for (slot, &(from, tag)) in receivers.iter().enumerate() {
        let place = nothing.as_mut_ptr();
        // SAFETY: an answer has no bytes.
        let progress = unsafe { queue.recv(slot as Slot, from, tag, place, 0) }?;
        done.extend((progress == Progress::Done).then_some(slot as Slot));
    }
    meet(comm, senders)?;
    let clock = comm.clock();
    let begun = clock.now();
    let delay = |number: usize| delays.get(number).copied().unwrap_or(0.0);
    let mut order: Vec<usize> = (0..answers).collect();
    order.sort_by(|&a, &b| delay(a).total_cmp(&delay(b)));
    for number in order {
        clock.sleep_until(begun + delay(number));
        let (slot, (to, tag)) = ((answers + number) as Slot, receivers[number]);
        // SAFETY: the data is borrowed, and so unchanged, until this function returns.
        let progress = unsafe { queue.send(slot, to, tag, data.as_ptr(), data.len()) }?;
        done.extend((progress == Progress::Done).then_some(slot));
    }
    let mut times = vec![0.0; answers];
    while pending > 0 {
        if done.is_empty() {
            queue.wait(&mut done)?;
        }
        let now = clock.now();
        for slot in done.drain(..) {
            pending -= 1;
            if let Some(time) = times.get_mut(slot as usize) {
                *time = now - begun;
            }
        }
    }
    Ok(times)
}
