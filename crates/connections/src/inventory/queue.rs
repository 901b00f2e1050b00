//! What a device's traffic control says of its queue: how much waits there, and how much it had to
//! throw away because it was full.

use std::io;

use crate::inventory::ethtool::Ethtool;
use crate::inventory::netlink::{Socket, attributes, u32_at};

/// The root of a device's traffic control, as a question names it.
const ROOT: u32 = u32::MAX;
/// Bytes before the attributes of an answer.
const MESSAGE: usize = 20;
/// The statistics, among the attributes, and the queue's, among these.
const STATISTICS: u16 = 7;
const QUEUE: u16 = 3;

/// A device's queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queue {
    /// Bytes that wait to leave.
    pub waits: u32,
    /// Packets that were thrown away, ever.
    pub dropped: u32,
}

/// Asks for queues, in the network namespace of the thread that made it.
pub struct Queues {
    kernel: Socket,
    devices: Ethtool,
}

impl Queues {
    pub fn open() -> io::Result<Queues> {
        Ok(Queues { kernel: Socket::open()?, devices: Ethtool::open()? })
    }

    /// The queue of a device; an empty one where it has none, or is not there.
    pub fn of(&mut self, device: &str) -> io::Result<Queue> {
        let Some(index) = self.devices.index(device)? else { return Ok(Queue::default()) };
        let words = [0, index, 0, ROOT, 0];
        let question: Vec<u8> = words.iter().flat_map(|word: &u32| word.to_ne_bytes()).collect();
        let flags = libc::NLM_F_ACK as u16;
        let answers = match self.kernel.ask(libc::RTM_GETQDISC, flags, &question) {
            Err(error) if error.raw_os_error() == Some(libc::ENOENT) => return Ok(Queue::default()),
            answers => answers?,
        };
        for answer in &answers {
            let fields = attributes(answer.get(MESSAGE..).unwrap_or_default())?;
            let Some(statistics) = of_kind(&fields, STATISTICS) else { continue };
            let fields = attributes(statistics)?;
            if let Some(counts) = of_kind(&fields, QUEUE) {
                return Ok(Queue { waits: u32_at(counts, 4)?, dropped: u32_at(counts, 8)? });
            }
        }
        Ok(Queue::default())
    }
}

fn of_kind<'a>(fields: &[(u16, &'a [u8])], kind: u16) -> Option<&'a [u8]> {
    fields.iter().find(|(found, _)| *found == kind).map(|(_, bytes)| *bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_without_a_queue_has_nothing_waiting() {
        let mut queues = Queues::open().expect("a socket to the kernel");
        for device in ["lo", "no-such-dev"] {
            assert_eq!(queues.of(device).expect("an answer").waits, 0);
        }
    }
}
