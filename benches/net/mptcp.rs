//! One Linux MPTCP connection between two hosts of a lab, with a subflow on each path.

use std::io::{self, Read, Write};
use std::mem;
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use laneway_lab::{LabName, Plan, address, within};

/// How long a connection, or its second subflow, may take, and every wait after.
const LIMIT: Duration = Duration::from_secs(20);
/// The second subflow is there long before this, or never.
const JOINS: Duration = Duration::from_secs(5);
/// Of `linux/mptcp.h`.
const SOL_MPTCP: i32 = 284;
const MPTCP_INFO: i32 = 1;

/// Lets each host have a second subflow. The second host tells its address on the second path, and
/// the first one goes there, by its own interface of that path.
pub fn prepare(lab: &LabName, plan: &Plan) -> Result<(), String> {
    let ip = |host: usize, words: &[&str]| {
        let mut command = Command::new("ip");
        command.args(["-n", &lab.host(&plan.hosts[host].name), "mptcp"]).args(words);
        let output = command.stdin(Stdio::null()).output();
        let output = output.map_err(|error| format!("ip: {error}"))?;
        match output.status.success() {
            true => Ok(()),
            false => {
                let said = String::from_utf8_lossy(&output.stderr).trim().replace('\n', "; ");
                Err(format!("ip mptcp {}: {said}", words.join(" ")))
            }
        }
    };
    for host in 0..2 {
        ip(host, &["limits", "set", "subflow", "1", "add_addr_accepted", "1"])?;
    }
    let second = address(1, &plan.hosts[1]).to_string();
    ip(1, &["endpoint", "add", &second, "dev", "eth1", "signal"])
}

/// Both ends, with both subflows joined.
pub fn connect(lab: &LabName, plan: &Plan) -> Result<(TcpStream, TcpStream), String> {
    let [from, to] = [0, 1].map(|host| lab.host(&plan.hosts[host].name));
    let own = address(0, &plan.hosts[1]);
    let listener = within(&to, listen).map_err(|error| error.to_string())?;
    let listener = listener.map_err(|error| format!("an MPTCP socket: {error}"))?;
    let ends = within(&from, || {
        let port = listener.local_addr()?.port();
        let one = open(SocketAddrV4::new(own, port))?;
        let (other, _) = listener.accept()?;
        for end in [&one, &other] {
            end.set_nodelay(true)?;
            end.set_read_timeout(Some(LIMIT))?;
            end.set_write_timeout(Some(LIMIT))?;
        }
        Ok((one, other))
    });
    let ends: io::Result<(TcpStream, TcpStream)> = ends.map_err(|error| error.to_string())?;
    let (mut one, mut other) = ends.map_err(|error| format!("an MPTCP connection: {error}"))?;
    // The peers tell each other addresses once data went both ways.
    let greeted = one.write_all(&[1]).and_then(|()| other.read_exact(&mut [0]));
    let greeted =
        greeted.and_then(|()| other.write_all(&[1])).and_then(|()| one.read_exact(&mut [0]));
    greeted.map_err(|error| format!("an MPTCP connection: {error}"))?;
    let begun = Instant::now();
    loop {
        let more = [&one, &other].map(added_subflows);
        match more {
            [Ok(1..), Ok(1..)] => return Ok((one, other)),
            [Err(error), _] | [_, Err(error)] => return Err(format!("MPTCP_INFO: {error}")),
            _ if begun.elapsed() > JOINS => {
                return Err(format!("no second subflow within {} s", JOINS.as_secs()));
            }
            _ => thread::sleep(Duration::from_millis(1)),
        }
    }
}

fn socket() -> io::Result<i32> {
    let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC;
    // SAFETY: plain numbers; the result is checked.
    let fd = unsafe { libc::socket(libc::AF_INET, kind, libc::IPPROTO_MPTCP) };
    if fd < 0 { Err(io::Error::last_os_error()) } else { Ok(fd) }
}

fn raw(address: SocketAddrV4) -> libc::sockaddr_in {
    libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: address.port().to_be(),
        sin_addr: libc::in_addr { s_addr: u32::from(*address.ip()).to_be() },
        sin_zero: [0; 8],
    }
}

/// At every address: the second subflow goes to another one than the first.
fn listen() -> io::Result<TcpListener> {
    // SAFETY: the descriptor was just made and has no other owner.
    let listener = unsafe { TcpListener::from_raw_fd(socket()?) };
    let (fd, raw) = (listener.as_raw_fd(), raw(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0)));
    // SAFETY: the address is as long as is said.
    let bound = unsafe {
        libc::bind(fd, (&raw const raw).cast(), mem::size_of_val(&raw) as libc::socklen_t)
    };
    // SAFETY: a descriptor of our own and a number.
    if bound != 0 || unsafe { libc::listen(fd, 1) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(listener)
}

fn open(to: SocketAddrV4) -> io::Result<TcpStream> {
    // SAFETY: the descriptor was just made and has no other owner.
    let stream = unsafe { TcpStream::from_raw_fd(socket()?) };
    // It bounds the call below as well.
    stream.set_write_timeout(Some(LIMIT))?;
    let raw = raw(to);
    // SAFETY: the address is as long as is said.
    let done = unsafe {
        let bytes = mem::size_of_val(&raw) as libc::socklen_t;
        libc::connect(stream.as_raw_fd(), (&raw const raw).cast(), bytes)
    };
    if done == 0 { Ok(stream) } else { Err(io::Error::last_os_error()) }
}

/// Subflows beside the first one.
fn added_subflows(of: &TcpStream) -> io::Result<u8> {
    let mut info = [0_u8; 256];
    let mut bytes = info.len() as libc::socklen_t;
    // SAFETY: the buffer has as many bytes as are said.
    let done = unsafe {
        let into = info.as_mut_ptr().cast();
        libc::getsockopt(of.as_raw_fd(), SOL_MPTCP, MPTCP_INFO, into, &raw mut bytes)
    };
    if done == 0 { Ok(info[0]) } else { Err(io::Error::last_os_error()) }
}
