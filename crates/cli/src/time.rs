//! The time of day, as lines of verbs that watch something begin with it.

/// A moment in the time zone of this machine.
pub struct Time(libc::tm);

impl Time {
    pub fn now() -> Time {
        // SAFETY: a tm is a struct of numbers and a pointer, for which zeros are valid.
        let mut parts: libc::tm = unsafe { std::mem::zeroed() };
        // SAFETY: time with a null pointer only returns the time; localtime_r reads that number and
        // writes the struct, both of which are ours.
        unsafe {
            let now = libc::time(std::ptr::null_mut());
            libc::localtime_r(&raw const now, &raw mut parts);
        }
        Time(parts)
    }

    /// `20:31:04`.
    pub fn clock(&self) -> String {
        let Time(parts) = self;
        format!("{:02}:{:02}:{:02}", parts.tm_hour, parts.tm_min, parts.tm_sec)
    }

    /// `2026-11-18T20:31:04+01:00`.
    pub fn whole(&self) -> String {
        let Time(parts) = self;
        let (year, month, day) = (1900 + parts.tm_year, 1 + parts.tm_mon, parts.tm_mday);
        let minutes = parts.tm_gmtoff / 60;
        let sign = if minutes < 0 { '-' } else { '+' };
        let (hours, minutes) = (minutes.abs() / 60, minutes.abs() % 60);
        format!("{year}-{month:02}-{day:02}T{}{sign}{hours:02}:{minutes:02}", self.clock())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_written_with_its_zone() {
        // SAFETY: as above.
        let mut parts: libc::tm = unsafe { std::mem::zeroed() };
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (126, 10, 8);
        (parts.tm_hour, parts.tm_min, parts.tm_sec, parts.tm_gmtoff) = (20, 31, 4, -12_600);
        let time = Time(parts);
        assert_eq!(time.clock(), "20:31:04");
        assert_eq!(time.whole(), "2026-11-08T20:31:04-03:30");
    }
}
