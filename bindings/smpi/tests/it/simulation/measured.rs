//! `laneway measure` on SimGrid's simulated cluster, against the truth that it knows there.

use laneway_core::Value;
use laneway_report::{Record, read};
use laneway_sim::platform::Platform;

use super::Cluster;

/// Sixteen hosts of three kinds at two sites, for which crates/measure promises its accuracy.
/// SimGrid has no costs of hosts and always a header: those are not in its file.
const SITES: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../crates/measure/tests/it/accuracy/sites.toml");

const OPERATIONS: &str = "bcast,scatter,gather,allreduce,alltoall";

/// SimGrid's own barriers.
const BARRIERS: [&str; 9] = [
    "default",
    "ompi_basic_linear",
    "ompi_bruck",
    "ompi_recursivedoubling",
    "ompi_tree",
    "ompi_doublering",
    "mpich_smp",
    "mvapich2_pair",
    "impi",
];

/// A measured cell: its name, what was printed, the truth, the cost.
struct Cell {
    name: String,
    time: f64,
    truth: f64,
    cost: f64,
    reps: f64,
}

/// The cluster with the two sites, and the options of smpirun.
fn sites(name: &str) -> Option<(Cluster, Vec<String>)> {
    let cluster = Cluster::new(name)?;
    let platform = Platform::read(SITES).expect("a platform");
    assert_eq!(platform.hosts(), 16);
    let export = platform.export_simgrid().expect("an export");
    std::fs::write(cluster.0.join("platform.xml"), &export.platform_xml).expect("a file");
    std::fs::write(cluster.0.join("hosts"), &export.hostfile).expect("a file");
    Some((cluster, export.arguments))
}

fn cells(cluster: &Cluster, settings: &[&str], words: &[&str]) -> Vec<Cell> {
    let args = ["measure", "coll", OPERATIONS, "--sizes", "8,1K,64K", "--truth"];
    let args = [&args[..], &["--format", "json"], words].concat();
    let outcome = cluster.run(16, settings, &args);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let rows = read("a run", &outcome.out).expect("a document").rows;
    let cell = |row: &Record| {
        let number = |name: &str| row.number(name).unwrap_or_else(|| panic!("{name}: {row:?}"));
        let Some(Value::Text(op)) = row.get("op") else { panic!("no op: {row:?}") };
        Cell {
            name: format!("{op} {}", number("size_bytes")),
            time: number("time_us"),
            truth: number("truth_us"),
            cost: number("cost_us"),
            reps: number("reps"),
        }
    };
    let cells: Vec<Cell> = rows.iter().map(cell).collect();
    assert_eq!(cells.len(), 15, "{}", outcome.out);
    cells
}

#[test]
fn every_cell_is_within_two_thousandths_whatever_the_barrier() {
    let Some((cluster, arguments)) = sites("measured") else { return };
    every_barrier_gives_the_truth(&cluster, &arguments);
}

#[test]
fn and_where_no_message_is_eager() {
    let Some((cluster, mut arguments)) = sites("rendezvous") else { return };
    arguments.retain(|word| !word.starts_with("--cfg=smpi/async-small-thresh:"));
    every_barrier_gives_the_truth(&cluster, &arguments);
}

fn every_barrier_gives_the_truth(cluster: &Cluster, arguments: &[String]) {
    let mut all: Vec<Vec<Cell>> = Vec::new();
    for barrier in BARRIERS {
        let barrier = format!("--cfg=smpi/barrier:{barrier}");
        let mut settings: Vec<&str> = arguments.iter().map(String::as_str).collect();
        settings.push(&barrier);
        all.push(cells(cluster, &settings, &["--isolation", "barrier:native"]));
    }
    for cells in &all {
        for Cell { name, time, truth, cost, reps } in cells {
            let error = (time / truth - 1.0).abs();
            assert!(error < 0.002, "{name}: {time} us, {truth} us in truth");
            assert!(*reps >= 6.0, "{name}: {reps}");
            assert!(*cost <= 10.0 * truth + 30_000.0, "{name}: {cost} us of {truth}");
            let short = name.ends_with(" 8") || name.ends_with(" 1024");
            assert!(!short || *cost <= 50_000.0, "{name}: {cost} us of {truth}");
        }
    }
    for place in 0..15 {
        let times = || all.iter().map(|cells| cells[place].time);
        let (least, most) = (times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max));
        let name = &all[0][place].name;
        assert!(most / least <= 1.01, "{name}: {least} to {most} us over the barriers");
    }
}

#[test]
fn forty_samples_cost_at_most_three_times_their_sum() {
    let Some((cluster, arguments)) = sites("cost") else { return };
    let settings: Vec<&str> = arguments.iter().map(String::as_str).collect();
    for Cell { name, truth, cost, reps, .. } in cells(&cluster, &settings, &["--reps", "40"]) {
        println!("{name}: {:.2} times", cost / (40.0 * truth));
        assert_eq!(reps, 40.0, "{name}");
        assert!(cost <= 3.0 * 40.0 * truth, "{name}: {cost} us of {truth}");
    }
}

#[test]
fn clocks_that_are_off_and_drift_for_many_seconds_change_nothing() {
    let Some((cluster, arguments)) = sites("clocks") else { return };
    let settings: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let words = ["--clock-offset", "0.5", "--clock-drift", "10", "--reps", "60"];
    let cells = cells(&cluster, &settings, &words);
    for Cell { name, time, truth, reps, .. } in &cells {
        let error = (time / truth - 1.0).abs();
        println!("{name}: {:.3} %", 100.0 * error);
        assert!(error < 0.002, "{name}: {time} us, {truth} us in truth");
        assert_eq!(*reps, 60.0, "{name}");
    }
    let spent: f64 = cells.iter().map(|cell| cell.cost).sum();
    assert!(spent > 7e6, "{spent} us");
}

#[test]
fn every_native_is_started_too_and_the_simulated_network_goes_on_by_itself() {
    let Some(cluster) = Cluster::new("nonblocking") else { return };
    let all = laneway_core::Collective::ALL;
    let operations = all.map(laneway_core::Collective::name).join(",");
    let args = ["measure", "coll", &operations, "--algorithm", "native", "--form", "nonblocking"];
    let args = [&args[..], &["--sizes", "100K", "--format", "csv"]].concat();
    // By default SimGrid lets time pass in every MPI_Test.
    let outcome = cluster.run(5, &["--cfg=smpi/test:0"], &args);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let mut lines = outcome.out.lines();
    let head: Vec<&str> = lines.next().expect("a head").split(',').collect();
    let place = head.iter().position(|column| *column == "overlap_percent").expect("a column");
    let overlaps: Vec<Option<f64>> =
        lines.map(|line| line.split(',').nth(place)?.parse().ok()).collect();
    assert_eq!(overlaps.len(), all.len(), "{}", outcome.out);
    assert!(overlaps.iter().all(|hidden| hidden.is_some_and(|h| h > 95.0)), "{}", outcome.out);
}
