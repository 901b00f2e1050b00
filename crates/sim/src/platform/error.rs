//! Why a platform was refused: where it says so, the reason in words, and what may have been meant.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use laneway_core::error::nearest;

use super::{GENERATORS, Generator, MOST_HOSTS, MOST_SITES};

/// Where something stands: a file and its line, or a generator's words (line 0).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file's name, or all words of the generator.
    pub file: Arc<str>,
    /// Counted from 1; 0 where it is the whole file or a generator.
    pub line: u32,
}

impl Place {
    pub(super) fn new(file: &str, line: u32) -> Place {
        Place { file: file.into(), line }
    }

    pub(super) fn refuse(&self, fault: Fault, reason: impl Into<String>) -> PlatformError {
        PlatformError { place: self.clone(), fault, reason: reason.into() }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}", self.file),
            line => write!(f, "{}:{line}", self.file),
        }
    }
}

/// What kind of mistake it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// A name that is neither a file nor a generator.
    Unknown,
    /// A file that does not exist.
    Missing,
    /// A file that cannot be read.
    File,
    /// Not TOML, or not the form of a generator.
    Syntax,
    /// A word that means nothing here, or a missing one.
    Word,
    /// A value that no cluster has.
    Value,
    /// A name that is taken, or that nothing has.
    Name,
    /// Two hosts without a way between them, or a way that nothing limits.
    Way,
    /// More than is reasonable, or nothing at all.
    Size,
}

/// A refused platform. Reads as `file:line: reason`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlatformError {
    /// Where the mistake is.
    pub place: Place,
    /// For programs: what kind of mistake it is.
    pub fault: Fault,
    /// For people: what is wrong, in words.
    pub reason: String,
}

impl PlatformError {
    /// The cause: the rule of platforms that was broken.
    pub fn cause(&self) -> String {
        match self.fault {
            Fault::Unknown | Fault::Missing | Fault::File => {
                "a platform is a TOML file or a generator with its values"
            }
            Fault::Syntax => "a platform file is TOML, a generator is NAME:SIZE,KEY=VALUE,...",
            Fault::Word => "the platform has an unknown, misplaced or missing key",
            Fault::Value => "rates and sizes are above 0, times have a unit and an order",
            Fault::Name => "a name is declared twice, or not at all",
            Fault::Way => "every host must reach every other host, at a finite rate",
            Fault::Size => {
                return format!(
                    "1 to {MOST_HOSTS} hosts and up to {MOST_SITES} sites are simulated"
                );
            }
        }
        .into()
    }

    /// Whether nothing is known of the platform, since its file is missing or cannot be read.
    pub fn is_unread(&self) -> bool {
        matches!(self.fault, Fault::Missing | Fault::File)
    }

    /// The generator that was meant, if a name is similar.
    pub fn generator(&self) -> Option<&'static Generator> {
        let word = self.place.file.split([':', ',']).next().unwrap_or_default();
        let near = nearest(word, GENERATORS.iter().map(|generator| generator.name));
        GENERATORS.iter().find(|generator| Some(generator.name) == near)
    }

    /// For a missing file, a similar one beside it.
    pub fn similar_file(&self) -> Option<String> {
        let is_whole = self.fault == Fault::Missing && self.place.line == 0;
        is_whole.then(|| similar_file(Path::new(&*self.place.file))).flatten()
    }
}

impl fmt::Display for PlatformError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The reason names a file that is missing as a whole.
        let is_whole = self.fault == Fault::Missing && self.place.line == 0;
        match self.place.file.is_empty() || is_whole {
            true => f.write_str(&self.reason),
            false => write!(f, "{}: {}", self.place, self.reason),
        }
    }
}

impl std::error::Error for PlatformError {}

/// A file beside a missing one whose name is similar, with the same extension.
pub fn similar_file(missing: &Path) -> Option<String> {
    let folder = missing.parent().filter(|folder| !folder.as_os_str().is_empty());
    let beside = std::fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
    let names = beside.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> =
        names.filter(|name| Path::new(name).extension() == missing.extension()).collect();
    names.sort();
    let stem = |name: &str| Some(Path::new(name).file_stem()?.to_str()?.to_string());
    let stems: Vec<String> = names.iter().filter_map(|name| stem(name)).collect();
    let wanted = stem(missing.file_name()?.to_str()?)?;
    let near = nearest(&wanted, stems.iter().map(String::as_str))?;
    let name = names.iter().find(|name| stem(name).as_deref() == Some(near))?;
    let path = folder.map_or_else(|| name.into(), |folder| folder.join(name));
    Some(path.display().to_string())
}
