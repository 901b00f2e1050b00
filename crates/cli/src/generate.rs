//! Completions and manual pages, made from the definition of the command line itself.

use std::path::Path;

use clap::{Arg, ArgMatches, Command, value_parser};
use clap_complete::Shell;
use laneway_core::{Exit, Failure};

use crate::output;

pub fn completions_command() -> Command {
    Command::new("completions")
        .about("Prints the completions for a shell")
        .after_help(
            "Examples:\n  laneway completions bash > /etc/bash_completion.d/laneway\n  \
             laneway completions fish > ~/.config/fish/completions/laneway.fish",
        )
        .arg(
            Arg::new("shell").value_name("SHELL").required(true).value_parser(value_parser!(Shell)),
        )
}

pub fn completions(matches: &ArgMatches) -> Result<Exit, Failure> {
    let shell = *matches.get_one::<Shell>("shell").expect("clap requires it");
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut crate::command(), "laneway", &mut text);
    output::print(&String::from_utf8_lossy(&text))?;
    Ok(Exit::Done)
}

pub fn man_command() -> Command {
    Command::new("man")
        .about("Writes the manual pages into a folder")
        .after_help("Examples:\n  laneway man ./man1 && man ./man1/laneway-check.1")
        .arg(Arg::new("dir").value_name("DIR").required(true))
}

pub fn man(matches: &ArgMatches) -> Result<Exit, Failure> {
    let dir = matches.get_one::<String>("dir").expect("clap requires it");
    let failed = |error: std::io::Error| {
        let what = format!("cannot write manual pages into `{dir}`");
        Failure::environment(what, error.to_string(), "a folder that can be written to")
    };
    std::fs::create_dir_all(dir).map_err(failed)?;
    let mut command = crate::command();
    command.build();
    let pages = std::iter::once(command.clone())
        .chain(command.get_subcommands().filter(|verb| verb.get_name() != "help").cloned());
    for page in pages {
        let name = match page.get_name() {
            "laneway" => "laneway".to_owned(),
            verb => format!("laneway-{verb}"),
        };
        let mut text = Vec::new();
        clap_mangen::Man::new(page.clone().name(name.clone())).render(&mut text).map_err(failed)?;
        let file = Path::new(dir).join(format!("{name}.1"));
        std::fs::write(&file, text).map_err(failed)?;
        output::note(&format!("wrote {}", file.display()));
    }
    Ok(Exit::Done)
}
