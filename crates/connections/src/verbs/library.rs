//! libibverbs, opened at run time: its functions, each in the version whose layout is used here.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::fmt;
use std::io;
use std::mem::transmute_copy;

use super::ffi::*;

const USUAL: &str = "libibverbs.so.1";
/// Names another library, such as one that stands in for it.
const VARIABLE: &str = "LANEWAY_LIBIBVERBS";

/// Why there are no devices.
#[derive(Debug)]
#[non_exhaustive]
pub enum NoDevices {
    /// The library could not be opened, in the loader's words.
    NoLibrary(String),
    /// The library lacks a function.
    NotVerbs(&'static str),
    /// It refused to list devices.
    Refused(io::Error),
    /// It listed none.
    Empty,
}

impl fmt::Display for NoDevices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoDevices::NoLibrary(why) => write!(f, "libibverbs cannot be opened ({why})"),
            NoDevices::NotVerbs(name) => write!(f, "libibverbs has no {name}"),
            // What libibverbs says where the kernel's part of it is not loaded.
            NoDevices::Refused(error) if error.raw_os_error() == Some(libc::ENOSYS) => {
                f.write_str("libibverbs is there, and the kernel has no InfiniBand loaded")
            }
            NoDevices::Refused(error) => write!(f, "libibverbs lists no devices ({error})"),
            NoDevices::Empty => f.write_str("libibverbs is there and finds no device"),
        }
    }
}

impl std::error::Error for NoDevices {}

/// Writes the functions with their versions once: as fields, and as what is looked for.
macro_rules! functions {
    ($($name:ident $version:literal ($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// Stays loaded to the end: drivers of devices may have begun threads.
        pub struct Library {
            $(pub $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl Library {
            fn find(handle: *mut c_void) -> Result<Library, NoDevices> {
                Ok(Library {
                    $($name: {
                        let name = concat!(stringify!($name), "\0");
                        let version = concat!("IBVERBS_", $version, "\0");
                        let found = look_up(handle, name, version)?;
                        // SAFETY: in this version the function has this signature.
                        unsafe { transmute_copy::<*mut c_void, _>(&found) }
                    },)*
                })
            }
        }
    };
}

functions! {
    ibv_get_device_list "1.1" (*mut c_int) -> *mut *mut ibv_device;
    ibv_free_device_list "1.1" (*mut *mut ibv_device);
    ibv_get_device_name "1.1" (*mut ibv_device) -> *const c_char;
    ibv_open_device "1.1" (*mut ibv_device) -> *mut ibv_context;
    ibv_close_device "1.1" (*mut ibv_context) -> c_int;
    ibv_get_async_event "1.1" (*mut ibv_context, *mut ibv_async_event) -> c_int;
    ibv_ack_async_event "1.1" (*mut ibv_async_event);
    // The exported function fills what stands before `port_cap_flags2`; newer drivers are asked
    // through it as well.
    ibv_query_port "1.1" (*mut ibv_context, u8, *mut ibv_port_attr) -> c_int;
    ibv_query_gid "1.1" (*mut ibv_context, u8, c_int, *mut ibv_gid) -> c_int;
    ibv_alloc_pd "1.1" (*mut ibv_context) -> *mut ibv_pd;
    ibv_dealloc_pd "1.1" (*mut ibv_pd) -> c_int;
    ibv_reg_mr "1.1" (*mut ibv_pd, *mut c_void, usize, c_int) -> *mut ibv_mr;
    ibv_dereg_mr "1.1" (*mut ibv_mr) -> c_int;
    ibv_create_comp_channel "1.0" (*mut ibv_context) -> *mut ibv_comp_channel;
    ibv_destroy_comp_channel "1.0" (*mut ibv_comp_channel) -> c_int;
    ibv_create_cq "1.1" (
        *mut ibv_context, c_int, *mut c_void, *mut ibv_comp_channel, c_int
    ) -> *mut ibv_cq;
    ibv_destroy_cq "1.1" (*mut ibv_cq) -> c_int;
    ibv_get_cq_event "1.1" (*mut ibv_comp_channel, *mut *mut ibv_cq, *mut *mut c_void) -> c_int;
    ibv_ack_cq_events "1.1" (*mut ibv_cq, c_uint);
    ibv_create_qp "1.1" (*mut ibv_pd, *mut ibv_qp_init_attr) -> *mut ibv_qp;
    ibv_modify_qp "1.1" (*mut ibv_qp, *mut ibv_qp_attr, c_int) -> c_int;
    ibv_query_qp "1.1" (*mut ibv_qp, *mut ibv_qp_attr, c_int, *mut ibv_qp_init_attr) -> c_int;
    ibv_destroy_qp "1.1" (*mut ibv_qp) -> c_int;
    ibv_create_ah "1.1" (*mut ibv_pd, *mut ibv_ah_attr) -> *mut ibv_ah;
    ibv_destroy_ah "1.1" (*mut ibv_ah) -> c_int;
}

impl Library {
    /// The library of this name; else the one that `LANEWAY_LIBIBVERBS` names; else the usual one.
    pub fn open(name: Option<&str>) -> Result<Library, NoDevices> {
        let named = std::env::var(VARIABLE).ok();
        let name = name.or(named.as_deref()).unwrap_or(USUAL);
        let Ok(name) = CString::new(name) else {
            return Err(NoDevices::NoLibrary("its name has a zero byte".into()));
        };
        // SAFETY: the name is a C string; what the library does as it is loaded is its users' wish.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        match handle.is_null() {
            true => Err(NoDevices::NoLibrary(loader_error())),
            false => Library::find(handle),
        }
    }
}

fn look_up(
    handle: *mut c_void,
    name: &'static str,
    version: &'static str,
) -> Result<*mut c_void, NoDevices> {
    let lacks = || NoDevices::NotVerbs(name.trim_end_matches('\0'));
    let c = |text: &'static str| CStr::from_bytes_with_nul(text.as_bytes()).map_err(|_| lacks());
    let (name, version) = (c(name)?, c(version)?);
    // SAFETY: the library is open, and both are C strings.
    #[cfg(target_env = "gnu")]
    let found = unsafe { libc::dlvsym(handle, name.as_ptr(), version.as_ptr()) };
    // SAFETY: as above. Where the loader knows no versions, it finds the usual one.
    #[cfg(not(target_env = "gnu"))]
    let found = unsafe { (libc::dlsym(handle, name.as_ptr()), version).0 };
    if found.is_null() { Err(lacks()) } else { Ok(found) }
}

fn loader_error() -> String {
    // SAFETY: the text is the loader's and is copied before anything else is asked of it.
    let text = unsafe { libc::dlerror() };
    if text.is_null() {
        return "the loader gives no reason".into();
    }
    // SAFETY: it is a C string.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
