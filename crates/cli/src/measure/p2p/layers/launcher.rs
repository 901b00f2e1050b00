//! What starts the ranks of the layer `mpi`: the launcher that was named, or one of the PATH.

use std::path::PathBuf;
use std::process::Command;

use clap::ArgMatches;

use crate::failure::Failure;
use crate::output;

/// Launchers that MPI libraries bring, the usual one first.
const LAUNCHERS: [&str; 2] = ["mpirun", "mpiexec"];

/// The words before the command.
pub fn choose(matches: &ArgMatches, ranks: u32) -> Result<Vec<String>, Failure> {
    if let Some(given) = matches.get_one::<String>("launcher") {
        let words: Vec<String> = given.split_whitespace().map(str::to_owned).collect();
        if words.is_empty() {
            let cause = "it names no program";
            return Err(Failure::usage(
                "the launcher is empty",
                cause,
                "--launcher \"mpirun -n 2\"",
            ));
        }
        return Ok(words);
    }
    let Some(program) = LAUNCHERS.iter().find_map(|name| find_on_path(name)) else {
        let cause = format!("neither {} is on the PATH", LAUNCHERS.join(" nor "));
        let try_this = "--launcher \"FOLDER/mpirun -n 2\", or --backend local:memcpy,shm,unix,tcp";
        return Err(Failure::environment("no MPI to measure over", cause, try_this));
    };
    let program = program.display().to_string();
    output::note(&format!("mpi is measured under {program}; --launcher for another one"));
    Ok(vec![program, "-n".to_owned(), ranks.to_string()])
}

fn find_on_path(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// This command under a launcher.
pub fn build(launcher: &[String]) -> Result<Command, Failure> {
    let own = std::env::current_exe().map_err(|error| {
        let what = "cannot find this program for the launcher";
        Failure::environment(what, error.to_string(), "--backend local:memcpy,shm,unix,tcp")
    })?;
    let mut words = launcher.iter();
    let mut command = Command::new(words.next().map_or("mpirun", String::as_str));
    command.args(words).arg(own);
    // Under a launcher these would say where the ranks are.
    command.env_remove("LANEWAY_BACKEND").env_remove("LANEWAY_RANKS");
    Ok(command)
}
