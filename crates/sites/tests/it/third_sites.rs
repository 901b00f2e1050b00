//! Sites with a slow way between them use the fast ways over a third one.

use laneway_core::{Collective, Shape};
use laneway_sim::platform::Platform;
use laneway_sites::{Choice, Sites};

/// Three sites; between the first two 40 ms and a hundredth of the rate that the third has to both.
fn triangle() -> Platform {
    let mut text = String::from("eager = 65536\n[wan]\nlatency = \"5ms\"\nrate = \"10Gbit\"\n");
    for site in ["a", "b", "c"] {
        text += &format!("[[site]]\nname = \"{site}\"\nlatency = \"20us\"\n");
        text +=
            &format!("[[host]]\nname = \"{site}[0-3]\"\nsite = \"{site}\"\nrate = \"10Gbit\"\n");
    }
    text += "[[between]]\nsites = [\"a\", \"b\"]\nlatency = \"40ms\"\nrate = \"100Mbit\"\n";
    Platform::parse("triangle", &text).expect("a platform")
}

fn choice(platform: &Platform, op: Collective, size: u64, root: u32) -> Choice {
    let sites = Sites::one_each(platform);
    let shape = Shape::new(op, sites.placement().ranks(), size).with_root(root);
    sites.choose(&shape).expect("a choice")
}

#[test]
fn scatter_and_gather_pass_the_third_site() {
    let platform = triangle();
    for (op, root) in [Collective::Scatter, Collective::Gather]
        .into_iter()
        .flat_map(|op| [0, 5].map(|root| (op, root)))
    {
        let choice = choice(&platform, op, 16 << 20, root);
        let bound = choice.bound.expect("a bound");
        let what = format!("{}: {}", op.name(), choice.best.spelled());
        // 64 MiB at 12.5 MB/s, and 176 MiB at 1.25 GB/s.
        assert!((5.4..5.42).contains(&bound.direct), "{}", bound.direct);
        assert!(bound.time < 0.17 && bound.third_sites_help(), "{}", bound.time);
        assert!(choice.best.time < 1.1 * bound.time, "{what}: {}", choice.best.time / bound.time);
        assert!(bound.direct_limit.contains("link"), "{}", bound.direct_limit);
        assert_eq!(bound.limit, "the root's card");
    }
    // From the third site there is nothing to gain.
    let choice = choice(&platform, Collective::Scatter, 16 << 20, 8);
    assert!(!choice.bound.expect("a bound").third_sites_help());
}

#[test]
fn other_collectives_pass_it_too() {
    let platform = triangle();
    for (op, vectors) in
        [(Collective::Bcast, 1.0), (Collective::Reduce, 1.0), (Collective::Allreduce, 2.0)]
    {
        let choice = choice(&platform, op, 16 << 20, 0);
        let card = vectors * (16 << 20) as f64 / 1.25e9;
        let over = choice.best.time / (card + 0.02);
        assert!(over < 1.6, "{}: {over} with {}", op.name(), choice.best.spelled());
    }
}

#[test]
fn short_messages_go_where_the_latency_is_least() {
    let best = choice(&triangle(), Collective::Scatter, 64, 0).best;
    // Two ways of 5 ms over the third site, and not one of 40 ms.
    assert!(best.time < 0.0105, "{} {}", best.spelled(), best.time);
}
