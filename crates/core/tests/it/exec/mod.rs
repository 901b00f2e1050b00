//! An executor under misuse: schedules that break their rules, collectives that are given up.
//!
//! Everything here is safe code on one rank without a system, so Miri can run it.

mod alone;

use std::panic::{AssertUnwindSafe, catch_unwind};

use alone::Alone;
use laneway_core::{
    Buf, Buffers, CommError, DataType, Exec, Rank, ReduceOp, Reduction, Round, Schedule, span,
};

/// One rank with this number of lanes, one round in each.
struct Plan(u32, fn(u32, &mut Round));

impl Schedule for Plan {
    fn ranks(&self) -> u32 {
        1
    }

    fn lanes(&self, _rank: Rank) -> u32 {
        self.0
    }

    fn rounds(&self, _rank: Rank, _lane: u32) -> u64 {
        1
    }

    fn round(&self, _rank: Rank, lane: u32, _k: u64, out: &mut Round) {
        (self.1)(lane, out)
    }
}

const SUM: Reduction = Reduction::Builtin(ReduceOp::Sum, DataType::U8);

/// Runs a plan on an input of 0 to 15 and an output and scratch of 64 zeros; gives the output.
fn run(plan: &Plan) -> Result<Vec<u8>, CommError> {
    let (input, mut output, mut tmp) = ((0..16).collect::<Vec<u8>>(), vec![0; 64], vec![0; 64]);
    let buffers = Buffers::new(&input, &mut output, &mut tmp);
    Exec::new(&Alone::default(), plan, buffers, Some(SUM), 0)?.run()?;
    Ok(output)
}

/// A receive from itself into the first half of Out, without a matching send yet.
fn recv_half(out: &mut Round) {
    out.recv(0, span(Buf::Out, 0, 32));
}

#[test]
fn a_message_to_oneself_arrives() {
    let plan = Plan(1, |_, out| {
        out.recv(0, span(Buf::Out, 0, 16));
        out.send(0, span(Buf::In, 0, 16));
    });
    let output = run(&plan).expect("a right schedule");
    assert_eq!(output[..16], (0..16).collect::<Vec<u8>>());
}

#[test]
fn what_breaks_the_rules_is_refused() {
    type Fault = fn(u32, &mut Round);
    let faults: [(&str, Fault); 10] = [
        ("outside a buffer", |_, out| out.recv(0, span(Buf::Out, 60, 8))),
        ("outside a buffer", |_, out| out.send(0, span(Buf::In, u64::MAX, 8))),
        ("not to be written", |_, out| out.copy(span(Buf::Out, 0, 8), span(Buf::In, 0, 8))),
        ("differ in length", |_, out| out.copy(span(Buf::In, 0, 8), span(Buf::Out, 0, 4))),
        ("channel 99", |_, out| out.send_on(0, 99, span(Buf::In, 0, 8))),
        ("channel 32", |_, out| out.recv_on(0, 32, span(Buf::Out, 0, 8))),
        ("sent to this rank while", |_, out| {
            recv_half(out);
            out.send(0, span(Buf::Out, 8, 32));
        }),
        ("while a receive writes", |_, out| {
            recv_half(out);
            out.copy(span(Buf::Out, 31, 8), span(Buf::Tmp, 0, 8));
        }),
        ("while a receive writes", |_, out| {
            recv_half(out);
            out.reduce_left(span(Buf::In, 0, 8), span(Buf::Out, 24, 8));
        }),
        ("cannot reduce", |_, out| {
            out.reduce_left(span(Buf::Out, 0, 8), span(Buf::Out, 4, 8));
        }),
    ];
    for (words, fault) in faults {
        match run(&Plan(1, fault)) {
            Err(CommError::Argument { what }) => assert!(what.contains(words), "{what}"),
            other => panic!("{words}: {other:?}"),
        }
    }
}

#[test]
fn a_receive_where_a_message_to_oneself_still_lies_is_refused() {
    // `Alone` keeps a message of more than 32 bytes at its sender.
    let plan = Plan(1, |_, out| {
        out.send(0, span(Buf::Out, 0, 40));
        out.recv(0, span(Buf::Out, 20, 40));
    });
    assert!(matches!(run(&plan), Err(CommError::Argument { .. })));
}

#[test]
fn a_gate_that_never_opens_is_reported() {
    let stuck = |plan: &Plan, words: &[&str]| match run(plan) {
        Err(CommError::Stuck { why }) => {
            words.iter().for_each(|word| assert!(why.contains(word), "{why}"));
        }
        other => panic!("{other:?}"),
    };
    stuck(&Plan(1, |_, out| out.after(0, 0)), &["rank 0", "lane 0", "round 0 of lane 0"]);
    stuck(&Plan(1, |_, out| out.after(7, 3)), &["round 3 of lane 7"]);
    // A message passes first, and then two lanes wait for each other.
    let plan = Plan(2, |lane, out| {
        if lane == 0 {
            out.recv(0, span(Buf::Out, 0, 8));
            out.send(0, span(Buf::In, 0, 8));
        }
        out.after(1 - lane, 0);
    });
    stuck(&plan, &["lane 0 waits until round 0 of lane 1", "lane 1 waits until round 0 of lane 0"]);
}

/// A collective whose one receive is never answered.
const IN_VAIN: Plan = Plan(1, |_, out| recv_half(out));

#[test]
fn a_run_that_ends_early_lends_nothing_even_when_its_executor_is_leaked() {
    type Ending = fn() -> Result<(), CommError>;
    let endings: [Ending; 2] =
        [|| Err(CommError::Argument { what: "enough".into() }), || panic!("enough")];
    for ending in endings {
        let comm = Alone::default();
        let (mut output, mut tmp) = (vec![0; 64], vec![]);
        let buffers = Buffers::new(&[], &mut output, &mut tmp);
        let mut exec = Exec::new(&comm, &IN_VAIN, buffers, None, 0).expect("an executor");
        let ended = catch_unwind(AssertUnwindSafe(|| {
            exec.run_meanwhile(&mut |test| {
                assert_eq!(test(), Ok(false));
                ending()
            })
        }));
        assert!(!matches!(ended, Ok(Ok(()))));
        assert_eq!(comm.lent(), 0, "the queue was dropped");
        assert!(exec.run().is_err(), "what was given up cannot go on");
        std::mem::forget(exec);
    }
}

#[test]
fn a_reduction_that_panics_leaves_nothing_lent() {
    let comm = Alone::default();
    let plan = Plan(1, |_, out| {
        out.recv(0, span(Buf::Out, 0, 8));
        out.reduce_left(span(Buf::In, 0, 8), span(Buf::Out, 8, 8));
    });
    let (mut output, mut tmp) = (vec![0; 64], vec![]);
    let buffers = Buffers::new(&[1; 8], &mut output, &mut tmp);
    let reduction = Reduction::from_fn(1, true, |_, _, _| panic!("this one cannot"));
    let mut exec = Exec::new(&comm, &plan, buffers, Some(reduction), 0).expect("an executor");
    assert!(catch_unwind(AssertUnwindSafe(|| exec.run())).is_err());
    assert_eq!(comm.lent(), 0);
    std::mem::forget(exec);
}

#[test]
fn without_a_start_nothing_begins() {
    let comm = Alone::default();
    let (mut output, mut tmp) = (vec![0; 64], vec![]);
    let buffers = Buffers::new(&[], &mut output, &mut tmp);
    let mut exec = Exec::new(&comm, &IN_VAIN, buffers, None, 0).expect("an executor");
    assert_eq!(exec.test(), Ok(true));
    assert_eq!(exec.wait(), Ok(()));
    assert_eq!(comm.lent(), 0);
}
