//! Gathers that escalate, and scatters that leap.

use crate::clusters;

use laneway_core::Collective;
use laneway_model::{Call, Fitted, ModelError, ModelKind, Request, Sweep, fit, predict_all, sweep};
use laneway_sim::platform::Platform;
use laneway_sim::{Network, Program};

fn fitted(network: &dyn Network) -> Fitted {
    let found = clusters::estimated(network, &Request::default()).expect("experiments");
    fit(&found, ModelKind::Lmo).expect("a model")
}

fn swept(network: &dyn Network, collective: Collective, sizes: &[u64], calls: u32) -> Vec<Sweep> {
    let run = Program::new(network, network.hosts());
    let ended = run.run(|comm| sweep(comm, collective, sizes, calls, &())).expect("it ends");
    let first = ended.results.into_iter().next().expect("rank 0");
    first.expect("no error").expect("rank 0 knows")
}

/// 64 KiB at the root, and 15 senders: more than 4,369 bytes of each are too much, as long as they
/// leave at once.
#[test]
fn the_region_of_escalations_is_found() {
    // Each power of two, and half of it more.
    let sizes: Vec<u64> = (10..=19).flat_map(|power| [1u64 << power, 3 << (power - 1)]).collect();
    for part in [0.1, 0.5, 0.9, 1.0] {
        let spec = format!("mpiblib16,loss={part}");
        let platform = Platform::read(&spec).expect("a platform");
        let fitted = fitted(&platform);
        let gathers = swept(&platform, Collective::Gather, &sizes, 100);
        let fitted = fitted.with_sweeps(&gathers, &[]).expect("sweeps");
        let found = fitted.escalation.expect("an escalation");
        println!("seed table {part}: {found:?}");
        let step = |bytes: u64| sizes.iter().position(|&size| size == bytes).expect("a size");
        let least = sizes.iter().position(|&size| 15 * size > 64 << 10).expect("a size");
        let most = sizes.iter().rposition(|&size| size <= 64 << 10).expect("a size");
        assert!(step(found.from_bytes).abs_diff(least) <= 1, "{part}: {found:?}");
        assert!(step(found.to_bytes).abs_diff(most) <= 1, "{part}: {found:?}");
        assert!((found.probability.value - part).abs() <= 0.05, "{part}: {found:?}");
        assert!((found.seconds.value - 0.2).abs() < 0.02, "{part}: {found:?}");
        let loaded = Fitted::load("m.toml", &fitted.save()).expect("a model");
        let again = loaded.escalation.expect("an escalation");
        assert_eq!((again.from_bytes, again.to_bytes), (found.from_bytes, found.to_bytes));
        assert_eq!(again.probability, found.probability);
        let call = Call::new(Collective::Gather, 16);
        let rows = predict_all(&loaded, &call, &[1, found.from_bytes]).expect("rows");
        let is_flagged = |bytes: u64, name: &str| {
            let row = rows.iter().find(|row| row.bytes == bytes && row.algorithm.name == name);
            row.expect("a row").escalation.is_some()
        };
        assert!(is_flagged(found.from_bytes, "linear") && !is_flagged(1, "linear"));
        assert!(!is_flagged(found.from_bytes, "binomial"));
    }
}

#[test]
fn a_cluster_that_loses_nothing_neither_escalates_nor_leaps() {
    let sizes = [1, 1000, 4000, 10_000, 40_000, 80_000, 200_000];
    let platform = Platform::read("mpiblib16,receive-buffer=none").expect("a platform");
    let gathers = swept(&platform, Collective::Gather, &sizes, 10);
    let scatters = swept(&platform, Collective::Scatter, &sizes, 10);
    let fitted = fitted(&platform).with_sweeps(&gathers, &scatters).expect("sweeps");
    assert_eq!((fitted.escalation, fitted.leap), (None, None));
}

#[test]
fn a_leap_is_found_where_it_is() {
    let platform = clusters::draw(2, 8);
    let sizes = [100, 1000, 4000, 10_000, 40_000, 80_000];
    let clean = swept(&platform, Collective::Scatter, &sizes, 10);
    let fitted = fitted(&platform);
    let mut raised = clean.clone();
    for sweep in raised.iter_mut().filter(|sweep| sweep.bytes > 4000) {
        sweep.samples.iter_mut().for_each(|time| *time += 5e-3);
    }
    let found = fitted.clone().with_sweeps(&[], &raised).expect("sweeps").leap.expect("a leap");
    assert_eq!(found.after_bytes, 4000);
    assert!(found.seconds.holds(5e-3) || (found.seconds.value / 5e-3 - 1.0).abs() < 0.01);
    assert_eq!(fitted.clone().with_sweeps(&[], &clean).expect("sweeps").leap, None);
    raised[0].samples[0] = f64::NAN;
    let refused = fitted.with_sweeps(&[], &raised);
    assert!(matches!(refused, Err(ModelError::Sample { .. })), "{refused:?}");
}
