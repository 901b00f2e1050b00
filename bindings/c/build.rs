//! Gives the library the name by which programs find it at run time.

fn main() {
    let major = std::env::var("CARGO_PKG_VERSION_MAJOR").unwrap_or_default();
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,liblaneway.so.{major}");
    println!("cargo::rerun-if-changed=build.rs");
}
