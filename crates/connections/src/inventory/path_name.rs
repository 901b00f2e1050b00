//! Names of paths: a device, and which of the paths through it.
//!
//! `eth0` is the first path through a device, `eth0/2` a second one. Both have the device's address
//! and differ in their UDP ports alone, at both ends: a fabric that spreads flows by their ports
//! (ECMP) may carry them over different ways. No device has a slash in its name.

use std::fmt;
use std::str::FromStr;

use laneway_path::wire::MOST_PATHS;

use crate::error::NetError;
use crate::inventory::ethtool::LONGEST_NAME;

/// A path through a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathName {
    /// The device.
    pub device: String,
    /// Which of the paths through it, from 1.
    pub place: u8,
}

impl PathName {
    /// The names of a list, each of which is another path.
    pub fn list<'a>(words: impl IntoIterator<Item = &'a str>) -> Result<Vec<PathName>, NetError> {
        let mut names: Vec<PathName> = Vec::new();
        for word in words {
            let name: PathName = word.parse()?;
            if names.contains(&name) {
                let next = PathName { place: name.place.saturating_add(1), ..name.clone() };
                let why = format!("it is named twice; {next} is another path through its device");
                return Err(NetError::PathName { text: word.to_string(), why });
            }
            names.push(name);
        }
        Ok(names)
    }
}

impl FromStr for PathName {
    type Err = NetError;

    fn from_str(text: &str) -> Result<PathName, NetError> {
        let refused = |why: &str| NetError::PathName { text: text.into(), why: why.into() };
        let (device, place) = text.split_once('/').unwrap_or((text, "1"));
        let odd = |c: char| c.is_whitespace() || c.is_control() || ",=:/".contains(c);
        if device.is_empty() || device.len() > LONGEST_NAME || device.contains(odd) {
            return Err(refused("it is not the name of an interface"));
        }
        let is_number = place.bytes().all(|byte| byte.is_ascii_digit());
        let place = place.parse().ok().filter(|place| is_number && *place > 0);
        let place = place.filter(|place: &u8| usize::from(*place) <= MOST_PATHS);
        let place = place.ok_or_else(|| {
            refused(&format!("the paths through a device are {device}/1 to {device}/{MOST_PATHS}"))
        })?;
        Ok(PathName { device: device.into(), place })
    }
}

impl fmt::Display for PathName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            1 => f.write_str(&self.device),
            place => write!(f, "{}/{place}", self.device),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_written() {
        for (text, device, place) in [
            ("eth0", "eth0", 1),
            ("eth0/1", "eth0", 1),
            ("eth0/2", "eth0", 2),
            ("ib0.7/8", "ib0.7", 8),
        ] {
            let name: PathName = text.parse().expect("a name");
            assert_eq!((name.device.as_str(), name.place), (device, place));
            assert_eq!(name.to_string().parse(), Ok(name), "{text}");
        }
        let long = "a".repeat(LONGEST_NAME + 1);
        for text in ["", "/2", "eth0/", "eth0/0", "eth0/9", "eth0/+2", "eth0/2/2", "eth 0", &long] {
            let read = text.parse::<PathName>();
            assert!(matches!(read, Err(NetError::PathName { .. })), "{text}: {read:?}");
        }
    }

    #[test]
    fn a_path_stands_in_a_list_once() {
        let names = PathName::list(["eth0", "eth1", "eth0/2"]).expect("three paths");
        assert_eq!(names.len(), 3);
        for twice in [["eth0", "eth0"], ["eth0", "eth0/1"]] {
            let Err(NetError::PathName { why, .. }) = PathName::list(twice) else { panic!() };
            assert!(why.contains("eth0/2"), "{why}");
        }
    }
}
