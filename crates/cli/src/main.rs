//! The program `laneway`; its verbs are the table in `lib.rs`.

use std::process::ExitCode;

fn main() -> ExitCode {
    let code = laneway_cli::serve().unwrap_or_else(|| laneway_cli::run(std::env::args_os()));
    ExitCode::from(code)
}
