//! A library file opened by the system's loader, and what it says of itself before MPI starts.

use std::ffi::{CStr, CString, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::elf;
use crate::error::MpiError;
use crate::flavour::Family;

/// An MPI library as it was found, without MPI being started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub file: PathBuf,
    /// Why this file and no other.
    pub why: String,
    pub family: Family,
    /// The first line of the library's own text.
    pub version: String,
    /// The version of the MPI standard that it claims.
    pub standard: (i32, i32),
    /// Whether it has the functions of MPI-4 that take counts of 64 bits.
    pub large_counts: bool,
}

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
    fn the_first_line_is_tidied() {
        assert_eq!(first_line("MPICH Version:\t 4.0.2\nRelease"), "MPICH Version: 4.0.2");
        assert_eq!(first_line(""), "");
    }
}
