//! Formulas and the reader of schedules say the same, for models that are written down here.

use laneway_coll::find;
use laneway_core::{Collective, Shape};
use laneway_model::{
    Call, Fitted, Hockney, Host, Line, Lines, Lmo, LogGp, Model, ModelError, PLogP, Pair,
    Parameter, Step, closed_form, crossovers, predict_all,
};
use laneway_stats::SplitMix64;

const EAGER: u64 = 8 << 10;

fn exact(value: f64) -> Parameter {
    Parameter::exact(value)
}

fn fitted(model: Model, ranks: u32) -> Fitted {
    let hosts = (0..ranks).map(|rank| format!("n{rank}")).collect();
    Fitted::known(model, hosts, EAGER)
}

fn hockney(segments: bool) -> Model {
    let line = |startup, per_byte| Line { startup: exact(startup), per_byte: exact(per_byte) };
    let long = segments.then(|| line(90e-6, 0.5e-9));
    Model::Hockney(Hockney { hosts: None, lines: vec![Lines { short: line(30e-6, 1e-9), long }] })
}

fn loggp() -> Model {
    Model::LogGp(LogGp {
        latency: exact(20e-6),
        send: exact(2e-6),
        receive: exact(3e-6),
        gap: exact(4e-6),
        per_byte: exact(1e-9),
    })
}

fn plogp() -> Model {
    let step = |bytes, gap| Step { bytes, gap: exact(gap), send: None, receive: None };
    let steps = vec![step(0, 4e-6), step(1000, 6e-6), step(100_000, 300e-6)];
    Model::PLogP(PLogP { latency: exact(20e-6), steps })
}

/// Hosts that differ, without cards.
fn lmo(seed: u64, ranks: u32) -> Model {
    let mut draws = SplitMix64::new(seed);
    let mut draw = |scale: f64| exact(scale * (0.5 + draws.uniform()));
    let host = |draw: &mut dyn FnMut(f64) -> Parameter| Host {
        send: draw(5e-6),
        receive: draw(5e-6),
        per_byte_sent: draw(0.5e-9),
        per_byte_received: draw(0.5e-9),
        ..Host::default()
    };
    let hosts = (0..ranks).map(|_| host(&mut draw)).collect();
    let pairs = 0..ranks * (ranks - 1) / 2;
    let pairs = pairs.map(|_| Pair {
        latency: draw(40e-6),
        there: draw(2e-9),
        back: draw(2e-9),
        ..Pair::default()
    });
    Model::Lmo(Lmo {
        hosts,
        pairs: pairs.collect(),
        in_order: true,
        sizes: Vec::new(),
        sizes_on_cards: true,
        overheads: Vec::new(),
        others: None,
    })
}

#[test]
fn formulas_and_schedules_agree() {
    let mut compared = 0;
    let all = [hockney(false), hockney(true), loggp(), plogp()];
    for ranks in [2u32, 3, 8, 9, 16] {
        let own = (1..=4).map(|seed| lmo(seed, ranks));
        for model in all.iter().cloned().chain(own) {
            for (collective, name) in [
                (Collective::Scatter, "linear"),
                (Collective::Scatter, "binomial"),
                (Collective::Gather, "linear"),
                (Collective::Gather, "binomial"),
                (Collective::Bcast, "linear"),
                (Collective::Bcast, "binomial"),
            ] {
                for bytes in [1, 100, 1000, EAGER, EAGER + 1, 1 << 20] {
                    let formula = closed_form(&model, collective, name, ranks, bytes, EAGER);
                    let Some(formula) = formula else { continue };
                    let (algorithm, params) = find(collective, name).expect("an algorithm");
                    let shape = Shape::new(collective, ranks, bytes);
                    let schedule = algorithm.schedule(&shape, &params).expect("a schedule");
                    let fitted = fitted(model.clone(), ranks);
                    let read = fitted.predict(&*schedule).expect("a prediction").seconds;
                    let off = (read / formula - 1.0).abs();
                    let kind = model.kind().name();
                    assert!(
                        off < 1e-6,
                        "{kind} {algorithm:?} {ranks} ranks {bytes} B: {read:e} for {formula:e}"
                    );
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 300, "{compared}");
}

#[test]
fn intervals_hold_the_prediction_and_grow_with_the_parameters() {
    let wide = |value: f64| Parameter::around(value, 0.1 * value);
    let line = Line { startup: wide(30e-6), per_byte: wide(1e-9) };
    let lines = vec![Lines { short: line, long: None }];
    let fitted = fitted(Model::Hockney(Hockney { hosts: None, lines }), 4);
    let (algorithm, params) = find(Collective::Scatter, "linear").expect("an algorithm");
    let shape = Shape::new(Collective::Scatter, 4, 1000);
    let schedule = algorithm.schedule(&shape, &params).expect("a schedule");
    let found = fitted.predict(&*schedule).expect("a prediction");
    let ends = found.interval.expect("an interval");
    // A hundredth beyond the parameters is unknown in any model.
    assert!((ends.low / found.seconds - 0.9 * 0.99).abs() < 1e-9, "{found:?}");
    assert!((ends.high / found.seconds - 1.1 * 1.01).abs() < 1e-9, "{found:?}");
}

#[test]
fn crossovers_lie_where_two_algorithms_are_equal() {
    let fitted = fitted(hockney(false), 16);
    let call = Call::new(Collective::Bcast, 16);
    let sizes: Vec<u64> = (0..=22).map(|power| 1 << power).collect();
    let rows = predict_all(&fitted, &call, &sizes).expect("rows");
    let found = crossovers(&fitted, &call, &rows).expect("crossovers");
    assert!(!found.is_empty());
    for crossover in found {
        let at = |name: &str, bytes: u64| {
            let (algorithm, params) = find(Collective::Bcast, name).expect("an algorithm");
            let shape = Shape::new(Collective::Bcast, 16, bytes);
            let schedule = algorithm.schedule(&shape, &params).expect("a schedule");
            fitted.predict(&*schedule).expect("a prediction").seconds
        };
        let before = |bytes: u64| at(&crossover.from, bytes) <= at(&crossover.to, bytes);
        assert!(before(crossover.bytes - 1) && !before(crossover.bytes), "{crossover:?}");
    }
}

#[test]
fn a_model_of_other_hosts_or_one_that_does_not_hold_predicts_nothing() {
    let (algorithm, params) = find(Collective::Bcast, "linear").expect("an algorithm");
    let shape = Shape::new(Collective::Bcast, 8, 1000);
    let schedule = algorithm.schedule(&shape, &params).expect("a schedule");
    let mut fitted = fitted(lmo(1, 7), 7);
    let refused = fitted.predict(&*schedule).expect_err("seven hosts");
    assert_eq!(refused, ModelError::Ranks { model: 7, asked: 8 });
    fitted.model = hockney(false);
    assert!(fitted.predict(&*schedule).is_ok());
    fitted.quality.worst = 0.2;
    fitted.quality.worst_of = "a round trip".into();
    let refused = fitted.predict(&*schedule).expect_err("it does not hold");
    assert!(refused.to_string().contains("20.0 % off for a round trip"), "{refused}");
    let call = Call::new(Collective::Bcast, 8);
    assert!(predict_all(&fitted, &call, &[8]).is_err());
    fitted.quality.worst = 0.0;
    let call = Call { root: 8, ..call };
    assert!(matches!(predict_all(&fitted, &call, &[8]), Err(ModelError::Refused { .. })));
}
