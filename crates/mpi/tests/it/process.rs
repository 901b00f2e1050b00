//! A program that is run to its end, within a time.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

pub struct Outcome {
    pub code: Option<i32>,
    pub text: String,
}

/// Runs to the end, or ends it and all it started after `limit`; both outputs come back as one.
pub fn run(mut command: Command, limit: Duration) -> Outcome {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.process_group(0).spawn().expect("the program can be started");
    let readers = [
        child.stdout.take().map(|stream| Box::new(stream) as Box<dyn Read + Send>),
        child.stderr.take().map(|stream| Box::new(stream) as Box<dyn Read + Send>),
    ];
    let readers = readers.into_iter().flatten().map(|mut stream| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = stream.read_to_end(&mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        })
    });
    let readers: Vec<_> = readers.collect();
    let end = Instant::now() + limit;
    let status = loop {
        match child.try_wait().expect("the child is ours") {
            Some(status) => break Some(status),
            None if Instant::now() > end => break None,
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    if status.is_none() {
        // A launcher that is asked to end takes its ranks along; one that is killed may not.
        let group = -(child.id() as i32);
        for signal in [libc::SIGTERM, libc::SIGKILL] {
            // SAFETY: the group was made for this child, which has not been waited for.
            unsafe { libc::kill(group, signal) };
            std::thread::sleep(Duration::from_secs(1));
        }
        let _ = child.wait();
    }
    let text: String =
        readers.into_iter().map(|reader| reader.join().expect("a reader only reads")).collect();
    Outcome { code: status.and_then(|status| status.code()), text }
}

/// The example program, built now: cargo builds examples with all tests, but not with one.
pub fn probe() -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let build = || {
        let mut path = std::env::current_exe().expect("a test has a program");
        // From the folder of test programs to that of the profile.
        path.pop();
        path.pop();
        if let (Some(cargo), Some(target)) = (std::env::var_os("CARGO"), path.parent()) {
            let mut command = Command::new(cargo);
            command.args(["build", "--quiet", "--package", "laneway-mpi"]);
            command.args(["--example", "mpi_probe", "--target-dir"]).arg(target);
            if path.ends_with("release") {
                command.arg("--release");
            }
            let status = command.status().expect("cargo can be started");
            assert!(status.success(), "the example does not build");
        }
        path.join("examples/mpi_probe")
    };
    BUILT.get_or_init(build).clone()
}
