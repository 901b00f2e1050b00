//! Completions for shells, made from the definition of the command line itself. The generator
//! knows no lists, and for fish no arguments without an option: these are added here.

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, Command, value_parser};
use clap_complete::Shell;
use laneway_core::Collective;
use laneway_model::ModelKind;
use laneway_sim::platform::GENERATORS;
use laneway_topo::routing::engines::ENGINES;

use crate::failure::{Exit, Failure};
use crate::output;

pub fn command() -> Command {
    Command::new("completions")
        .about("Prints the completions for a shell")
        .after_help(
            "Examples:\n  laneway completions bash > /etc/bash_completion.d/laneway\n  \
             laneway completions fish > ~/.config/fish/completions/laneway.fish\n  \
             laneway completions zsh > ~/.zfunc/_laneway",
        )
        .arg(
            Arg::new("shell").value_name("SHELL").required(true).value_parser(value_parser!(Shell)),
        )
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let shell = *matches.get_one::<Shell>("shell").expect("clap requires it");
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut with_values(crate::command()), "laneway", &mut text);
    let text = String::from_utf8_lossy(&text);
    output::print(&match shell {
        Shell::Bash => for_bash(&text),
        Shell::Fish => for_fish(&text),
        Shell::Zsh => for_zsh(&text),
        _ => text.into_owned(),
    })?;
    Ok(Exit::Done)
}

/// Arguments that take several names, comma-separated.
const LISTS: [&str; 2] = ["op", "algorithm"];

/// Of a list such as `bcast,reduce`, bash completes the word behind the last comma; where nothing
/// is offered, a file may be meant.
const BASH_OFFER: &str = r#"_laneway_offer() {
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

fn for_bash(script: &str) -> String {
    let line = |line: &str| {
        let (indent, call) = line.split_at(line.len() - line.trim_start().len());
        let words = call.strip_prefix("COMPREPLY=(").map(|call| call.trim_start());
        let words = words.and_then(|call| call.strip_prefix("$(compgen -W "));
        match words.and_then(|words| words.split_once(" -- ")) {
            Some((words, _)) => format!("{indent}_laneway_offer {words}\n"),
            None => format!("{line}\n"),
        }
    };
    BASH_OFFER.to_string() + &script.lines().map(line).collect::<String>()
}

fn for_zsh(script: &str) -> String {
    LISTS.iter().fold(script.to_string(), |script, list| {
        let words = offered("", list).join(" ");
        script.replace(&format!(":({words})'"), &format!(":_values -s , {list} {words}'"))
    })
}

fn for_fish(script: &str) -> String {
    let several = |list: &str| {
        let words = offered("", list).join(" ");
        format!(r"(__fish_complete_list , 'string join \n {words}')")
    };
    let mut script = LISTS.iter().fold(script.to_string(), |script, list| {
        let words: Vec<String> =
            offered("", list).iter().map(|name| format!("{name}\\t''")).collect();
        script.replace(&words.join("\n"), &several(list))
    });
    each_verb(&with_values(crate::command()), &mut Vec::new(), &mut |verbs, argument| {
        let names = match argument.get_id().as_str() {
            list if LISTS.contains(&list) => several(list),
            _ => names_of(argument).join(" "),
        };
        if names.is_empty() {
            return;
        }
        let seen =
            verbs[1..].iter().map(|verb| format!("; and __fish_seen_subcommand_from {verb}"));
        let condition =
            format!("__fish_laneway_using_subcommand {}{}", verbs[0], seen.collect::<String>());
        script += &format!("complete -c laneway -n \"{condition}\" -a \"{names}\"\n");
    });
    script
}

fn names_of(argument: &Arg) -> Vec<String> {
    let values = argument.get_possible_values();
    values.iter().map(|value| value.get_name().to_string()).collect()
}

/// The arguments without an option of each verb, with the words that lead to it.
fn each_verb<'c>(
    command: &'c Command,
    verbs: &mut Vec<&'c str>,
    visit: &mut dyn FnMut(&[&str], &Arg),
) {
    for verb in command.get_subcommands() {
        verbs.push(verb.get_name());
        verb.get_positionals().for_each(|argument| visit(verbs, argument));
        each_verb(verb, verbs, visit);
        verbs.pop();
    }
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
