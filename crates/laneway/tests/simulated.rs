//! Jobs of one call on simulated clusters, and what they refuse.

use laneway::{
    Collective, ConnectOptions, Error, FitOptions, MeasureOptions, Method, ModelKind, Platform,
    Rule, Shape, choose_with, chosen_schedule, connect, fit_with, gather, measure, measure_call,
    measure_with, predict, prove, prove_fabric, simulate,
};

fn cluster(spec: &str) -> Platform {
    Platform::read(spec).expect("a platform")
}

#[test]
fn what_was_chosen_is_proved_and_takes_as_long_as_predicted() {
    let platform = cluster("two-sites:3x3,latency=20ms");
    let options = laneway::ChooseOptions::default().with_root(2);
    let bytes = 100_000;
    let choice = choose_with(&platform, Collective::Bcast, bytes, &options).expect("a choice");
    let schedule = chosen_schedule(&platform, &choice, bytes, &options).expect("its schedule");
    let shape = Shape::new(Collective::Bcast, 6, bytes).with_root(2);
    assert!(prove(&shape, &*schedule).expect("a proof").messages >= 5);
    let outcome = laneway::simulate_schedule(&platform, &*schedule).expect("it ends");
    assert!((outcome.finish / choice.best.time - 1.0).abs() < 1e-9);
    let refused = choose_with(&platform, Collective::Bcast, 8, &options.with_root(6));
    assert!(matches!(refused, Err(Error::Rule(_))), "{refused:?}");
}

#[test]
fn every_method_times_a_call_and_closures_have_all_but_one() {
    let platform = cluster("cluster:4,latency=50us");
    for method in Method::ALL {
        let options = MeasureOptions::default().with_method(method).with_rule(Rule::fixed(10));
        let points = simulate(&platform, 4, |comm| {
            let shape = Shape::new(Collective::Bcast, 4, 1000);
            measure_call(comm, &shape, "binomial", &options)
        });
        let point = points.expect("a run").into_iter().next().expect("rank 0");
        let point = point.expect("no error").expect("a point of rank 0");
        assert!((10e-6..300e-6).contains(&point.estimate), "{}: {point}", method.name());
        let closures = simulate(&platform, 4, |comm| {
            let all =
                || gather(comm, &1u8).map(|_| ()).map_err(|_| unreachable!("no message fails"));
            measure_with(comm, all, &options)
        });
        let refused = closures.expect("a run").into_iter().any(|point| point.is_err());
        assert_eq!(refused, method == Method::Tasks, "{}", method.name());
    }
}

#[test]
fn a_model_predicts_what_the_simulator_takes() {
    let platform = cluster("cluster:4,eager=0");
    let options = FitOptions::default().with_sizes(vec![1000, 20_000]).with_budget(30.0);
    let models = simulate(&platform, 4, |comm| fit_with(comm, ModelKind::Lmo, &options));
    let models: Vec<_> = models.expect("a run").into_iter().map(Result::unwrap).collect();
    assert!(models.iter().all(|model| *model == models[0]), "all ranks have the same model");
    let predicted = predict(&models[0], Collective::Scatter, 4, 10_000).expect("predictions");
    assert!(predicted.len() > 2 && predicted.is_sorted_by_key(|one| one.seconds.to_bits()));
    let linear = predicted.iter().find(|one| one.algorithm == "linear").expect("linear");
    let shape = Shape::new(Collective::Scatter, 4, 10_000);
    let (algorithm, params) = laneway::find(Collective::Scatter, "linear").expect("linear");
    let schedule = algorithm.schedule(&shape, &params).expect("a schedule");
    let outcome = laneway::simulate_schedule(&platform, &*schedule).expect("it ends");
    assert!((linear.seconds / outcome.finish - 1.0).abs() < 0.05, "{linear:?} {outcome:?}");
    let others = predict(&models[0], Collective::Scatter, 9, 10_000);
    assert!(matches!(others, Err(Error::Model(_))), "{others:?}");
}

#[test]
fn what_makes_no_sense_is_an_error_on_every_rank() {
    let platform = cluster("cluster:2");
    assert!(matches!(simulate(&platform, 3, |_| ()), Err(Error::Rule(_))));
    assert!(matches!(simulate(&platform, 0, |_| ()), Err(Error::Rule(_))));
    let rule = Rule { min_reps: 9, max_reps: 3, ..Rule::default() };
    let all = simulate(&platform, 2, |comm| {
        let measured = measure(comm, || Ok(()), &rule);
        let shape = Shape::new(Collective::Bcast, 2, 8);
        let unknown = measure_call(comm, &shape, "binomal", &MeasureOptions::default());
        let connected = connect(comm, 1 - comm.rank(), &ConnectOptions::default());
        let why = unknown.as_ref().err().map(ToString::to_string).unwrap_or_default();
        assert!(why.contains("did you mean `binomial`"), "{why}");
        matches!(measured, Err(Error::Rule(_)))
            && matches!(unknown, Err(Error::Algorithm(_)))
            && matches!(connected, Err(Error::Rule(_)))
    });
    assert_eq!(all.expect("a run"), [true, true]);
    let stuck = simulate(&platform, 2, |comm| comm.recv(None, None, &mut []).is_ok());
    assert!(matches!(stuck, Ok(ref all) if all == &[false, false]) || stuck.is_err(), "{stuck:?}");
    assert!(matches!(prove_fabric("mlfn:d=4", &[]), Err(Error::Fabric(_))));
    assert!(!prove_fabric("fat-tree-3:d=4", &["switch:leaf-0-0"]).expect("a proof").holds());
}
