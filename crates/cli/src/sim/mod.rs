//! `laneway sim`: schedules on a simulated cluster, in virtual time.

mod record;

use std::path::Path;
use std::sync::Arc;

use clap::{Arg, ArgMatches, Command, value_parser};
use laneway_coll::{Algorithm, Params, algorithms, find};
use laneway_core::units::format_size;
use laneway_core::{Collective, Document, Exit, Failure, Row, Shape};
use laneway_draw::timeline::{Recording, Timeline};
use laneway_sim::network::Network;
use laneway_sim::platform::Platform;
use laneway_sim::{Observer, Outcome, SimError, Simulation};

use crate::output::{self, Output};
use crate::words;
use record::Wanted;

pub fn command() -> Command {
    Command::new("sim")
        .about("Runs algorithms on a simulated cluster and tells the time they take there")
        .after_help(
            "A platform is a TOML file or a generator whose values can be set (docs/platforms.md). \
             The times are virtual, exact and the same on every machine.\n\nExamples:\n  \
             laneway sim bcast --platform cluster:16 --sizes 1K,1M\n  \
             laneway sim scatter --platform two-sites:8x8,latency=20ms --sizes 256K\n  \
             laneway sim alltoall --algorithm pairwise --platform cluster:1024 --sizes 1K\n  \
             laneway sim bcast --algorithm binomial --platform cluster:16 --timeline bcast.svg\n  \
             laneway sim scatter --algorithm windowed --platform two-sites:8x8,latency=20ms \
             --sizes 4M --record wan.svg",
        )
        .arg(Arg::new("op").value_name("OP").required(true).help("The operation: bcast, ..."))
        .arg(
            Arg::new("platform")
                .long("platform")
                .value_name("P")
                .default_value("cluster:16")
                .help("A TOML file, or a generator: cluster:16, two-sites:8x8, sites:32,16,8, …"),
        )
        .arg(
            Arg::new("algorithm")
                .long("algorithm")
                .value_name("A,B")
                .value_delimiter(',')
                .help("Algorithms: binomial,knomial:radix=3 [default: all]"),
        )
        .arg(
            Arg::new("ranks")
                .long("ranks")
                .short('n')
                .value_name("N")
                .value_parser(value_parser!(u32))
                .help("Ranks, on the platform's first hosts [default: one on each host]"),
        )
        .arg(
            Arg::new("root")
                .long("root")
                .value_name("R")
                .value_parser(value_parser!(u32))
                .default_value("0"),
        )
        .arg(
            Arg::new("sizes")
                .long("sizes")
                .value_name("S,T")
                .value_delimiter(',')
                .default_value("8,1K,64K,1M")
                .help("Bytes of a rank's block, or of the vector"),
        )
        .arg(
            Arg::new("timeline")
                .long("timeline")
                .value_name("FILE.svg")
                .help("Draw who sends when; for one algorithm and one size"),
        )
        .args(record::args())
        .arg(
            Arg::new("export-simgrid")
                .long("export-simgrid")
                .value_name("DIR")
                .help("Also write the platform for SimGrid"),
        )
        .args(output::args())
}

/// What the command line asked for, checked.
struct Plan {
    platform: Platform,
    collective: Collective,
    algorithms: Vec<(&'static Algorithm, Params)>,
    ranks: u32,
    root: u32,
    sizes: Vec<u64>,
}

impl Plan {
    fn from(matches: &ArgMatches) -> Result<Plan, Failure> {
        let text = |name: &str| matches.get_one::<String>(name).map_or("", String::as_str);
        let collective = words::collective("sim", text("op"))?;
        let spec = text("platform");
        let platform = Platform::read(spec).map_err(|error| error.into_failure())?;
        let hosts = platform.hosts();
        let ranks = matches.get_one::<u32>("ranks").copied().unwrap_or(hosts);
        if !(1..=hosts).contains(&ranks) {
            let cause = format!("{spec} has {hosts} hosts, and a host runs one rank");
            let what = format!("cannot simulate {ranks} ranks");
            return Err(Failure::usage(what, cause, format!("--ranks {hosts}")));
        }
        let root = matches.get_one::<u32>("root").copied().unwrap_or(0);
        if root >= ranks {
            let cause = format!("the ranks are 0 to {}", ranks - 1);
            return Err(Failure::usage(format!("no root {root}"), cause, "--root 0"));
        }
        let texts: Vec<&String> = matches.get_many("sizes").unwrap_or_default().collect();
        let sizes: Result<Vec<u64>, Failure> =
            texts.into_iter().map(|text| words::size(text)).collect();
        let sizes = if collective == Collective::Barrier { vec![0] } else { sizes? };
        let names: Vec<&String> = matches.get_many("algorithm").unwrap_or_default().collect();
        let named = |name: &&String| {
            find(collective, name).map_err(|refusal| {
                let what = format!("no algorithm `{name}`");
                Failure::usage(what, refusal.0, "laneway info algorithms")
            })
        };
        let algorithms = match names.is_empty() {
            true => algorithms(collective).map(|a| (a, a.defaults())).collect(),
            false => names.iter().map(named).collect::<Result<_, _>>()?,
        };
        Ok(Plan { platform, collective, algorithms, ranks, root, sizes })
    }

    fn shape(&self, size: u64) -> Shape {
        let root = if self.collective.has_root() { self.root } else { 0 };
        let hosts: Vec<u32> = (0..self.ranks).collect();
        let placement = Arc::new(self.platform.placement(&hosts));
        Shape::new(self.collective, self.ranks, size).with_root(root).with_placement(placement)
    }

    /// The run, where one algorithm and one size are asked for.
    fn one_run(&self, what: &str) -> Result<((&'static Algorithm, Params), u64), Failure> {
        let (&[algorithm], &[size]) = (&self.algorithms[..], &self.sizes[..]) else {
            let cause = format!("{} algorithms, {} sizes", self.algorithms.len(), self.sizes.len());
            let name = self.algorithms.first().map_or("binomial", |(first, _)| first.name);
            return Err(Failure::usage(what, cause, format!("--algorithm {name} --sizes 64K")));
        };
        Ok((algorithm, size))
    }

    /// What a picture of one run is called.
    fn title(&self, algorithm: &Algorithm, size: u64) -> String {
        let (op, platform) = (self.collective.name(), self.platform.name());
        let (size, ranks) = (format_size(size), self.ranks);
        format!("{op} {}, {size}, {ranks} ranks on {platform}", algorithm.name)
    }

    fn env(&self) -> Row {
        Row::new().with("backend", format!("sim:{}", self.platform.name()))
    }

    /// One algorithm with one size, watched where somebody wants to.
    fn simulate(
        &self,
        (algorithm, params): (&Algorithm, Params),
        size: u64,
        observer: Option<&mut (dyn Observer + Send)>,
    ) -> Result<Result<Outcome, String>, Failure> {
        let schedule = match algorithm.schedule(&self.shape(size), &params) {
            Ok(schedule) => schedule,
            Err(refusal) => return Ok(Err(refusal.0)),
        };
        let mut simulation = Simulation::new(&self.platform);
        if let Some(observer) = observer {
            simulation = simulation.observed(observer);
        }
        let outcome = simulation.run(&*schedule).map_err(|error| {
            let what = format!("{} cannot be simulated", algorithm.name);
            let try_this = match error {
                SimError::Partition { .. } => "an event that brings back what is dead",
                _ => "report this with the command line",
            };
            Failure::environment(what, error.to_string(), try_this)
        })?;
        Ok(Ok(outcome))
    }
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let output = Output::from(matches)?;
    let plan = Plan::from(matches)?;
    let record = Wanted::from(matches, &plan)?;
    if let Some(dir) = matches.get_one::<String>("export-simgrid") {
        export(&plan.platform, Path::new(dir))?;
    }
    if let Some(file) = matches.get_one::<String>("timeline") {
        draw(&plan, Path::new(file))?;
    }
    if let Some(record) = record {
        record.write(&plan)?;
    }
    let mut rows = Vec::new();
    let mut refused = Vec::new();
    for &size in &plan.sizes {
        for &(algorithm, params) in &plan.algorithms {
            match plan.simulate((algorithm, params), size, None)? {
                Err(why) => refused.push(format!("{}: {why}", algorithm.name)),
                Ok(outcome) => rows.push(
                    Row::new()
                        .with("op", plan.collective.name())
                        .with("algorithm", spelled(algorithm, &params))
                        .with("ranks", plan.ranks)
                        .with("root", plan.collective.has_root().then_some(plan.root))
                        .with("size_bytes", size)
                        .with("time_us", outcome.finish * 1e6)
                        .with("messages", outcome.messages)
                        .with("bytes", outcome.bytes),
                ),
            }
        }
    }
    refused.dedup();
    refused.iter().for_each(|line| output::note(&format!("left out {line}")));
    if rows.is_empty() {
        let what = "nothing was simulated";
        let cause = "no chosen algorithm serves this shape";
        return Err(Failure::usage(what, cause, "laneway info algorithms"));
    }
    let sizes: Vec<String> = plan.sizes.iter().map(|&size| format_size(size)).collect();
    let params = Row::new().with("platform", plan.platform.name()).with("sizes", sizes.join(","));
    output.write(&Document { verb: "sim", env: plan.env(), params, rows, summary: None }, None)?;
    Ok(Exit::Done)
}

/// The name, with its parameters where they are not the usual ones.
fn spelled(algorithm: &Algorithm, params: &Params) -> String {
    match *params == algorithm.defaults() {
        true => algorithm.name.to_owned(),
        false => algorithm.spelled(params),
    }
}

fn draw(plan: &Plan, file: &Path) -> Result<(), Failure> {
    let (algorithm, size) = plan.one_run("a timeline shows one run")?;
    let mut recording = Recording::default();
    if let Err(why) = plan.simulate(algorithm, size, Some(&mut recording))? {
        return Err(Failure::usage("nothing to draw", why, "another --algorithm"));
    }
    let title = plan.title(algorithm.0, size);
    let (platform, ranks) = (&plan.platform, plan.ranks);
    let sites = (0..ranks).map(|rank| platform.site_of(rank).unwrap_or(0)).collect();
    let (resources, site_names) = (platform.resources(), platform.site_names());
    let timeline = Timeline { title, ranks, resources, site_names, sites };
    write(file, &timeline.draw(&recording))
}

fn export(platform: &Platform, dir: &Path) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        let what = format!("cannot write into `{}`", dir.display());
        Failure::environment(what, error.to_string(), "a folder that can be written to")
    };
    std::fs::create_dir_all(dir).map_err(failed)?;
    let export = platform.export_simgrid().map_err(|error| error.into_failure())?;
    for (name, text) in export.files() {
        write(&dir.join(name), &text)?;
    }
    let dir = dir.display();
    let arguments = export.arguments.join(" ");
    output::note(&format!(
        "smpirun -platform {dir}/platform.xml -hostfile {dir}/hostfile {arguments} PROGRAM"
    ));
    export.lost.iter().for_each(|what| output::note(&format!("SimGrid cannot say: {what}")));
    Ok(())
}

fn write(file: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(file, text).map_err(|error| {
        let what = format!("cannot write `{}`", file.display());
        Failure::environment(what, error.to_string(), "a folder that can be written to")
    })
}
