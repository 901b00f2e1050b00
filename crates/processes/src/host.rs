//! The name of this host.

/// As the system has it; `localhost` where it has none.
pub fn hostname() -> String {
    let mut name = [0u8; 256];
    // SAFETY: the buffer is valid for its length; the last byte stays zero.
    let code = unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len() - 1) };
    let end = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
    match code == 0 && end > 0 {
        true => String::from_utf8_lossy(&name[..end]).into_owned(),
        false => "localhost".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_name_of_the_kernel() {
        let name = std::fs::read_to_string("/proc/sys/kernel/hostname").expect("a name");
        assert_eq!(hostname(), name.trim());
    }
}
