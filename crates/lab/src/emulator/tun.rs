//! TUN devices: what the system sends to one is read here, what is written here it receives.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;

/// Opens a TUN device in the network namespace of the calling thread, and makes it first where
/// there is none. It carries plain IP packets and never blocks; one that was made here goes when
/// the descriptor is closed.
pub fn open_tun(name: &str) -> io::Result<OwnedFd> {
    let bytes = name.as_bytes();
    if bytes.is_empty() || bytes.len() >= libc::IFNAMSIZ || bytes.contains(&0) {
        let why = format!("{name:?} is not a device name: 1 to {} bytes", libc::IFNAMSIZ - 1);
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    let mut options = OpenOptions::new();
    options.read(true).write(true).custom_flags(libc::O_NONBLOCK);
    let device = OwnedFd::from(options.open("/dev/net/tun")?);
    // SAFETY: it is made of numbers, arrays of them and null pointers, for which zero is valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(bytes) {
        *to = *from as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
    // SAFETY: the request is an ifreq with a name that ends in zero, as TUNSETIFF expects, and
    // lives longer than the call.
    match unsafe { libc::ioctl(device.as_raw_fd(), libc::TUNSETIFF, &mut request) } {
        0 => Ok(device),
        _ => Err(io::Error::last_os_error()),
    }
}
