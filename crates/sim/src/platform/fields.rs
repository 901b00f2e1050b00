//! One table of a platform file, or the words of a generator: each key taken once, none left over.

use std::collections::BTreeMap;

use laneway_core::error::nearest;
use laneway_core::units::parse_size;

use super::error::{Fault, Place, PlatformError};
use super::quantity::{LEAST_SECONDS, parse_rate, parse_time};

/// A value as it was written.
pub(super) enum Entry {
    /// Strings and numbers alike: what they mean is decided by who takes them.
    Text(String),
    Flag(bool),
    List(Vec<(String, Place)>),
    /// Anything else, by the name of its type.
    Other(&'static str),
}

/// The keys of one table.
pub(super) struct Fields {
    /// What the table is, for messages: `[[host]]`, `cluster`.
    what: &'static str,
    pub place: Place,
    entries: BTreeMap<String, (Entry, Place)>,
    places: BTreeMap<String, Place>,
    asked: Vec<&'static str>,
}

impl Fields {
    pub fn new(what: &'static str, place: Place) -> Fields {
        Fields { what, place, entries: BTreeMap::new(), places: BTreeMap::new(), asked: Vec::new() }
    }

    /// Adds a key; false where it is there already.
    pub fn insert(&mut self, key: &str, entry: Entry, place: Place) -> bool {
        self.places.insert(key.to_string(), place.clone());
        self.entries.insert(key.to_string(), (entry, place)).is_none()
    }

    /// Where a key stands, taken or not; the table, where it is not there.
    pub fn place_of(&self, key: &str) -> &Place {
        self.places.get(key).unwrap_or(&self.place)
    }

    fn take(&mut self, key: &'static str) -> Option<(Entry, Place)> {
        if !self.asked.contains(&key) {
            self.asked.push(key);
        }
        self.entries.remove(key)
    }

    /// A string, and where it stands.
    pub fn text(&mut self, key: &'static str) -> Result<Option<(String, Place)>, PlatformError> {
        match self.take(key) {
            None => Ok(None),
            Some((Entry::Text(text), place)) => Ok(Some((text, place))),
            Some((other, place)) => Err(self.mistyped(key, "a string", &other, &place)),
        }
    }

    pub fn needed_text(&mut self, key: &'static str) -> Result<(String, Place), PlatformError> {
        self.text(key)?.ok_or_else(|| self.missing(key))
    }

    pub fn read<T>(
        &mut self,
        key: &'static str,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Option<T>, PlatformError> {
        let Some((text, place)) = self.text(key)? else { return Ok(None) };
        let read = parse(&text).map_err(|error| format!("{key}: {error}"));
        read.map(Some).map_err(|reason| place.refuse(Fault::Value, reason))
    }

    /// A rate in bytes a second.
    pub fn rate(&mut self, key: &'static str) -> Result<Option<f64>, PlatformError> {
        self.read(key, parse_rate)
    }

    /// A time in seconds.
    pub fn time(&mut self, key: &'static str) -> Result<Option<f64>, PlatformError> {
        self.read(key, parse_time)
    }

    /// A time above 0: virtual time must not stand still between two of something.
    pub fn positive_time(&mut self, key: &'static str) -> Result<Option<f64>, PlatformError> {
        self.read(key, |text| match parse_time(text)? {
            seconds if seconds < LEAST_SECONDS => Err(format!("`{text}`: at least 1ns")),
            seconds => Ok(seconds),
        })
    }

    /// The end of what begins at an instant.
    pub fn until(&mut self, start: f64) -> Result<Option<f64>, PlatformError> {
        let until = self.time("until")?;
        if until.is_some_and(|until| until <= start) {
            let reason = "`until` must be after `at`";
            return Err(self.place_of("until").refuse(Fault::Value, reason));
        }
        Ok(until)
    }

    pub fn size(&mut self, key: &'static str) -> Result<Option<u64>, PlatformError> {
        self.read(key, parse_size)
    }

    /// What all that is drawn begins with.
    pub fn seed(&mut self) -> Result<Option<u64>, PlatformError> {
        self.read("seed", |text| {
            let wrong = |_| format!("`{text}` is not a whole number from 0 to {}", u64::MAX);
            text.parse().map_err(wrong)
        })
    }

    pub fn flag(&mut self, key: &'static str) -> Result<Option<bool>, PlatformError> {
        match self.take(key) {
            None => Ok(None),
            Some((Entry::Flag(flag), _)) => Ok(Some(flag)),
            Some((other, place)) => Err(self.mistyped(key, "true or false", &other, &place)),
        }
    }

    /// A key that is there with `true`, or not at all: false would not say what holds instead.
    pub fn mark(&mut self, key: &'static str) -> Result<(), PlatformError> {
        match self.flag(key)? {
            Some(true) => Ok(()),
            _ => {
                let reason = format!("`{key}` is true, or left out");
                Err(self.place_of(key).refuse(Fault::Value, reason))
            }
        }
    }

    /// One of two words.
    pub fn choice<T>(
        &mut self,
        key: &'static str,
        words: [(&str, T); 2],
    ) -> Result<Option<T>, PlatformError> {
        let Some((text, place)) = self.text(key)? else { return Ok(None) };
        let [(first, _), (second, _)] = words;
        let reason = format!("{key} is {first} or {second}, not `{text}`");
        let found = words.into_iter().find(|(word, _)| *word == text);
        found.map(|(_, value)| Some(value)).ok_or_else(|| place.refuse(Fault::Value, reason))
    }

    /// Which one of these keys is there; none of them, or two, are refused.
    pub fn one_of<const N: usize>(
        &mut self,
        keys: [&'static str; N],
    ) -> Result<&'static str, PlatformError> {
        self.asked.extend(keys);
        let given: Vec<&str> = keys.into_iter().filter(|key| self.given(key)).collect();
        let (place, found) = match given[..] {
            [key] => return Ok(key),
            [] => (&self.place, "none of them is here".to_string()),
            [first, second, ..] => {
                (self.place_of(second), format!("`{first}` and `{second}` are two"))
            }
        };
        let reason = format!("{} has one of {}; {found}", self.what, keys.join(", "));
        Err(place.refuse(Fault::Word, reason))
    }

    /// Refuses keys that mean something beside `other` only, which is not there.
    pub fn belong_to<const N: usize>(
        &self,
        other: &str,
        keys: [&str; N],
    ) -> Result<(), PlatformError> {
        match keys.into_iter().find(|key| self.given(key)) {
            None => Ok(()),
            Some(key) => {
                let reason = format!("`{key}` refines `{other}`, which is missing");
                Err(self.place_of(key).refuse(Fault::Word, reason))
            }
        }
    }

    fn given(&self, key: &str) -> bool {
        self.places.contains_key(key)
    }

    pub fn list(
        &mut self,
        key: &'static str,
    ) -> Result<Option<Vec<(String, Place)>>, PlatformError> {
        match self.take(key) {
            None => Ok(None),
            Some((Entry::List(list), _)) => Ok(Some(list)),
            Some((other, place)) => Err(self.mistyped(key, "a list of strings", &other, &place)),
        }
    }

    /// Refuses unknown fields.
    pub fn finish(&self) -> Result<(), PlatformError> {
        let Some((key, (_, place))) = self.entries.iter().min_by_key(|(_, (_, place))| place.line)
        else {
            return Ok(());
        };
        let hint = match nearest(key, self.asked.iter().copied()) {
            Some(near) => format!("; did you mean `{near}`?"),
            None => format!("; it has {}", self.asked.join(", ")),
        };
        Err(place.refuse(Fault::Word, format!("{} has no `{key}`{hint}", self.what)))
    }

    pub fn missing(&self, key: &str) -> PlatformError {
        self.place.refuse(Fault::Word, format!("{} needs `{key}`", self.what))
    }

    fn mistyped(&self, key: &str, wanted: &str, found: &Entry, place: &Place) -> PlatformError {
        let found = match found {
            Entry::Text(text) => format!("`{text}`"),
            Entry::Flag(flag) => format!("`{flag}`"),
            Entry::List(_) => "a list".to_string(),
            Entry::Other(kind) => format!("a {kind}"),
        };
        place.refuse(Fault::Value, format!("{key} is {wanted}, not {found}"))
    }
}
