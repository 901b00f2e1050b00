//! Two hints to the processor about lines of shared memory; they change the time a message takes,
//! never what arrives. Processors without them take them for nothing, and an
//! interpreter (Miri) does not see them.

/// Asks for lines that will be written soon. The reader still has them from the last lap, and
/// taking them back while no reader waits halves the time of a message of a page.
///
/// # Safety
/// `start` must be the address of `len` mapped bytes.
#[inline]
pub(crate) unsafe fn will_write(start: *const u8, len: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    for at in (0..len).step_by(64) {
        // SAFETY: a prefetch faults nowhere and changes no register.
        unsafe {
            std::arch::asm!(
                "prefetchw [{line}]",
                line = in(reg) start.add(at),
                options(nostack, preserves_flags)
            );
        }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = (start, len);
}

/// Moves lines that were just written out to the cache that all cores share, where the reader
/// finds them sooner than in this core's own.
///
/// # Safety
/// `start` must be the address of `len` mapped bytes.
#[inline]
pub(crate) unsafe fn hand_over(start: *const u8, len: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    for at in (0..len).step_by(64) {
        // SAFETY: as above; the line's content stays as it is.
        unsafe {
            std::arch::asm!(
                "cldemote [{line}]",
                line = in(reg) start.add(at),
                options(nostack, preserves_flags)
            );
        }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = (start, len);
}
