//! Many messages of all kinds between three ranks, by seed; every byte and the order are checked.

use laneway_core::{Comm, Message, Progress, Rank, Slot, Tag};
use laneway_message::MessageComm;
use laneway_stats::SplitMix64;

use crate::link::{EAGER, Hub};
use crate::{bytes, run, wait_all};

const SIZE: u32 = 3;
const TAGS: usize = 3;

/// Messages from one rank to another; an interpreter takes its time for each.
const COUNT: usize = if cfg!(miri) { 6 } else { 60 };

#[derive(Clone, Copy, Debug)]
struct Due {
    seed: u64,
    tag: Tag,
    len: usize,
}

/// What one rank sends to another, in order; both know it.
fn plan(seed: u64, from: Rank, to: Rank) -> Vec<Due> {
    let pair = u64::from(from * SIZE + to);
    let mut random = SplitMix64::new(seed << 8 | pair);
    let message = |number| {
        let around = [0, 1, EAGER / 3, EAGER, EAGER + 1, 6 * EAGER][random.index(6)];
        let (tag, len) = (random.index(TAGS) as Tag, around + random.index(5));
        Due { seed: seed << 16 | pair << 8 | number, tag, len }
    };
    (0..COUNT as u64).map(message).collect()
}

/// What one rank still has to receive from each.
struct Inbox {
    due: Vec<Vec<Due>>,
}

impl Inbox {
    /// The next message that a receive gets.
    fn next(&mut self, from: Rank, tag: Option<Tag>) -> Due {
        let list = &mut self.due[from as usize];
        let at = list.iter().position(|due| tag.is_none_or(|tag| tag == due.tag));
        list.remove(at.expect("a message that is due"))
    }

    fn check(&mut self, message: Message, tag: Option<Tag>, data: &[u8]) {
        let due = self.next(message.from, tag);
        assert_eq!((message.tag, message.len), (due.tag, due.len as u64), "{due:?}");
        assert!(data == bytes(due.seed, due.len), "{due:?} from {}", message.from);
    }
}

/// Receives one message, of which `from` and `tag` are an example, in one of many ways.
fn receive(
    comm: &MessageComm,
    inbox: &mut Inbox,
    (from, tag): (Rank, Tag),
    may_wait: bool,
    random: &mut SplitMix64,
) {
    let from = (random.index(2) == 0).then_some(from);
    let tag = (random.index(2) == 0).then_some(tag);
    let (from, tag, len) = match random.index(3) {
        0 if may_wait => (from, tag, 7 * EAGER),
        // Exactly the message that was seen, in as much room as it needs.
        looks => {
            let wait = may_wait && looks == 1;
            let Some(seen) = comm.probe(from, tag, wait).unwrap() else {
                assert!(!wait, "a probe that waits sees a message");
                return;
            };
            (Some(seen.from), tag, seen.len as usize)
        }
    };
    let mut into = vec![0; len];
    let message = comm.recv(from, tag, &mut into).unwrap();
    assert!(from.is_none_or(|from| from == message.from));
    inbox.check(message, tag, &into[..message.len as usize]);
}

fn storm(comm: &MessageComm, seed: u64) {
    let me = comm.rank();
    let mut random = SplitMix64::new(seed << 32 | u64::from(me));
    let sent: Vec<(Rank, Due, Vec<u8>)> = (0..COUNT)
        .flat_map(|number| (0..SIZE).map(move |to| (to, number)))
        .map(|(to, number)| (to, plan(seed, me, to)[number]))
        .map(|(to, due)| (to, due, bytes(due.seed, due.len)))
        .collect();
    let mut inbox = Inbox { due: (0..SIZE).map(|from| plan(seed, from, me)).collect() };
    let mut posted: Vec<(Due, Vec<u8>)> = Vec::new();
    let mut queue = comm.queue();
    let (mut next, mut pending) = (0, 0);
    loop {
        let open: Vec<Rank> =
            (0..SIZE).filter(|&rank| !inbox.due[rank as usize].is_empty()).collect();
        if open.is_empty() && next == sent.len() {
            break;
        }
        if next < sent.len() && (open.is_empty() || random.index(3) > 0) {
            let (to, due, data) = &sent[next];
            // SAFETY: the data outlives the wait below.
            let started =
                unsafe { queue.send(next as Slot, *to, due.tag, data.as_ptr(), data.len()) };
            pending += usize::from(started.unwrap() == Progress::Pending);
            next += 1;
            continue;
        }
        let from = open[random.index(open.len())];
        let list = &inbox.due[from as usize];
        let tag = list[random.index(list.len())].tag;
        if random.index(3) == 0 {
            let due = inbox.next(from, Some(tag));
            let mut into = vec![0; due.len];
            let slot = (sent.len() + posted.len()) as Slot;
            // SAFETY: the buffer is kept until all is done.
            let started = unsafe { queue.recv(slot, from, tag, into.as_mut_ptr(), due.len) };
            pending += usize::from(started.unwrap() == Progress::Pending);
            posted.push((due, into));
        } else {
            // Until all is sent, others may wait for us.
            let may_wait = next == sent.len();
            receive(comm, &mut inbox, (from, tag), may_wait, &mut random);
        }
    }
    wait_all(&mut *queue, pending).unwrap();
    drop(queue);
    for (due, into) in posted {
        assert!(into == bytes(due.seed, due.len), "{due:?}");
    }
    assert_eq!(comm.probe(None, None, false), Ok(None), "a message too many");
}

#[test]
fn messages_of_all_kinds_arrive_once_whole_and_in_order() {
    for seed in 0..if cfg!(miri) { 1 } else { 40 } {
        println!("seed {seed}");
        run(&Hub::new(SIZE), SIZE, seed, |comm| storm(comm, seed));
    }
}
