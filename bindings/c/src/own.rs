//! The function that measures the caller's own implementation of an MPI collective: its answer is
//! compared with MPI's before it is timed, and once more afterwards.
//!
//! Only the caller's compiler knows what an MPI_Datatype is, so `laneway.h` has the two functions
//! that describe and make a call, and here are the buffers, the comparison and the clock.

use std::ffi::{c_char, c_double, c_int, c_longlong, c_void};

use laneway_core::{Comm, CommError};
use laneway_measure::p2p::Places;
use laneway_mpi::MpiComm;

use crate::arguments::{Figures, Manner, length, refused, word};
use crate::content::{BACKGROUND, Content, fill};
use crate::failure::{Exit, Failure};
use crate::flags::measured;
use crate::measure::{adopted, memory_for, point, verdict};
use crate::together::{agree, mark_of};

/// Writes what a call needs on a rank; 0, or the number of an objection.
type Describe =
    unsafe extern "C" fn(*mut c_void, c_int, c_int, c_int, c_int, *mut c_longlong) -> c_int;

/// Makes a call: the caller's function, or MPI's own where the second argument is not 0.
type Make =
    unsafe extern "C" fn(*mut c_void, c_int, c_int, c_int, *mut c_void, *mut c_void) -> c_int;

/// Collective over `comm`: measures the caller's own implementation of an MPI collective for `n`
/// points; laneway.h has a function for each collective that calls this one. `describe` is given
/// `data`, a rank, the number of ranks, the root and a point, and writes eight numbers: where the
/// send buffer begins and ends, in bytes from its address; the same of the receive buffer; how the
/// buffers are filled (0: any bytes, 1: whole numbers, 2: float, 3: double) in elements of how many
/// bytes, and the largest number; and a mark that is the same on every rank. It returns 0, or what
/// is wrong. `make` is given `data`, whether MPI's own function is wanted, the root, a point and
/// the buffers. Before a point is timed, and once more afterwards with other content, both
/// functions are called with equal buffers: where they leave different bytes, or the caller's
/// fails, the measurement ends and the point has no figure.
///
/// # Safety
/// Both functions may be called with `data`, from this thread; they throw no exception and touch
/// no bytes but those that they describe. The text is a C string, and lists have `n` members.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn laneway_time_own(
    comm: c_int,
    timing: c_int,
    operation: *const c_char,
    describe: Option<
        unsafe extern "C" fn(*mut c_void, c_int, c_int, c_int, c_int, *mut c_longlong) -> c_int,
    >,
    make: Option<
        unsafe extern "C" fn(*mut c_void, c_int, c_int, c_int, *mut c_void, *mut c_void) -> c_int,
    >,
    data: *mut c_void,
    n: c_int,
    min_reps: c_int,
    max_reps: c_int,
    alpha: c_double,
    times: *mut c_double,
    reps: *mut c_int,
    errors: *mut c_double,
) -> c_int {
    measured(|flags| {
        adopted(comm, |comm| {
            let order = Manner::new(timing, min_reps, max_reps, alpha).and_then(|manner| {
                manner.refuse_tasks()?;
                manner.check(comm.size())?;
                // SAFETY: as the caller promises.
                let (figures, operation) = unsafe {
                    let figures = Figures::new(length(n)?, times, reps, errors, flags)?;
                    (figures, word(operation, "operation")?)
                };
                let missing =
                    || refused("an argument is missing", "the function is NULL", "a function");
                let (describe, make) = describe.zip(make).ok_or_else(missing)?;
                let root = manner.settings.root as c_int;
                let own = Own { describe, make, data, operation, root };
                let points = own.describe_all(n, comm)?;
                let mark = own.mark(&manner, &points);
                Ok(Order { manner, figures, own, points, mark })
            });
            let mark = order.as_ref().map_or(0, |order| order.mark);
            let Order { manner, figures, own, points, .. } = agree(comm, order, mark)?;
            own.measure(comm, &manner, figures, &points)
        })
    })
}

/// What is to be measured, and how.
struct Order<'a> {
    manner: Manner,
    figures: Figures<'a>,
    own: Own<'a>,
    points: Vec<Described>,
    mark: u64,
}

/// One point on this rank.
struct Described {
    send: Stretch,
    receive: Stretch,
    content: Content,
    mark: u64,
}

/// Bytes around an address: from `low`, which is not above it, to `high`.
#[derive(Clone, Copy)]
struct Stretch {
    low: i64,
    high: i64,
}

impl Stretch {
    fn new(low: c_longlong, high: c_longlong) -> Result<Stretch, Failure> {
        let length = high.checked_sub(low).filter(|_| low <= 0 && high >= 0);
        match length {
            Some(length) if length <= isize::MAX as i64 => Ok(Stretch { low, high }),
            _ => Err(refused("a buffer is too long", format!("{low} to {high} bytes"), "less")),
        }
    }

    fn len(self) -> usize {
        (self.high - self.low) as usize
    }

    /// Room for it, or a word that there is none.
    fn room(self) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        let cause = || format!("a buffer of {} bytes", self.len());
        bytes
            .try_reserve_exact(self.len())
            .map_err(|_| Failure::environment("there is not enough memory", cause(), "less"))?;
        bytes.resize(self.len(), 0);
        Ok(bytes)
    }

    /// The address that the function is given; `None` if there is nothing.
    fn address(self, first: *mut u8, length: usize) -> *mut c_void {
        if length == 0 {
            return std::ptr::null_mut();
        }
        first.wrapping_offset(-self.low as isize).cast()
    }
}

/// The two addresses that a function is given.
#[derive(Clone, Copy)]
struct Place {
    from: *mut c_void,
    to: *mut c_void,
}

/// A function of the caller's with the arguments of an MPI collective.
struct Own<'a> {
    describe: Describe,
    make: Make,
    data: *mut c_void,
    /// MPI's name for what it does, without the prefix.
    operation: &'a str,
    root: c_int,
}

/// What `describe` may say, from 1 on.
const OBJECTIONS: [(&str, &str); 8] = [
    ("a list of counts or displacements is NULL", "a list"),
    ("a count is negative", "0 or more"),
    ("a datatype is MPI_DATATYPE_NULL", "a datatype that is committed"),
    ("what is sent and what is received differ in bytes", "counts of the same size together"),
    ("the datatype of a reduction is not a number of C", "MPI_INT, MPI_DOUBLE and their like"),
    ("blocks that are received overlap", "displacements that keep them apart"),
    ("the buffer of a rank is too long", "lower counts"),
    ("the operation is MPI_OP_NULL", "MPI_SUM"),
];

impl Own<'_> {
    /// Tells the measurement from others.
    fn mark(&self, manner: &Manner, points: &[Described]) -> u64 {
        let words = self.operation.bytes().map(u64::from);
        let points = points.iter().map(|point| point.mark);
        mark_of([manner.mark].into_iter().chain(words).chain(points))
    }

    fn describe_all(&self, n: c_int, comm: &MpiComm) -> Result<Vec<Described>, Failure> {
        (0..n).map(|point| self.describe(point, comm)).collect()
    }

    fn describe(&self, at: c_int, comm: &MpiComm) -> Result<Described, Failure> {
        let (rank, ranks) = (comm.rank() as c_int, comm.size() as c_int);
        let mut described = [0 as c_longlong; 8];
        // SAFETY: as the caller of the library promises; eight numbers go to eight of our own.
        let objection = unsafe {
            (self.describe)(self.data, rank, ranks, self.root, at, described.as_mut_ptr())
        };
        if objection != 0 {
            let known = usize::try_from(objection - 1).ok().and_then(|at| OBJECTIONS.get(at));
            let (cause, try_this) = known.unwrap_or(&("it cannot be described", "another call"));
            let what = format!("{} cannot be called with these arguments", self.operation);
            return Err(refused(&what, format!("{cause} (point {at})"), try_this));
        }
        let [send_low, send_high, receive_low, receive_high, kind, bytes, most, mark] = described;
        Ok(Described {
            send: Stretch::new(send_low, send_high)?,
            receive: Stretch::new(receive_low, receive_high)?,
            content: Content::new(kind, bytes, most),
            mark: mark as u64,
        })
    }

    /// Collective: every point, checked and timed.
    fn measure(
        &self,
        comm: &MpiComm,
        manner: &Manner,
        mut figures: Figures,
        points: &[Described],
    ) -> Result<(), Failure> {
        let mut reached = true;
        let longest = |of: fn(&Described) -> Stretch| {
            points.iter().map(|point| of(point).len() as u64).max().unwrap_or(0)
        };
        let lengths = (longest(|point| point.send), longest(|point| point.receive));
        memory_for(comm, manner.settings.cache, |_| lengths)?;
        for (at, described) in points.iter().enumerate() {
            let at = at as c_int;
            let buffers = described
                .send
                .room()
                .and_then(|send| Ok((send, described.receive.room()?, described.receive.room()?)));
            let (mut send, mut receive, mut wanted) = agree(comm, buffers, 0)?;
            self.check(comm, at, described, [&mut send, &mut receive, &mut wanted], 0)?;
            let mut code = 0;
            let lengths = (described.send.len(), described.receive.len());
            let mut cold = Places::new(manner.settings.cache, lengths.0, lengths.1);
            let of = |from: *const u8, to: *mut u8| Place {
                from: described.send.address(from.cast_mut(), lengths.0),
                to: described.receive.address(to, lengths.1),
            };
            let places: Vec<Place> = match &mut cold {
                Some(cold) => cold.pairs().map(|(a, b)| of(a.as_ptr(), b.as_mut_ptr())).collect(),
                None => vec![of(send.as_ptr(), receive.as_mut_ptr())],
            };
            let mut next = places.iter().cycle();
            let mut operation = || {
                // There is one at least.
                let Some(&Place { from, to }) = next.next() else { return Ok(()) };
                // SAFETY: as the caller of the library promises; the buffers are as described.
                let said = unsafe { (self.make)(self.data, 0, self.root, at, from, to) };
                code = if code == 0 { said } else { code };
                Ok::<(), CommError>(())
            };
            reached &= point(comm, manner, &mut operation, &mut figures)?;
            // A function that remembers an answer is found out by other content.
            let end = agree(comm, self.ended(comm, code), 0).and_then(|()| {
                self.check(comm, at, described, [&mut send, &mut receive, &mut wanted], 1)
            });
            if end.is_err() {
                figures.withdraw("no time,wrong answer");
            }
            end?;
        }
        verdict(reached)
    }

    /// Collective: MPI's own function and the caller's with equal buffers; a failure on every rank
    /// where one of them fails or they leave different bytes.
    fn check(
        &self,
        comm: &MpiComm,
        at: c_int,
        described: &Described,
        [send, receive, wanted]: [&mut Vec<u8>; 3],
        variant: u64,
    ) -> Result<(), Failure> {
        let Described { send: from, receive: to, content, .. } = described;
        let rank = comm.rank();
        fill(content, rank, variant, send);
        for bytes in [&mut *receive, &mut *wanted] {
            bytes.fill(BACKGROUND);
            // A broadcast has one buffer, which the root sends.
            if self.operation == "Bcast" && rank == self.root as u32 {
                fill(content, rank, variant, bytes);
            }
        }
        let mut call = |mpis: c_int, bytes: &mut Vec<u8>| {
            let (sent, received) = (send.len(), bytes.len());
            let from = from.address(send.as_mut_ptr(), sent);
            let to = to.address(bytes.as_mut_ptr(), received);
            // SAFETY: as the caller of the library promises; the buffers are as described.
            unsafe { (self.make)(self.data, mpis, self.root, at, from, to) }
        };
        let (theirs, ours) = (call(1, wanted), call(0, receive));
        let failed = || {
            let cause = format!("MPI_{} returned {theirs} on rank {rank}", self.operation);
            Failure::environment("MPI's own function failed", cause, "arguments that MPI takes")
        };
        agree(comm, if theirs == 0 { Ok(()) } else { Err(failed()) }, 0)?;
        agree(comm, self.ended(comm, ours), 0)?;
        let differs = receive.iter().zip(wanted.iter()).position(|(own, mpis)| own != mpis);
        let differs = differs.map(|byte| {
            format!(
                "byte {} of rank {rank}'s receive buffer is {}, after MPI_{} {}",
                byte as i64 + to.low,
                receive[byte],
                self.operation,
                wanted[byte]
            )
        });
        // Nothing may leave here before the others know.
        let changed = from.room().map(|mut before| {
            fill(content, rank, variant, &mut before);
            (*send != before).then(|| format!("rank {rank}'s send buffer is changed"))
        });
        let verdict = changed.and_then(|changed| match differs.or(changed) {
            None => Ok(()),
            Some(what) => {
                let (head, try_this) = ("the function gives a wrong answer", "MPI's own function");
                Err(Failure::new(Exit::Gate, head, what, try_this))
            }
        });
        agree(comm, verdict, 0)
    }

    fn ended(&self, comm: &MpiComm, code: c_int) -> Result<(), Failure> {
        if code == 0 {
            return Ok(());
        }
        let cause = format!("it returned {code} on rank {}", comm.rank());
        Err(Failure::new(Exit::Gate, "the function failed", cause, "a function that returns 0"))
    }
}
