//! What a run keeps of its export file before its end: a journal beside it with a line for each
//! row, and the file itself, rendered at most once a second.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use laneway_core::units::counted;
use laneway_core::{Document, Row};
use laneway_report::{Extent, journal, read};

use crate::failure::Failure;
use crate::output;

/// The shortest time from one rendering to the next.
const PAUSE: Duration = Duration::from_secs(1);
/// The part of the time that renderings may take: one in this number.
const SHARE: u32 = 20;

/// How far a run is.
pub struct Step<'a> {
    /// The run, without rows.
    pub document: &'a Document,
    /// The rows that are new.
    pub added: &'a [Row],
    /// How much is done: `96 of 476 points`.
    pub done: String,
    /// How much the whole run is: `476 points`.
    pub planned: String,
}

impl<'a> Step<'a> {
    /// Point `done` of `all`, in this unit: `point`.
    pub fn new(
        document: &'a Document,
        added: &'a [Row],
        (done, all): (usize, usize),
        unit: &str,
    ) -> Step<'a> {
        let planned = counted(all as u64, unit);
        Step { document, added, done: format!("{done} of {planned}"), planned }
    }
}

/// The journal of an export file. One that is dropped before the end of the run says what it has.
pub struct Journal {
    file: PathBuf,
    lines: File,
    rows: u64,
    planned: String,
    /// When the export file may be rendered again.
    due: Instant,
}

/// The journal of an export file, beside what the file's name stands for.
pub fn beside(export: &Path) -> PathBuf {
    let target = export.is_symlink().then(|| export.canonicalize().ok()).flatten();
    let mut name = target.unwrap_or_else(|| export.to_owned()).into_os_string();
    name.push(".journal");
    name.into()
}

impl Journal {
    /// Begins one in the place of an older one.
    pub fn begin(export: &Path, step: &Step) -> Result<Journal, Failure> {
        let file = beside(export);
        let head = journal::head(step.document, &step.planned);
        let begun = File::create(&file).and_then(|mut lines| {
            lines.write_all(head.as_bytes())?;
            Ok(lines)
        });
        let lines = begun.map_err(|error| unwritable(&file, &error))?;
        let planned = step.planned.clone();
        interrupt::arm(&file, &planned);
        Ok(Journal { file, lines, rows: 0, planned, due: Instant::now() })
    }

    /// A line for each row, all of them in one write.
    pub fn append(&mut self, rows: &[Row]) -> Result<(), Failure> {
        let lines: String = rows.iter().map(journal::line).collect();
        let written = self.lines.write_all(lines.as_bytes());
        written.map_err(|error| unwritable(&self.file, &error))?;
        self.rows += rows.len() as u64;
        interrupt::count(self.rows);
        Ok(())
    }

    /// Renders, unless that was done a moment ago.
    pub fn render(&mut self, render: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
        let begun = Instant::now();
        if begun < self.due {
            return Ok(());
        }
        render()?;
        let end = Instant::now();
        self.due = end + PAUSE.max((end - begun) * SHARE);
        Ok(())
    }

    /// The run is complete, and its export file is written.
    pub fn finish(mut self) {
        interrupt::disarm();
        self.rows = 0;
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        interrupt::disarm();
        match self.rows {
            0 => _ = std::fs::remove_file(&self.file),
            rows => say_kept(&Kept { rows, planned: &self.planned, file: &self.file }),
        }
    }
}

fn unwritable(file: &Path, error: &io::Error) -> Failure {
    let what = format!("cannot write `{}`", file.display());
    Failure::environment(what, error.to_string(), output::writable(file))
}

/// What a run that was stopped leaves.
struct Kept<'a> {
    rows: u64,
    planned: &'a str,
    file: &'a Path,
}

fn say_kept(kept: &Kept) {
    let Kept { rows, planned, file } = kept;
    let (rows, file) = (counted(*rows, "row"), file.display());
    output::note(&format!("kept {rows} of a run of {planned} in {file}"));
}

/// The journal that ranks of this process would write, and when the process began.
static EXPECTED: OnceLock<(PathBuf, SystemTime)> = OnceLock::new();

/// Remembers where an export goes: the process that starts the ranks does not write it, and says
/// what they have left.
pub fn expect(export: &Path) {
    _ = EXPECTED.set((beside(export), SystemTime::now()));
}

/// Says what the ranks that this process had started have left, if they have left something.
pub fn say_left() {
    let Some((file, begun)) = EXPECTED.get() else { return };
    let changed = std::fs::metadata(file).and_then(|found| found.modified());
    // One from before is of another run.
    if !changed.is_ok_and(|changed| changed >= *begun) {
        return;
    }
    let run = std::fs::read_to_string(file).ok().and_then(|text| read("", &text).ok());
    if let Some(Extent::Incomplete(done)) = run.map(|run| run.extent) {
        output::note(&format!("kept {done} in {}", file.display()));
    }
}

/// What a process says that a signal ends while it writes a journal.
mod interrupt {
    use super::*;
    use std::os::unix::ffi::OsStrExt;
    use std::sync::atomic::AtomicPtr;

    /// The words around the number of rows.
    struct Words {
        before: &'static [u8],
        after: Vec<u8>,
    }

    static WORDS: AtomicPtr<Words> = AtomicPtr::new(std::ptr::null_mut());
    static ROWS: AtomicU64 = AtomicU64::new(0);

    /// From now on, a signal that ends this process has it say what was kept.
    pub fn arm(file: &Path, planned: &str) {
        let mut after = format!(" rows of a run of {planned} in ").into_bytes();
        after.extend_from_slice(file.as_os_str().as_bytes());
        after.push(b'\n');
        ROWS.store(0, Ordering::Relaxed);
        // Never freed: a handler may be reading it. A process begins few journals.
        let words = Box::leak(Box::new(Words { before: b"\nkept ", after }));
        WORDS.store(words, Ordering::Release);
        for signal in laneway_processes::ENDING {
            install(signal);
        }
    }

    pub fn count(rows: u64) {
        ROWS.store(rows, Ordering::Relaxed);
    }

    pub fn disarm() {
        WORDS.store(std::ptr::null_mut(), Ordering::Release);
    }

    /// Leaves alone what a library, or who started this process, has decided.
    fn install(signal: libc::c_int) {
        // SAFETY: an action of zeros may be overwritten, and the handler makes only
        // async-signal-safe calls.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            if libc::sigaction(signal, std::ptr::null(), &mut action) == 0
                && action.sa_sigaction == libc::SIG_DFL
            {
                libc::signal(signal, on_signal as *const () as libc::sighandler_t);
            }
        }
    }

    extern "C" fn on_signal(signal: libc::c_int) {
        let words = WORDS.load(Ordering::Acquire);
        let rows = ROWS.load(Ordering::Relaxed);
        // SAFETY: words are never freed; write, signal and raise are async-signal-safe. The
        // signal is blocked until this returns, and then ends the process as it would have.
        unsafe {
            if let Some(words) = words.as_ref().filter(|_| rows > 0) {
                let mut digits = [0; 20];
                for part in [words.before, decimal(rows, &mut digits), &words.after] {
                    libc::write(2, part.as_ptr().cast(), part.len());
                }
            }
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
    }

    /// A number without memory from the heap.
    fn decimal(mut number: u64, digits: &mut [u8; 20]) -> &[u8] {
        let mut at = digits.len();
        loop {
            at -= 1;
            digits[at] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 || at == 0 {
                return &digits[at..];
            }
        }
    }

    #[cfg(test)]
    mod tests {
        #[test]
        fn numbers_are_decimal() {
            for number in [0, 7, 10, 476, u64::MAX] {
                let mut digits = [0; 20];
                assert_eq!(super::decimal(number, &mut digits), number.to_string().as_bytes());
            }
        }
    }
}
