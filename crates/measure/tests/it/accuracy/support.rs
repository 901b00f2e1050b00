//! The cells that every claim is held to: five operations, three sizes, sixteen hosts at two sites.

use std::path::PathBuf;

use laneway_coll::{default_algorithm, find};
use laneway_core::{Collective as Kind, Comm, Shape};
use laneway_measure::operation::Answerer;
use laneway_measure::timing::{Stage, Timing};
use laneway_measure::{Collective, GlobalClock, Isolation, Point, Procedure, Rule, measure, truth};
use laneway_sim::Program;
use laneway_sim::platform::Platform;

pub const CELLS: [Kind; 5] =
    [Kind::Bcast, Kind::Scatter, Kind::Gather, Kind::Allreduce, Kind::Alltoall];
pub const SIZES: [u64; 3] = [8, 1 << 10, 64 << 10];

/// The two sites; where asked for, with clocks that are off and drift.
pub fn sites(skewed: bool) -> Platform {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/accuracy");
    let text = std::fs::read_to_string(folder.join("sites.toml")).expect("the platform");
    if !skewed {
        let file = folder.join("sites.toml");
        return Platform::read(file.to_str().expect("a readable name")).expect("a platform");
    }
    let clocks = "clock-offset = \"+-500ms\"\nclock-drift = \"+-10ppm\"\n";
    let text = text.replace("[[host]]\n", &format!("[[host]]\n{clocks}"));
    let name =
        format!("laneway-skewed-{}-{:?}.toml", std::process::id(), std::thread::current().id());
    let file = std::env::temp_dir().join(name.replace(['(', ')'], ""));
    std::fs::write(&file, text).expect("a file");
    let platform = Platform::read(file.to_str().expect("a readable name")).expect("a platform");
    std::fs::remove_file(file).expect("removed");
    platform
}

/// What a point came to, and the true time.
pub struct Found {
    pub point: Point,
    pub truth: f64,
}

/// Measures a cell on all hosts with its usual algorithm.
pub fn found(
    platform: &Platform,
    cell: (Kind, u64),
    isolation: &str,
    rule: Rule,
    timing: impl Fn() -> Box<dyn Timing> + Sync,
) -> Found {
    found_by(platform, cell, None, isolation, rule, timing)
}

/// Measures a cell with any algorithm; the clocks of the paper's method are compared as it says.
pub fn found_by(
    platform: &Platform,
    (kind, size): (Kind, u64),
    algorithm: Option<&str>,
    isolation: &str,
    rule: Rule,
    timing: impl Fn() -> Box<dyn Timing> + Sync,
) -> Found {
    let ranks = platform.hosts();
    let shape = Shape::new(kind, ranks, size);
    let (algorithm, params) = match algorithm {
        Some(name) => find(kind, name).expect("an algorithm"),
        None => default_algorithm(&shape).expect("an algorithm"),
    };
    let isolation = Isolation::parse(isolation).expect("an isolation");
    let ended = Program::new(platform, ranks).run(|comm: &dyn Comm| {
        let own = comm.dup().expect("a communicator");
        let answerer = Answerer::Ours(algorithm, params);
        let made = Collective::new(comm, &shape, answerer);
        let mut collective = made.expect("a shape that is served");
        assert_eq!(collective.validate().expect("a call"), None);
        let mut ready = collective.ready().expect("buffers");
        let papers = timing().name() == "global";
        let procedure = if papers { Procedure::Offset } else { Procedure::Tree };
        let clock = GlobalClock::new(&*own, procedure);
        let mut stage = Stage { isolation, ..Stage::new(&*own, clock) };
        let point = measure(&mut stage, &mut *timing(), &mut ready, &rule).expect("a point");
        let truth = truth(&*own, &mut ready).expect("the truth");
        point.zip(truth)
    });
    let results = ended.expect("a program that ends").results;
    let (point, truth) = results.into_iter().next().flatten().expect("rank 0 knows");
    Found { point, truth }
}
