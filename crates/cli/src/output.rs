//! Where everything that the command says leaves it: results to stdout, all else to stderr.

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::error::ErrorKind;
use clap::{Arg, ArgMatches, Command};
use laneway_core::error::nearest;
use laneway_core::{Document, Exit, Failure};
use laneway_draw::Format;
use laneway_draw::html::{self, Picture};
use laneway_report::{Run, table};

use crate::progress;

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
            "Also write the rows to FILE, by its ending: .json, .csv, .txt (as OSU), .gp, .html",
        ),
    ]
}

/// How and where a verb's rows go.
pub struct Output {
    pub format: Format,
    export: Option<(String, Format)>,
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
                        let what = format!("cannot tell what to write to `{file}`");
                        let cause = "its ending is none of .json, .csv, .txt, .gp and .html";
                        return Err(Failure::usage(what, cause, "--export rows.json"));
                    }
                }
            }
        };
        Ok(Output { format, export, pictures: Vec::new() })
    }

    /// With drawings, which a page shows and other formats leave out.
    pub fn with_pictures(self, pictures: Vec<Picture>) -> Output {
        Output { pictures, ..self }
    }

    fn render(&self, format: Format, document: &Document) -> String {
        match format {
            Format::Html if !self.pictures.is_empty() => {
                let title = format!("laneway {}", document.verb);
                html::pictured(&title, &[Run::from(document)], &self.pictures)
            }
            Format::Table => table::render_as(document, &table_style()),
            format => format.render(document),
        }
    }

    /// Writes the export file anew, if one is wanted: what is done survives a crash.
    pub fn save(&self, document: &Document) -> Result<(), Failure> {
        match &self.export {
            Some((file, format)) => replace(Path::new(file), &self.render(*format, document)),
            None => Ok(()),
        }
    }

    /// Prints the document; `brief` stands in for it where a person reads.
    pub fn write(&self, document: &Document, brief: Option<&Document>) -> Result<(), Failure> {
        let formats = [Some(self.format), self.export.as_ref().map(|(_, format)| *format)];
        if let Some(format) = formats.into_iter().flatten().find(|format| !format.shows(document)) {
            let what = format!("there is nothing to write as {}", format.name());
            let cause = "no row has a size and a time or bandwidth";
            return Err(Failure::usage(what, cause, "--format table, or --format json"));
        }
        self.save(document)?;
        let shown = match (self.format, brief) {
            (Format::Table, Some(brief)) => brief,
            _ => document,
        };
        print(&self.render(self.format, shown))
    }
}

/// As wide as the terminal, or as `COLUMNS` says, or 80; with colour as clap has it: on a terminal,
/// unless `NO_COLOR` or `CLICOLOR=0` is set.
pub fn table_style() -> table::Style {
    let width = width().unwrap_or(80);
    let colour = anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never;
    table::Style { width: Some(width), colour, all_columns: false }
}

/// Of the terminal, or what `COLUMNS` says; none where the text goes elsewhere.
fn width() -> Option<usize> {
    width_of(&io::stdout())
}

fn width_of(stream: &impl AsFd) -> Option<usize> {
    let told = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let seen = terminal_size::terminal_size_of(stream).map(|(width, _)| width.0.into());
    told.or(seen).filter(|width| *width > 0)
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
        Failure::environment(what, error.to_string(), "a folder that exists and can be written to")
    })
}

fn replaced(file: &Path, text: &str) -> io::Result<()> {
    // A link goes on naming what it names.
    let file = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let old = std::fs::metadata(&file).ok();
    // A pipe or a device is no file to put another in the place of.
    if old.as_ref().is_some_and(|old| !old.is_file()) {
        return std::fs::write(&file, text);
    }
    let mut beside = file.as_os_str().to_owned();
    beside.push(format!(".{}.part", std::process::id()));
    let beside = Path::new(&beside);
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
    progress::clear();
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        // Who reads has seen enough, as `head` does.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written.map_err(|error| failed(error.to_string())),
    }
}

/// Whether somebody can still read the results: the end of `laneway path watch | head`.
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

/// Shows a failure and gives its exit code. Its lines stay whole: commands are copied from them.
pub fn show(failure: Failure) -> Exit {
    progress::clear();
    // At once, so that what other ranks say does not come between.
    let _ = io::stderr().write_all(format!("{failure}\n").as_bytes());
    failure.exit
}

/// Parses the command line; help and version are printed here, mistakes become failures.
pub fn parsed(
    command: Command,
    args: impl IntoIterator<Item = OsString>,
) -> Result<ArgMatches, Result<Exit, Failure>> {
    command.try_get_matches_from(args).map_err(|error| {
        let text = error.render().to_string();
        match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => print(&text).map(|()| Exit::Done),
            ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                note(text.trim_end());
                Ok(Exit::Usage)
            }
            _ => Err(mistake(&text)),
        }
    })
}

/// Clap's message in our form: its first lines are what happened, its tip is what to try.
fn mistake(text: &str) -> Failure {
    let parts: Vec<&str> = text.split("\n\n").map(str::trim).collect();
    let what = parts.first().copied().unwrap_or_default();
    let what = what.strip_prefix("error: ").unwrap_or(what);
    let (what, cause) =
        what.split_once('\n').unwrap_or((what, "the command line is not understood"));
    let cause: Vec<&str> = cause.lines().map(str::trim).collect();
    let tip = parts.iter().find_map(|part| part.strip_prefix("tip: "));
    let tip = tip.filter(|tip| is_near(what, tip)).map(str::to_string);
    let usage = parts.iter().find_map(|part| part.strip_prefix("Usage: "));
    let try_this = tip.unwrap_or_else(|| format!("{} --help", verb(usage.unwrap_or("laneway"))));
    Failure::usage(what, cause.join(" "), try_this)
}

/// The words of the verb that a usage line is of.
fn verb(usage: &str) -> String {
    let is_verb = |word: &&str| word.starts_with(|letter: char| letter.is_ascii_lowercase());
    let mut words = usage.split_whitespace();
    let program = words.next().unwrap_or("laneway").to_string();
    words.take_while(is_verb).fold(program, |all, word| all + " " + word)
}

/// Whether what a tip calls similar could be a slip of the pen.
fn is_near(what: &str, tip: &str) -> bool {
    let quoted =
        |text: &str| text.split('\'').nth(1).map(|name| name.trim_matches('-').to_string());
    match (tip.contains("similar"), quoted(what), quoted(tip)) {
        (true, Some(typed), Some(meant)) => {
            let begins_alike = typed.chars().next() == meant.chars().next();
            begins_alike && nearest(&typed, [meant.as_str()]).is_some()
        }
        _ => true,
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
