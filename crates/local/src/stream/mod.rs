//! The socket transports: one stream in each direction for each pair that talks, opened by its
//! sender at the first message. No thread; everything is asked of poll(2).

pub(crate) mod socket;

use std::os::fd::{AsRawFd, OwnedFd};
use std::rc::Rc;
use std::time::{Duration, Instant};

use laneway_core::{CommError, Rank};
use laneway_message::{HEADER, Header, Link};

use crate::board::Board;
use crate::system;
use crate::transport::Transport;
use socket::{Attempt, HELLO};

/// Longer messages are offered first, so that an early one does not fill the receiver's memory.
const EAGER: usize = 64 << 10;

/// Small frames are read many at a time into this; long payloads go straight to their place.
const BUFFER: usize = 16 << 10;

/// No longer than this without a look at the board: a peer may end that we never connected to.
const SLICE: Duration = Duration::from_millis(100);

/// How long the end of a stream may take to arrive after its rank has ended: the kernel resends
/// what a full socket dropped after 200 ms and more.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Between two attempts to connect to a peer whose queue is full.
const KNOCK_AGAIN: Duration = Duration::from_millis(1);

const SPINS_ALONE: u32 = 40;
const SPINS_SHARED: u32 = 1;

/// A stream that we write.
enum Out {
    /// Not needed so far, or the peer's queue was full.
    Unused,
    Open {
        fd: OwnedFd,
        /// What the socket did not take yet of the greeting, or of a header: its last
        /// `rest_len` bytes.
        rest: [u8; HEADER],
        rest_len: usize,
    },
    /// The peer has gone.
    Lost,
}

/// A stream that we read.
struct In {
    fd: OwnedFd,
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
    /// Nothing more until poll says so.
    dry: bool,
    ended: bool,
}

/// A fresh connection that has not said who it is.
struct Guest {
    fd: OwnedFd,
    hello: [u8; HELLO],
    got: usize,
}

pub(crate) struct Stream {
    board: Rc<Board>,
    transport: Transport,
    rank: Rank,
    listener: OwnedFd,
    outs: Vec<Out>,
    ins: Vec<Option<In>>,
    guests: Vec<Guest>,
    /// The listener, the guests, then the streams we read (`readers` names them), then writers.
    polled: Vec<libc::pollfd>,
    readers: Vec<Rank>,
    /// Since when a rank is known to have ended whose stream has not.
    ending: Vec<Option<Instant>>,
    /// The last sleep has already asked poll.
    asked: bool,
    alone: bool,
}

impl Stream {
    pub fn new(
        board: Rc<Board>,
        transport: Transport,
        rank: Rank,
        listener: OwnedFd,
        cores: u32,
    ) -> Result<Stream, CommError> {
        // SAFETY: plain call on an open descriptor.
        if unsafe { libc::fcntl(listener.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) } != 0 {
            return Err(system::comm_error("the listening socket cannot be set up"));
        }
        let size = board.size();
        Ok(Stream {
            transport,
            rank,
            listener,
            outs: (0..size).map(|_| Out::Unused).collect(),
            ins: (0..size).map(|_| None).collect(),
            guests: Vec::new(),
            polled: Vec::new(),
            readers: Vec::new(),
            ending: vec![None; size as usize],
            asked: false,
            alone: size <= cores,
            board,
        })
    }

    /// Asks poll about everything that we read, and about the writers.
    fn ask(&mut self, limit: Duration, writers: &[Rank]) -> Result<(), CommError> {
        let watch = |fd: &OwnedFd, events| libc::pollfd { fd: fd.as_raw_fd(), events, revents: 0 };
        self.polled.clear();
        self.readers.clear();
        self.polled.push(watch(&self.listener, libc::POLLIN));
        self.polled.extend(self.guests.iter().map(|guest| watch(&guest.fd, libc::POLLIN)));
        for (from, stream) in self.ins.iter().enumerate() {
            if let Some(stream) = stream.as_ref().filter(|stream| !stream.ended) {
                self.polled.push(watch(&stream.fd, libc::POLLIN));
                self.readers.push(from as Rank);
            }
        }
        for &to in writers {
            if let Out::Open { fd, .. } = &self.outs[to as usize] {
                self.polled.push(watch(fd, libc::POLLOUT));
            }
        }
        for out in &self.outs {
            if let Out::Open { fd, rest_len: 1.., .. } = out {
                self.polled.push(watch(fd, libc::POLLOUT));
            }
        }
        let limit = limit.as_micros().div_ceil(1000).min(i32::MAX as u128) as i32;
        // SAFETY: the array is valid for its length.
        let code = unsafe {
            libc::poll(self.polled.as_mut_ptr(), self.polled.len() as libc::nfds_t, limit)
        };
        if code < 0 && system::last_errno() != libc::EINTR {
            return Err(system::comm_error("poll on the connections failed"));
        }
        Ok(())
    }

    /// Lets new connections in and hears who they are.
    fn welcome(&mut self) -> Result<(), CommError> {
        while let Some(fd) = socket::accept(&self.listener)? {
            self.guests.push(Guest { fd, hello: [0; HELLO], got: 0 });
        }
        let mut at = 0;
        while let Some(guest) = self.guests.get_mut(at) {
            let room = &mut guest.hello[guest.got..];
            // SAFETY: the slice is valid for its length.
            match unsafe { socket::receive(&guest.fd, room.as_mut_ptr(), room.len()) } {
                None => at += 1,
                Some(0) => drop(self.guests.swap_remove(at)),
                Some(count) => {
                    guest.got += count;
                    if guest.got == HELLO {
                        let guest = self.guests.swap_remove(at);
                        self.admit(guest);
                    }
                }
            }
        }
        Ok(())
    }

    /// A guest that knows the token becomes a stream; any other is shown out.
    fn admit(&mut self, guest: Guest) {
        if let Some(from) = socket::greeted(&self.board, &guest.hello) {
            self.admit_stream(from, guest.fd);
        }
    }

    fn admit_stream(&mut self, from: Rank, fd: OwnedFd) {
        let place = &mut self.ins[from as usize];
        if place.is_none() {
            let buffer = vec![0; BUFFER].into_boxed_slice();
            *place = Some(In { fd, buffer, start: 0, end: 0, dry: false, ended: false });
            self.readers.push(from);
        }
    }

    /// Writes what a full socket left of a greeting or a header; false while some is left.
    fn flush(&mut self, to: Rank) -> bool {
        let out = &mut self.outs[to as usize];
        let Out::Open { fd, rest, rest_len } = out else { return false };
        if *rest_len == 0 {
            return true;
        }
        let part = &rest[HEADER - *rest_len..];
        // SAFETY: there is no second part.
        match unsafe { socket::transmit(fd, part, std::ptr::null(), 0) } {
            Some(count) => *rest_len -= count,
            None => {
                *out = Out::Lost;
                return false;
            }
        }
        *rest_len == 0
    }

    fn connect(&mut self, to: Rank) -> Result<(), CommError> {
        if let Out::Unused = self.outs[to as usize] {
            let attempt = socket::connect(&self.board, self.transport, self.rank, to)?;
            self.outs[to as usize] = match attempt {
                Attempt::Begun(fd) => {
                    let mut rest = [0; HEADER];
                    rest[HEADER - HELLO..].copy_from_slice(&socket::hello(&self.board, self.rank));
                    Out::Open { fd, rest, rest_len: HELLO }
                }
                Attempt::Full => Out::Unused,
                Attempt::Gone => Out::Lost,
            };
        }
        Ok(())
    }
}

impl In {
    /// Reads more into an empty buffer.
    fn fill(&mut self) {
        if self.dry || self.ended {
            return;
        }
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        let room = &mut self.buffer[self.end..];
        let len = room.len();
        // SAFETY: the slice is valid for its length.
        match unsafe { socket::receive(&self.fd, room.as_mut_ptr(), len) } {
            None => self.dry = true,
            Some(0) => self.ended = true,
            Some(count) => {
                self.end += count;
                self.dry = count < len;
            }
        }
    }

    unsafe fn take(&mut self, into: *mut u8, len: usize) -> usize {
        if self.start == self.end && len >= BUFFER {
            if self.dry || self.ended {
                return 0;
            }
            // SAFETY: the caller vouches for the room.
            return match unsafe { socket::receive(&self.fd, into, len) } {
                None => {
                    self.dry = true;
                    0
                }
                Some(0) => {
                    self.ended = true;
                    0
                }
                Some(count) => {
                    self.dry = count < len;
                    count
                }
            };
        }
        if self.start == self.end {
            self.fill();
        }
        let count = len.min(self.end - self.start);
        let source = self.buffer[self.start..self.start + count].as_ptr();
        // SAFETY: the caller vouches for the room; the source is a slice of `count` bytes.
        unsafe { std::ptr::copy_nonoverlapping(source, into, count) };
        self.start += count;
        count
    }
}

impl Link for Stream {
    fn eager_limit(&self) -> usize {
        EAGER
    }

    fn spins(&self) -> u32 {
        if self.alone { SPINS_ALONE } else { SPINS_SHARED }
    }

    unsafe fn begin(
        &mut self,
        to: Rank,
        header: &Header,
        data: *const u8,
        len: usize,
    ) -> Result<Option<usize>, CommError> {
        self.connect(to)?;
        if !self.flush(to) {
            return Ok(None);
        }
        let out = &mut self.outs[to as usize];
        let Out::Open { fd, rest, rest_len } = out else { return Ok(None) };
        let bytes = header.encode();
        // SAFETY: the caller vouches for the data.
        match unsafe { socket::transmit(fd, &bytes, data, len) } {
            Some(0) => Ok(None),
            Some(count) if count < HEADER => {
                (*rest, *rest_len) = (bytes, HEADER - count);
                Ok(Some(0))
            }
            Some(count) => Ok(Some(count - HEADER)),
            None => {
                *out = Out::Lost;
                Ok(None)
            }
        }
    }

    unsafe fn more(&mut self, to: Rank, data: *const u8, len: usize) -> Result<usize, CommError> {
        if !self.flush(to) {
            return Ok(0);
        }
        let out = &mut self.outs[to as usize];
        let Out::Open { fd, .. } = out else { return Ok(0) };
        // SAFETY: the caller vouches for the data.
        match unsafe { socket::transmit(fd, &[], data, len) } {
            Some(count) => Ok(count),
            None => {
                *out = Out::Lost;
                Ok(0)
            }
        }
    }

    fn poll(&mut self, ready: &mut Vec<Rank>) -> Result<(), CommError> {
        if !std::mem::take(&mut self.asked) {
            self.ask(Duration::ZERO, &[])?;
        }
        let first = 1 + self.guests.len();
        let awaited = self.polled.len().min(first);
        let knocked = self.polled[..awaited].iter().any(|polled| polled.revents != 0);
        for (polled, &from) in self.polled[awaited..].iter().zip(&self.readers) {
            if polled.revents != 0 {
                if let Some(stream) = &mut self.ins[from as usize] {
                    stream.dry = false;
                }
                ready.push(from);
            }
        }
        if knocked {
            let before = self.readers.len();
            self.welcome()?;
            ready.extend_from_slice(&self.readers[before..]);
        }
        for to in 0..self.outs.len() as Rank {
            if let Out::Open { rest_len: 1.., .. } = self.outs[to as usize] {
                self.flush(to);
            }
        }
        Ok(())
    }

    fn open(&mut self, from: Rank) -> Result<Option<Header>, CommError> {
        let Some(stream) = &mut self.ins[from as usize] else { return Ok(None) };
        if stream.end - stream.start < HEADER {
            stream.fill();
        }
        let Some(bytes) = stream.buffer[stream.start..stream.end].first_chunk() else {
            return Ok(None);
        };
        let header = Header::decode(from, bytes)?;
        stream.start += HEADER;
        Ok(Some(header))
    }

    unsafe fn take(&mut self, from: Rank, into: *mut u8, len: usize) -> Result<usize, CommError> {
        match &mut self.ins[from as usize] {
            // SAFETY: the caller vouches for the room.
            Some(stream) => Ok(unsafe { stream.take(into, len) }),
            None => Ok(0),
        }
    }

    fn may_bring(&mut self, from: Rank) -> bool {
        let coming = match &self.ins[from as usize] {
            Some(stream) => !stream.ended,
            None => !self.guests.is_empty(),
        };
        let since = self.ending[from as usize].get_or_insert_with(Instant::now);
        coming && since.elapsed() < LAST_WORDS
    }

    fn sleep(&mut self, limit: Duration, writers: &[Rank]) -> Result<(), CommError> {
        let unconnected = |to: &Rank| matches!(self.outs[*to as usize], Out::Unused);
        let slice = if writers.iter().any(unconnected) { KNOCK_AGAIN } else { SLICE };
        self.ask(limit.min(slice), writers)?;
        self.asked = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_may_come_until_the_stream_of_an_ended_rank_ends() {
        for transport in [Transport::Unix, Transport::Tcp] {
            let (mut board, _) = Board::create(2, transport).unwrap();
            let (listener, address) = socket::listen(transport, 2).unwrap();
            board.set_address(0, &address);
            let board = Rc::new(board);
            let mut here = Stream::new(board.clone(), transport, 0, listener, 1).unwrap();
            let (there, _) = socket::listen(transport, 2).unwrap();
            let mut peer = Stream::new(board.clone(), transport, 1, there, 1).unwrap();
            assert!(!here.may_bring(1), "no stream was ever opened");

            let header = Header::eager(0, 1, 3);
            // SAFETY: the slice is valid for its length.
            let begun = unsafe { peer.begin(0, &header, [1, 2, 3].as_ptr(), 3) };
            let mut ready = Vec::new();
            let begin = Instant::now();
            while !ready.contains(&1) {
                here.poll(&mut ready).unwrap();
                peer.poll(&mut Vec::new()).unwrap();
                assert!(begin.elapsed() < LAST_WORDS, "{begun:?}, and nothing came");
            }
            assert!(here.may_bring(1), "its stream is open");
            drop(peer);
            let mut read = [0; 3];
            while here.may_bring(1) {
                here.poll(&mut ready).unwrap();
                if here.open(1).unwrap().is_some() {
                    // SAFETY: the array is valid for its length.
                    unsafe { here.take(1, read.as_mut_ptr(), 3) }.unwrap();
                }
                assert!(begin.elapsed() < LAST_WORDS / 2, "its end came and was not seen");
            }
            assert!(begun.unwrap().is_none_or(|count| count < 3) || read == [1, 2, 3]);
        }
    }

    #[test]
    fn an_open_stream_of_an_ended_rank_is_given_up_after_a_while() {
        let (board, _) = Board::create(2, Transport::Unix).unwrap();
        let (listener, _) = socket::listen(Transport::Unix, 2).unwrap();
        let mut here = Stream::new(Rc::new(board), Transport::Unix, 0, listener, 1).unwrap();
        // A process that inherited the socket holds it open.
        let (kept, _held) = std::os::unix::net::UnixStream::pair().unwrap();
        here.admit_stream(1, kept.into());
        assert!(here.may_bring(1));
        here.ending[1] = Instant::now().checked_sub(LAST_WORDS);
        assert!(!here.may_bring(1));
    }
}
