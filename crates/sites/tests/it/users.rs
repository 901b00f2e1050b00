//! Platforms as users have them, by seed: the choice from a measured file beside that from the
//! truth, both on the true platform. `LANEWAY_SEEDS=1:300` tries other seeds and prints each
//! call; `LANEWAY_KEEP` is a folder for the platforms.

use crate::drawn;

use laneway_core::{Comm, Shape};
use laneway_measure::Rule;
use laneway_measure::sites::{Asked, Found, measure_sites};
use laneway_sim::Program;
use laneway_sim::platform::Platform;
use laneway_sites::Sites;
use laneway_sites::found::{doubts, limits, platform_text};

use drawn::Call;

/// What is measured of a platform whose sites are named.
fn measured(platform: &Platform) -> Found {
    let site = |host: u32| {
        let site = platform.site_of(host).unwrap_or(0) as usize;
        platform.site_names()[site].clone()
    };
    let sites: Vec<String> = (0..platform.hosts()).map(site).collect();
    let program = |comm: &dyn Comm| {
        let (sites, rule) = (Some(&sites[..]), Rule::fixed(1));
        let (alive, observer) = (&|| {}, &());
        let asked =
            Asked { sites, message: None, every: false, anyway: true, rule, alive, observer };
        measure_sites(comm, &asked)
    };
    let ended = Program::new(platform, platform.hosts()).run(program).expect("it ends");
    ended.results.into_iter().next().expect("a rank").expect("it is measured")
}

fn found(truth: &Platform) -> (Platform, String) {
    let found = measured(truth);
    let text = platform_text(&found, &limits(&found));
    (Platform::parse("found", &text).unwrap_or_else(|e| panic!("{e}\n{text}")), text)
}

/// One call: what the choice from the file costs more, how far its prediction is off, and whether
/// it is flagged.
struct Judged {
    what: String,
    loss: f64,
    off: f64,
    flagged: bool,
}

fn judge(truth: &Platform, found: &Platform, call: &Call) -> Judged {
    let Call { op, size, root } = *call;
    let shape = &Shape::new(op, truth.hosts(), size).with_root(root);
    let (truth, found) = (Sites::one_each(truth), Sites::one_each(found));
    let best = truth.choose(shape).expect("a choice").best;
    let choice = found.choose(shape).expect("a choice");
    let chosen = &choice.best;
    let time = truth.simulate(shape, chosen.algorithm, &chosen.params).expect("it runs").finish;
    let op = op.name();
    Judged {
        what: format!("{op} {size} from {root}: {} for {}", chosen.spelled(), best.spelled()),
        loss: time / best.time - 1.0,
        off: chosen.time / time - 1.0,
        flagged: !doubts(&found, shape, &choice).is_empty(),
    }
}

#[test]
fn choices_from_measured_files_hold_on_users_platforms() {
    let seeds = std::env::var("LANEWAY_SEEDS").ok();
    let words = seeds.as_deref().unwrap_or("2:5");
    let (first, end) = words.split_once(':').expect("two seeds");
    let range = first.parse::<u64>().expect("a seed")..end.parse().expect("a seed");
    let mut all = Vec::new();
    for seed in range {
        let (text, calls) = drawn::platform(seed);
        let truth =
            Platform::parse("drawn", &text).unwrap_or_else(|e| panic!("{seed}: {e}\n{text}"));
        let begun = std::time::Instant::now();
        let (again, written) = found(&truth);
        let measuring = begun.elapsed().as_secs_f64();
        if let Ok(folder) = std::env::var("LANEWAY_KEEP") {
            let keep = |name: &str, text: &str| {
                std::fs::write(format!("{folder}/{seed}-{name}.toml"), text).expect("a file");
            };
            keep("truth", &text);
            keep("found", &written);
        }
        for call in calls {
            let judged = judge(&truth, &again, &call);
            if seeds.is_some() {
                let Judged { what, loss, off, flagged } = &judged;
                println!("row {seed} {:.3} {:.3} {flagged} {measuring:.1} {what}", loss, off);
            }
            all.push((seed, judged));
        }
    }
    let count =
        |wanted: &dyn Fn(&Judged) -> bool| all.iter().filter(|(_, one)| wanted(one)).count();
    let flagged = count(&|one| one.flagged);
    let rightly = count(&|one| one.flagged && one.loss > 0.03);
    let above = count(&|one| !one.flagged && one.loss > 0.05);
    println!(
        "{} calls: {above} lose more than 5 % without a flag, {flagged} are flagged, {rightly} of \
         them lose more than 3 %",
        all.len()
    );
    let worst = all.iter().filter(|(_, one)| !one.flagged && one.loss > 0.3);
    let worst: Vec<String> =
        worst.map(|(seed, one)| format!("seed {seed}: {} {:.3}", one.what, one.loss)).collect();
    assert!(worst.is_empty() && above * 20 <= all.len(), "{above}: {}", worst.join("\n"));
}
