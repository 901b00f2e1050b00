//! The program `laneway`; its verbs are the table in `lib.rs`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(laneway_cli::run(std::env::args_os()))
}
