//! Looks at a library's ELF headers before the loader maps it: a foreign or truncated file becomes
//! an error here, where the loader may answer with a bus error or with an unhelpful message.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::error::MpiError;

#[cfg(target_arch = "x86_64")]
const HERE: (u16, &str) = (62, "x86-64");
#[cfg(target_arch = "aarch64")]
const HERE: (u16, &str) = (183, "AArch64");
#[cfg(target_arch = "riscv64")]
const HERE: (u16, &str) = (243, "RISC-V 64");
#[cfg(target_arch = "powerpc64")]
const HERE: (u16, &str) = (21, "POWER");

const HEADER_BYTES: usize = 64;
const SEGMENT_BYTES: usize = 56;
const SHARED_OBJECT: u16 = 3;
const LOADED_SEGMENT: u32 = 1;

/// Refuses what is not a whole shared library of this machine.
pub fn check(path: &Path) -> Result<(), MpiError> {
    let refuse = |why: String| MpiError::NotALibrary { file: path.into(), why };
    let file = File::open(path).map_err(|e| refuse(e.to_string()))?;
    let length = file.metadata().map_err(|e| refuse(e.to_string()))?.len();
    let mut header = [0u8; HEADER_BYTES];
    if length < HEADER_BYTES as u64 {
        return Err(refuse(format!("it has only {length} bytes")));
    }
    file.read_exact_at(&mut header, 0).map_err(|e| refuse(e.to_string()))?;
    if header[..4] != *b"\x7fELF" {
        return Err(refuse("it is not an ELF file".into()));
    }
    let machine = u16_at(&header, 18);
    let (class, order) = (header[4], header[5]);
    if class != 2 || order != 1 || machine != HERE.0 {
        let built_for = describe(machine, class, order);
        return Err(MpiError::OtherArchitecture { file: path.into(), built_for, needed: HERE.1 });
    }
    if u16_at(&header, 16) != SHARED_OBJECT {
        return Err(refuse("it is not a shared object".into()));
    }
    check_segments(&file, length, &header).map_err(refuse)
}

/// Every byte that the loader would map must be in the file.
fn check_segments(file: &File, length: u64, header: &[u8]) -> Result<(), String> {
    let (table, entry, count) = (u64_at(header, 32), u16_at(header, 54), u16_at(header, 56));
    if usize::from(entry) != SEGMENT_BYTES || count == 0 {
        return Err("its program headers are of an unknown form".into());
    }
    let truncated = || format!("it is truncated: the file ends after {length} bytes");
    for number in 0..u64::from(count) {
        let mut segment = [0u8; SEGMENT_BYTES];
        let at = table.checked_add(number * SEGMENT_BYTES as u64).ok_or_else(truncated)?;
        file.read_exact_at(&mut segment, at).map_err(|_| truncated())?;
        let end = u64_at(&segment, 8).checked_add(u64_at(&segment, 32));
        if u32_at(&segment, 0) == LOADED_SEGMENT && end.is_none_or(|end| end > length) {
            return Err(truncated());
        }
    }
    Ok(())
}

fn describe(machine: u16, class: u8, order: u8) -> String {
    let machine = match (order, machine) {
        (2, swapped) => format!("a big-endian machine (number {})", swapped.swap_bytes()),
        (_, 3) => "32-bit x86".into(),
        (_, 21) => "POWER".into(),
        (_, 40) => "32-bit ARM".into(),
        (_, 62) => "x86-64".into(),
        (_, 183) => "AArch64".into(),
        (_, 243) => "RISC-V".into(),
        (_, other) => format!("a machine of number {other}"),
    };
    if class == 1 { format!("{machine} with 32-bit addresses") } else { machine }
}

// The three readers are given offsets within buffers of known length only.
fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from(u16_at(bytes, at)) | u32::from(u16_at(bytes, at + 2)) << 16
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find::tests::Tree;

    /// The C library is a shared library of this machine wherever these tests run.
    fn a_real_library() -> Vec<u8> {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let path = maps.lines().filter_map(|line| line.split_whitespace().nth(5));
        let path = path.into_iter().find(|path| path.contains("libc.so")).unwrap();
        std::fs::read(path).unwrap()
    }

    #[test]
    fn only_whole_libraries_of_this_machine_pass() {
        let (tree, real) = (Tree::new("elf"), a_real_library());
        let verdict = |name: &str, bytes: &[u8]| check(&tree.file(name, bytes));
        assert_eq!(verdict("whole.so", &real), Ok(()));

        for cut in [0, 3, 40, 64, 100, 5000, real.len() / 2] {
            let error = verdict("cut.so", &real[..cut]).unwrap_err();
            assert!(matches!(error, MpiError::NotALibrary { .. }), "{cut}: {error:?}");
        }
        let mut foreign = real.clone();
        foreign[18] = if HERE.0 == 183 { 62 } else { 183 };
        let error = verdict("foreign.so", &foreign).unwrap_err();
        assert!(matches!(error, MpiError::OtherArchitecture { .. }), "{error:?}");
        let mut narrow = real.clone();
        (narrow[4], narrow[18]) = (1, 3);
        let error = verdict("narrow.so", &narrow).unwrap_err();
        assert!(error.cause().contains("32-bit x86"));
        let error = verdict("text.so", b"INPUT(libmpi.so.12) ".repeat(9).as_slice()).unwrap_err();
        assert!(error.cause().contains("not an ELF file"));
        assert!(check(&tree.path("absent.so")).is_err());
        assert!(check(&tree.path("")).is_err(), "a folder is not a library");
    }
}
