//! `--launches N`: the whole run again and again, because placement and memory differ between
//! launches: the interval over launches is the one to trust.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::process::{Command, Stdio};

use clap::{Arg, ArgMatches, value_parser};
use laneway_core::{Document, Row};
use laneway_report::{Run, journal, launches, read};

use super::{bounds, decided, export};
use crate::failure::{Exit, Failure};
use crate::journal::Step;
use crate::output::{self, Output};
use crate::progress::Progress;

/// More launches than this are a mistake.
const MOST_LAUNCHES: i64 = 1000;

pub fn args() -> [Arg; 2] {
    [
        Arg::new("launches")
            .long("launches")
            .value_name("N")
            .value_parser(value_parser!(u32).range(1..=MOST_LAUNCHES))
            .help("Run N launches: six or more have an interval over them, fewer their range"),
        Arg::new("launcher")
            .long("launcher")
            .value_name("WORDS")
            .help("Command that starts the ranks of each launch: \"mpirun -n 4\""),
    ]
}

/// Runs the launches, if several were asked for; `brief` are the columns for people.
pub fn run(
    matches: &ArgMatches,
    output: &Output,
    level: f64,
    brief: impl Fn(&[Row]) -> Vec<Row>,
) -> Result<Option<Exit>, Failure> {
    let launches = matches.get_one::<u32>("launches").copied().unwrap_or(1);
    let launcher = matches.get_one::<String>("launcher");
    if crate::session::is_rank() || (launches == 1 && launcher.is_none()) {
        return Ok(None);
    }
    if launcher.is_some_and(|words| words.trim().is_empty()) {
        let cause = "it names no program";
        return Err(Failure::usage("the launcher is empty", cause, "--launcher \"mpirun -n 4\""));
    }
    if let Some(started) = laneway_mpi::launched() {
        let what = "--launches cannot run under a launcher";
        let cause = format!("this process was started by {started:?}");
        let try_this = "laneway measure … --launches 6 --launcher \"mpirun -n 4\"";
        return Err(Failure::usage(what, cause, try_this));
    }
    if launcher.is_some() {
        laneway_mpi::refuse_unjoined_task()?;
    }
    let file = matches.get_one::<String>("export").map(String::as_str);
    if let Some(cause) = export::objection(file) {
        return Err(export::failure(file, cause));
    }
    let words: Vec<&str> = launcher.map_or(Vec::new(), |text| text.split_whitespace().collect());
    let seed = matches.get_one::<u64>("seed").copied().unwrap_or(1);
    let refines = matches.get_one::<u32>("refine").is_some_and(|most| *most > 0);
    let mut progress = Progress::new(launches as usize, true);
    let (mut runs, mut exit) = (Vec::<Run>::new(), Exit::Done);
    let (mut env, mut params) = (Row::new(), Row::new());
    for number in 0..launches {
        progress.at(number as usize, "launches");
        let mut own = own_words(OUTER);
        if let Some(first) = runs.first().filter(|_| refines) {
            // All launches have the sizes that the first one found.
            own = own_words(&[OUTER, &["--refine", "--sizes"]].concat());
            own.extend(["--sizes".into(), sizes(first).into()]);
        }
        if let Some(fallen) = runs.first().and_then(decided::of_first) {
            own.extend([format!("--{}={fallen}", decided::OPTION).into()]);
        }
        let seed = seed.wrapping_add(u64::from(number));
        own.extend(["--seed".into(), seed.to_string().into()]);
        let (run, ended) = launch(&words, own, number)?;
        if runs.is_empty() {
            env = Row(run.env.clone());
            if !words.is_empty() {
                // These words say more than what a rank sees of its launcher.
                env.0.retain(|(name, _)| *name != "launcher");
                env = env.with("launcher", words.join(" "));
            }
            params = Row(run.params.clone()).with("launches", launches);
        }
        // A wrong answer weighs more than one that is not precise.
        if exit != Exit::Gate && ended != Exit::Done {
            exit = ended;
        }
        let head = document(&env, &params, &[], level)?;
        let added = journal::rows_of_launch(&run, number + 1);
        runs.push(run);
        let step = Step::new(&head, &added, (runs.len(), launches as usize), "launch");
        let merged = document(&env, &params, &runs, level)?;
        output.keep(&step, || merged)?;
    }
    drop(progress);
    let full = document(&env, &params, &runs, level)?;
    let shown = brief(&full.rows);
    output.write(&full, Some(&Document { rows: shown, ..full.clone() }))?;
    bounds::explain_rows(&full.rows);
    output.answer(&laneway_report::fastest(&full.rows))?;
    Ok(Some(exit))
}

fn document(env: &Row, params: &Row, runs: &[Run], level: f64) -> Result<Document, Failure> {
    let rows = launches::merge(runs, level).map_err(|missing| {
        let what = "a point is missing from some launches";
        Failure::environment(what, missing.to_string(), "fewer --sizes, or --launches 1")
    })?;
    let (env, params) = (env.clone(), params.clone());
    Ok(Document { verb: "measure", env, params, rows, summary: None })
}

/// The sizes of a run as words.
fn sizes(run: &Run) -> String {
    let all: BTreeSet<u64> =
        run.rows.iter().filter_map(|row| Some(row.number("size_bytes")? as u64)).collect();
    all.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}

/// What belongs to the outer run, or differs between launches.
const OUTER: &[&str] = &["--launches", "--launcher", "--format", "--export", "--seed"];

/// This command's own words, but for these options.
fn own_words(but: &[&str]) -> Vec<OsString> {
    let mut words = Vec::new();
    let mut all = std::env::args_os().skip(1);
    while let Some(word) = all.next() {
        let text = word.to_string_lossy();
        if but.contains(&&*text) {
            all.next();
        } else if !but.iter().any(|option| text.starts_with(&format!("{option}="))) {
            words.push(word);
        }
    }
    words
}

/// One launch: its rows, and how it ended.
fn launch(launcher: &[&str], own: Vec<OsString>, number: u32) -> Result<(Run, Exit), Failure> {
    let failed = |exit: Exit, cause: String| {
        let what = format!("launch {} failed", number + 1);
        Failure::new(exit, what, cause, "the same command without --launches and --launcher")
    };
    let program = std::env::current_exe();
    let program = program.map_err(|error| failed(Exit::Environment, error.to_string()))?;
    let mut words: Vec<OsString> = launcher.iter().map(OsString::from).collect();
    words.push(program.into_os_string());
    words.extend(own);
    words.extend(["--format".into(), "json".into()]);
    let name = launcher.first().copied().unwrap_or("laneway");
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).env_remove("LANEWAY_FORMAT").stdin(Stdio::null());
    let found = command.output();
    let found = found.map_err(|error| failed(Exit::Environment, format!("{name}: {error}")))?;
    let said = String::from_utf8_lossy(&found.stderr).trim().to_owned();
    let text = String::from_utf8_lossy(&found.stdout);
    // A launcher may say something of its own before.
    let json = text.find('{').map_or("", |at| &text[at..]);
    let ended = match found.status.code() {
        Some(0) => Exit::Done,
        Some(4) => Exit::Precision,
        // A wrong answer is left out, and the others are there; a launcher may mean anything by it.
        Some(1) if !json.is_empty() => Exit::Gate,
        code => {
            let exit = if code == Some(2) { Exit::Usage } else { Exit::Environment };
            let said = if said.is_empty() { "nothing" } else { &said };
            let cause = format!("{name} ended with {}, and said: {said}", found.status);
            return Err(failed(exit, cause));
        }
    };
    let run = read(&format!("launch {}", number + 1), json);
    let strange = |error| format!("{name} printed no valid rows: {error}");
    let run = run.map_err(|error| failed(Exit::Environment, strange(error)))?;
    // All launches have the same to say.
    if number == 0 && !said.is_empty() {
        output::note(&said);
    }
    Ok((run, ended))
}

#[cfg(test)]
mod tests {
    use laneway_measure::flags;
    use laneway_report::launches;

    /// The flags that the report crate puts on rows, or reads, are those that are explained.
    #[test]
    fn flags_have_the_same_names_everywhere() {
        assert_eq!(launches::MIXED_TIMING, flags::MIXED_TIMING);
        assert_eq!(launches::NO_INTERVAL, flags::NO_INTERVAL);
        assert_eq!(laneway_report::fastest::STOPPED_EARLY, flags::STOPPED_EARLY);
        assert_eq!(launches::RANGE, flags::RANGE);
    }
}
