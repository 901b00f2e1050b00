//! What a driver itself says of its interface, by ioctl and by the interface's name. It is true at
//! the moment of asking, and true of the network namespace of the thread that opened the socket.

use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixDatagram;

const GET_SETTINGS: u32 = 0x01;
const GET_DRIVER: u32 = 0x03;
const GET_LINK: u32 = 0x0a;

/// Longest name of an interface, without the zero that ends it.
pub const LONGEST_NAME: usize = libc::IFNAMSIZ - 1;

/// A socket to ask drivers by; any kind serves.
pub struct Ethtool {
    socket: UnixDatagram,
}

/// `struct ifreq` as these calls use it: a name, and a number or an address behind it.
#[repr(C)]
struct Request<T> {
    name: [u8; libc::IFNAMSIZ],
    value: T,
    rest: [u64; 2],
}

impl Ethtool {
    pub fn open() -> io::Result<Ethtool> {
        Ok(Ethtool { socket: UnixDatagram::unbound()? })
    }

    /// The number of an interface; nothing where there is none of this name.
    pub fn index(&self, name: &str) -> io::Result<Option<u32>> {
        let found = self.call(name, libc::SIOCGIFINDEX, 0_i32);
        absent_is_nothing(found.map(|index| index as u32))
    }

    /// Whether a link is there, by the driver's own word, else by the flags that the kernel keeps;
    /// nothing where there is no such interface. One that is switched off has no link.
    pub fn has_link(&self, name: &str) -> io::Result<Option<bool>> {
        let mut command = [GET_LINK, 0];
        let said = self.ethtool(name, &mut command);
        match said {
            Ok(()) => Ok(Some(command[1] != 0)),
            Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => self.is_running(name),
            Err(error) => absent_is_nothing(Err(error)),
        }
    }

    /// Whether the kernel uses an interface, which it does a while after the link is there; nothing
    /// where there is no such interface.
    pub fn is_running(&self, name: &str) -> io::Result<Option<bool>> {
        let flags = self.call(name, libc::SIOCGIFFLAGS, 0_i16);
        let both = (libc::IFF_UP | libc::IFF_RUNNING) as i16;
        absent_is_nothing(flags.map(|flags| flags & both == both))
    }

    /// The driver's name, where it has one.
    pub fn driver(&self, name: &str) -> Option<String> {
        // `struct ethtool_drvinfo`: the command, and then the name in 32 bytes.
        let mut command = [0_u32; 49];
        command[0] = GET_DRIVER;
        self.ethtool(name, &mut command).ok()?;
        let bytes: Vec<u8> = command[1..9].iter().flat_map(|word| word.to_ne_bytes()).collect();
        let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
        let text = String::from_utf8_lossy(text).into_owned();
        (!text.is_empty()).then_some(text)
    }

    /// The rate of the link in Mbit/s, where the driver knows it.
    pub fn speed_mbit(&self, name: &str) -> Option<u32> {
        // `struct ethtool_cmd`: the low half of the speed in the fourth word, the high half in the
        // eighth.
        let mut command = [0_u32; 11];
        command[0] = GET_SETTINGS;
        self.ethtool(name, &mut command).ok()?;
        let half = |word: u32| {
            let bytes = word.to_ne_bytes();
            u32::from(u16::from_ne_bytes([bytes[0], bytes[1]]))
        };
        match half(command[7]) << 16 | half(command[3]) {
            0 | u32::MAX | 0xffff => None,
            speed => Some(speed),
        }
    }

    /// The kernel writes its answer over the command, never more than its structure's length, which
    /// each caller's array has.
    fn ethtool<const N: usize>(&self, name: &str, command: &mut [u32; N]) -> io::Result<()> {
        self.call(name, libc::SIOCETHTOOL, command.as_mut_ptr()).map(|_| ())
    }

    fn call<T>(&self, name: &str, request: libc::c_ulong, value: T) -> io::Result<T> {
        let mut asked = Request { name: [0; libc::IFNAMSIZ], value, rest: [0; 2] };
        if name.is_empty() || name.len() > LONGEST_NAME || name.contains('\0') {
            return Err(io::Error::from_raw_os_error(libc::ENODEV));
        }
        asked.name[..name.len()].copy_from_slice(name.as_bytes());
        // SAFETY: the request is at least as long as `struct ifreq` and lives longer than the call;
        // an address in it is of an array as long as the structure of its command.
        let code = unsafe { libc::ioctl(self.socket.as_raw_fd(), request as _, &raw mut asked) };
        if code < 0 { Err(io::Error::last_os_error()) } else { Ok(asked.value) }
    }
}

fn absent_is_nothing<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.raw_os_error() == Some(libc::ENODEV) => Ok(None),
        Err(error) => Err(error),
    }
}
