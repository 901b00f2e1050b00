//! Where everything that the command says leaves it: results to stdout, all else to stderr.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use clap::error::ErrorKind;
use clap::{Arg, ArgMatches, Command};
use laneway_core::Document;
use laneway_draw::Format;
use laneway_draw::html::{self, Picture};
use laneway_report::{Run, table};

use crate::failure::{Exit, Failure};
use crate::journal::{self, Journal, Step};
use crate::{mistake, progress};

/// The arguments of every verb that prints rows.
pub fn args() -> [Arg; 2] {
    let formats = Format::ALL.map(Format::name);
    [
        Arg::new("format")
            .long("format")
            .env("LANEWAY_FORMAT")
            .value_parser(formats)
            .default_value("table")
            .help("How to print the rows"),
        Arg::new("export").long("export").value_name("FILE").help(
            "Also write the rows to FILE, by its extension: .json, .csv, .txt (OSU), .gp, .html",
        ),
    ]
}

/// How and where a verb's rows go.
pub struct Output {
    pub format: Format,
    export: Option<(String, Format)>,
    /// Of a run that is not at its end.
    journal: Mutex<Option<Journal>>,
    /// Drawings that a page shows before its rows.
    pictures: Vec<Picture>,
}

impl Output {
    pub fn from(matches: &ArgMatches) -> Result<Output, Failure> {
        let format = matches.get_one::<String>("format").map(String::as_str);
        let format = format.and_then(Format::by_name).unwrap_or(Format::Table);
        let export = match matches.get_one::<String>("export") {
            None => None,
            Some(file) => {
                let ending = Path::new(file).extension().and_then(|ending| ending.to_str());
                match ending.and_then(Format::by_ending) {
                    Some(format) => Some((file.clone(), format)),
                    None => {
                        let what = format!("unknown format of `{file}`");
                        let cause = "the extension must be .json, .csv, .txt, .gp or .html";
                        return Err(Failure::usage(what, cause, "--export rows.json"));
                    }
                }
            }
        };
        if let Some((file, _)) = &export {
            journal::expect(Path::new(file));
        }
        Ok(Output { format, export, journal: Mutex::new(None), pictures: Vec::new() })
    }

    /// The format of the export file, if one is wanted.
    pub fn export_format(&self) -> Option<Format> {
        self.export.as_ref().map(|(_, format)| *format)
    }

    /// With drawings, which a page shows and other formats leave out.
    pub fn with_pictures(self, pictures: Vec<Picture>) -> Output {
        Output { pictures, ..self }
    }

    fn render(&self, format: Format, document: &Document) -> String {
        match format {
            Format::Html if !self.pictures.is_empty() => self.page(document),
            Format::Table => table::render_as(document, &table_style()),
            format => format.render(document),
        }
    }

    fn page(&self, document: &Document) -> String {
        let title = format!("laneway {}", document.verb);
        html::pictured(&title, &[Run::from(document)], &self.pictures)
    }

    /// Writes the export file of a run that is complete, if one is wanted.
    pub fn save(&self, document: &Document) -> Result<(), Failure> {
        let Some((file, format)) = &self.export else { return Ok(()) };
        let text = match format {
            Format::Html if !self.pictures.is_empty() => self.page(document),
            format => format.export(document, None),
        };
        replace(Path::new(file), &text)?;
        if let Some(journal) = self.journal().take() {
            journal.finish();
        }
        Ok(())
    }

    /// Whether [`Output::keep`] keeps something: a pipe or a device takes the complete run alone.
    pub fn keeps(&self) -> bool {
        let is_file = |file: &str| std::fs::metadata(file).map_or(true, |found| found.is_file());
        self.journal().is_some() || self.export.as_ref().is_some_and(|(file, _)| is_file(file))
    }

    /// Keeps what a run has measured so far, in the journal and, at most once a second, in the
    /// export file; a run that is killed leaves both. `all` is the document with all rows.
    pub fn keep(&self, step: &Step, all: impl FnOnce() -> Document) -> Result<(), Failure> {
        let Some((file, format)) = self.export.as_ref().filter(|_| self.keeps()) else {
            return Ok(());
        };
        let mut kept = self.journal();
        let journal = match &mut *kept {
            Some(journal) => journal,
            none => none.insert(Journal::begin(Path::new(file), step)?),
        };
        journal.append(step.added)?;
        journal.render(|| replace(Path::new(file), &format.export(&all(), Some(&step.done))))
    }

    fn journal(&self) -> MutexGuard<'_, Option<Journal>> {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Prints the document; `brief` stands in for it where a person reads.
    pub fn write(&self, document: &Document, brief: Option<&Document>) -> Result<(), Failure> {
        self.write_as(document, |output| {
            let shown = match (output.format, brief) {
                (Format::Table, Some(brief)) => brief,
                _ => document,
            };
            output.render(output.format, shown)
        })
    }

    /// The same; where a person reads, an answer in sentences comes first, and then a table.
    pub fn write_answered<S: AsRef<str>>(
        &self,
        document: &Document,
        answer: &[S],
        table: impl FnOnce(&table::Style) -> String,
    ) -> Result<(), Failure> {
        self.write_as(document, |output| match output.format {
            Format::Table => {
                let table = table(&table_style());
                let gap = if table.is_empty() || answer.is_empty() { "" } else { "\n" };
                format!("{}{gap}{table}", paragraphs(answer))
            }
            format => output.render(format, document),
        })
    }

    /// The same; where a person reads, it is this line.
    pub fn write_line(&self, document: &Document, line: &str) -> Result<(), Failure> {
        self.write_as(document, |output| match output.format {
            Format::Table => format!("{line}\n"),
            format => output.render(format, document),
        })
    }

    fn write_as(
        &self,
        document: &Document,
        text: impl FnOnce(&Output) -> String,
    ) -> Result<(), Failure> {
        let formats = [Some(self.format), self.export.as_ref().map(|(_, format)| *format)];
        if let Some(format) = formats.into_iter().flatten().find(|format| !format.shows(document)) {
            let what = format!("there is nothing to write as {}", format.name());
            let cause = "no row has a size and a time or bandwidth";
            return Err(Failure::usage(what, cause, "--format table, or --format json"));
        }
        self.save(document)?;
        print(&text(self))
    }

    /// The same; where a person reads, sentences end it and say what the rows add up to, the answer
    /// to the question of the command last.
    pub fn write_said<S: AsRef<str>>(
        &self,
        document: &Document,
        brief: Option<&Document>,
        sentences: &[S],
    ) -> Result<(), Failure> {
        let brief = Document { summary: None, ..brief.unwrap_or(document).clone() };
        self.write(document, Some(&brief))?;
        match brief.rows.is_empty() && self.format == Format::Table {
            true => print(&paragraphs(sentences)),
            false => self.answer(sentences),
        }
    }

    /// Ends a table with the sentences that answer the question of the command. Every verb that
    /// compares ends with its answer: it is the last that a terminal shows.
    pub fn answer<S: AsRef<str>>(&self, sentences: &[S]) -> Result<(), Failure> {
        match self.format == Format::Table && !sentences.is_empty() {
            true => print(&format!("\n{}", paragraphs(sentences))),
            false => Ok(()),
        }
    }
}

/// As wide as the terminal, or as `COLUMNS` says, or 80; with colour as clap has it: on a terminal,
/// unless `NO_COLOR` or `CLICOLOR=0` is set.
pub fn table_style() -> table::Style {
    let width = width().unwrap_or(80);
    let colour = anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never;
    table::Style { width: Some(width), colour, all_columns: false }
}

/// Of the terminal, or what `COLUMNS` says; `None` if the text goes elsewhere.
fn width() -> Option<usize> {
    width_of(&io::stdout())
}

fn width_of(stream: &impl AsFd) -> Option<usize> {
    let given = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let seen = terminal_size::terminal_size_of(stream).map(|(width, _)| width.0.into());
    given.or(seen).filter(|width| *width > 0)
}

/// Sentences for people, a paragraph each: as wide as the terminal, and whole for a script.
pub fn paragraphs<S: AsRef<str>>(sentences: &[S]) -> String {
    let width = width();
    sentences.iter().map(|sentence| table::wrap(sentence.as_ref(), width) + "\n").collect()
}

/// Writes beside the file and renames, so that a crash leaves the old or the new, never a half.
pub fn replace(file: &Path, text: &str) -> Result<(), Failure> {
    replaced(file, text).map_err(|error| {
        let what = format!("cannot write `{}`", file.display());
        Failure::environment(what, error.to_string(), writable(file))
    })
}

/// What to try where a file, or a folder for files, cannot be written.
pub fn writable(file: &Path) -> String {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    match folder.filter(|folder| !folder.exists()) {
        Some(missing) => format!("mkdir -p {}", missing.display()),
        None => "a place where you can create files, such as /tmp".to_string(),
    }
}

/// The name under which a file is written before it is put in its place.
pub fn beside(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    name.into()
}

fn replaced(file: &Path, text: &str) -> io::Result<()> {
    // A link goes on naming what it names.
    let file = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let old = std::fs::metadata(&file).ok();
    // A pipe or a device is not a file to put another in the place of.
    if old.as_ref().is_some_and(|old| !old.is_file()) {
        return std::fs::write(&file, text);
    }
    let beside = &beside(&file);
    let kept = |old: std::fs::Metadata| std::fs::set_permissions(beside, old.permissions());
    let written = std::fs::write(beside, text)
        .and_then(|()| old.map_or(Ok(()), kept))
        .and_then(|()| std::fs::rename(beside, &file));
    if written.is_err() {
        let _ = std::fs::remove_file(beside);
    }
    written
}

/// Refuses to begin where the results would have nowhere to go: a process that we start would find
/// /dev/null in the place of a closed stdout.
pub fn ensure_open() -> Result<(), Failure> {
    print("")
}

/// Prints results; a closed stdout is an error and not an empty success.
pub fn print(text: &str) -> Result<(), Failure> {
    let failed = |cause: String| {
        let try_this = "leave standard output open, or --export FILE";
        Failure::environment("cannot write the results to standard output", cause, try_this)
    };
    if STDOUT_CLOSED.load(Ordering::Relaxed) {
        return Err(failed("it is closed".into()));
    }
    if !text.is_empty() && !IS_READ.load(Ordering::Relaxed) {
        if !is_heard() {
            return Err(failed("the pipe is closed, and nothing of them was read".into()));
        }
        IS_READ.store(true, Ordering::Relaxed);
    }
    progress::clear();
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        // Who reads has seen enough, as `head` does.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written.map_err(|error| failed(error.to_string())),
    }
}

/// Whether a part of the results went to a reader.
static IS_READ: AtomicBool = AtomicBool::new(false);

/// Whether the results still have a reader: the end of `laneway path watch | head`.
pub fn is_heard() -> bool {
    let mut stdout = libc::pollfd { fd: 1, events: 0, revents: 0 };
    // SAFETY: one descriptor, which is ours; the call does not wait.
    unsafe { libc::poll(&raw mut stdout, 1, 0) };
    stdout.revents & (libc::POLLERR | libc::POLLHUP) == 0
}

/// A note for the person at the terminal.
pub fn note(text: &str) {
    let width = width_of(&io::stderr());
    let lines: Vec<String> = text.lines().map(|line| table::wrap(line, width)).collect();
    progress::aside(|| _ = writeln!(io::stderr(), "{}", lines.join("\n")));
}

/// Shows a failure and gives its exit code.
pub fn show(failure: &Failure) -> Exit {
    progress::clear();
    let stderr = io::stderr();
    let width = width_of(&stderr).filter(|_| stderr.is_terminal());
    // At once, so that what other ranks say does not come between.
    let _ = stderr.lock().write_all(folded(failure, width).as_bytes());
    failure.exit()
}

/// A failure as wide as the terminal. What to try is broken only between the things to try:
/// commands are copied from it.
fn folded(failure: &Failure, width: Option<usize>) -> String {
    const INDENT: usize = "error: ".len();
    let text = failure.to_string();
    let Some(room) = width.map(|width| width.saturating_sub(INDENT).max(1)) else {
        return text + "\n";
    };
    let mut lines = Vec::new();
    for line in text.lines() {
        let (head, rest) = line.split_at_checked(INDENT).unwrap_or(("", line));
        let folded = match head.starts_with("try:") {
            true => between_commands(rest, room),
            false => table::wrap(rest, Some(room)),
        };
        lines.push(head.to_string() + &folded.replace('\n', &format!("\n{}", " ".repeat(INDENT))));
    }
    lines.join("\n") + "\n"
}

/// Broken behind commas and semicolons alone, where that is needed.
fn between_commands(text: &str, room: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    let text = text.replace(", ", ",\n").replace("; ", ";\n");
    for part in text.lines() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + part.chars().count() <= room => {
                line.push(' ');
                line.push_str(part);
            }
            _ => lines.push(part.to_string()),
        }
    }
    lines.join("\n")
}

/// What a command line asks for.
pub enum Parsed {
    /// A verb, with these arguments.
    Arguments(ArgMatches),
    /// Nothing more: the help or the version is printed.
    Over(Exit),
}

/// Parses the command line; help and version are printed here, mistakes become failures.
pub fn parsed(
    command: Command,
    args: impl IntoIterator<Item = OsString>,
) -> Result<Parsed, Failure> {
    let args: Vec<OsString> = args.into_iter().collect();
    let error = match command.clone().try_get_matches_from(&args) {
        Ok(matches) => return Ok(Parsed::Arguments(matches)),
        Err(error) => error,
    };
    let text = error.render().to_string();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            print(&text)?;
            Ok(Parsed::Over(Exit::Done))
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            note(text.trim_end());
            Ok(Parsed::Over(Exit::Usage))
        }
        _ => Err(mistake::failure(&command, &args, &error)),
    }
}

static STDOUT_CLOSED: AtomicBool = AtomicBool::new(false);

/// Runs before Rust's own start, which opens /dev/null in the place of a closed stdout.
#[used]
#[unsafe(link_section = ".init_array")]
static SEE_STDOUT: extern "C" fn() = {
    extern "C" fn see_stdout() {
        // SAFETY: fcntl with F_GETFD only looks at a descriptor and is allowed for any number.
        let closed = unsafe { libc::fcntl(1, libc::F_GETFD) } == -1;
        STDOUT_CLOSED.store(closed, Ordering::Relaxed);
    }
    see_stdout
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_folded_and_commands_are_not() {
        let cause = "the operations are barrier, bcast, scatter, gather and a few more of them";
        let try_this = "laneway measure coll bcast --ranks 4, or laneway info algorithms";
        let failure = Failure::usage("unknown operation `shout`", cause, try_this);
        let wanted = "error: unknown operation `shout`\n\
                      cause: the operations are barrier, bcast,\n       \
                      scatter, gather and a few more of\n       them\n\
                      try:   laneway measure coll bcast --ranks 4,\n       \
                      or laneway info algorithms\n";
        assert_eq!(folded(&failure, Some(42)), wanted);
        assert_eq!(folded(&failure, None), format!("{failure}\n"));
    }
}
