//! Damaged clusters by seed: the slow card, direction or link is named, and nothing sound.

mod cluster;
mod score;

use score::{Outcome, Score, outcome, sampled};

/// Seeds of damaged clusters and of healthy ones.
const DAMAGED: std::ops::Range<u64> = 0..60;
const HEALTHY: std::ops::Range<u64> = 0..15;

/// Seeds of fleets of which a sample is measured, and their hosts.
const FLEETS: std::ops::Range<u64> = 0..6;
const FLEET_HOSTS: u32 = 128;

#[test]
fn damage_is_named_and_nothing_sound() {
    let mut score = Score::default();
    for seed in DAMAGED {
        let cluster = cluster::damaged(seed);
        let found = outcome(&format!("d{seed}"), &cluster).expect("a survey");
        print_mistakes(seed, &found, &cluster.text);
        score.add(&found);
    }
    for (kind, recall, count) in score.recalls() {
        println!("{kind}: {recall:.3} of {count}");
        assert!(recall >= 0.9, "{kind}: {recall:.3} of {count}");
    }
    let (precision, recall) = (score.precision(), score.recall());
    println!("precision {precision:.3}, recall {recall:.3}");
    assert!(precision >= 0.97 && recall >= 0.97, "{precision:.3}, {recall:.3}");
}

#[test]
fn healthy_clusters_are_not_blamed() {
    for seed in HEALTHY {
        let cluster = cluster::healthy(seed);
        let found = outcome(&format!("h{seed}"), &cluster).expect("a survey");
        assert!(found.wrong.is_empty(), "seed {seed}: {:#?}\n{}", found.sentences, cluster.text);
    }
}

/// What is not as it should be, with the platform that shows it again.
fn print_mistakes(seed: u64, found: &Outcome, text: &str) {
    let Outcome { wrong, missed, sentences, .. } = found;
    if !wrong.is_empty() || !missed.is_empty() {
        println!("seed {seed}: wrong {wrong:?}, missed {missed:?}: {sentences:#?}\n{text}");
    }
}

#[test]
fn a_sample_names_what_all_pairs_would() {
    let mut score = Score::default();
    for seed in FLEETS {
        let cluster = cluster::fleet(seed, FLEET_HOSTS);
        let found = sampled(&format!("f{seed}"), &cluster).expect("a survey");
        print_mistakes(seed, &found, &cluster.text);
        score.add(&found);
    }
    let (precision, recall) = (score.precision(), score.recall());
    println!("precision {precision:.3}, recall {recall:.3}");
    assert!(precision == 1.0 && recall == 1.0, "{precision:.3}, {recall:.3}");
}
