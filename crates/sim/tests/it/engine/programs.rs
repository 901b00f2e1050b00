//! Programs over `Comm` in virtual time: the same times as schedules run by events, and everything
//! a program can do wrong.

use laneway_coll::all;
use laneway_core::{Buffers, Collective, Comm, CommError, DataType, Exec, Message};
use laneway_core::{ReduceOp, Reduction, Shape};
use laneway_sim::{Ended, HostClock, HostCost, Program, SimError, simulate};
use laneway_stats::SplitMix64;

use super::support::*;

/// Runs a schedule over `Comm` on one rank, with real bytes.
fn executed(comm: &dyn Comm, algorithm: &laneway_coll::Algorithm, shape: &Shape) -> f64 {
    let schedule = algorithm.schedule(shape, &algorithm.defaults()).expect("a schedule");
    let rank = comm.rank();
    let input = vec![1; shape.in_len(rank) as usize];
    let mut output = vec![0; shape.out_len(rank) as usize];
    let mut tmp = vec![0; schedule.tmp_len(rank) as usize];
    let reduction = shape.collective.reduces();
    let reduction = reduction.then_some(Reduction::Builtin(ReduceOp::Max, DataType::U8));
    let buffers = Buffers::new(&input, &mut output, &mut tmp);
    let mut exec = Exec::new(comm, &*schedule, buffers, reduction, 0).expect("an executor");
    exec.run().expect("a run that ends");
    comm.clock().now()
}

#[test]
fn every_algorithm_takes_the_same_time_as_by_events_alone() {
    let networks: [fn() -> Flat; 4] = [
        || Flat::new(16),
        || Flat::new(16).eager(),
        || Flat::new(16).beside(),
        || Flat::new(16).eager().beside(),
    ];
    for (kind, network) in networks.iter().enumerate() {
        for algorithm in all() {
            let shape = Shape::new(algorithm.family, 16, 4_096).with_element(1, true);
            let name = format!("{} {}, kind {kind}", algorithm.family.name(), algorithm.name);
            let schedule = algorithm.schedule(&shape, &algorithm.defaults()).expect("a schedule");
            let mut network = network();
            network.cost = HostCost {
                per_send: 3e-6,
                per_recv: 2e-6,
                per_byte_sent: 1e-10,
                per_byte_received: 1e-10,
            };
            let by_events = simulate(&network, &*schedule, None).expect("a run that ends");
            let ended = Program::new(&network, 16).run(|comm| executed(comm, algorithm, &shape));
            let Ended { results, finish } = ended.unwrap_or_else(|error| panic!("{name}: {error}"));
            for (rank, (ours, theirs)) in results.iter().zip(&by_events.per_rank).enumerate() {
                let near = (ours - theirs).abs() <= 1e-12 + 1e-9 * theirs;
                assert!(near, "{name}, rank {rank}: {ours} by a thread, {theirs} by events");
            }
            assert_close(finish, by_events.finish);
        }
    }
}

fn run<R: Send>(ranks: u32, program: impl Fn(&dyn Comm) -> R + Sync) -> Ended<R> {
    let network = Flat::new(ranks).eager();
    Program::new(&network, ranks).run(program).expect("a program that ends")
}

fn error<R: Send>(ranks: u32, program: impl Fn(&dyn Comm) -> R + Sync) -> SimError {
    let network = Flat::new(ranks);
    match Program::new(&network, ranks).run(program) {
        Ok(_) => panic!("the program ended well"),
        Err(error) => error,
    }
}

#[test]
fn messages_bring_their_bytes_and_take_their_time() {
    let ended = run(2, |comm| {
        if comm.rank() == 0 {
            comm.send(1, 7, b"hello").expect("a send");
            return (0.0, Vec::new());
        }
        let mut into = [0; 8];
        let message = comm.recv(Some(0), Some(7), &mut into).expect("a message");
        assert_eq!(message, Message { from: 0, tag: 7, len: 5 });
        (comm.clock().now(), into[..5].to_vec())
    });
    assert_close(ended.results[1].0, LATENCY + 5.0 / RATE);
    assert_eq!(ended.results[1].1, b"hello");
    assert_eq!(ended.finish, ended.results[1].0);
}

#[test]
fn an_open_receive_takes_what_is_there_first() {
    // The long message is sent first and arrives last.
    let ended = run(3, |comm| match comm.rank() {
        0 => {
            let mut into = vec![0; 1_000_000];
            let mut next = || comm.recv(None, None, &mut into).expect("a message").from;
            let first = next();
            assert_eq!(comm.probe(None, None, false).expect("a look"), None);
            let waited = comm.probe(None, Some(5), true).expect("a look").expect("a message");
            assert_eq!((waited.from, waited.len), (1, 1_000_000));
            vec![first, next()]
        }
        1 => comm.send(0, 5, &vec![1; 1_000_000]).map(|()| Vec::new()).expect("a send"),
        _ => {
            comm.clock().sleep_until(1e-6);
            comm.send(0, 6, &[2]).map(|()| Vec::new()).expect("a send")
        }
    });
    assert_eq!(ended.results[0], [2, 1]);
}

#[test]
fn messages_of_one_sender_are_not_overtaken() {
    // One that is open comes first, then one that names the stream; the messages differ in length,
    // so that the second is there before the first.
    let ended = run(2, |comm| {
        if comm.rank() == 0 {
            comm.send(1, 3, &[1; 100_000]).expect("a send");
            comm.send(1, 3, &[2; 10]).expect("a send");
            return Vec::new();
        }
        let mut into = [0; 100_000];
        let first = comm.recv(None, None, &mut into).expect("a message").len;
        let second = comm.recv(Some(0), Some(3), &mut into).expect("a message").len;
        vec![first, second]
    });
    assert_eq!(ended.results[1], [100_000, 10]);
}

#[test]
fn clocks_are_off_and_drift_and_sleep_is_by_them() {
    let mut network = Flat::new(2).eager();
    let clock = HostClock { offset: -5.0, drift: 0.01 };
    network.clocks = vec![HostClock::default(), clock];
    let ended = Program::new(&network, 2).run(|comm| {
        assert!(!comm.clock().is_global() && comm.clock().is_virtual());
        let start = comm.clock().now();
        comm.clock().sleep_until(start + 1.01);
        comm.clock().sleep_until(start);
        (start, comm.clock().now())
    });
    let ended = ended.expect("a program that ends");
    assert_eq!(ended.results[0], (0.0, 1.01));
    assert_eq!(ended.results[1].0, -5.0);
    assert_close(ended.results[1].1 + 5.0, 1.01);
    assert_close(ended.finish, 1.01);
}

#[test]
fn a_rank_that_polls_for_ever_makes_progress() {
    let ended = run(2, |comm| {
        if comm.rank() == 0 {
            while comm.clock().now() < 50e-6 {}
            comm.send(1, 1, &[1]).expect("a send");
            return comm.clock().now();
        }
        while comm.probe(Some(0), Some(1), false).expect("a look").is_none() {}
        let seen = comm.clock().now();
        comm.recv(Some(0), Some(1), &mut [0]).expect("a message");
        seen
    });
    assert!((50e-6..50.2e-6).contains(&ended.results[0]), "{:?}", ended.results);
    assert!((60e-6..61e-6).contains(&ended.results[1]), "{:?}", ended.results);
}

#[test]
fn a_test_in_a_loop_finishes_a_collective() {
    let algorithm = all().find(|a| a.family == Collective::Bcast).expect("an algorithm");
    let shape = Shape::new(Collective::Bcast, 4, 64);
    run(4, |comm| {
        let schedule = algorithm.schedule(&shape, &algorithm.defaults()).expect("a schedule");
        let mut output = vec![comm.rank() as u8 + 1; 64];
        let mut tmp = vec![0; schedule.tmp_len(comm.rank()) as usize];
        let buffers = Buffers::new(&[], &mut output, &mut tmp);
        let mut exec = Exec::new(comm, &*schedule, buffers, None, 0).expect("an executor");
        let mut until_done = |test: &mut dyn FnMut() -> Result<bool, CommError>| {
            while !test()? {}
            Ok(())
        };
        exec.run_meanwhile(&mut until_done).expect("a run");
        drop(exec);
        assert_eq!(output, [1; 64]);
    });
}

#[test]
fn communicators_split_by_colour_and_key_and_keep_messages_apart() {
    let ended = run(6, |comm| {
        let twin = comm.dup().expect("a twin");
        // Sent on the twin first, received on the world first.
        let next = (comm.rank() + 1) % 6;
        twin.send(next, 1, &[1]).expect("a send");
        comm.send(next, 1, &[2]).expect("a send");
        let mut into = [0; 1];
        comm.recv(None, Some(1), &mut into).expect("a message");
        assert_eq!(into, [2]);
        twin.recv(None, Some(1), &mut into).expect("a message");
        assert_eq!(into, [1]);
        let colour = (comm.rank() != 5).then_some(comm.rank() % 2);
        let part = comm.split(colour, 10 - comm.rank()).expect("a split");
        assert_eq!(part.is_none(), comm.rank() == 5);
        let Some(part) = part else { return Vec::new() };
        let hosts = part.hosts().expect("hosts");
        let inner = part.split(Some(0), part.rank()).expect("a split").expect("a part");
        assert_eq!((inner.rank(), inner.size()), (part.rank(), part.size()));
        hosts
    });
    assert_eq!(ended.results[0], ["host4", "host2", "host0"]);
    assert_eq!(ended.results[3], ["host3", "host1"]);
}

#[test]
fn a_deadlock_names_the_waiting_ranks() {
    let found = error(3, |comm| {
        let other = (comm.rank() + 1) % 3;
        let heard = comm.recv(Some(other), None, &mut [0; 4]);
        assert!(matches!(heard, Err(CommError::Stuck { .. })), "{heard:?}");
        // A rank that goes on regardless gets the same again, and the clock does not stand still.
        comm.send(other, 0, &[1]).expect_err("the run is over");
        comm.clock().sleep_until(1.0);
        assert!(comm.clock().now() >= 1.0);
    });
    for word in ["deadlock", "rank 0 waits for a message from rank 1", "rank 2"] {
        assert!(found.to_string().contains(word), "{found}");
    }
    // A long send to a rank that never receives.
    let found = error(2, |comm| {
        if comm.rank() == 0 {
            comm.send(1, 0, &[0; 1 << 20]).expect_err("a deadlock");
        }
    });
    assert!(found.to_string().contains("rank 0 waits for rank 1 to receive"), "{found}");
}

#[test]
fn a_rank_that_panics_ends_the_run() {
    let found = error(3, |comm| {
        if comm.rank() == 1 {
            panic!("out of {}", "words");
        }
        comm.recv(Some(1), None, &mut [0; 4]).expect_err("a dead rank");
    });
    let how = "it panicked: out of words".to_string();
    assert_eq!(found, SimError::Died { rank: 1, how });
}

#[test]
fn an_abort_ends_all_ranks_at_once() {
    let found = error(3, |comm| {
        if comm.rank() == 2 {
            comm.clock().sleep_until(1.0);
            comm.abort(3);
        }
        let _ = comm.recv(Some(2), None, &mut [0; 4]);
        panic!("no rank goes on after an abort");
    });
    assert_eq!(found, SimError::Aborted { code: 3 });
}

#[test]
fn a_limit_counts_virtual_time() {
    let network = Flat::new(2);
    let ended = Program::new(&network, 2).limit(2.0).run(|comm| {
        for second in 0..100 {
            comm.clock().sleep_until(f64::from(second));
            if comm.send(comm.rank(), 0, &[]).is_err() {
                return second;
            }
            let _ = comm.recv(None, None, &mut []);
        }
        100
    });
    assert_eq!(ended, Err(SimError::Limit { seconds: 2.0 }));
}

#[test]
fn wrong_arguments_are_errors() {
    run(2, |comm| {
        assert!(matches!(comm.send(2, 0, &[]), Err(CommError::Argument { .. })));
        assert!(matches!(comm.recv(Some(9), None, &mut []), Err(CommError::Argument { .. })));
        let other = 1 - comm.rank();
        comm.send(other, 4, &[0; 10]).expect("a send");
        let heard = comm.recv(Some(other), Some(4), &mut [0; 3]);
        let wanted = CommError::Truncated { from: other, tag: 4, sent: 10, room: 3 };
        assert_eq!(heard, Err(wanted));
    });
    let network = Flat::new(2);
    let many = Program::new(&network, 3).run(|_| ());
    assert_eq!(many, Err(SimError::Host { rank: 2, host: 2, hosts: 2 }));
}

#[test]
fn a_look_sees_a_long_message_that_waits_for_its_receive() {
    // Nothing moves before the receive: the sight of the message is all that happens.
    let ended = Program::new(&Flat::new(3), 3).run(|comm| {
        if comm.rank() != 0 {
            return comm.send(0, 1, &[0; 1000]).map(|()| None);
        }
        let seen = comm.probe(Some(2), None, true)?;
        for from in [1, 2] {
            comm.recv(Some(from), None, &mut [0; 1000])?;
        }
        Ok::<_, CommError>(seen)
    });
    let seen = ended.expect("a program that ends").results.swap_remove(0);
    assert_eq!(seen, Ok(Some(Message { from: 2, tag: 1, len: 1000 })));
}

#[test]
fn a_refused_send_leaves_nothing_to_wait_for() {
    run(1, |comm| {
        let (mut queue, mut done) = (comm.queue(), Vec::new());
        // SAFETY: no byte is sent.
        let refused = unsafe { queue.send(0, 7, 0, std::ptr::null(), 0) };
        assert!(matches!(refused, Err(CommError::Argument { .. })), "{refused:?}");
        queue.wait(&mut done).expect("nothing under way");
        assert_eq!(done, []);
    });
}

#[test]
fn the_same_program_gives_the_same_digits() {
    let once = || {
        run(12, |comm| {
            let mut random = SplitMix64::new(u64::from(comm.rank()));
            for turn in 0..20 {
                let shift = 1 + turn % 11;
                let to = (comm.rank() + shift) % 12;
                let data = vec![0; random.index(1 << 14)];
                comm.send(to, 0, &data).expect("a send");
                comm.recv(None, None, &mut [0; 1 << 14]).expect("a message");
            }
            comm.clock().now()
        })
    };
    assert_eq!(once(), once());
}

#[test]
fn an_operation_takes_the_same_time_whenever_it_begins() {
    // Hosts that differ, links that are shared: what rounding or history decided would show.
    let platform = laneway_sim::platform::Platform::read(
        "two-sites:8x8,latency=500us,lan-latency=25us,connection=1Gbit,wan=320Mbit,send=1us,\
         receive=1us",
    );
    let platform = platform.expect("a platform");
    let algorithm = all().find(|a| a.family == Collective::Alltoall && a.name == "bruck");
    let algorithm = algorithm.expect("an algorithm");
    let shape = Shape::new(Collective::Alltoall, 16, 1024);
    let ended = Program::new(&platform, 16).run(|comm| {
        let schedule = algorithm.schedule(&shape, &algorithm.defaults()).expect("a schedule");
        let input = vec![1; shape.in_len(comm.rank()) as usize];
        let mut output = vec![0; shape.out_len(comm.rank()) as usize];
        let mut tmp = vec![0; schedule.tmp_len(comm.rank()) as usize];
        let buffers = Buffers::new(&input, &mut output, &mut tmp);
        let mut exec = Exec::new(comm, &*schedule, buffers, None, 0).expect("an executor");
        let instants = [0.01, 0.123_456_789, 1.0, 1.5, 7.77, 20.0, 20.1, 333.3];
        let times = instants.map(|instant| {
            comm.clock().sleep_until(instant);
            let begun = comm.clock().now();
            exec.run().expect("a run that ends");
            ((comm.clock().now() - begun) * 1e9).round() as u64
        });
        times.to_vec()
    });
    for times in ended.expect("a program that ends").results {
        assert!(times.iter().all(|time| *time == times[0]), "{times:?}");
    }
}
