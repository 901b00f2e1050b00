//! Random bytes that cannot be guessed.

use std::io;

/// `N` random bytes. At most 256, which the system gives all at once.
pub fn random_bytes<const N: usize>() -> io::Result<[u8; N]> {
    const { assert!(N <= 256) };
    let mut bytes = [0; N];
    // SAFETY: the array is valid for its length.
    let got = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), N, 0) };
    if got == N as isize { Ok(bytes) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_are_alike_and_none_stays_zero() {
        let (one, other): ([u8; 256], _) = (random_bytes().expect("bytes"), random_bytes());
        assert_ne!(one, other.expect("bytes"));
        assert!(one[128..].iter().any(|&byte| byte != 0));
    }
}
