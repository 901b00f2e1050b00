//! Names of what a lab makes, by which all of it is found for removal and nothing else.

use std::path::PathBuf;

use crate::error::LabError;

/// Where `ip netns` keeps namespaces.
pub(crate) const NAMESPACES: &str = "/run/netns";
/// Where labs keep what later commands need.
const FOLDER: &str = "/run/laneway-lab";
const MOST_LETTERS: usize = 32;

/// The name of a lab: small letters, digits and dashes, so that a prefix ends where it should.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabName(String);

impl LabName {
    /// Refuses what cannot be a name.
    pub fn new(name: &str) -> Result<LabName, LabError> {
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if name.is_empty() || name.len() > MOST_LETTERS || !name.chars().all(fits) {
            let rule = "small letters, digits and dashes, at most 32";
            return Err(LabError::Name(format!("`{name}` names no lab: {rule}")));
        }
        Ok(LabName(name.to_string()))
    }

    /// The name itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// With what the names of all its namespaces begin.
    pub fn prefix(&self) -> String {
        format!("laneway.{}.", self.0)
    }

    /// The namespace of a host.
    pub fn host(&self, name: &str) -> String {
        format!("{}host.{name}", self.prefix())
    }

    /// The switches of a site, and its router to the others.
    pub fn site(&self, number: usize) -> String {
        format!("{}site.{number}", self.prefix())
    }

    /// The namespace of the process that is the WAN.
    pub fn wan(&self) -> String {
        format!("{}wan", self.prefix())
    }

    /// The switch of the network beside the others.
    pub fn management(&self) -> String {
        format!("{}management", self.prefix())
    }

    /// Where it keeps its files.
    pub fn folder(&self) -> PathBuf {
        PathBuf::from(FOLDER).join(&self.0)
    }

    /// One of its files.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }

    /// Writes one of its files.
    pub(crate) fn write(&self, name: &str, text: &str) -> Result<(), LabError> {
        let file = self.file(name);
        std::fs::write(&file, text)
            .map_err(|error| LabError::system(format!("writing {}", file.display()), error))
    }

    /// The labs that have a folder or a namespace.
    pub fn all() -> Vec<LabName> {
        let names = |folder: &str| {
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned())
        };
        let of_namespace = |name: String| {
            let rest = name.strip_prefix("laneway.")?;
            rest.split('.').next().map(str::to_string)
        };
        let mut found: Vec<String> = names(FOLDER).collect();
        found.extend(names(NAMESPACES).filter_map(of_namespace));
        found.sort();
        found.dedup();
        found.iter().filter_map(|name| LabName::new(name).ok()).collect()
    }
}

/// The port of a host's card at its switch.
pub(crate) fn port(host: usize, path: usize) -> String {
    format!("h{host}c{path}")
}

/// The switch of a path.
pub(crate) fn switch(path: usize) -> String {
    format!("path{path}")
}

/// The switch of a path for hosts that are partitioned from the others.
pub(crate) fn partition_switch(path: usize) -> String {
    format!("apart{path}")
}

/// A host's card.
pub(crate) fn card(path: usize) -> String {
    format!("eth{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_of_one_lab_only() {
        let (one, other) = (LabName::new("a").expect("a"), LabName::new("a-b").expect("a-b"));
        assert!(!other.host("x").starts_with(&one.prefix()));
        for wrong in ["", "A", "a.b", "a/b", "..", &"a".repeat(33)] {
            assert!(LabName::new(wrong).is_err(), "{wrong}");
        }
    }
}
