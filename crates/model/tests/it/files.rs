//! Models as files, and as platforms.

use crate::clusters;

use laneway_coll::find;
use laneway_core::{Collective, Shape};
use laneway_model::{Fitted, Model, ModelError, ModelKind, Request, fit, platform_text, share};
use laneway_sim::platform::Platform;
use laneway_sim::{Program, simulate};

fn all_models(seed: u64, hosts: u32) -> Vec<Fitted> {
    let platform = clusters::draw(seed, hosts);
    let sizes = vec![500, 2000, 200_000, 400_000];
    let request = Request { gaps: true, sizes, ..Request::default() };
    let experiments = clusters::estimated(&platform, &request).expect("experiments");
    ModelKind::ALL.map(|kind| fit(&experiments, kind).expect("a model")).to_vec()
}

fn seconds(fitted: &Fitted, bytes: u64) -> Vec<f64> {
    let ranks = fitted.hosts.len() as u32;
    let (algorithm, params) = find(Collective::Scatter, "binomial").expect("an algorithm");
    let shape = Shape::new(Collective::Scatter, ranks, bytes);
    let schedule = algorithm.schedule(&shape, &params).expect("a schedule");
    let found = fitted.read(&*schedule).expect("a prediction");
    let ends = found.interval.map(|ends| [ends.low, ends.high]);
    [found.seconds].into_iter().chain(ends.into_iter().flatten()).collect()
}

#[test]
fn what_is_saved_is_loaded() {
    for fitted in all_models(3, 5) {
        let text = fitted.save();
        let kind = fitted.model.kind();
        let loaded = Fitted::load("model.toml", &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(loaded.model.kind(), kind);
        assert_eq!((&loaded.hosts, loaded.eager_bytes), (&fitted.hosts, fitted.eager_bytes));
        assert_eq!((&loaded.quality, loaded.cost), (&fitted.quality, fitted.cost));
        for bytes in [1, 10_000, 1 << 20] {
            let pairs = seconds(&loaded, bytes).into_iter().zip(seconds(&fitted, bytes));
            assert!(pairs.into_iter().all(|(a, b)| (a / b - 1.0).abs() < 1e-9), "{kind:?}");
        }
    }
}

#[test]
fn older_files_have_one_time_of_a_byte() {
    let models = all_models(3, 4);
    let fitted = models.iter().find(|one| one.model.kind() == ModelKind::Lmo).expect("LMO");
    let is_old = |line: &&str| !line.starts_with("per_byte_received_ns");
    let old: String =
        fitted.save().lines().filter(is_old).map(|line| format!("{line}\n")).collect();
    let old = old.replace("per_byte_sent_ns", "per_byte_ns");
    let loaded = Fitted::load("old.toml", &old).expect("an older file");
    let (Model::Lmo(new), Model::Lmo(old)) = (&fitted.model, &loaded.model) else { panic!("LMO") };
    for (new, old) in new.hosts.iter().zip(&old.hosts) {
        assert!((old.per_byte_sent.value / new.per_byte_sent.value - 1.0).abs() < 1e-9);
        assert_eq!(old.per_byte_received, old.per_byte_sent);
    }
}

/// Every line taken out, and every number spoilt: an error is reported, and nothing panics.
#[test]
fn what_is_wrong_in_a_file_is_named() {
    for fitted in all_models(3, 4) {
        let text = fitted.save();
        let lines: Vec<&str> = text.lines().collect();
        let without = |number: usize| {
            let kept = lines.iter().enumerate().filter(|(at, _)| *at != number);
            kept.map(|(_, line)| format!("{line}\n")).collect::<String>()
        };
        for (number, line) in lines.iter().enumerate() {
            let Some((key, _)) = line.split_once(" = ") else { continue };
            if key.starts_with("card")
                || key.starts_with("all_")
                || key.starts_with("held_back")
                || ["send_us", "receive_us", "in_order"].contains(&key)
            {
                continue;
            }
            let refused = Fitted::load("m.toml", &without(number));
            let refused = refused.expect_err(&format!("without `{line}`")).to_string();
            assert!(refused.contains(key) && refused.contains("m.toml:"), "{line}: {refused}");
        }
        for (number, line) in lines.iter().enumerate().filter(|(_, line)| line.contains(" = [")) {
            let Some((key, _)) = line.split_once(" = ") else { continue };
            for bad in ["[nan, 0.0, 1.0]", "[-1.0, -2.0, 1.0]", "[3, 1, 2]", "[1, 1]", "\"x\""] {
                let mut lines = lines.clone();
                let wrong = format!("{key} = {bad}");
                lines[number] = &wrong;
                let refused = Fitted::load("m.toml", &lines.join("\n"));
                let refused = refused.expect_err(&wrong).to_string();
                let at = format!("m.toml:{}:", number + 1);
                assert!(
                    refused.contains(&at) && refused.contains("not a model"),
                    "{wrong}: {refused}"
                );
            }
        }
    }
    for (text, word) in [
        ("", "schema"),
        ("x = [", "not TOML"),
        ("schema = \"laneway.model/9\"", "laneway.model/9"),
        ("schema = \"laneway.model/1\"\nmodel = \"logp\"", "unknown model `logp`"),
        ("schema = 7", "not a string"),
    ] {
        let refused = Fitted::load("m.toml", text).expect_err(text).to_string();
        assert!(refused.contains(word), "{refused}");
    }
    let more = all_models(3, 4)[0].save().replace("[line]\n", "[line]\nspeed = 1\n");
    let refused = Fitted::load("m.toml", &more).expect_err("a key too many").to_string();
    assert!(refused.contains("no key `speed`"), "{refused}");
}

#[test]
fn a_model_becomes_a_platform_that_takes_the_same_time() {
    for seed in [1, 2, 3] {
        let platform = clusters::draw(seed, 6);
        let experiments = clusters::estimated(&platform, &Request::default()).expect("experiments");
        let fitted = fit(&experiments, ModelKind::Lmo).expect("a model");
        let text = platform_text(&fitted).expect("a platform");
        let own = Platform::parse("fitted", &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        for collective in [Collective::Scatter, Collective::Gather, Collective::Bcast] {
            for algorithm in laneway_coll::algorithms(collective) {
                for bytes in [1, 5000, 1 << 18] {
                    let shape = Shape::new(collective, 6, bytes);
                    let Ok(schedule) = algorithm.schedule(&shape, &algorithm.defaults()) else {
                        continue;
                    };
                    let time =
                        |platform| simulate(platform, &*schedule, None).expect("runs").finish;
                    let off = (time(&own) / time(&platform) - 1.0).abs();
                    assert!(off < 0.001, "seed {seed} {algorithm:?} {bytes} B: {off}");
                }
            }
        }
    }
}

/// Cards of which one direction alone met a limit, ways without time, and every eager limit.
#[test]
fn every_file_that_is_written_is_read() {
    for seed in 0..24 {
        let drawn = clusters::uneven::draw(2 * seed, 4);
        let platform = Platform::parse("drawn", &drawn.text).expect("a platform");
        let request = Request { gaps: true, budget: 1e6, ..Request::default() };
        let experiments = clusters::estimated(&platform, &request).expect("experiments");
        for kind in ModelKind::ALL {
            let Ok(fitted) = fit(&experiments, kind) else { continue };
            let loaded = Fitted::load("saved", &fitted.save());
            loaded.unwrap_or_else(|error| panic!("seed {seed} {kind:?}: {error}"));
            match platform_text(&fitted) {
                Ok(text) => {
                    let own = Platform::parse("fitted", &text);
                    own.unwrap_or_else(|error| panic!("seed {seed} {kind:?}: {error}\n{text}"));
                }
                Err(ModelError::Refused { .. } | ModelError::DoesNotHold { .. }) => {}
                Err(other) => panic!("seed {seed} {kind:?}: {other}"),
            }
        }
    }
}

#[test]
fn what_has_no_platform_says_so() {
    for mut fitted in all_models(4, 4) {
        fitted.quality = Default::default();
        let found = platform_text(&fitted);
        match fitted.model.kind() {
            kind if kind.platform_objection().is_some() => {
                assert!(matches!(found, Err(ModelError::Refused { .. })), "{found:?}");
            }
            _ => {
                let text = found.expect("a platform");
                Platform::parse("fitted", &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
            }
        }
    }
}

#[test]
fn every_rank_has_the_model_of_rank_0() {
    let platform = clusters::draw(3, 4);
    let fitted = all_models(3, 4).pop().expect("LMO");
    let ended = Program::new(&platform, 4)
        .run(|comm| share(comm, (comm.rank() == 0).then_some(&fitted)))
        .expect("it ends");
    let shared = ended.results.into_iter().map(|result| result.expect("a model").save());
    let shared: Vec<String> = shared.collect();
    assert!(shared.iter().all(|text| *text == shared[0]));
    let ended = Program::new(&platform, 4).run(|comm| share(comm, None)).expect("it ends");
    assert!(ended.results.iter().all(|result| matches!(result, Err(ModelError::Request { .. }))));
}
