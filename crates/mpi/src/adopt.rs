//! Works with a communicator of the program around us, which started MPI and will end it.
//!
//! The caller names it by its Fortran handle, the one form that is an `int` under every MPI. Work
//! is done on a duplicate, whose messages meet none of the caller's and whose errors return. The
//! duplicate is kept with the caller's communicator as an attribute, as the standard means
//! libraries to do it, and goes with it.

use std::cell::Cell;
use std::ffi::c_void;
use std::rc::Rc;
use std::sync::OnceLock;

use crate::calls::Mpi;
use crate::clock::MpiClock;
use crate::comm::MpiComm;
use crate::error::MpiError;
use crate::flavour::{Family, Handle};
use crate::functions::Keeping;
use crate::launcher::{self, Kind, Launcher};
use crate::library::Library;
use crate::selftest;
use crate::start::{Opened, identify};
use crate::threads::ThreadLevel;
use crate::turn::Turn;
use crate::world::World;

/// What is kept with a caller's communicator.
struct Adopted {
    comm: MpiComm,
    /// The caller's is one of those that MPI itself ends, when nothing may be freed any more.
    for_good: bool,
}

/// Found out once: how to reach a caller's communicator, and the name of what is kept with it.
struct Ways {
    calls: Keeping,
    /// Absent where the Fortran handle is the handle.
    from_fortran: Option<unsafe extern "C" fn(i32) -> Handle>,
    null: Handle,
    key: i32,
}

static WAYS: OnceLock<Ways> = OnceLock::new();

/// Lends `work` a duplicate of the caller's communicator, given by its Fortran handle. The first
/// call with a communicator is collective over it. No MPI is opened, started or ended. A second
/// thread is refused while a first one is here.
///
/// # Safety
/// The handle names a communicator that is live while `work` runs, or MPI_COMM_NULL: not every MPI
/// can tell a number that it never gave out. This thread may call MPI, and no other thread frees
/// the communicator meanwhile.
pub unsafe fn with_adopted<T>(
    handle: i32,
    work: impl FnOnce(&MpiComm) -> T,
) -> Result<T, MpiError> {
    let _turn = Turn::take()?;
    let ways = match WAYS.get() {
        Some(ways) => ways,
        None => {
            let ways = Ways::find()?;
            WAYS.get_or_init(|| ways)
        }
    };
    running(&ways.calls)?;
    let theirs = match ways.from_fortran {
        // SAFETY: MPI runs, and answers for every int, with nothing or null where it names none.
        Some(convert) => unsafe { convert(handle) },
        None => handle as u32 as Handle,
    };
    if theirs == 0 || theirs == ways.null {
        return Err(MpiError::NoCommunicator { why: "it is MPI_COMM_NULL".into() });
    }
    let adopted = match ways.kept(theirs)? {
        Some(adopted) => adopted,
        None => ways.adopt(theirs)?,
    };
    // SAFETY: the attribute holds one count of it. A count of our own keeps it while we work, even
    // where the work lets go of the caller's communicator.
    let adopted = unsafe {
        Rc::increment_strong_count(adopted);
        Rc::from_raw(adopted)
    };
    let comm = &adopted.comm;
    if comm.shared().abandoned.get() {
        let why = "an earlier call failed on it with messages under way";
        return Err(MpiError::NoCommunicator { why: why.into() });
    }
    Ok(work(comm))
}

fn running(calls: &Keeping) -> Result<(), MpiError> {
    let (mut begun, mut over) = (0i32, 0i32);
    // SAFETY: these two may be called at any time, and write to words of our own.
    unsafe {
        (calls.initialized)(&mut begun);
        (calls.finalized)(&mut over);
    }
    if begun != 0 && over == 0 { Ok(()) } else { Err(MpiError::NotRunning) }
}

fn done(call: &'static str, code: i32) -> Result<(), MpiError> {
    let failed = || MpiError::Start { call, text: format!("it returned {code}") };
    if code == 0 { Ok(()) } else { Err(failed()) }
}

impl Ways {
    fn find() -> Result<Ways, MpiError> {
        let library = Library::of_process()?;
        let calls = Keeping::of(&library)?;
        running(&calls)?;
        let Opened { mpi, found } = identify(&library, String::new())?;
        let name = match found.family {
            Family::Mpich => None,
            Family::Standard => Some("MPI_Comm_fromint"),
            Family::OpenMpi => Some("MPI_Comm_f2c"),
            Family::Smpi => return Err(MpiError::Simulated),
        };
        let convert = |name| {
            let address = library.symbol(name)?;
            // SAFETY: both names are `MPI_Comm f(int)` in the MPI standard.
            Ok(unsafe {
                std::mem::transmute::<*mut c_void, unsafe extern "C" fn(i32) -> Handle>(address)
            })
        };
        let from_fortran = name.map(convert).transpose()?;
        let (mut key, nothing) = (0, std::ptr::null_mut());
        // SAFETY: both functions are there for good; the key goes to a word of our own.
        let code = unsafe { (calls.create_keyval)(copy_nothing, delete_kept, &mut key, nothing) };
        done("MPI_Comm_create_keyval", code)?;
        Ok(Ways { calls, from_fortran, null: mpi.flavour.comm_null, key })
    }

    /// What an earlier call kept.
    fn kept(&self, theirs: Handle) -> Result<Option<*const Adopted>, MpiError> {
        let (mut kept, mut has) = (std::ptr::null_mut(), 0i32);
        // SAFETY: the caller vouches for the communicator; the results go to words of our own.
        let code = unsafe { (self.calls.get_attr)(theirs, self.key, &mut kept, &mut has) };
        done("MPI_Comm_get_attr", code)?;
        Ok((has != 0).then_some(kept.cast_const().cast()))
    }

    /// Collective.
    fn adopt(&self, theirs: Handle) -> Result<*const Adopted, MpiError> {
        let mut inter = 0i32;
        // SAFETY: the caller vouches for the communicator; the result goes to a word of our own.
        let code = unsafe { (self.calls.test_inter)(theirs, &mut inter) };
        done("MPI_Comm_test_inter", code)?;
        if inter != 0 {
            let why = "it is an intercommunicator".into();
            return Err(MpiError::NoCommunicator { why });
        }
        let Opened { mpi, found } = identify(&Library::of_process()?, "the program's own".into())?;
        let for_good = [mpi.flavour.comm_world, mpi.flavour.comm_self].contains(&theirs);
        let (mpi, provided) = proved(mpi).map_err(|what| selftest::failed(&found, &what))?;
        let global = mpi.attribute(mpi.flavour.comm_world, mpi.flavour.keys.wtime_is_global);
        let clock = MpiClock::of_library(mpi.tables.functions.wtime, None);
        clock.share(matches!(global, Ok(Some(1))));
        let unknown = Launcher { kind: Kind::Other, rank: None, size: None };
        let launcher = launcher::detect(&launcher::of_process).unwrap_or(unknown);
        let threads = ThreadLevel::of(&mpi.flavour, provided);
        let own = duplicate(&mpi, theirs)?;
        let world = Rc::new(World {
            mpi,
            found,
            launcher,
            threads_asked: None,
            threads,
            clock,
            abandoned: Cell::new(false),
            lent: true,
            ended: Cell::new(false),
            wait_limit: Cell::new(None),
        });
        let comm = MpiComm::made(world, own).map_err(|error| MpiError::Start {
            call: "the first question to a duplicate",
            text: error.to_string(),
        })?;
        let adopted = Rc::into_raw(Rc::new(Adopted { comm, for_good }));
        // SAFETY: the communicator is live, and `goes` takes back what is given here.
        let code = unsafe { (self.calls.set_attr)(theirs, self.key, adopted.cast_mut().cast()) };
        if code != 0 {
            // SAFETY: it was not given away.
            drop(unsafe { Rc::from_raw(adopted) });
        }
        done("MPI_Comm_set_attr", code)?;
        Ok(adopted)
    }
}

fn duplicate(mpi: &Mpi, comm: Handle) -> Result<Handle, MpiError> {
    let mut new = 0;
    // SAFETY: the communicator is live; the new one goes to a word of our own.
    done("MPI_Comm_dup", unsafe { (mpi.tables.functions.comm_dup)(comm, &mut new) })?;
    Ok(new)
}

/// The self-test, on a duplicate, so that it meets no message and changes no error handler of the
/// program; and the thread level.
fn proved(mut mpi: Mpi) -> Result<(Mpi, i32), String> {
    let mut provided = i32::MIN;
    // SAFETY: the result goes to a word of our own.
    unsafe { (mpi.tables.functions.query_thread)(&mut provided) };
    let alone = mpi.flavour.comm_self;
    let mut stand_in = duplicate(&mpi, alone).map_err(|error| error.to_string())?;
    mpi.flavour.comm_self = stand_in;
    let verdict = selftest::return_errors(&mpi, stand_in);
    let verdict = verdict.and_then(|()| selftest::prove(&mpi, provided));
    mpi.flavour.comm_self = alone;
    // SAFETY: it was made above and is used no more.
    unsafe { (mpi.tables.functions.comm_free)(&mut stand_in) };
    verdict.map(|()| (mpi, provided))
}

/// A duplicate of the caller's communicator is adopted anew.
extern "C" fn copy_nothing(
    _comm: Handle,
    _key: i32,
    _extra: *mut c_void,
    _kept: *mut c_void,
    _copy: *mut c_void,
    goes_along: *mut i32,
) -> i32 {
    // SAFETY: MPI hands us a word for the answer.
    unsafe { *goes_along = 0 };
    0
}

/// The caller's communicator goes, on all its ranks together, and our duplicate with it.
extern "C" fn delete_kept(_comm: Handle, _key: i32, kept: *mut c_void, _extra: *mut c_void) -> i32 {
    // SAFETY: the attribute was made by `adopt`, and MPI lets go of it once.
    let adopted = unsafe { Rc::from_raw(kept.cast_const().cast::<Adopted>()) };
    if adopted.for_good {
        adopted.comm.shared().ended.set(true);
    }
    0
}
