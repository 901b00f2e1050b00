//! Ranks as processes: a named program, this program, and how they end.

use std::process::Command;
use std::time::{Duration, Instant};

use laneway::{
    Backend, CommError, ConnectOptions, Ended, Error, Launch, Rule, Transport, broadcast, connect,
    gather, is_rank, join, launch, measure,
};

const LIMIT: Duration = Duration::from_secs(20);
/// Says what a process of these tests does.
const ROLE: &str = "LANEWAY_TEST_ROLE";

/// What a rank does; the others wait for messages of rank 1, which never come in some.
fn part(role: &str) -> laneway::Result<i32> {
    let world = join(Backend::default())?;
    let (rank, ranks) = (world.rank(), world.size());
    match role {
        "values" => {
            let all = gather(&world, &format!("{rank} of {ranks}"))?;
            assert_eq!(all.is_some(), rank == 0);
            let last = all.map_or("nothing".into(), |all| all[all.len() - 1].clone());
            assert_eq!(broadcast(&world, &last)?, format!("{} of {ranks}", ranks - 1));
            Ok(0)
        }
        "code" => Ok(7),
        "abort" if rank == 1 => world.abort(9),
        "died" if rank == 1 => std::process::abort(),
        "late" if rank == 1 => {
            std::thread::sleep(Duration::from_secs(4));
            Ok(0)
        }
        "late" => {
            let waited = world.recv(Some(1), Some(5), &mut [0]);
            assert!(matches!(waited, Err(CommError::TimedOut { .. })), "{waited:?}");
            Ok(0)
        }
        "nested" => {
            let refused = launch(Launch::this_program());
            assert!(matches!(refused, Err(Error::IsARank)), "{refused:?}");
            Ok(0)
        }
        "measure" => {
            let barrier = || {
                gather(&world, &rank).map(|_| ()).map_err(|error| match error {
                    Error::Comm(error) => error,
                    other => panic!("{other}"),
                })
            };
            let point = measure(&world, barrier, &Rule::fixed(20))?;
            assert_eq!(point.is_some(), rank == 0);
            assert!(point.is_none_or(|point| point.interval.is_some() && point.estimate > 0.0));
            Ok(0)
        }
        "connect" => {
            let connection = connect(&world, 1 - rank, &ConnectOptions::default())?;
            connection.send(vec![rank as u8; 5])?;
            assert!(connection.send(Vec::new()).is_err(), "an empty message is the end");
            assert_eq!(connection.receive(LIMIT)?, vec![1 - rank as u8; 5]);
            // What comes while this end closes is dropped, and the peer may end first.
            (0..100).try_for_each(|_| connection.send([rank as u8]))?;
            connection.close(LIMIT)?;
            Ok(0)
        }
        _ => {
            world.recv(Some(1 - rank), Some(5), &mut [0])?;
            Ok(0)
        }
    }
}

/// The program of the ranks: this test alone, in processes that the others start.
#[test]
fn rank_program() {
    let Ok(role) = std::env::var(ROLE) else { return };
    // The name of this test is on the line already; what a launcher reads begins a line.
    println!();
    assert!(is_rank());
    let code = part(&role).unwrap_or_else(|error| {
        println!("{error}");
        3
    });
    std::process::exit(code)
}

/// This test program, by its name, as ranks with a role.
fn ranks(role: &str) -> Launch {
    let program = std::env::current_exe().expect("a test has a program");
    let words = ["--exact", "rank_program", "--nocapture", "--test-threads=1"];
    Launch::program(program).args(words).env(ROLE, role).ranks(2)
}

#[test]
fn values_travel_over_every_transport() {
    for transport in Transport::ALL {
        let ended = launch(ranks("values").ranks(3).transport(transport)).expect("a run");
        assert_eq!((ended.code, ended.signal), (0, None), "{transport}");
        ended.ok().expect("all ranks end well");
    }
    let over_connections = ranks("values").ranks(3).hosts("localhost:3");
    assert!(launch(over_connections).expect("a run").is_success());
}

#[test]
fn the_ranks_say_how_the_run_ended() {
    let ended = launch(ranks("code")).expect("a run");
    assert_eq!(ended.code, 7);
    assert!(matches!(ended.ok(), Err(Error::Ended(7))));
    assert_eq!(launch(ranks("abort")).map(|ended: Ended| ended.code).ok(), Some(9));
    let died = launch(ranks("died")).expect_err("rank 1 died");
    assert!(died.to_string().contains("rank 1 died"), "{died}");
    assert!(std::error::Error::source(&died).is_some());
}

#[test]
fn a_wait_without_news_is_an_error() {
    let begun = Instant::now();
    let ended = launch(ranks("late").wait_limit(Duration::from_secs(1))).expect("a run");
    assert!(ended.is_success() && begun.elapsed() < LIMIT, "{ended:?}");
}

#[test]
fn ranks_measure_and_connect_and_start_no_others() {
    for role in ["measure", "connect", "nested"] {
        let ended = launch(ranks(role)).expect(role);
        assert!(ended.is_success(), "{role}: {ended:?}");
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let missing = launch(Launch::program("/no/such/program").ranks(2)).expect_err("no program");
    assert!(matches!(missing, Error::Local(_)), "{missing}");
    let many = launch(Launch::this_program().ranks(1_000_000)).expect_err("too many");
    assert!(matches!(many, Error::Local(_)), "{many}");
    assert!(matches!(join(Backend::default()), Err(Error::NotARank)));
    assert!(!is_rank());
}

/// A program that a launcher of an MPI started must not start ranks in each of its processes.
#[test]
fn a_process_of_a_launcher_launches_nothing() {
    let program = std::env::current_exe().expect("a test has a program");
    let mut command = Command::new(program);
    command.args(["--exact", "launched_program", "--nocapture", "--test-threads=1"]);
    command.env("OMPI_COMM_WORLD_SIZE", "2").env("OMPI_COMM_WORLD_RANK", "0");
    let output = command.env(ROLE, "launched").output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("refused: this process is a rank"), "{said}");
}

#[test]
fn launched_program() {
    if std::env::var(ROLE).is_ok_and(|role| role == "launched") {
        let refused = launch(Launch::this_program()).expect_err("a launcher is above");
        println!("refused: {refused}");
    }
}
