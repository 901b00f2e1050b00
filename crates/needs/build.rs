//! Builds what lets ranks of an MPI over UCX share a core; without a C compiler there is none.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=src/yielding.c");
    let folder = std::env::var("OUT_DIR").unwrap_or_default();
    let object = Path::new(&folder).join("yielding.so");
    let mut compiler = Command::new("cc");
    compiler.args(["-O2", "-shared", "-fPIC", "src/yielding.c", "-ldl", "-o"]).arg(&object);
    let is_built = compiler.output().is_ok_and(|output| output.status.success());
    let name = if is_built { object.display().to_string() } else { String::new() };
    println!("cargo:rustc-env=LANEWAY_YIELDING={name}");
}
