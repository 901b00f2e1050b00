//! One platform in the lab and in the simulator: where links are the limit, they agree.

use laneway_needs::{Need, file, some_of};
use serde_json::Value;

use super::standing::{Standing, laneway, needs, rows, succeed};

/// Slow links, so that two cores carry eight ranks with ease.
const PLATFORM: &str = "two-sites:4x4,latency=5ms,connection=10Mbit,wan=40Mbit,rate=40Mbit";
/// How far they may be apart.
const TOLERANCE: f64 = 0.15;
const TRIES: usize = 5;

fn simulated_us(operation: &str, algorithm: &str) -> f64 {
    let words = ["sim", operation, "--platform", PLATFORM, "--algorithm", algorithm];
    let mut all = words.to_vec();
    all.extend(["--sizes", "512K", "--format", "json"]);
    rows(&succeed(&all))[0]["time_us"].as_f64().expect("a time")
}

fn real_us(lab: &Standing, operation: &str, algorithm: &str) -> f64 {
    let ours = env!("CARGO_BIN_EXE_laneway");
    let mut words = vec!["timeout", "100", "mpirun.openmpi", "-n", "8", ours, "measure", "coll"];
    words.extend([operation, "--algorithm", algorithm, "--sizes", "512K", "--reps", "3"]);
    words.extend(["--timing", "maximum", "--format", "json"]);
    let output = lab.run(&words);
    let out = String::from_utf8_lossy(&output.stdout);
    let document: Value = serde_json::from_str(&out).unwrap_or_else(|why| {
        panic!("{why}: {out} {}", String::from_utf8_lossy(&output.stderr));
    });
    document["rows"][0]["time_us"].as_f64().expect("a time")
}

#[test]
fn the_lab_and_the_simulator_agree_where_links_are_the_limit() {
    if !needs() || !Need::Mpi.is_met(file("/usr/bin/mpirun.openmpi")) {
        return;
    }
    let lab = Standing::up("simulated", &["--platform", PLATFORM, "--no-probe"]);
    // Flat; one lane (a binomial tree of 2 x 4 crosses the WAN once); all to all.
    let all = vec![("scatter", "linear"), ("scatter", "binomial"), ("alltoall", "pairwise")];
    for (operation, algorithm) in some_of(all) {
        let simulated = simulated_us(operation, algorithm);
        let mut seen = Vec::new();
        let agree = (0..TRIES).any(|_| {
            let quotient = real_us(&lab, operation, algorithm) / simulated;
            seen.push(quotient);
            (quotient - 1.0).abs() <= TOLERANCE
        });
        assert!(agree, "{operation} {algorithm}: lab / simulator {seen:?}");
    }
}

#[test]
fn a_run_in_one_line_with_its_record() {
    if !needs() {
        return;
    }
    let file = std::env::temp_dir().join(format!("laneway-lab-line-{}.svg", std::process::id()));
    let name = file.display().to_string();
    // Over some periods of the record: in one, a busy machine may have done all before it begins.
    let send = "for i in {1..40}; do echo something > /dev/udp/10.0.1.1/9; sleep 0.01; done; true";
    let words = ["lab", "run", "--sites", "2x1", "--wan", "2ms", "--no-probe", "--record", &name];
    let mut all = words.to_vec();
    all.extend(["--every", "10ms", "--", "bash", "-c", send]);
    assert!(laneway(&all).status.success());
    let drawing = std::fs::read_to_string(&file).expect("a picture");
    _ = std::fs::remove_file(&file);
    assert!(drawing.starts_with("<svg") && drawing.contains("site0:to:site1"));
}
