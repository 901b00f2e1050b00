//! The library that stands in for libibverbs: compiled here, because no test machine has a device.

use std::ffi::{CString, c_int, c_void};
use std::mem::transmute;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use laneway_connections::verbs::{Addressed, PathAddress, VerbsOptions, VerbsPath, open};
use laneway_connections::{ConnectionId, Setup};
use laneway_needs::{Need, header};

/// The stand-in. What it counts is of the whole process, of which nextest gives each test its own.
pub struct StandIn {
    pub name: String,
    handle: *mut c_void,
}

/// `None` if it cannot be compiled here.
pub fn standin() -> Option<StandIn> {
    if !Need::Verbs.is_met(header("infiniband/verbs.h")) {
        return None;
    }
    static NAME: OnceLock<String> = OnceLock::new();
    let name = NAME.get_or_init(compile).clone();
    let c = CString::new(name.as_str()).expect("no zero");
    // SAFETY: the name is a C string, and the library does nothing as it is loaded.
    let handle = unsafe { libc::dlopen(c.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    assert!(!handle.is_null(), "{name} is a library");
    Some(StandIn { name, handle })
}

fn compile() -> String {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/verbs");
    let to = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libstandin.so");
    let written = |file: &Path| file.metadata().and_then(|found| found.modified()).ok();
    let files = ["standin.c", "fabric.h", "standin.map"].map(|file| written(&source.join(file)));
    if files.iter().all(|file| *file < written(&to)) {
        return to.to_str().expect("text").into();
    }
    let fresh = to.with_extension(format!("{}.so", std::process::id()));
    let map = format!("-Wl,--version-script={}", source.join("standin.map").display());
    let mut compiler = Command::new("cc");
    compiler.args(["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]);
    compiler.arg(source.join("standin.c")).arg(map).arg("-o").arg(&fresh).arg("-pthread");
    let output = compiler.output().expect("a compiler");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // Another test may have it open: it keeps its own.
    std::fs::rename(&fresh, &to).expect("renamed");
    to.to_str().expect("text").into()
}

impl StandIn {
    fn find(&self, name: &str) -> *mut c_void {
        let name = CString::new(name).expect("no zero");
        // SAFETY: the library is open, and the name is a C string.
        let found = unsafe { libc::dlsym(self.handle, name.as_ptr()) };
        assert!(!found.is_null());
        found
    }

    /// Takes a port down or brings it back.
    pub fn set_port(&self, at: &PathAddress, is_up: bool) {
        type SetPort = unsafe extern "C" fn(u16, u8, u8, c_int) -> c_int;
        // SAFETY: the stand-in's function has this signature.
        let found = unsafe {
            let set = transmute::<*mut c_void, SetPort>(self.find("standin_port"));
            set(at.lid, at.gid[14], at.gid[15], is_up.into())
        };
        assert_eq!(found, 1, "a port");
    }

    /// Contexts, queue pairs and registrations that were not given back.
    pub fn objects(&self) -> i32 {
        // SAFETY: as above.
        unsafe {
            let count = self.find("standin_objects");
            transmute::<*mut c_void, unsafe extern "C" fn() -> c_int>(count)()
        }
    }

    pub fn options(&self, paths: Vec<VerbsPath>, setup: Setup) -> VerbsOptions {
        VerbsOptions { library: Some(self.name.clone()), setup, ..VerbsOptions::usual(paths) }
    }

    /// Two drivers with a connection between them.
    pub fn pair(&self, paths: &[VerbsPath], setup: Setup) -> Connected {
        let both = [(); 2].map(|()| self.options(paths.to_vec(), setup));
        connect(both)
    }
}

pub struct Connected {
    pub ends: [Box<dyn Addressed + Send>; 2],
    pub ids: [ConnectionId; 2],
    /// Where each end is, on each path.
    pub at: [Vec<PathAddress>; 2],
}

pub fn connect(options: [VerbsOptions; 2]) -> Connected {
    let mut ends = options.map(|options| open(options).expect("opened"));
    let [(here, a), (there, b)] = ends.each_mut().map(|end| end.prepare().expect("prepared"));
    ends[0].connect(here, &b).expect("connected");
    ends[1].connect(there, &a).expect("connected");
    Connected { ends, ids: [here, there], at: [a.paths, b.paths] }
}

/// A port of a device.
pub fn path(device: &str, port: u8, path_bits: u8) -> VerbsPath {
    VerbsPath { device: device.into(), port, path_bits, gid_index: 1 }
}

pub fn two_ports(device: &str) -> Vec<VerbsPath> {
    vec![path(device, 1, 0), path(device, 2, 0)]
}
