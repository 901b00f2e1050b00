//! Exercises the MPI backend under a real launcher: `mpirun -n 3 mpi_probe [MODE]`, where
//! MODE is all, describe, large, speed, abandon, info or one of the operations that are given up:
//! meanwhile-error, meanwhile-panic, given-up-receive, given-up-send, given-up-stuck,
//! given-up-late; limited is all with a limit for waits.
//! Prints "ok NAME" for each check at rank 0; a check that fails ends the run with exit code 1.

#[path = "mpi_probe/collectives.rs"]
mod collectives;
#[path = "mpi_probe/given_up.rs"]
mod given_up;
#[path = "mpi_probe/limited.rs"]
mod limited;
#[path = "mpi_probe/messages.rs"]
mod messages;
#[path = "mpi_probe/speed.rs"]
mod speed;

use laneway_core::{Clock, Comm, CommError};
use laneway_mpi::{Attribute, MpiComm, MpiError};

/// Fails the check unless the condition holds.
#[macro_export]
macro_rules! expect {
    ($holds:expr, $($text:tt)+) => {
        let holds: bool = $holds;
        if !holds {
            return Err(format!($($text)+).into());
        }
    };
}

type Verdict = Result<(), Box<dyn std::error::Error>>;
type Check = fn(&MpiComm) -> Verdict;

const ALL: [(&str, Check); 14] = [
    ("describe", describe),
    ("attributes", attributes),
    ("hosts", hosts),
    ("clock", clock),
    ("ping-pong", messages::ping_pong),
    ("wildcards", messages::wildcards),
    ("probe", messages::probe),
    ("queue", messages::queue),
    ("truncation", messages::truncation),
    ("bad-rank", messages::bad_rank),
    ("split", messages::split),
    ("dup", messages::dup),
    ("natives", collectives::natives),
    ("schedule", collectives::schedule),
];

fn main() {
    let mode = std::env::args().nth(1).unwrap_or_else(|| "all".into());
    if mode == "info" {
        return info();
    }
    let comm = match laneway_mpi::init(None) {
        Ok(comm) => comm,
        Err(error) => leave(error),
    };
    let checks: Vec<(&str, Check)> = match mode.as_str() {
        "all" => ALL.to_vec(),
        "describe" => vec![("describe", describe)],
        "large" => vec![("large", messages::large)],
        "speed" => vec![("speed", speed::compare)],
        "abandon" => vec![("abandon", messages::abandon)],
        "meanwhile-error" => vec![("meanwhile-error", given_up::error)],
        "meanwhile-panic" => vec![("meanwhile-panic", given_up::panic)],
        "given-up-receive" => vec![("given-up-receive", given_up::receive)],
        "given-up-send" => vec![("given-up-send", given_up::send)],
        "given-up-stuck" => vec![("given-up-stuck", given_up::stuck)],
        "limited" => vec![("limited-all", limited::all), ("limited-receives", limited::receives)],
        "given-up-late" => vec![("given-up-late", limited::sends)],
        other => {
            eprintln!("no mode '{other}'");
            comm.abort(2)
        }
    };
    for (name, check) in checks {
        if let Err(error) = check(&comm).and_then(|()| Ok(comm_barrier(&comm)?)) {
            eprintln!("FAILED {name} at rank {}: {error}", comm.rank());
            comm.abort(1);
        }
        if comm.rank() == 0 {
            println!("ok {name}");
        }
    }
    if mode.starts_with("given-up") || mode.starts_with("meanwhile") {
        // A rank that gave something up ends the run by an abort: not before rank 0 has said its
        // ok, and not before the launcher has passed it on.
        let _ = comm_barrier(&comm);
        std::thread::sleep(std::time::Duration::from_secs(1));
    }
    if let Err(error) = comm.finalize() {
        eprintln!("FAILED finalize: {error}");
        std::process::exit(1);
    }
}

fn leave(error: MpiError) -> ! {
    eprintln!("error: {error}\ncause: {}", error.cause());
    std::process::exit(3)
}

fn info() {
    match laneway_mpi::open(None) {
        Ok(found) => {
            println!("file: {}", found.file.display());
            println!("why: {}", found.why);
            println!("flavour: {}", found.family.name());
            println!("version: {}", found.version);
            println!("launched: {:?}", laneway_mpi::launched());
        }
        Err(error) => leave(error),
    }
}

fn comm_barrier(comm: &MpiComm) -> Result<(), CommError> {
    collectives::barrier(comm)
}

fn describe(comm: &MpiComm) -> Verdict {
    let pairs = comm.describe();
    for name in ["mpi", "mpi_file", "mpi_flavour", "mpi_chosen", "thread_level", "launcher"] {
        let value = pairs.iter().find(|pair| pair.0 == name).map_or("", |pair| &pair.1);
        expect!(!value.is_empty(), "{name} is not described");
    }
    if comm.rank() == 0 {
        pairs.iter().for_each(|(name, value)| println!("{name}: {value}"));
    }
    Ok(())
}

fn attributes(comm: &MpiComm) -> Verdict {
    let tags = comm.attribute(Attribute::TagUb)?;
    expect!(tags.is_some_and(|tags| tags >= 32767), "the highest tag is {tags:?}");
    let universe = comm.attribute(Attribute::UniverseSize)?;
    expect!(universe.is_none_or(|n| n >= 1), "the universe has {universe:?} ranks");
    let program = comm.attribute(Attribute::AppNum)?;
    expect!(program.is_none_or(|n| n == 0), "this is program {program:?}");
    for other in [Attribute::WtimeIsGlobal, Attribute::Host, Attribute::Io, Attribute::LastUsedCode]
    {
        comm.attribute(other)?;
    }
    Ok(())
}

fn hosts(comm: &MpiComm) -> Verdict {
    let hosts = comm.hosts()?;
    expect!(hosts.len() == comm.size() as usize, "{} hosts", hosts.len());
    let here = std::fs::read_to_string("/proc/sys/kernel/hostname")?;
    let mine = &hosts[comm.rank() as usize];
    expect!(mine.starts_with(here.trim()), "this host is '{mine}', not '{here}'");
    Ok(())
}

fn clock(comm: &MpiComm) -> Verdict {
    let clock: &dyn Clock = comm.clock();
    let begin = clock.now();
    clock.sleep_until(begin + 0.02);
    let slept = clock.now() - begin;
    expect!((0.02..2.0).contains(&slept), "20 ms took {slept} s");
    clock.sleep_until(begin);
    expect!(clock.now() - begin < slept + 1.0, "an instant that has passed was waited for");
    // Ranks of one host share its clock, whatever the library says of its own.
    let hosts = comm.hosts()?;
    let one_host = hosts.iter().all(|host| *host == hosts[0]);
    let global = comm.attribute(Attribute::WtimeIsGlobal)? == Some(1) || one_host;
    expect!(clock.is_global() == global, "global");
    Ok(())
}
