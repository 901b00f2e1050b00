//! Whether messages of one pair go one after the other is found, and predictions follow it.

use crate::clusters;

use laneway_coll::find;
use laneway_core::{Collective, Shape};
use laneway_model::{Fitted, Model, ModelKind, Parameter, Request, SizeFactor, fit, platform_text};
use laneway_sim::platform::Platform;
use laneway_sim::simulate;

const HOSTS: u32 = 6;

/// The cluster of a seed, in order or not; with links that the messages of a pair share, or with a
/// limit of each message.
fn cluster(seed: u64, in_order: bool, shared: bool) -> Platform {
    let order = |order: bool| format!("\nin-order = {order}\n");
    let text = clusters::text(seed, HOSTS).replace(&order(!in_order), &order(in_order));
    let text = if shared { share_links(&text) } else { text };
    Platform::parse("a cluster", &text).expect("a platform")
}

/// Every route over a link of its own, as fast as one message may be.
fn share_links(text: &str) -> String {
    let (hosts, routes) = text.split_once("\n[[route]]").expect("routes");
    let mut found = hosts.to_string();
    for (number, route) in routes.split("\n[[route]]").enumerate() {
        let (way, rate) = route.split_once("connection = ").expect("a limit");
        let way = way.replace("\"wire\"", &format!("\"own{number}\""));
        found += &format!("\n[[link]]\nname = \"own{number}\"\nduplex = \"full\"\nrate = {rate}");
        found += &format!("\n[[route]]{way}");
    }
    found
}

fn fitted(platform: &Platform) -> Fitted {
    let found = clusters::estimated(platform, &Request::default()).expect("experiments");
    fit(&found, ModelKind::Lmo).expect("a model")
}

#[test]
fn the_order_comes_back_and_segments_are_predicted() {
    for seed in 1..=6 {
        for (in_order, shared) in [(true, false), (false, false), (true, true), (false, true)] {
            let platform = cluster(seed, in_order, shared);
            let fitted = fitted(&platform);
            let what = format!("seed {seed}, in order {in_order}, shared {shared}");
            let Model::Lmo(lmo) = &fitted.model else { panic!("LMO") };
            let loaded = Fitted::load("model.toml", &fitted.save()).expect("its own text");
            let exported = platform_text(&fitted).expect("it holds");
            let exported = Platform::parse("exported", &exported).expect("a platform");
            let mut tells = false;
            for name in ["pipeline:segment=8K", "pipeline:segment=64K", "chain", "split-binary"] {
                for bytes in [1 << 12, 1 << 16, 1 << 20] {
                    let (algorithm, params) = find(Collective::Bcast, name).expect(name);
                    let shape = Shape::new(Collective::Bcast, HOSTS, bytes);
                    let schedule = algorithm.schedule(&shape, &params).expect("a schedule");
                    let time = |network: &Platform| {
                        simulate(network, &*schedule, None).expect("it runs").finish
                    };
                    let truth = time(&platform);
                    tells |= (time(&cluster(seed, !in_order, shared)) / truth - 1.0).abs() > 0.01;
                    let said = [
                        fitted.predict(&*schedule).expect("it holds").seconds,
                        loaded.predict(&*schedule).expect("it holds").seconds,
                        time(&exported),
                    ];
                    for said in said {
                        let off = said / truth - 1.0;
                        assert!(off.abs() < 1e-3, "{what}: {name} {bytes} B: {off} in {said:e}");
                    }
                }
            }
            println!("{what}: found {}, tells {tells}", lmo.in_order);
            assert!(lmo.in_order == in_order || !tells, "{what}: {:?}", fitted.quality);
        }
    }
}

/// Files from before the order was measured.
#[test]
fn a_file_without_it_is_in_order() {
    let text = fitted(&cluster(1, false, true)).save();
    assert!(text.contains("in_order = false\n"), "{text}");
    let old = Fitted::load("old.toml", &text.replace("in_order = false\n", "")).expect("a model");
    assert!(matches!(old.model, Model::Lmo(lmo) if lmo.in_order));
    let wrong = text.replace("in_order = false", "in_order = 3");
    let refused = Fitted::load("wrong.toml", &wrong).expect_err("no flag").to_string();
    assert!(refused.contains("in_order") && refused.contains("wrong.toml:"), "{refused}");
}

#[test]
fn a_file_says_what_others_send() {
    let mut saved = fitted(&cluster(1, true, false));
    let Model::Lmo(lmo) = &mut saved.model else { panic!("LMO was asked for") };
    assert_eq!(lmo.others, None, "no other traffic is there");
    lmo.others = Some(Parameter { value: 12e3, low: 10e3, high: 15e3 });
    lmo.hosts[1].load_in = Parameter { value: 0.25, low: 0.125, high: 0.5 };
    lmo.pairs[0].free = [lmo.pairs[0].there.value / 2.0, lmo.pairs[0].back.value];
    let (before, text) = (lmo.clone(), saved.save());
    let Model::Lmo(read) = Fitted::load("saved.toml", &text).expect("a model").model else {
        panic!("LMO was saved");
    };
    assert_eq!((read.others, read.hosts[1].load_in), (before.others, before.hosts[1].load_in));
    assert_eq!(read.hosts[0].load_in, Parameter::default());
    for (read, before) in read.pairs.iter().zip(&before.pairs) {
        let near = |(read, before): (&f64, &f64)| (read / before - 1.0).abs() < 1e-12;
        assert!(read.free.iter().zip(&before.free).all(near), "{read:?}, {before:?}");
    }
    for (right, wrong) in [
        ("load_in = [0.25, 0.125, 0.5]", "load_in = [0.25, 0.125, 1]"),
        ("load_in = [0.25, 0.125, 0.5]", "load_in = [-0.25, -0.5, 0.5]"),
        ("bytes = [12000, 10000, 15000]", "bytes = [0, 0, 15000]"),
        ("free_ns_per_byte = [", "free_ns_per_byte = [1, "),
        ("free_ns_per_byte = [", "free_ns_per_byte = [-"),
        ("free_ns_per_byte = [", "free_ns_per_byte = [9"),
    ] {
        assert!(text.contains(right), "{text}");
        let refused = Fitted::load("wrong.toml", &text.replace(right, wrong));
        let refused = refused.expect_err(wrong).to_string();
        let key = wrong.split(' ').next().expect("a key");
        assert!(refused.contains(key) && refused.contains("wrong.toml:"), "{refused}");
    }
}

/// As it was before it was measured.
#[test]
fn a_file_that_does_not_say_so_has_sizes_on_cards() {
    let mut fitted = fitted(&cluster(1, true, false));
    let Model::Lmo(lmo) = &mut fitted.model else { panic!("LMO was asked for") };
    lmo.sizes = vec![SizeFactor { bytes: 1024, latency: 1.0, per_byte: 0.5 }];
    lmo.sizes_on_cards = false;
    let text = fitted.save();
    let read = Fitted::load("new.toml", &text).expect("a model");
    assert!(matches!(read.model, Model::Lmo(lmo) if !lmo.sizes_on_cards));
    assert!(text.contains("sizes_on_cards = false\n"), "{text}");
    let old = Fitted::load("old.toml", &text.replace("sizes_on_cards = false\n", ""));
    assert!(matches!(old.expect("a model").model, Model::Lmo(lmo) if lmo.sizes_on_cards));
}
