//! The command where something is missing or broken: it ends with the right exit code and says why.

mod budget;
mod intervals;
mod launchers;
mod table;

use std::process::{Command, Output, Stdio};

/// The command without what a launcher, an allocation or a user has set, ended after a minute.
fn laneway() -> Command {
    let mut command = plain("timeout");
    command.args(["--kill-after=5", "60", env!("CARGO_BIN_EXE_laneway")]);
    command
}

/// A program in such an environment.
fn plain(program: &str) -> Command {
    let mut command = Command::new(program);
    let set = ["LANEWAY_", "SLURM_", "PMI", "PALS_", "FLUX_", "OMPI_", "LSF_", "LSB_", "JSM_"];
    for (name, _) in std::env::vars() {
        if set.iter().any(|start| name.starts_with(start)) {
            command.env_remove(name);
        }
    }
    command.env("COLUMNS", "200").stdin(Stdio::null());
    command
}

fn said(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    format!("{}{}", String::from_utf8_lossy(out), String::from_utf8_lossy(err))
}
