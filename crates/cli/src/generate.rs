//! Completions and manual pages, made from the definition of the command line itself.

use std::path::Path;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, Command, value_parser};
use clap_complete::Shell;
use laneway_core::{Collective, Exit, Failure};
use laneway_sim::platform::GENERATORS;

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
    clap_complete::generate(shell, &mut with_values(crate::command()), "laneway", &mut text);
    output::print(&String::from_utf8_lossy(&text))?;
    Ok(Exit::Done)
}

pub fn man_command() -> Command {
    Command::new("man")
        .about("Writes the manual pages into a folder")
        .after_help("Examples:\n  laneway man ./man1\n  man ./man1/laneway-measure-coll.1")
        .arg(Arg::new("dir").value_name("DIR").required(true))
}

pub fn man(matches: &ArgMatches) -> Result<Exit, Failure> {
    let dir = matches.get_one::<String>("dir").expect("clap requires it");
    let failed = |error: std::io::Error| {
        let what = format!("cannot write manual pages into `{dir}`");
        Failure::environment(what, error.to_string(), "a folder in which you can create files")
    };
    std::fs::create_dir_all(dir).map_err(failed)?;
    let mut command = crate::command();
    command.build();
    write_pages(Path::new(dir), &command, "laneway").map_err(failed)?;
    Ok(Exit::Done)
}

/// The page of a command and those of its verbs: `laneway-measure-coll.1`.
fn write_pages(dir: &Path, command: &Command, name: &str) -> std::io::Result<()> {
    let mut text = Vec::new();
    clap_mangen::Man::new(command.clone().name(name.to_string())).render(&mut text)?;
    let file = dir.join(format!("{name}.1"));
    std::fs::write(&file, text)?;
    output::note(&format!("wrote {}", file.display()));
    let verbs = command.get_subcommands().filter(|verb| verb.get_name() != "help");
    for verb in verbs.filter(|verb| !verb.is_hide_set()) {
        write_pages(dir, verb, &format!("{name}-{}", verb.get_name()))?;
    }
    Ok(())
}

/// The command with the names that a shell can offer: operations, algorithms, fabrics, platforms
/// and backends. What is typed is not held to them: values can be set, and files named.
fn with_values(command: Command) -> Command {
    let command = command.mut_args(|arg| {
        let names = offered(arg.get_id().as_str());
        if names.is_empty() { arg } else { arg.value_parser(PossibleValuesParser::new(names)) }
    });
    command.mut_subcommands(with_values)
}

fn offered(argument: &str) -> Vec<String> {
    let platforms = || GENERATORS.iter().map(|generator| generator.example.to_string());
    match argument {
        "op" => {
            let names = Collective::ALL.map(Collective::name);
            names.into_iter().chain(["all"]).map(str::to_string).collect()
        }
        "algorithm" => {
            let mut names: Vec<String> =
                laneway_coll::all().map(|algorithm| algorithm.name.to_string()).collect();
            names.extend(["all", "native"].map(str::to_string));
            names.sort_unstable();
            names.dedup();
            names
        }
        "topology" | "fabric" => {
            laneway_topo::KINDS.iter().map(|kind| format!("{}:d=8", kind.name)).collect()
        }
        "platform" | "sites" => platforms().collect(),
        "backend" => {
            let real = ["local", "local:shm", "local:unix", "local:tcp", "net", "mpi"];
            let simulated = platforms().map(|platform| format!("sim:{platform}"));
            real.map(str::to_string).into_iter().chain(simulated).collect()
        }
        _ => Vec::new(),
    }
}
