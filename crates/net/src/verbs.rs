//! The InfiniBand devices of this machine, by libibverbs, which is opened where there is one.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::fmt;
use std::fs;
use std::io;
use std::mem::transmute;

const LIBRARY: &CStr = c"libibverbs.so.1";

/// A device, as libibverbs names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    pub name: String,
    /// What its ports are, by their numbers: `InfiniBand`, or `Ethernet` where it speaks RoCE.
    pub ports: Vec<Port>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    pub number: u32,
    pub link_layer: String,
}

impl Device {
    /// Linux loads alternate paths on native InfiniBand alone; RoCE, and devices in software, have
    /// none.
    pub fn may_migrate_by_itself(&self) -> bool {
        self.ports.iter().any(|port| port.link_layer == "InfiniBand")
    }
}

/// Why there are no devices.
#[derive(Debug)]
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

type GetList = unsafe extern "C" fn(*mut c_int) -> *mut *mut c_void;
type FreeList = unsafe extern "C" fn(*mut *mut c_void);
type GetName = unsafe extern "C" fn(*mut c_void) -> *const c_char;

/// The devices that libibverbs lists. The library stays loaded: its drivers may have begun threads.
pub fn devices() -> Result<Vec<Device>, NoDevices> {
    // SAFETY: the name is a C string; what the library does as it is loaded is its users' wish.
    let library = unsafe { libc::dlopen(LIBRARY.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if library.is_null() {
        return Err(NoDevices::NoLibrary(loader_error()));
    }
    let find = |name: &'static CStr| {
        // SAFETY: the library is open, and the name is a C string.
        let address = unsafe { libc::dlsym(library, name.as_ptr()) };
        let lacks = NoDevices::NotVerbs(name.to_str().unwrap_or_default());
        if address.is_null() { Err(lacks) } else { Ok(address) }
    };
    // SAFETY: these are the signatures that libibverbs has had in all versions of this name.
    let (get_list, free_list, get_name) = unsafe {
        (
            transmute::<*mut c_void, GetList>(find(c"ibv_get_device_list")?),
            transmute::<*mut c_void, FreeList>(find(c"ibv_free_device_list")?),
            transmute::<*mut c_void, GetName>(find(c"ibv_get_device_name")?),
        )
    };
    let mut count = 0;
    // SAFETY: the count is ours to be written.
    let list = unsafe { get_list(&mut count) };
    if list.is_null() {
        return Err(NoDevices::Refused(io::Error::last_os_error()));
    }
    let mut found = Vec::new();
    for at in 0..usize::try_from(count).unwrap_or(0) {
        // SAFETY: the list has so many devices, each with a name that lives as long as the list.
        let name = unsafe { CStr::from_ptr(get_name(*list.add(at))) };
        let name = name.to_string_lossy().into_owned();
        let ports = ports(&name);
        found.push(Device { name, ports });
    }
    // SAFETY: the list is libibverbs' own and is not used after this.
    unsafe { free_list(list) };
    if found.is_empty() { Err(NoDevices::Empty) } else { Ok(found) }
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

fn ports(device: &str) -> Vec<Port> {
    let folder = format!("/sys/class/infiniband/{device}/ports");
    let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
    let mut ports: Vec<Port> = entries
        .filter_map(|entry| {
            let number = entry.file_name().to_str()?.parse().ok()?;
            let layer = fs::read_to_string(entry.path().join("link_layer")).ok()?;
            Some(Port { number, link_layer: layer.trim().into() })
        })
        .collect();
    ports.sort_by_key(|port| port.number);
    ports
}
