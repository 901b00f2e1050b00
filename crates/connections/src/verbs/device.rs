//! A device that is open: its ports, its events, its completion queues.

use std::ffi::{c_int, c_uint};
use std::io;
use std::ptr::{self, null_mut};
use std::sync::Arc;

use super::devices::List;
use super::ffi::*;
use super::library::Library;
use crate::error::NetError;

/// Everything that is made of a device holds it, so that it is closed last.
pub(super) struct Device {
    pub name: String,
    pub library: Library,
    pub context: *mut ibv_context,
    pub pd: *mut ibv_pd,
    channel: *mut ibv_comp_channel,
}

// SAFETY: libibverbs lets any thread use any of its objects, several at the same time.
unsafe impl Send for Device {}
// SAFETY: as above.
unsafe impl Sync for Device {}

/// What a device reports of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeviceEvent {
    OfPair { pair: *const ibv_qp, what: c_uint },
    OfPort { port: u8, is_up: bool },
    Fatal,
    Other,
}

pub(super) fn failed(what: &str) -> NetError {
    NetError::system(what, io::Error::last_os_error())
}

/// For functions that return the error, or -1 and leave it in `errno`.
pub(super) fn check(what: &str, result: c_int) -> Result<(), NetError> {
    match result {
        0 => Ok(()),
        1.. => Err(NetError::system(what, io::Error::from_raw_os_error(result))),
        _ => Err(failed(what)),
    }
}

impl Device {
    pub fn open(library: Option<&str>, name: &str) -> Result<Arc<Device>, NetError> {
        let library = Library::open(library);
        let library = library.map_err(|why| NetError::Device { why: why.to_string() })?;
        let context = open_context(&library, name)?;
        let (pd, channel) = (null_mut(), null_mut());
        // From here on what was made is given back whatever fails.
        let mut device = Device { name: name.into(), library, context, pd, channel };
        // SAFETY: the context is open.
        device.pd = unsafe { (device.library.ibv_alloc_pd)(context) };
        if device.pd.is_null() {
            return Err(failed("ibv_alloc_pd"));
        }
        // SAFETY: as above.
        device.channel = unsafe { (device.library.ibv_create_comp_channel)(context) };
        if device.channel.is_null() {
            return Err(failed("ibv_create_comp_channel"));
        }
        device.fds().into_iter().try_for_each(do_not_block)?;
        Ok(Arc::new(device))
    }

    /// What to wait for: events of the device and of completions.
    pub fn fds(&self) -> [c_int; 2] {
        // SAFETY: both are open.
        unsafe { [(*self.context).async_fd, (*self.channel).fd] }
    }

    pub fn port(&self, port: u8) -> Result<ibv_port_attr, NetError> {
        // SAFETY: all bytes zero is a value of this plain structure.
        let mut attr: ibv_port_attr = unsafe { std::mem::zeroed() };
        // SAFETY: the context is open, and the structure is as long as any that is written.
        let result = unsafe { (self.library.ibv_query_port)(self.context, port, &raw mut attr) };
        check(&format!("ibv_query_port of {} {port}", self.name), result)?;
        Ok(attr)
    }

    pub fn gid(&self, port: u8, index: u8) -> Result<[u8; 16], NetError> {
        let mut gid = ibv_gid { raw: [0; 16] };
        let index = c_int::from(index);
        // SAFETY: the context is open, and the structure is ours.
        let result =
            unsafe { (self.library.ibv_query_gid)(self.context, port, index, &raw mut gid) };
        check(&format!("ibv_query_gid of {} {port} {index}", self.name), result)?;
        Ok(gid.raw)
    }

    /// The next event of the device, if there is one; never blocks.
    pub fn event(&self) -> Option<DeviceEvent> {
        let mut event = ibv_async_event { element: null_mut(), event_type: 0 };
        // SAFETY: the context is open, its descriptor does not block, and the structure is ours.
        let result = unsafe { (self.library.ibv_get_async_event)(self.context, &raw mut event) };
        if result != 0 {
            return None;
        }
        // SAFETY: a port is a C int at the beginning of the union.
        let port = unsafe { (&raw const event.element).cast::<c_int>().read() } as u8;
        let reported = match event.event_type {
            IBV_EVENT_PORT_ERR => DeviceEvent::OfPort { port, is_up: false },
            IBV_EVENT_PORT_ACTIVE => DeviceEvent::OfPort { port, is_up: true },
            IBV_EVENT_DEVICE_FATAL => DeviceEvent::Fatal,
            IBV_EVENT_PATH_MIG
            | IBV_EVENT_PATH_MIG_ERR
            | IBV_EVENT_COMM_EST
            | IBV_EVENT_SQ_DRAINED
            | IBV_EVENT_QP_FATAL
            | IBV_EVENT_QP_REQ_ERR
            | IBV_EVENT_QP_ACCESS_ERR => {
                DeviceEvent::OfPair { pair: event.element.cast(), what: event.event_type }
            }
            _ => DeviceEvent::Other,
        };
        // SAFETY: it was given to us just now, and is acknowledged once.
        unsafe { (self.library.ibv_ack_async_event)(&raw mut event) };
        Some(reported)
    }

    /// Takes all events of completion queues: the waiter polls the queues themselves.
    pub fn silence(&self) {
        loop {
            let (mut cq, mut user) = (null_mut(), null_mut());
            // SAFETY: the channel is open, its descriptor does not block, the pointers are ours,
            // and what was got is acknowledged once.
            unsafe {
                if (self.library.ibv_get_cq_event)(self.channel, &raw mut cq, &raw mut user) != 0 {
                    return;
                }
                (self.library.ibv_ack_cq_events)(cq, 1);
            }
        }
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // SAFETY: nothing that was made of them is left, for all of it holds this device.
        unsafe {
            if !self.channel.is_null() {
                (self.library.ibv_destroy_comp_channel)(self.channel);
            }
            if !self.pd.is_null() {
                (self.library.ibv_dealloc_pd)(self.pd);
            }
            (self.library.ibv_close_device)(self.context);
        }
    }
}

fn open_context(library: &Library, name: &str) -> Result<*mut ibv_context, NetError> {
    let list = List::of(library).map_err(|why| NetError::Device { why: why.to_string() })?;
    let Some((_, device)) = list.devices().find(|(known, _)| known == name) else {
        let known: Vec<String> = list.devices().map(|(name, _)| name).collect();
        let known = if known.is_empty() { "none".into() } else { known.join(", ") };
        return Err(NetError::Device {
            why: format!("no device is called {name}; known: {known}"),
        });
    };
    // SAFETY: the device is of the list, which is still there.
    let context = unsafe { (library.ibv_open_device)(device) };
    if context.is_null() { Err(failed("ibv_open_device")) } else { Ok(context) }
}

fn do_not_block(fd: c_int) -> Result<(), NetError> {
    // SAFETY: plain numbers.
    let set = unsafe {
        let flags = libc::fcntl(fd, libc::F_GETFL);
        flags >= 0 && libc::fcntl(fd, libc::F_SETFL, flags | libc::O_NONBLOCK) == 0
    };
    if set { Ok(()) } else { Err(failed("fcntl")) }
}

/// Where a device puts what is done.
pub(super) struct CompletionQueue {
    device: Arc<Device>,
    pub cq: *mut ibv_cq,
}

// SAFETY: as for the device.
unsafe impl Send for CompletionQueue {}

impl CompletionQueue {
    pub fn new(device: &Arc<Device>, entries: u32) -> Result<CompletionQueue, NetError> {
        let device = Arc::clone(device);
        let entries = c_int::try_from(entries).unwrap_or(c_int::MAX);
        // SAFETY: context and channel are open, and stay so as long as this queue.
        let cq = unsafe {
            let (context, channel) = (device.context, device.channel);
            (device.library.ibv_create_cq)(context, entries, null_mut(), channel, 0)
        };
        match cq.is_null() {
            true => Err(failed("ibv_create_cq")),
            false => Ok(CompletionQueue { device, cq }),
        }
    }

    /// The next thing that is done.
    pub fn poll(&self) -> Option<ibv_wc> {
        // SAFETY: all bytes zero is a value of this plain structure; the queue is open, and the
        // device's functions are there as long as its context.
        unsafe {
            let poll = (*self.device.context).ops.poll_cq?;
            let mut wc: ibv_wc = std::mem::zeroed();
            (poll(self.cq, 1, &raw mut wc) == 1).then_some(wc)
        }
    }

    /// Requests a notification of the next completion.
    pub fn arm(&self) {
        // SAFETY: as above.
        unsafe {
            if let Some(request) = (*self.device.context).ops.req_notify_cq {
                request(self.cq, 0);
            }
        }
    }
}

impl Drop for CompletionQueue {
    fn drop(&mut self) {
        // SAFETY: the queue pairs that used it are gone, for they hold it.
        unsafe { (self.device.library.ibv_destroy_cq)(self.cq) };
        self.cq = ptr::null_mut();
    }
}
