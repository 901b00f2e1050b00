//! Memory that a device may read and write.

use std::ffi::c_int;
use std::mem::{self, ManuallyDrop};
use std::ptr::null_mut;
use std::sync::Arc;

use super::device::{Device, failed};
use super::ffi::*;
use crate::error::NetError;

/// A buffer that is registered with a device for as long as it is here.
pub(super) struct Region {
    buffer: ManuallyDrop<Vec<u8>>,
    /// Where the buffer is: parts of it are the device's, others ours, so that no reference to all
    /// of it is made while it is registered.
    start: *mut u8,
    /// Null for an empty one, which needs no registration.
    mr: *mut ibv_mr,
    bytes: usize,
    device: Arc<Device>,
}

// SAFETY: the buffer is this region's alone, and libibverbs lets any thread use its objects.
unsafe impl Send for Region {}

impl Region {
    /// The first bytes of a buffer, within its capacity; gives the buffer back where it fails.
    pub fn new(
        device: &Arc<Device>,
        mut buffer: Vec<u8>,
        bytes: usize,
    ) -> Result<Region, (NetError, Vec<u8>)> {
        let bytes = bytes.min(buffer.capacity());
        let (start, mut mr) = (buffer.as_mut_ptr(), null_mut());
        if bytes > 0 {
            // SAFETY: the buffer is as long, and stays where it is until it is deregistered.
            mr = unsafe {
                let access = IBV_ACCESS_LOCAL_WRITE as c_int;
                (device.library.ibv_reg_mr)(device.pd, start.cast(), bytes, access)
            };
            if mr.is_null() {
                return Err((failed("ibv_reg_mr"), buffer));
            }
        }
        let (buffer, device) = (ManuallyDrop::new(buffer), Arc::clone(device));
        Ok(Region { buffer, start, mr, bytes, device })
    }

    /// A part of it, for the device; `None` if it is empty or does not lie in it.
    pub fn element(&self, start: usize, bytes: usize) -> Option<ibv_sge> {
        if self.mr.is_null() || bytes == 0 || !self.has(start, bytes) {
            return None;
        }
        // SAFETY: it is registered.
        let lkey = unsafe { (*self.mr).lkey };
        let addr = self.start as u64 + start as u64;
        Some(ibv_sge { addr, length: u32::try_from(bytes).ok()?, lkey })
    }

    fn has(&self, start: usize, bytes: usize) -> bool {
        start.checked_add(bytes).is_some_and(|end| end <= self.bytes)
    }

    /// The bytes of a part; `None` if it does not lie in it.
    ///
    /// # Safety
    /// The part has been written, and the device does not write it as long as it is looked at.
    pub unsafe fn get(&self, start: usize, bytes: usize) -> &[u8] {
        match self.has(start, bytes) {
            // SAFETY: it lies in the buffer; the rest is what the caller says.
            true => unsafe { std::slice::from_raw_parts(self.start.add(start), bytes) },
            false => &[],
        }
    }

    /// Writes to a part; false where it does not fit.
    ///
    /// # Safety
    /// The device does not use the part now.
    pub unsafe fn set(&mut self, start: usize, from: &[u8]) -> bool {
        let fits = self.has(start, from.len());
        if fits {
            // SAFETY: it lies in the buffer, which has no other user; the rest is what the caller
            // says.
            unsafe { self.start.add(start).copy_from_nonoverlapping(from.as_ptr(), from.len()) };
        }
        fits
    }

    /// The buffer, which the device does not use any more.
    pub fn into_buffer(mut self) -> Vec<u8> {
        if self.deregister() {
            return mem::take(&mut *self.buffer);
        }
        // The device may still reach it: it stays where it is.
        let copy = self.buffer.to_vec();
        mem::forget(self);
        copy
    }

    /// The same after the device wrote `bytes` bytes at its beginning.
    pub fn into_written(mut self, bytes: usize) -> Vec<u8> {
        let bytes = bytes.min(self.bytes);
        // SAFETY: within the capacity; the device has written these bytes, and says so.
        unsafe { self.buffer.set_len(bytes) };
        self.into_buffer()
    }

    fn deregister(&mut self) -> bool {
        let mr = mem::replace(&mut self.mr, null_mut());
        // SAFETY: it is registered, and is not used after this.
        mr.is_null() || unsafe { (self.device.library.ibv_dereg_mr)(mr) } == 0
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        if self.deregister() {
            // SAFETY: it is dropped once, here; `into_buffer` has left an empty one.
            unsafe { ManuallyDrop::drop(&mut self.buffer) };
        }
    }
}
