//! Initialisation and finalisation.

use std::ffi::{c_char, c_int};
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Mutex;

use laneway_connections::{Endpoint, Notice, Options, Secret, Service};

use super::held::{Data, Driver, call_back, find, handle, insert, refuse_in_callback, remove};
use super::setup::read_setup;
use super::*;
use crate::arguments::{items, refused, word};
use crate::failure::Failure;
use crate::last_error::{Coded, answer_coded};

/// The longest packet of IP.
const MOST_MTU: c_int = 65_535;
/// What every network carries.
const LEAST_MTU: c_int = 576;

/// Initialisation: opens a socket for each path, and starts the thread where it is asked for. What
/// all connections share is behind the handle that is written to `*paths`, and NULL where it
/// fails. Both ends of a connection name their paths in the same order.
///
/// # Safety
/// `options` and all that it points to stay during the call, texts are C strings, lists are as long
/// as they say, and `paths` has room for a handle. `on_event` may be called with `data` from the
/// thread until the handle is closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn laneway_paths_open(
    options: *const PathsOptions,
    paths: *mut *mut Paths,
) -> c_int {
    answer_coded(|| {
        if options.is_null() || paths.is_null() {
            let cause = format!("{} is NULL", if paths.is_null() { "paths" } else { "options" });
            return Err(refused("an argument is missing", cause, "its address").into());
        }
        // SAFETY: as the caller promises.
        let options = unsafe {
            *paths = std::ptr::null_mut();
            &*options
        };
        if options.on_event.is_some() && options.thread == 0 {
            let cause = "the thread calls on_event, and there is none";
            return Err(refused("on_event is missing", cause, "thread = 1, or no on_event").into());
        }
        // SAFETY: as the caller promises.
        let endpoint = Endpoint::open(unsafe { opened_with(options)? })?;
        let opened = insert(|number| drive(endpoint, options, number))?;
        // SAFETY: as the caller promises.
        unsafe { *paths = opened };
        Ok(())
    })
}

/// Finalisation: closes every connection and tells the peers, ends the thread, and frees all. What
/// has not arrived is lost: wait for LANEWAY_EVENT_SENT before. When it returns, no buffer is
/// written to and on_event is not called any more. The handle is then refused, here as well; NULL
/// is, too.
#[unsafe(no_mangle)]
pub extern "C" fn laneway_paths_close(paths: *mut Paths) -> c_int {
    answer_coded(|| {
        refuse_in_callback()?;
        remove(paths)?.end();
        Ok(())
    })
}

/// Where a path begins here, with its port, as "10.0.0.1:40123": written to `text`, which has room
/// for `length` characters; 64 are enough. A peer gives it to laneway_paths_connect.
///
/// # Safety
/// `text` has so much room.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn laneway_paths_address(
    paths: *mut Paths,
    path: c_int,
    text: *mut c_char,
    length: c_int,
) -> c_int {
    answer_coded(|| {
        let addresses = find(paths)?.with(|endpoint| endpoint.addresses());
        let known = usize::try_from(path).ok().and_then(|path| addresses.get(path));
        let Some(address) = known else {
            let cause = format!("path {path}; they are 0 to {}", addresses.len() - 1);
            return Err(refused("no such path", cause, "a path that was opened").into());
        };
        let address = address.to_string();
        if text.is_null() || usize::try_from(length).unwrap_or(0) <= address.len() {
            let cause = format!("`{address}` and its end need {}", address.len() + 1);
            return Err(refused("there is no room for the address", cause, "64 characters").into());
        }
        // SAFETY: there is room for all of it and its end, as was just seen.
        unsafe {
            text.copy_from_nonoverlapping(address.as_ptr().cast(), address.len());
            *text.add(address.len()) = 0;
        }
        Ok(())
    })
}

/// Hands the endpoint to who drives it.
fn drive(endpoint: Endpoint, options: &PathsOptions, number: usize) -> Result<Driver, Coded> {
    if options.thread == 0 {
        return Ok(Driver::Calls(Box::new(Mutex::new(endpoint))));
    }
    let Some(on_event) = options.on_event else {
        return Ok(Driver::Thread(Service::start(endpoint)?));
    };
    let data = Data(options.data);
    let tell = move |notice: &Notice| {
        // All of it goes to the thread, and not the bare address alone.
        let Data(data) = &data;
        let Some(event) = Event::of(notice) else { return };
        // SAFETY: the program promised that it may be called so until the handle is closed, which
        // ends the thread before it returns.
        call_back(|| unsafe { on_event(handle(number), &raw const event, *data) });
    };
    Ok(Driver::Thread(Service::start_with(endpoint, tell)?))
}

/// # Safety
/// As for `laneway_paths_open`.
unsafe fn opened_with(options: &PathsOptions) -> Result<Options, Coded> {
    let setup = read_setup(options)?;
    // SAFETY: as the caller promises.
    unsafe {
        let paths = items(options.paths, options.count, "options.paths")?;
        let paths = paths.iter().map(|path| local(path)).collect::<Result<_, Failure>>()?;
        let secret = secret(options)?;
        Ok(Options { paths, secret, accepts: options.accepts != 0, setup })
    }
}

/// # Safety
/// The texts are C strings, or NULL.
unsafe fn local(path: &LocalPath) -> Result<laneway_connections::LocalPath, Failure> {
    // SAFETY: as the caller promises.
    let (address, device) = unsafe {
        let device = (!path.device.is_null()).then(|| word(path.device, "device")).transpose()?;
        (word(path.address, "address")?, device)
    };
    let ip: IpAddr = address.parse().map_err(|_| {
        refused("invalid address", format!("`{address}`"), "an address as 10.0.0.1 or fd00::1")
    })?;
    if device.is_some_and(|name| name.is_empty() || name.len() > 15) {
        let try_this = "NULL, or a device of `ip -brief address`";
        return Err(refused("unknown device", format!("`{}`", device.unwrap_or("")), try_this));
    }
    let (first, last) = (path.first_port, path.last_port);
    if last != 0 && (first == 0 || last < first) {
        return Err(refused(
            "invalid port range",
            format!("{first} to {last}"),
            "the lower port first",
        ));
    }
    let mtu = if path.mtu == 0 { 1500 } else { path.mtu };
    if !(LEAST_MTU..=MOST_MTU).contains(&mtu) {
        let try_this = format!("0, or {LEAST_MTU} to {MOST_MTU}");
        return Err(refused("invalid packet size", format!("mtu is {mtu}"), &try_this));
    }
    Ok(laneway_connections::LocalPath {
        address: SocketAddr::new(ip, first),
        last_port: last.max(first),
        device: device.map(str::to_owned),
        mtu: mtu as usize,
    })
}

/// # Safety
/// The file is a C string or NULL, and the bytes are as many as are said, or NULL.
unsafe fn secret(options: &PathsOptions) -> Result<Secret, Coded> {
    let PathsOptions { secret_file, secret, secret_length, .. } = *options;
    match (secret_file.is_null(), secret.is_null()) {
        (true, true) if secret_length > 0 => {
            Err(refused("an argument is missing", "secret is NULL", "its bytes, or no length")
                .into())
        }
        (true, true) => Ok(Secret::none()),
        (false, false) => {
            let cause = "secret_file and secret are both given";
            Err(refused("two secrets are given", cause, "one of them").into())
        }
        (false, true) => {
            // SAFETY: as the caller promises.
            let file = unsafe { word(secret_file, "secret_file")? };
            Ok(Secret::from_file(Path::new(file))?)
        }
        (true, false) => {
            // SAFETY: as the caller promises.
            let bytes = unsafe { std::slice::from_raw_parts(secret.cast::<u8>(), secret_length) };
            Ok(Secret::from_bytes(bytes)?)
        }
    }
}
