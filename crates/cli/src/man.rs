//! Manual pages, made from the definition of the command line itself.

use std::path::Path;

use clap::{Arg, ArgMatches, Command};

use crate::failure::{Exit, Failure};
use crate::output;

pub fn command() -> Command {
    Command::new("man")
        .about("Writes the manual pages into a folder")
        .after_help("Examples:\n  laneway man ./man1\n  man ./man1/laneway-measure-coll.1")
        .arg(Arg::new("dir").value_name("DIR").required(true))
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let dir = matches.get_one::<String>("dir").expect("clap requires it");
    let failed = |error: std::io::Error| {
        let what = format!("cannot write manual pages into `{dir}`");
        Failure::environment(what, error.to_string(), "a folder in which you can create files")
    };
    std::fs::create_dir_all(dir).map_err(failed)?;
    let mut command = without_help(crate::command());
    command.build();
    write_pages(Path::new(dir), &command, "laneway").map_err(failed)?;
    Ok(Exit::Done)
}

/// Without the verb `help`, which has no page.
fn without_help(command: Command) -> Command {
    command.disable_help_subcommand(true).mut_subcommands(without_help)
}

/// What stands below the options, under headings of manual pages.
fn with_headings(page: &str) -> String {
    let Some((page, extra)) = page.split_once(".SH EXTRA\n") else { return page.to_string() };
    let extra = extra.replacen("Exit codes: ", ".SH EXIT STATUS\n", 1);
    match extra.split_once("Examples:\n") {
        Some(("", examples)) => format!("{page}.SH EXAMPLES\n{examples}"),
        Some((notes, examples)) => {
            format!("{page}.SH NOTES\n{}\n.SH EXAMPLES\n{examples}", notes.trim_end())
        }
        None => format!("{page}.SH NOTES\n{extra}"),
    }
}

/// The page of a command and those of its verbs: `laneway-measure-coll.1`.
fn write_pages(dir: &Path, command: &Command, name: &str) -> std::io::Result<()> {
    let mut text = Vec::new();
    clap_mangen::Man::new(command.clone().name(name.to_string())).render(&mut text)?;
    let file = dir.join(format!("{name}.1"));
    std::fs::write(&file, with_headings(&String::from_utf8_lossy(&text)))?;
    output::note(&format!("wrote {}", file.display()));
    for verb in command.get_subcommands().filter(|verb| !verb.is_hide_set()) {
        write_pages(dir, verb, &format!("{name}-{}", verb.get_name()))?;
    }
    Ok(())
}
