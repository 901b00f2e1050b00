//! Communicators over several sites: where their ranks are, and what is chosen for a call there.

use std::any::Any;
use std::ffi::{c_char, c_double, c_int};
use std::rc::Rc;

use laneway_core::{Comm, Shape};
use laneway_mpi::MpiComm;
use laneway_sites::Placed;

use crate::arguments::{collective, refused, word};
use crate::failure::Failure;
use crate::last_error::answer;
use crate::measure::adopted;
use crate::together::agree;

/// Collective over `comm`: says on which hosts of a platform its ranks are, so that laneway_call
/// takes the algorithm "chosen". The platform is a file, or a generator as "two-sites:8x8"; that
/// of rank 0 counts, and NULL there forgets what was said. `laneway sites measure` writes such a
/// file. Hosts are found by their names. It is kept with the communicator, and goes when that is
/// freed.
///
/// # Safety
/// The text is a C string, or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn laneway_place_ranks(comm: c_int, platform: *const c_char) -> c_int {
    answer(|| {
        // SAFETY: as the caller promises.
        let word = || unsafe { word(platform, "platform") };
        let platform = (!platform.is_null()).then(word).transpose();
        adopted(comm, |ranks| {
            // No rank may wait for one that cannot read its word.
            let platform = agree(ranks, platform, 0)?;
            let placed = Placed::find(ranks, platform)?;
            ranks.keep(placed.map(|placed| Rc::new(placed) as Rc<dyn Any>));
            Ok(())
        })
    })
}

/// What is chosen for an operation of `size` bytes over `comm`, whose ranks were placed before: its
/// name with all parameters, which laneway_call takes as well, is written to `name`, which has room
/// for `length` characters, and what it takes in the simulator in seconds to `predicted`; each may
/// be NULL. Every rank may ask for itself, and all come to the same.
///
/// # Safety
/// The texts are C strings, `name` has so much room, and `predicted` has room for one number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn laneway_choose(
    comm: c_int,
    operation: *const c_char,
    size: c_int,
    root: c_int,
    name: *mut c_char,
    length: c_int,
    predicted: *mut c_double,
) -> c_int {
    answer(|| {
        // SAFETY: as the caller promises.
        let operation = unsafe { word(operation, "op")? };
        let (Ok(size), Ok(root)) = (u64::try_from(size), u32::try_from(root)) else {
            let cause = format!("size {size}, root {root}");
            return Err(refused("invalid call", cause, "0 bytes or more, from a rank"));
        };
        let collective = collective(operation)?;
        adopted(comm, |ranks| {
            let shape = Shape::new(collective, ranks.size(), size).with_root(root);
            let placed = placed(ranks)?;
            shape.validate().map_err(|bad| no_choice(bad.0))?;
            let chosen = placed.choose(&shape).map_err(|error| no_choice(error.to_string()))?;
            let spelled = chosen.candidate.spelled();
            if !name.is_null() {
                let room = usize::try_from(length).unwrap_or(0);
                if spelled.len() >= room {
                    let cause = format!("`{spelled}` and its end need {}", spelled.len() + 1);
                    return Err(refused("there is no room for the name", cause, "256 characters"));
                }
                // SAFETY: there is room for all of it and its end, as was just seen.
                unsafe {
                    name.copy_from_nonoverlapping(spelled.as_ptr().cast(), spelled.len());
                    *name.add(spelled.len()) = 0;
                }
            }
            if !predicted.is_null() {
                // SAFETY: as the caller promises.
                unsafe { *predicted = chosen.candidate.time };
            }
            Ok(())
        })
    })
}

/// Where the ranks of a communicator are.
pub fn placed(comm: &MpiComm) -> Result<Rc<Placed>, Failure> {
    let known = comm.kept().and_then(|kept| kept.downcast::<Placed>().ok());
    known.ok_or_else(|| {
        let cause = "the sites of the ranks of this communicator are unknown";
        refused("nothing can be chosen", cause, "laneway_place before")
    })
}

fn no_choice(cause: String) -> Failure {
    refused("nothing can be chosen for this call", cause, "another root or size")
}
