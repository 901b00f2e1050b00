//! A connection whose one end sends to the other for as long as its queue has messages.

use laneway_path::{
    AckTimeout, Config, Connection, Event, Modify, Nanos, NotReadyTimer, PathId, QpState, Retries,
};

/// Payload of a packet.
pub const PACKET_BYTES: usize = 1400;
const RECEIVES: u64 = 16;

pub struct Flow {
    /// The sender and the receiver.
    pub ends: [Connection; 2],
    /// When each end is looked at next.
    pub looks_at: [Option<Nanos>; 2],
    message_bytes: usize,
    /// Whether a message that arrived is sent again.
    pub goes_on: bool,
    pub received_bytes: u64,
    pub migrations: u64,
    next: u64,
}

fn end(number: u32, peer: u32, paths: u8) -> Connection {
    let mut connection = Connection::new(Config { number, paths });
    let must = "a fresh connection goes to RTS";
    let init = Modify { path: Some(PathId(0)), ..Modify::to(QpState::Init) };
    connection.modify(0, init).expect(must);
    let rtr = Modify {
        peer: Some(peer),
        receive_number: Some(7),
        packet_bytes: Some(PACKET_BYTES),
        not_ready_timer: NotReadyTimer::new(8),
        alternate: (paths > 1).then_some(PathId(1)),
        load: paths > 1,
        ..Modify::to(QpState::Rtr)
    };
    connection.modify(0, rtr).expect(must);
    let rts = Modify {
        send_number: Some(7),
        ack_timeout: AckTimeout::new(18),
        retries: Retries::new(7),
        not_ready_retries: Retries::new(7),
        ..Modify::to(QpState::Rts)
    };
    connection.modify(0, rts).expect(must);
    connection
}

impl Flow {
    /// A connection over this many paths, with messages of this length to send.
    pub fn new(paths: u8, message_bytes: usize) -> Flow {
        Flow::numbered(11, paths, message_bytes)
    }

    /// The same, with this number.
    pub fn numbered(number: u32, paths: u8, message_bytes: usize) -> Flow {
        let peer = number + 11;
        let mut ends = [end(number, peer, paths), end(peer, number, paths)];
        for id in 0..RECEIVES {
            let buffer = Vec::with_capacity(message_bytes);
            ends[1].post_receive(id, buffer).expect("it is in RTS");
        }
        Flow {
            ends,
            looks_at: [None; 2],
            message_bytes,
            goes_on: true,
            received_bytes: 0,
            migrations: 0,
            next: 0,
        }
    }

    pub fn send(&mut self, now: Nanos, messages: usize) {
        for _ in 0..messages {
            self.push(now, vec![0; self.message_bytes]);
        }
    }

    fn push(&mut self, now: Nanos, message: Vec<u8>) {
        self.next += 1;
        self.ends[0].send(now, self.next, message).expect("it is in RTS");
    }

    /// Takes what has happened at an end.
    pub fn take_events(&mut self, now: Nanos, side: usize) {
        while let Some(event) = self.ends[side].poll_event() {
            match event {
                Event::Sent { message, .. } if self.goes_on => self.push(now, message),
                Event::Received { id, message } => {
                    self.received_bytes += message.len() as u64;
                    self.ends[1].post_receive(id, message).expect("it is in RTS");
                }
                Event::Migrated { .. } => self.migrations += 1,
                Event::Failed { why } => panic!("the connection failed: {why:?}"),
                _ => {}
            }
        }
    }
}
