//! A command of laneway as a person would type it, started for an experiment.

use std::path::Path;
use std::process::{Command, Stdio};

/// The command with these words after `laneway`; what is typed is all that counts, whatever the
/// environment says.
pub fn command<S: AsRef<std::ffi::OsStr>>(
    program: &Path,
    words: impl IntoIterator<Item = S>,
) -> Command {
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::null());
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("LANEWAY_") {
            command.env_remove(name);
        }
    }
    command
}
