//! The command `laneway` as a shared object that SimGrid's smpirun runs: an independent judge of
//! virtual time.
//!
//! It adds nothing to the command and must never know how SimGrid works inside; what differs for a
//! simulated rank is the business of `laneway-mpi`. Beside the command it has one entry of its own,
//! `timed`, for comparisons with our simulator. smpirun loads the object once for each rank and
//! calls its `main`:
//!
//! ```text
//! smpirun -np 16 -platform P.xml -hostfile H --cfg=smpi/privatization:dlopen \
//!     target/release/liblaneway_smpi.so check
//! ```

mod killed;
mod timed;

use std::ffi::{CStr, OsStr, OsString, c_char, c_int};
use std::os::unix::ffi::OsStrExt;

/// What a simulated rank runs. A rank ends by returning: an exit would end all of them.
///
/// # Safety
/// `argv` has `argc` C strings, as the C standard promises to every `main`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn main(argc: c_int, argv: *const *const c_char) -> c_int {
    let argument = |number: usize| {
        // SAFETY: as promised, this is one of the C strings.
        let text = unsafe { CStr::from_ptr(*argv.add(number)) };
        OsStr::from_bytes(text.to_bytes()).to_owned()
    };
    // The program's own arguments, because those that the standard library sees are smpirun's.
    let args: Vec<OsString> = (0..argc.max(0) as usize).map(argument).collect();
    killed::tell_and_leave();
    let code = match args.get(1) {
        Some(first) if first == timed::NAME => timed::run(&args[2..]),
        _ => laneway_cli::run(args),
    };
    c_int::from(code)
}
