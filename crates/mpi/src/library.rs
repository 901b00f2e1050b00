//! A library file opened by the system's loader, and what it says of itself before MPI starts.

use std::ffi::{CStr, CString, OsStr, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::elf;
use crate::error::MpiError;

/// An open library. It is never closed: MPI libraries leave threads and handlers behind.
pub struct Library {
    file: PathBuf,
    handle: *mut c_void,
}

impl Library {
    pub fn open(file: &Path) -> Result<Library, MpiError> {
        // The loader would search for a name without a slash instead of opening that file.
        let file = std::path::absolute(file).unwrap_or_else(|_| file.into());
        elf::check(&file)?;
        let refused = |text: String| MpiError::Refused { file: file.clone(), text };
        let name = CString::new(file.as_os_str().as_bytes()).map_err(|e| refused(e.to_string()))?;
        // SAFETY: the name is a C string. The library's constructors run here, which is what the
        // user asked for. Global, because the plug-ins of an MPI look for its symbols.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
        if handle.is_null() {
            return Err(refused(loader_error()));
        }
        Ok(Library { file, handle })
    }

    /// The MPI that the program around us has loaded; none is opened. What all of the program sees
    /// comes first, so that a tool that was put before MPI stays there. An MPI that was loaded for
    /// one part of the program alone, as an interpreter does, is found among the loaded objects.
    pub fn of_process() -> Result<Library, MpiError> {
        let seen = |handle| {
            let library = Library { file: PathBuf::new(), handle };
            let file = file_of(library.look_up("MPI_Get_library_version")?)?;
            Some(Library { file, ..library })
        };
        // SAFETY: the name is a C string, and "no load" makes this a look at what is there.
        let open = |name: CString| unsafe {
            libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD)
        };
        let alone = || {
            let names = loaded_objects().into_iter().filter(|name| is_mpi_name(name));
            names.map(open).filter(|handle| !handle.is_null()).find_map(seen)
        };
        seen(libc::RTLD_DEFAULT).or_else(alone).ok_or(MpiError::NotLoaded)
    }

    pub fn file(&self) -> &Path {
        &self.file
    }

    fn look_up(&self, name: &str) -> Option<*mut c_void> {
        let name = CString::new(name).ok()?;
        // SAFETY: the handle came from dlopen and is never closed; the name is a C string.
        let address = unsafe { libc::dlsym(self.handle, name.as_ptr()) };
        (!address.is_null()).then_some(address)
    }

    pub fn has(&self, name: &str) -> bool {
        self.look_up(name).is_some()
    }

    /// The address of a function or an object that an MPI must have.
    pub fn symbol(&self, name: &str) -> Result<*mut c_void, MpiError> {
        let absent = || MpiError::NotMpi { file: self.file.clone(), symbol: name.into() };
        self.look_up(name).ok_or_else(absent)
    }

    /// The library's own description, all lines.
    pub fn version(&self) -> Result<String, MpiError> {
        const MOST: usize = 1 << 14;
        let mut text = vec![0u8; MOST];
        let mut length = 0i32;
        let address = self.symbol("MPI_Get_library_version")?;
        // SAFETY: the name has this one signature in the MPI standard, and the buffer is longer
        // than the longest text that any known library declares (8,192 bytes).
        let code = unsafe {
            let call: unsafe extern "C" fn(*mut u8, *mut i32) -> i32 = std::mem::transmute(address);
            call(text.as_mut_ptr(), &mut length)
        };
        let failed = || MpiError::Start { call: "MPI_Get_library_version", text: String::new() };
        let text = CStr::from_bytes_until_nul(&text).map_err(|_| failed())?;
        if code == 0 { Ok(text.to_string_lossy().into_owned()) } else { Err(failed()) }
    }

    /// The version of the standard binary interface; MPICH's other library answers -1 to it.
    pub fn standard_abi(&self) -> Result<Option<(i32, i32)>, MpiError> {
        if !self.has("MPI_Abi_get_version") {
            return Ok(None);
        }
        let version = self.pair("MPI_Abi_get_version")?;
        Ok((version.0 >= 1).then_some(version))
    }

    /// The version of the MPI standard.
    pub fn standard(&self) -> Result<(i32, i32), MpiError> {
        self.pair("MPI_Get_version")
    }

    fn pair(&self, name: &'static str) -> Result<(i32, i32), MpiError> {
        let address = self.symbol(name)?;
        let (mut major, mut minor) = (-1i32, -1i32);
        // SAFETY: both functions that come here are `int f(int *, int *)` in the MPI standard and
        // may be called before MPI starts.
        let code = unsafe {
            let call: unsafe extern "C" fn(*mut i32, *mut i32) -> i32 =
                std::mem::transmute(address);
            call(&mut major, &mut minor)
        };
        let failed = MpiError::Start { call: name, text: format!("it returned {code}") };
        if code == 0 { Ok((major, minor)) } else { Err(failed) }
    }
}

/// The file of the loaded object that an address lies in.
pub fn file_of(address: *mut c_void) -> Option<PathBuf> {
    // SAFETY: the structure is plain data for which zero is a value, and dladdr fills it; the name
    // in it lives as long as the object, whose address we just had.
    unsafe {
        let mut place: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(address, &mut place) == 0 || place.dli_fname.is_null() {
            return None;
        }
        Some(OsStr::from_bytes(CStr::from_ptr(place.dli_fname).to_bytes()).into())
    }
}

/// Whether an object's file is named like an MPI library.
fn is_mpi_name(name: &CStr) -> bool {
    let name = Path::new(OsStr::from_bytes(name.to_bytes())).file_name();
    name.is_some_and(|name| name.as_bytes().starts_with(b"libmpi"))
}

/// The files of all objects that this process has loaded.
fn loaded_objects() -> Vec<CString> {
    unsafe extern "C" fn note(
        object: *mut libc::dl_phdr_info,
        _size: usize,
        names: *mut c_void,
    ) -> i32 {
        // SAFETY: the loader hands us a structure that is valid during the call, and the list that
        // was given to it below.
        unsafe {
            if !(*object).dlpi_name.is_null() {
                let name = CStr::from_ptr((*object).dlpi_name).to_owned();
                (*names.cast::<Vec<CString>>()).push(name);
            }
        }
        0
    }
    let mut names: Vec<CString> = Vec::new();
    // SAFETY: the list outlives the call, which alone writes to it.
    unsafe { libc::dl_iterate_phdr(Some(note), (&raw mut names).cast()) };
    names
}

fn loader_error() -> String {
    // SAFETY: dlerror returns null or a C string that lives until the next call on this thread.
    unsafe {
        let text = libc::dlerror();
        if text.is_null() {
            return "the loader gave no reason".into();
        }
        CStr::from_ptr(text).to_string_lossy().into_owned()
    }
}

/// The first line of a version text, with single spaces.
pub fn first_line(version: &str) -> String {
    let line = version.lines().next().unwrap_or("");
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_mpi_is_known_by_its_name_and_ours_is_not() {
        assert!(is_mpi_name(c"/usr/lib/libmpich.so.12") && is_mpi_name(c"libmpi_abi.so.1"));
        assert!(!is_mpi_name(c"") && !is_mpi_name(c"/opt/libmpi/liblaneway.so.0"));
        assert!(loaded_objects().iter().any(|name| name.to_bytes().ends_with(b"libc.so.6")));
    }

    #[test]
    fn a_process_without_mpi_gets_an_error() {
        assert_eq!(Library::of_process().err(), Some(MpiError::NotLoaded));
    }

    #[test]
    fn the_first_line_is_tidied() {
        assert_eq!(first_line("MPICH Version:\t 4.0.2\nRelease"), "MPICH Version: 4.0.2");
        assert_eq!(first_line(""), "");
    }
}
