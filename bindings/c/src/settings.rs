//! What holds for a thread's measurements beside their arguments, until it is set anew.

use std::cell::{Cell, RefCell};
use std::ffi::{CString, c_char, c_int};

use laneway_core::Rank;
use laneway_measure::clock::TRIPS;
use laneway_measure::p2p::Cache;
use laneway_measure::timing::{Confirmation, Series};
use laneway_measure::{Isolation, Procedure};

use crate::arguments::{refused, word};
use crate::failure::Failure;
use crate::last_error::answer;
use crate::together::mark_of;

/// The names, and what each takes.
const NAMES: [(&str, &str); 9] = [
    ("root", "a rank"),
    ("confirmation", "barrier, reduce or messages"),
    ("isolation", "none, barrier[:ALGORITHM], double-barrier[:ALGORITHM], reduce or p2p"),
    ("start", "none, barrier[:ALGORITHM], double-barrier[:ALGORITHM], reduce or p2p"),
    ("sync", "tree or offset"),
    ("trips", "a number of round trips"),
    ("resync", "a number of repetitions"),
    ("series", "a number of calls"),
    ("cache", "warm, cold or cold:SIZE"),
];

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Of operations that have one, and whose clock root timing reads.
    pub root: Rank,
    pub confirmation: Confirmation,
    pub isolation: Isolation,
    pub start: Isolation,
    pub sync: Procedure,
    /// Round trips without a shorter one that end a comparison of two clocks, of "offset".
    pub trips: u32,
    /// Repetitions between two comparisons of the clocks.
    pub resync: u32,
    /// Calls of one series, for loop timing.
    pub series: u32,
    /// Whether the buffers of a collective are in the cache before a call.
    pub cache: Cache,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            root: 0,
            confirmation: Confirmation::default(),
            isolation: Isolation::barrier(),
            start: Isolation::None,
            sync: Procedure::default(),
            trips: TRIPS,
            resync: 50,
            series: Series::default().length,
            cache: Cache::default(),
        }
    }
}

thread_local! {
    static OWN: Cell<Option<Settings>> = const { Cell::new(None) };
}

/// Those of this thread.
pub fn current() -> Settings {
    OWN.try_with(Cell::get).ok().flatten().unwrap_or_default()
}

impl Settings {
    /// Tells them from others.
    pub fn mark(&self) -> u64 {
        let texts = NAMES.iter().filter_map(|(name, _)| self.text(name));
        mark_of(texts.flat_map(|text| text.into_bytes().into_iter().chain([0])).map(u64::from))
    }

    /// One of them as `laneway_set` takes it.
    fn text(&self, name: &str) -> Option<String> {
        Some(match name {
            "root" => self.root.to_string(),
            "confirmation" => self.confirmation.name().to_owned(),
            "isolation" => self.isolation.to_string(),
            "start" => self.start.to_string(),
            "sync" => self.sync.name().to_owned(),
            "trips" => self.trips.to_string(),
            "resync" => self.resync.to_string(),
            "series" => self.series.to_string(),
            "cache" => self.cache.to_string(),
            _ => return None,
        })
    }

    /// The same with one of them changed; to what it is at first where there is no value.
    fn with(self, name: &str, value: Option<&str>) -> Result<Settings, Failure> {
        let Some((_, takes)) = NAMES.iter().find(|(known, _)| *known == name) else {
            let names = NAMES.map(|(name, _)| name).join(", ");
            return Err(refused("unknown setting", format!("there is no `{name}`"), &names));
        };
        let first = Settings::default();
        let bad = |value: &str| {
            refused("invalid value", format!("`{value}` is not a value of {name}"), takes)
        };
        let number = |first: u32, least: u32| match value {
            None => Ok(first),
            Some(text) => {
                text.parse().ok().filter(|number| *number >= least).ok_or_else(|| bad(text))
            }
        };
        let mut changed = self;
        match name {
            "root" => changed.root = number(first.root, 0)?,
            "trips" => changed.trips = number(first.trips, 1)?,
            "resync" => changed.resync = number(first.resync, 1)?,
            "series" => changed.series = number(first.series, 1)?,
            "confirmation" => {
                let named =
                    |text: &str| Confirmation::ALL.into_iter().find(|known| known.name() == text);
                changed.confirmation = chosen(first.confirmation, value, named, bad)?;
            }
            "sync" => {
                let named =
                    |text: &str| Procedure::ALL.into_iter().find(|known| known.name() == text);
                changed.sync = chosen(first.sync, value, named, bad)?;
            }
            "cache" => {
                let named = |text: &str| text.parse().ok();
                changed.cache = chosen(first.cache, value, named, bad)?;
            }
            "start" => {
                let named = |text: &str| Isolation::parse(text).ok();
                changed.start = chosen(first.start, value, named, bad)?;
            }
            _ => {
                let named = |text: &str| Isolation::parse(text).ok();
                changed.isolation = chosen(first.isolation, value, named, bad)?;
            }
        }
        Ok(changed)
    }
}

/// What a word names, or what is there without one.
fn chosen<T>(
    first: T,
    value: Option<&str>,
    named: impl Fn(&str) -> Option<T>,
    bad: impl Fn(&str) -> Failure,
) -> Result<T, Failure> {
    value.map_or(Ok(first), |text| named(text).ok_or_else(|| bad(text)))
}

/// Changes how this thread's next measurements of collectives and functions are done; all ranks
/// set the same, and the measurement reports what differs. `value` is a text, or NULL for what
/// holds at first, which is named first here:
///
/// - "root": "0", the root of operations that have one, and the rank whose clock root timing reads;
/// - "confirmation": "barrier", "reduce" or "messages", how the root learns that all are done, for
///   root timing;
/// - "isolation": "barrier", "double-barrier", each also with an algorithm as in
///   "barrier:dissemination" or "barrier:native", "reduce", "p2p" or "none": what keeps repetitions
///   apart; start time and loop need none;
/// - "start": "none" or any isolation: what all pass after it, right before a repetition;
/// - "sync": "tree" or "offset", how clocks are compared, for global and start time;
/// - "trips": "10", round trips without a shorter one that end a comparison, by offset alone;
/// - "resync": "50", repetitions between two comparisons, for global timing;
/// - "series": "100", calls of one series, for loop timing;
/// - "cache": "warm", "cold" or a size as in "cold:64M": whether each call of a collective has
///   other buffers, which cycle through so much memory (256 MiB), so that they are not in the
///   cache. The buffers of a function are the caller's affair.
///
/// # Safety
/// Both are C strings, or the value is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn laneway_set(name: *const c_char, value: *const c_char) -> c_int {
    answer(|| {
        // SAFETY: as the caller promises.
        let name = unsafe { word(name, "name")? };
        let value = match value.is_null() {
            true => None,
            // SAFETY: as the caller promises.
            false => Some(unsafe { word(value, "value")? }),
        };
        let changed = current().with(name, value)?;
        // A thread that is ending measures nothing any more.
        let _ = OWN.try_with(|own| own.set(Some(changed)));
        Ok(())
    })
}

thread_local! {
    static TEXT: RefCell<CString> = RefCell::default();
}

/// The value of a setting for this thread's next measurements, as laneway_set takes it; NULL for an
/// unknown name. The text stays until the thread's next call of this function.
///
/// # Safety
/// The name is a C string or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn laneway_setting(name: *const c_char) -> *const c_char {
    // SAFETY: as the caller promises.
    let name = unsafe { word(name, "name") };
    let text = name.ok().and_then(|name| current().text(name));
    let Some(text) = text.and_then(|text| CString::new(text).ok()) else {
        return std::ptr::null();
    };
    TEXT.try_with(|kept| {
        kept.replace(text);
        kept.borrow().as_ptr()
    })
    .unwrap_or(std::ptr::null())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_and_go_back_to_the_first() {
        let first = Settings::default();
        for (name, value) in [
            ("root", "3"),
            ("confirmation", "reduce"),
            ("isolation", "double-barrier:tree"),
            ("start", "reduce"),
            ("sync", "offset"),
            ("trips", "3"),
            ("resync", "1"),
            ("series", "7"),
            ("cache", "cold:64M"),
        ] {
            let changed = first.with(name, Some(value)).expect(name);
            assert_ne!(changed, first, "{name}");
            assert_ne!(changed.mark(), first.mark(), "{name}");
            assert_eq!(changed.text(name).as_deref(), Some(value));
            assert_eq!(changed.with(name, None).expect(name), first, "{name}");
            for bad in ["", "x", "-1", "barrier:x", "4294967296"] {
                let said = first.with(name, Some(bad)).expect_err(name).to_string();
                assert!(said.contains(name) && said.contains("try:"), "{said}");
            }
        }
        assert!(
            ["trips", "resync", "series"].iter().all(|name| first.with(name, Some("0")).is_err())
        );
        let said = first.with("rot", None).expect_err("unknown setting").to_string();
        assert!(
            said.contains(
                "root, confirmation, isolation, start, sync, trips, resync, series, cache"
            ),
            "{said}"
        );
    }
}
