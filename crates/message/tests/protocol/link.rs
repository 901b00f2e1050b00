//! Ranks as threads of one process: a stream of bytes from each to each, which takes and gives
//! pieces of random length.

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use laneway_core::{Clock, CommError, Rank};
use laneway_message::{HEADER, Header, Link, MessageComm, World};
use laneway_stats::SplitMix64;

/// Longer messages are offered first.
pub const EAGER: usize = 300;

/// Bytes that a stream holds.
const ROOM: usize = 200;

#[derive(Default)]
struct State {
    /// From each rank to each.
    streams: Vec<VecDeque<u8>>,
    /// How ranks ended, as the world reports it.
    ended: Vec<Option<String>>,
    /// What the links say of a peer instead of moving its bytes.
    failing: Vec<Option<CommError>>,
    /// A rank that ends when the world is asked next: its stream, its last bytes, and how.
    ending: Option<(usize, Vec<u8>, String)>,
    /// From which rank to which bytes come after the world has said that the sender ended: how
    /// many more questions the link answers with "something may come", and the bytes.
    late: Option<(usize, u32, Vec<u8>)>,
    /// Changes whenever a waiting rank may want to look.
    news: u64,
}

/// What all ranks share.
pub struct Hub {
    size: u32,
    state: Mutex<State>,
    woken: Condvar,
}

impl Hub {
    pub fn new(size: u32) -> Arc<Hub> {
        let count = size as usize;
        let state = State {
            streams: vec![VecDeque::new(); count * count],
            ended: vec![None; count],
            failing: vec![None; count],
            ending: None,
            late: None,
            news: 0,
        };
        Arc::new(Hub { size, state: Mutex::new(state), woken: Condvar::new() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("the lock is not poisoned")
    }

    fn change(&self, what: impl FnOnce(&mut State)) {
        let mut state = self.state();
        what(&mut state);
        state.news += 1;
        self.woken.notify_all();
    }

    fn stream(&self, from: Rank, to: Rank) -> usize {
        (from * self.size + to) as usize
    }

    /// From now on the world says that `rank` has ended; what it wrote stays to be read.
    pub fn end(&self, rank: Rank, how: &str) {
        self.change(|state| state.ended[rank as usize] = Some(how.into()));
    }

    /// The same, and its last bytes come, at the moment in which the world is asked next.
    pub fn end_when_asked(&self, rank: Rank, to: Rank, bytes: &[u8], how: &str) {
        let ending = (self.stream(rank, to), bytes.to_vec(), how.into());
        self.change(|state| state.ending = Some(ending));
    }

    /// `rank` has ended, and its last bytes come when the link was asked three times for them.
    pub fn end_before_its_bytes(&self, rank: Rank, to: Rank, bytes: &[u8], how: &str) {
        let late = (self.stream(rank, to), 3, bytes.to_vec());
        self.change(|state| state.late = Some(late));
        self.end(rank, how);
    }

    /// From now on the links answer with an error when they shall move bytes of `rank`.
    pub fn fail(&self, rank: Rank, error: CommError) {
        self.change(|state| state.failing[rank as usize] = Some(error));
    }

    /// Puts bytes on a stream as if its sender had written them.
    pub fn inject(&self, from: Rank, to: Rank, bytes: &[u8]) {
        let stream = self.stream(from, to);
        self.change(|state| state.streams[stream].extend(bytes));
    }

    /// Takes what a stream holds as if its receiver had read it.
    pub fn drain(&self, from: Rank, to: Rank) -> Vec<u8> {
        let (stream, mut bytes) = (self.stream(from, to), Vec::new());
        self.change(|state| bytes.extend(state.streams[stream].drain(..)));
        bytes
    }

    /// One rank's communicator of all.
    pub fn comm(self: &Arc<Hub>, rank: Rank, seed: u64, limit: Duration) -> MessageComm {
        let random = SplitMix64::new(seed ^ u64::from(rank) << 40);
        let link = Pieces { hub: self.clone(), rank, random, armed: 0 };
        let world = Threads { hub: self.clone(), clock: Watch(Instant::now()) };
        MessageComm::world(Box::new(link), Rc::new(world), rank, limit)
    }
}

struct Pieces {
    hub: Arc<Hub>,
    rank: Rank,
    random: SplitMix64,
    armed: u64,
}

impl Pieces {
    /// Writes a random part of the bytes, if there is room; with a header perhaps none of them.
    ///
    /// # Safety
    /// `data` must be valid for `len` bytes.
    unsafe fn write(&mut self, to: Rank, header: &[u8], data: *const u8, len: usize) -> usize {
        let stream = self.hub.stream(self.rank, to);
        let held = self.hub.state().streams[stream].len();
        let most = len.min(ROOM.saturating_sub(held + header.len()));
        let least = usize::from(header.is_empty()).min(most);
        let count = least + self.random.index(most - least + 1);
        if header.len() + count > 0 {
            let part = match count {
                0 => &[][..],
                // SAFETY: the caller vouches for the data.
                _ => unsafe { std::slice::from_raw_parts(data, count) },
            };
            self.hub.change(|state| state.streams[stream].extend(header.iter().chain(part)));
        }
        count
    }

    fn check(&self, peer: Rank) -> Result<(), CommError> {
        self.hub.state().failing[peer as usize].clone().map_or(Ok(()), Err)
    }
}

impl Link for Pieces {
    fn eager_limit(&self) -> usize {
        EAGER
    }

    fn spins(&self) -> u32 {
        3
    }

    unsafe fn begin(
        &mut self,
        to: Rank,
        header: &Header,
        data: *const u8,
        len: usize,
    ) -> Result<Option<usize>, CommError> {
        self.check(to)?;
        let held = self.hub.state().streams[self.hub.stream(self.rank, to)].len();
        if held + HEADER > ROOM {
            return Ok(None);
        }
        // SAFETY: the caller vouches for the data.
        Ok(Some(unsafe { self.write(to, &header.encode(), data, len) }))
    }

    unsafe fn more(&mut self, to: Rank, data: *const u8, len: usize) -> Result<usize, CommError> {
        self.check(to)?;
        // SAFETY: the caller vouches for the data.
        Ok(unsafe { self.write(to, &[], data, len) })
    }

    fn poll(&mut self, ready: &mut Vec<Rank>) -> Result<(), CommError> {
        let state = self.hub.state();
        let has = |&from: &Rank| {
            let stream = self.hub.stream(from, self.rank);
            !state.streams[stream].is_empty() || state.failing[from as usize].is_some()
        };
        ready.extend((0..self.hub.size).filter(has));
        Ok(())
    }

    fn open(&mut self, from: Rank) -> Result<Option<Header>, CommError> {
        self.check(from)?;
        let stream = self.hub.stream(from, self.rank);
        let mut bytes = [0; HEADER];
        if self.hub.state().streams[stream].len() < HEADER {
            return Ok(None);
        }
        self.hub.change(|state| {
            for (byte, taken) in bytes.iter_mut().zip(state.streams[stream].drain(..HEADER)) {
                *byte = taken;
            }
        });
        Header::decode(from, &bytes).map(Some)
    }

    unsafe fn take(&mut self, from: Rank, into: *mut u8, len: usize) -> Result<usize, CommError> {
        self.check(from)?;
        let stream = self.hub.stream(from, self.rank);
        let here = self.hub.state().streams[stream].len();
        let count = match here.min(len) {
            0 => return Ok(0),
            most => 1 + self.random.index(most),
        };
        self.hub.change(|state| {
            for (at, byte) in state.streams[stream].drain(..count).enumerate() {
                // SAFETY: the caller vouches for the room, of which this is a part.
                unsafe { into.add(at).write(byte) };
            }
        });
        Ok(count)
    }

    fn may_bring(&mut self, from: Rank) -> bool {
        let stream = self.hub.stream(from, self.rank);
        let mut state = self.hub.state();
        match state.late.take_if(|late| late.0 == stream) {
            None => false,
            Some((_, 0, bytes)) => {
                state.streams[stream].extend(bytes);
                state.news += 1;
                true
            }
            Some((_, more, bytes)) => {
                state.late = Some((stream, more - 1, bytes));
                state.news += 1;
                true
            }
        }
    }

    fn arm(&mut self) {
        self.armed = self.hub.state().news;
    }

    fn sleep(&mut self, limit: Duration, _writers: &[Rank]) -> Result<(), CommError> {
        let state = self.hub.state();
        let waited = self.hub.woken.wait_timeout_while(state, limit, |s| s.news == self.armed);
        drop(waited.expect("the lock is not poisoned"));
        Ok(())
    }
}

struct Threads {
    hub: Arc<Hub>,
    clock: Watch,
}

impl World for Threads {
    fn size(&self) -> u32 {
        self.hub.size
    }

    fn clock(&self) -> &dyn Clock {
        &self.clock
    }

    fn host(&self, rank: Rank) -> String {
        format!("host-{rank}")
    }

    fn describe(&self) -> Vec<(&'static str, String)> {
        vec![("backend", "threads".into())]
    }

    fn any_ended(&self) -> bool {
        let mut state = self.hub.state();
        if let Some((stream, bytes, how)) = state.ending.take() {
            state.streams[stream].extend(bytes);
            state.ended[stream / self.hub.size as usize] = Some(how);
        }
        state.ended.iter().any(Option::is_some)
    }

    fn ended(&self, rank: Rank) -> Option<String> {
        self.hub.state().ended[rank as usize].clone()
    }

    fn abort(&self, code: i32, missed: Option<Rank>) -> ! {
        panic!("aborted with code {code}, missed {missed:?}")
    }
}

struct Watch(Instant);

impl Clock for Watch {
    fn now(&self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }

    fn sleep_until(&self, instant: f64) {
        std::thread::sleep(Duration::from_secs_f64((instant - self.now()).max(0.0)));
    }

    fn is_global(&self) -> bool {
        false
    }
}
