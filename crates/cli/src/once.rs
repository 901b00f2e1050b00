//! Errors of ranks that a launcher started, before they know of each other.
//!
//! Launchers end all ranks with the first that fails, so that no rank can wait for another to
//! report an error: what each prints is complete. Rank 0 prints it as any command does. Another
//! rank, which may have an error of its own, prints a line that begins with its number.

use std::io::Write;
use std::time::Duration;

use crate::failure::{Exit, Failure};
use crate::output;

/// How long a rank stays after its report: launchers end all ranks as soon as one has left with a
/// failure, and some drop what they have not yet passed on.
const UNTIL_PASSED_ON: Duration = Duration::from_millis(500);

/// Shows a failure of a process that may be a rank. All ranks have the same command line: rank 0
/// alone reports what is wrong with it.
pub fn show(failure: Failure) -> Exit {
    match laneway_mpi::launched_rank() {
        None => return output::show(&failure),
        Some(0) => {
            output::show(&failure);
        }
        Some(_) if failure.exit() == Exit::Usage => return failure.exit(),
        Some(rank) => {
            // At once, so that what other ranks print does not come between.
            let line = format!("{}\n", line(rank, &failure));
            let _ = std::io::stderr().lock().write_all(line.as_bytes());
        }
    }
    std::thread::sleep(UNTIL_PASSED_ON);
    failure.exit()
}

/// A failure in one line, with the rank that has it.
fn line(rank: u32, failure: &Failure) -> String {
    match failure.advice() {
        "" => format!("rank {rank}: {}", failure.brief()),
        advice => format!("rank {rank}: {}; try {advice}", failure.brief()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_rank_says_all_of_its_error() {
        let failure = Failure::environment("no such file", "it is\nnot there", "ls");
        assert_eq!(line(3, &failure), "rank 3: no such file: it is not there; try ls");
        let bare = Failure::environment("no such file", "", "");
        assert_eq!(line(3, &bare), "rank 3: no such file");
    }
}
