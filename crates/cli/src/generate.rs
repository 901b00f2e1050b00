//! Completions and manual pages, made from the definition of the command line itself.

use std::path::Path;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, Command, value_parser};
use clap_complete::Shell;
use laneway_core::{Collective, Exit, Failure};
use laneway_model::ModelKind;
use laneway_sim::platform::GENERATORS;
use laneway_topo::engines::ENGINES;

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
    let text = String::from_utf8_lossy(&text);
    output::print(&if shell == Shell::Bash { with_lists(&text) } else { text.into_owned() })?;
    Ok(Exit::Done)
}

/// Of a list such as `bcast,reduce`, bash completes the word behind the last comma; where nothing
/// is offered, a file may be meant.
const LISTS: &str = r#"_laneway_offer() {
    local before=""
    if [[ "${cur}" == *,* && " $1 " == *" ${cur%%,*} "* ]]; then
        before="${cur%,*},"
        COMPREPLY=($(compgen -P "${before}" -X '-*' -W "$1" -- "${cur#"${before}"}"))
    else
        COMPREPLY=($(compgen -W "$1" -- "${cur}"))
    fi
    if [[ ${#COMPREPLY[@]} -eq 0 ]]; then
        COMPREPLY=($(compgen -f -- "${cur}"))
    fi
}

"#;

fn with_lists(script: &str) -> String {
    let line = |line: &str| {
        let (indent, call) = line.split_at(line.len() - line.trim_start().len());
        let words = call.strip_prefix("COMPREPLY=(").map(|call| call.trim_start());
        let words = words.and_then(|call| call.strip_prefix("$(compgen -W "));
        match words.and_then(|words| words.split_once(" -- ")) {
            Some((words, _)) => format!("{indent}_laneway_offer {words}\n"),
            None => format!("{line}\n"),
        }
    };
    LISTS.to_string() + &script.lines().map(line).collect::<String>()
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

/// The command with the names that a shell can offer: operations, algorithms, fabrics, engines,
/// models, platforms and backends. What is typed is not held to them: values can be set, and files
/// named.
fn with_values(command: Command) -> Command {
    let verb = command.get_name().to_string();
    let command = command.mut_args(|arg| {
        let names = offered(&verb, arg.get_id().as_str());
        if names.is_empty() { arg } else { arg.value_parser(PossibleValuesParser::new(names)) }
    });
    command.mut_subcommands(with_values)
}

fn offered(verb: &str, argument: &str) -> Vec<String> {
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
        // Elsewhere it is a file.
        "model" if verb == "fit" => {
            ModelKind::ALL.iter().map(|kind| kind.name().to_string()).collect()
        }
        "routing" => {
            let engines = ENGINES.iter().map(|engine| engine.name.to_string());
            std::iter::once("native".to_string()).chain(engines).collect()
        }
        "topology" | "fabric" | "plan" => {
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
