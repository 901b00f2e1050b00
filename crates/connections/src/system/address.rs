//! Addresses as the system wants them.

use std::mem;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

/// An address of either kind, ready for a call.
#[derive(Clone, Copy)]
pub struct RawAddress {
    storage: libc::sockaddr_storage,
    len: libc::socklen_t,
}

impl RawAddress {
    /// Room for an address that a call writes.
    pub fn empty() -> RawAddress {
        // SAFETY: all bytes zero is a valid value of this plain structure.
        let storage = unsafe { mem::zeroed() };
        RawAddress { storage, len: mem::size_of::<libc::sockaddr_storage>() as libc::socklen_t }
    }

    pub fn new(address: SocketAddr) -> RawAddress {
        let mut raw = RawAddress::empty();
        match address {
            SocketAddr::V4(v4) => {
                let inner = libc::sockaddr_in {
                    sin_family: libc::AF_INET as libc::sa_family_t,
                    sin_port: v4.port().to_be(),
                    sin_addr: libc::in_addr { s_addr: u32::from(*v4.ip()).to_be() },
                    sin_zero: [0; 8],
                };
                raw.set(inner);
            }
            SocketAddr::V6(v6) => {
                let inner = libc::sockaddr_in6 {
                    sin6_family: libc::AF_INET6 as libc::sa_family_t,
                    sin6_port: v6.port().to_be(),
                    sin6_flowinfo: v6.flowinfo(),
                    sin6_addr: libc::in6_addr { s6_addr: v6.ip().octets() },
                    sin6_scope_id: v6.scope_id(),
                };
                raw.set(inner);
            }
        }
        raw
    }

    fn set<T: Copy>(&mut self, inner: T) {
        self.len = mem::size_of::<T>() as libc::socklen_t;
        // SAFETY: a sockaddr_storage is larger than, and aligned for, either structure.
        unsafe { (&raw mut self.storage).cast::<T>().write(inner) };
    }

    pub fn as_ptr(&self) -> *const libc::sockaddr {
        (&raw const self.storage).cast()
    }

    pub fn as_mut_ptr(&mut self) -> *mut libc::sockaddr {
        (&raw mut self.storage).cast()
    }

    pub fn len(&self) -> libc::socklen_t {
        self.len
    }

    /// The address; `None` if a call wrote something else.
    pub fn get(&self) -> Option<SocketAddr> {
        match i32::from(self.storage.ss_family) {
            libc::AF_INET => {
                // SAFETY: the family says that this is what was written.
                let inner = unsafe { (&raw const self.storage).cast::<libc::sockaddr_in>().read() };
                let ip = Ipv4Addr::from(u32::from_be(inner.sin_addr.s_addr));
                Some(SocketAddr::V4(SocketAddrV4::new(ip, u16::from_be(inner.sin_port))))
            }
            libc::AF_INET6 => {
                // SAFETY: as above.
                let inner =
                    unsafe { (&raw const self.storage).cast::<libc::sockaddr_in6>().read() };
                let ip = Ipv6Addr::from(inner.sin6_addr.s6_addr);
                let (port, scope) = (u16::from_be(inner.sin6_port), inner.sin6_scope_id);
                Some(SocketAddr::V6(SocketAddrV6::new(ip, port, inner.sin6_flowinfo, scope)))
            }
            _ => None,
        }
    }
}

/// 18 bytes on the way: the address in 16, and the port.
pub const WIRE_BYTES: usize = 18;

pub fn to_wire(address: SocketAddr) -> [u8; WIRE_BYTES] {
    let ip = match address.ip() {
        IpAddr::V4(v4) => v4.to_ipv6_mapped(),
        IpAddr::V6(v6) => v6,
    };
    let mut wire = [0; WIRE_BYTES];
    wire[..16].copy_from_slice(&ip.octets());
    wire[16..].copy_from_slice(&address.port().to_be_bytes());
    wire
}

pub fn from_wire(wire: [u8; WIRE_BYTES]) -> SocketAddr {
    let mut octets = [0; 16];
    octets.copy_from_slice(&wire[..16]);
    let port = u16::from_be_bytes([wire[16], wire[17]]);
    SocketAddr::new(Ipv6Addr::from(octets).to_canonical(), port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_come_back() {
        for text in ["10.1.2.3:4567", "[fe80::1]:9", "[::1]:65535", "0.0.0.0:0"] {
            let address: SocketAddr = text.parse().expect("an address");
            assert_eq!(RawAddress::new(address).get(), Some(address));
            assert_eq!(from_wire(to_wire(address)), address);
        }
        assert_eq!(RawAddress::empty().get(), None);
    }
}
