//! The InfiniBand devices of this machine, by libibverbs, which is opened where there is one.

use std::ffi::CStr;
use std::fs;
use std::io;

use super::ffi::ibv_device;
use super::library::{Library, NoDevices};

/// A device, as libibverbs names it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Device {
    /// Its name.
    pub name: String,
    /// What its ports are, by their numbers: `InfiniBand`, or `Ethernet` where it speaks RoCE.
    pub ports: Vec<Port>,
}

/// A port of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Port {
    /// Its number, from 1.
    pub number: u32,
    /// `InfiniBand` or `Ethernet`.
    pub link_layer: String,
}

impl Device {
    /// Linux loads alternate paths on native InfiniBand alone; RoCE, and devices in software, have
    /// none.
    pub fn may_migrate_by_itself(&self) -> bool {
        self.ports.iter().any(|port| port.link_layer == "InfiniBand")
    }
}

/// The devices that libibverbs lists. The library stays loaded: its drivers may have begun threads.
pub fn devices() -> Result<Vec<Device>, NoDevices> {
    let library = Library::open(None)?;
    let list = List::of(&library)?;
    let named = list.devices().map(|(name, _)| Device { ports: ports(&name), name });
    let found: Vec<Device> = named.collect();
    if found.is_empty() { Err(NoDevices::Empty) } else { Ok(found) }
}

/// The devices as libibverbs lists them.
pub(super) struct List<'a> {
    library: &'a Library,
    devices: *mut *mut ibv_device,
    count: usize,
}

impl<'a> List<'a> {
    pub fn of(library: &'a Library) -> Result<List<'a>, NoDevices> {
        let mut count = 0;
        // SAFETY: the count is ours to be written.
        let devices = unsafe { (library.ibv_get_device_list)(&mut count) };
        if devices.is_null() {
            return Err(NoDevices::Refused(io::Error::last_os_error()));
        }
        Ok(List { library, devices, count: usize::try_from(count).unwrap_or(0) })
    }

    /// Each with its name; good for as long as the list.
    pub fn devices(&self) -> impl Iterator<Item = (String, *mut ibv_device)> {
        (0..self.count).map(|at| {
            // SAFETY: the list has `count` devices, each with a name that lives as long as it.
            unsafe {
                let device = *self.devices.add(at);
                let name = CStr::from_ptr((self.library.ibv_get_device_name)(device));
                (name.to_string_lossy().into_owned(), device)
            }
        })
    }
}

impl Drop for List<'_> {
    fn drop(&mut self) {
        // SAFETY: the list is libibverbs' own and is not used after this.
        unsafe { (self.library.ibv_free_device_list)(self.devices) };
    }
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
