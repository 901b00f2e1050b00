//! Platform files: TOML, with includes, each mistake at its line.

use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::background::BackgroundGroup;
use super::description::{Between, Description, HostGroup, Link, RouteGroup, Site, Wan};
use super::error::{Fault, Place, PlatformError};
use super::event::Event;
use super::fields::{Entry, Fields};
use super::generate;
use super::settings::Settings;

/// A larger file than this is not a platform.
const MOST_BYTES: u64 = 16 << 20;

/// The tables that a file may hold many of, and how they are written.
const TABLES: &[(&str, &str)] = &[
    ("host", "[[host]]"),
    ("site", "[[site]]"),
    ("between", "[[between]]"),
    ("link", "[[link]]"),
    ("route", "[[route]]"),
    ("event", "[[event]]"),
    ("background", "[[background]]"),
];

fn table_form(word: &str) -> Option<&'static str> {
    TABLES.iter().find(|(name, _)| *name == word).map(|(_, form)| *form)
}

/// Reads a file and all that it includes.
pub(super) fn read(path: &str) -> Result<Description, PlatformError> {
    let mut reader = Reader::default();
    reader.file(Path::new(path), &Place::new(path, 0))?;
    Ok(reader.description)
}

/// Reads what a file would say; files that it includes are beside the working folder.
pub(super) fn parse(name: &str, text: &str) -> Result<Description, PlatformError> {
    let mut reader = Reader::default();
    reader.text(&Source::new(name, text), text, Path::new(""))?;
    Ok(reader.description)
}

#[derive(Default)]
struct Reader {
    description: Description,
    /// The files under way, outermost first; then all that were ever opened.
    open: Vec<PathBuf>,
    seen: Vec<PathBuf>,
}

impl Reader {
    /// Reads one file; `asked` is where its name stands.
    fn file(&mut self, path: &Path, asked: &Place) -> Result<(), PlatformError> {
        let shown = path.display().to_string();
        let refuse = |reason: String| asked.refuse(Fault::File, reason);
        let real = path.canonicalize().map_err(|error| match error.kind() {
            ErrorKind::NotFound => asked.refuse(Fault::Missing, format!("{shown} does not exist")),
            _ => refuse(format!("cannot read the platform {shown}: {error}")),
        })?;
        if self.open.contains(&real) {
            let reason = format!("a cycle of includes: {shown} includes itself");
            return Err(asked.refuse(Fault::Name, reason));
        }
        if self.seen.contains(&real) {
            return Err(asked.refuse(Fault::Name, format!("{shown} is included twice")));
        }
        let text = load(&real).map_err(|error| refuse(format!("cannot read {shown}: {error}")))?;
        self.open.push(real.clone());
        self.seen.push(real);
        self.text(&Source::new(&shown, &text), &text, path)?;
        self.open.pop();
        Ok(())
    }

    /// Reads the text of a file.
    fn text(&mut self, source: &Source, text: &str, path: &Path) -> Result<(), PlatformError> {
        let document = DeTable::parse(text).map_err(|error| {
            let place = source.place(error.span().map_or(0, |span| span.start));
            place.refuse(Fault::Syntax, format!("not TOML: {}", one_line(error.message())))
        })?;
        self.document(source, document.get_ref(), path)
    }

    /// Included platforms come first, so that their hosts have the first ranks; what the file says
    /// at its top stands over theirs.
    fn document(
        &mut self,
        source: &Source,
        document: &DeTable,
        path: &Path,
    ) -> Result<(), PlatformError> {
        let mut top = Fields::new("a platform", source.place(0));
        for (key, value) in document {
            if key.get_ref() != "wan" && table_form(key.get_ref()).is_none() {
                let place = source.place(key.span().start);
                top.insert(key.get_ref(), source.entry(value), place);
            }
        }
        let own = Settings::read(&mut top)?;
        let includes = top.list("include")?.unwrap_or_default();
        top.finish()?;
        for (name, place) in includes {
            match generate::find(&name) {
                Some((generator, words)) => {
                    self.join(generate::describe(generator, words, &place)?)?;
                }
                None => {
                    let beside = path.parent().unwrap_or(Path::new("")).join(&name);
                    self.file(&beside, &place)?;
                }
            }
        }
        self.settings(own);
        for (key, value) in document {
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("wan", DeValue::Table(table)) => {
                    let mut fields = source.fields("[wan]", value, table);
                    self.wan(Wan::read(&mut fields)?)?;
                    fields.finish()?;
                }
                ("wan", _) => return Err(source.misplaced(key, "[wan]")),
                (word, value) => {
                    let Some(form) = table_form(word) else { continue };
                    let DeValue::Array(tables) = value else {
                        return Err(source.misplaced(key, form));
                    };
                    for table in tables.iter() {
                        self.table(source, key, form, table)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// What a generator says, which has no links, events or background.
    fn join(&mut self, said: Description) -> Result<(), PlatformError> {
        self.settings(said.settings);
        self.description.hosts.extend(said.hosts);
        self.description.sites.extend(said.sites);
        said.wan.map_or(Ok(()), |wan| self.wan(wan))
    }

    /// What is said later stands over what was said before.
    fn settings(&mut self, later: Settings) {
        let before = std::mem::take(&mut self.description.settings);
        self.description.settings = later.over(before);
    }

    fn wan(&mut self, wan: Wan) -> Result<(), PlatformError> {
        if let Some(first) = &self.description.wan {
            let reason = format!("[wan] is given at {} too", first.place);
            return Err(wan.place.refuse(Fault::Name, reason));
        }
        self.description.wan = Some(wan);
        Ok(())
    }

    fn table(
        &mut self,
        source: &Source,
        key: &Spanned<DeString>,
        form: &'static str,
        value: &Spanned<DeValue>,
    ) -> Result<(), PlatformError> {
        let DeValue::Table(table) = value.get_ref() else {
            return Err(source.misplaced(key, form));
        };
        let said = &mut self.description;
        let fields = &mut source.fields(form, value, table);
        match key.get_ref().as_ref() {
            "host" => said.hosts.push(HostGroup::read(fields)?),
            "site" => said.sites.push(Site::read(fields)?),
            "between" => said.between.push(Between::read(fields)?),
            "link" => said.links.push(Link::read(fields)?),
            "route" => said.routes.push(RouteGroup::read(fields)?),
            "event" => said.events.push(Event::read(fields)?),
            _ => said.background.push(BackgroundGroup::read(fields)?),
        }
        fields.finish()
    }
}

/// One file, and where in it a byte stands.
struct Source {
    file: Place,
    /// Where each line ends.
    ends: Vec<usize>,
}

impl Source {
    fn new(file: &str, text: &str) -> Source {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Source { file: Place::new(file, 0), ends: ends.map(|(at, _)| at).collect() }
    }

    fn place(&self, byte: usize) -> Place {
        let line = 1 + self.ends.partition_point(|end| *end < byte);
        Place { line: line as u32, ..self.file.clone() }
    }

    fn misplaced(&self, key: &Spanned<DeString>, form: &str) -> PlatformError {
        let reason = format!("`{}` is a table: write it as {form}", key.get_ref());
        self.place(key.span().start).refuse(Fault::Syntax, reason)
    }

    fn fields(&self, what: &'static str, value: &Spanned<DeValue>, table: &DeTable) -> Fields {
        let mut fields = Fields::new(what, self.place(value.span().start));
        for (key, value) in table {
            let place = self.place(key.span().start);
            fields.insert(key.get_ref(), self.entry(value), place);
        }
        fields
    }

    fn entry(&self, value: &Spanned<DeValue>) -> Entry {
        match value.get_ref() {
            DeValue::String(text) => Entry::Text(text.to_string()),
            DeValue::Integer(number) => Entry::Text(number.to_string()),
            DeValue::Float(number) => Entry::Text(number.to_string()),
            DeValue::Boolean(flag) => Entry::Flag(*flag),
            DeValue::Array(list) => {
                let item = |item: &Spanned<DeValue>| match item.get_ref() {
                    DeValue::String(text) => {
                        Some((text.to_string(), self.place(item.span().start)))
                    }
                    _ => None,
                };
                let strings: Option<Vec<_>> = list.iter().map(item).collect();
                strings.map_or(Entry::Other("list of other things than strings"), Entry::List)
            }
            other => Entry::Other(other.type_str()),
        }
    }
}

fn load(path: &Path) -> Result<String, String> {
    // A folder, a pipe or a device would fail late, or never.
    if !fs::metadata(path).map_err(|error| error.to_string())?.is_file() {
        return Err("it is not a plain file".to_string());
    }
    let file = fs::File::open(path).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(format!("it has more than {} MiB", MOST_BYTES >> 20));
    }
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_string())
}

/// The parser's messages may have several lines; ours have one.
fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}
