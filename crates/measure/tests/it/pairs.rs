//! The survey of all pairs as a library has it: on a simulated cluster, whose figures are known.

use std::cell::RefCell;
use std::sync::Mutex;

use laneway_core::{Comm, Value};
use laneway_measure::SaveError;
use laneway_measure::pairs::{
    Observer, Refusal, Rounds, Sample, Sites, Survey, SurveyError, Unfinished,
};
use laneway_sim::{Program, platform::Platform};

/// What an observer hears, a line each.
#[derive(Default)]
struct Heard {
    lines: RefCell<Vec<String>>,
    /// Ends at the first save.
    fails: bool,
}

impl Observer for Heard {
    fn progress(&self, rounds: Rounds) {
        self.lines.borrow_mut().push(format!("at {} of {}", rounds.done, rounds.all));
    }

    fn save(&self, unfinished: &Unfinished) -> Result<(), SaveError> {
        let findings = unfinished.findings();
        let summary = findings.document(Default::default()).summary.expect("a summary");
        assert_eq!(summary.get("complete"), Some(&Value::Truth(false)));
        assert_eq!((findings.verdict.is_none(), findings.node_rows().len()), (true, 0));
        assert!(findings.pair_rows().iter().all(|row| row.get("slow") == Some(&Value::Nothing)));
        let pairs = findings.pairs.len();
        let added = unfinished.added().pairs;
        assert!(added.len() == 2 && added.iter().all(|pair| findings.pairs.contains(pair)));
        self.lines.borrow_mut().push(format!("{pairs} pairs, {}", findings.sentences()[0]));
        match self.fails {
            true => Err("no room".into()),
            false => Ok(()),
        }
    }
}

fn run<T: Send>(platform: &str, ranks: u32, part: impl Fn(&dyn Comm) -> T + Sync) -> Vec<T> {
    let platform = Platform::read(platform).expect("a platform");
    Program::new(&platform, ranks).run(part).expect("it ends").results
}

#[test]
fn an_observer_gets_every_round() {
    let heard = run("cluster:4", 4, |comm| {
        let heard = Heard::default();
        let findings = Survey::new().run(comm, &heard).expect("it is measured");
        assert_eq!(findings.is_some(), comm.rank() == 0);
        heard.lines.into_inner()
    });
    let rounds = ["at 0 of 3", "at 1 of 3", "at 2 of 3"];
    assert!(heard[1..].iter().all(|lines| lines == &rounds), "{heard:?}");
    let saved = [
        rounds[0],
        "2 pairs, unfinished: 1 of 3 rounds of pairs",
        rounds[1],
        "4 pairs, unfinished: 2 of 3 rounds of pairs",
        rounds[2],
    ];
    assert_eq!(heard[0], saved);
}

#[test]
fn an_observer_may_end_it() {
    let failed = run("cluster:2", 2, |comm| {
        let heard = Heard { fails: true, ..Heard::default() };
        let mut survey = Survey::new();
        // One pair is one round, whose end is not saved.
        assert!(survey.run(comm, &heard).is_ok());
        survey.sites = Sites::Counts(vec![1]);
        survey.run(comm, &heard).expect_err("one site of one rank").to_string()
    });
    assert_eq!(failed, ["the sites add up to 1 ranks: there are 2 ranks"; 2]);
    let said = Mutex::new(None);
    let platform = Platform::read("cluster:4").expect("a platform");
    let ended = Program::new(&platform, 4).run(|comm| {
        let heard = Heard { fails: comm.rank() == 0, ..Heard::default() };
        if let Err(SurveyError::Observer(error)) = Survey::new().run(comm, &heard) {
            *said.lock().expect("no panic") = Some((comm.rank(), error.to_string()));
        }
    });
    // Rank 0 is gone, and the others do not know: their launcher must end them.
    assert!(ended.is_err());
    assert_eq!(said.into_inner().expect("no panic"), Some((0, "no room".to_string())));
}

#[test]
fn sites_are_those_that_are_given_or_found() {
    let sites = |sites: Sites| {
        let mut survey = Survey::new();
        survey.sites = sites;
        let found = run("two-sites:3x4", 7, |comm| survey.run(comm, &()));
        let found = found.into_iter().next().expect("rank 0").expect("it is measured");
        let found = found.expect("rank 0 knows");
        (found.is_healthy(), found.sites)
    };
    let wanted = vec![0, 0, 0, 1, 1, 1, 1];
    assert_eq!(sites(Sites::Domains), (true, wanted.clone()));
    assert_eq!(sites(Sites::Counts(vec![3, 4])), (true, wanted));
    // If one site is given, what is far looks slow.
    assert_eq!(sites(Sites::Counts(vec![7])), (false, vec![0; 7]));
}

#[test]
fn one_rank_has_no_pairs() {
    let ended = run("cluster:1", 1, |comm| Survey::new().run(comm, &()));
    assert!(matches!(ended[0], Err(SurveyError::Refused(Refusal::NoPairs))), "{ended:?}");
}

#[test]
fn a_sample_finds_sites_by_latency() {
    let mut survey = Survey::new();
    survey.sample = Some(Sample { partners: Some(3), seed: 5 });
    let found = run("two-sites:9x12", 21, |comm| survey.run(comm, &()));
    let found = found.into_iter().next().expect("rank 0").expect("it is measured");
    let found = found.expect("rank 0 knows");
    assert_eq!(found.sites, [[0; 9].to_vec(), [1; 12].to_vec()].concat());
    let coverage = found.coverage.expect("it is a sample");
    assert_eq!((coverage.all, coverage.quick, coverage.unseen), (210, 210, 0));
    assert!(found.is_healthy() && found.pairs.len() < 100, "{:?}", found.sentences());
}

#[test]
fn a_sample_of_impossible_size_is_refused() {
    for partners in [0, 1, 4] {
        let mut survey = Survey::new();
        survey.sample = Some(Sample { partners: Some(partners), seed: 1 });
        let ended = run("cluster:4", 4, |comm| survey.run(comm, &()));
        let refusal = Refusal::Partners { partners, ranks: 4 };
        let is_same = |end: &Result<_, SurveyError>| match end {
            Err(SurveyError::Refused(other)) => *other == refusal,
            _ => false,
        };
        assert!(ended.iter().all(is_same), "{ended:?}");
    }
}
