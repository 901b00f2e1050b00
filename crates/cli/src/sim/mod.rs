//! `laneway sim`: schedules on a simulated cluster, in virtual time.

mod record;

use std::path::Path;

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command, value_parser};
use laneway_coll::{Algorithm, default_algorithm};
use laneway_core::units::{counted, format_size};
use laneway_core::{Collective, Document, Row, Shape};
use laneway_draw::timeline::{Recording, Timeline};
use laneway_sim::network::Network;
use laneway_sim::platform::Platform;
use laneway_sites::{Run, Simulated};

use crate::advice::{self, sim::unsimulated_run};
use crate::failure::{Exit, Failure};
use crate::output::{self, Output};
use crate::platform;
use crate::progress::Bar;
use crate::words::{self, Chosen};
use record::Wanted;

pub fn command() -> Command {
    Command::new("sim")
        .about("Simulates algorithms on a cluster and prints the time that they take")
        .after_help(
            "A platform is a TOML file or a generator with parameters (docs/platforms.md). Times \
             are virtual, and identical on every machine.\n\nExamples:\n  \
             laneway sim bcast --platform cluster:16 --sizes 1K,1M\n  \
             laneway sim scatter --platform two-sites:8x8,latency=20ms --sizes 256K\n  \
             laneway sim alltoall --algorithm pairwise --platform cluster:1024 --sizes 1K\n  \
             laneway sim bcast --algorithm binomial --platform cluster:16 --timeline bcast.svg\n  \
             laneway sim scatter --algorithm windowed --platform two-sites:8x8,latency=20ms \
             --sizes 4M --record wan.svg",
        )
        .arg(words::ops_arg().required(true))
        .arg(
            Arg::new("platform")
                .long("platform")
                .value_name("P")
                .default_value("cluster:16")
                .help("A TOML file, or a generator: cluster:16, two-sites:8x8, sites:32,16,8, …"),
        )
        .arg(
            Arg::new("algorithm").long("algorithm").value_name("A,B").value_delimiter(',').help(
                "Algorithms, comma-separated: binomial,knomial:radix=3, or all [default: all]",
            ),
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
        .arg(words::sizes_arg("Bytes", "8,1K,64K,1M"))
        .arg(
            Arg::new("timeline")
                .long("timeline")
                .value_name("FILE.svg")
                .value_parser(words::svg_file)
                .help("Draw a timeline of the messages of one run [default: usual algorithm, 64K]"),
        )
        .args(record::args())
        .arg(
            Arg::new("export-simgrid")
                .long("export-simgrid")
                .value_name("DIR")
                .help("Also write the platform as files for SimGrid"),
        )
        .args(output::args())
}

/// What the command line asked for, checked.
struct Plan {
    platform: Platform,
    chosen: Vec<Chosen>,
    ranks: u32,
    root: u32,
    sizes: Vec<u64>,
}

/// Default bytes of a run that is drawn.
const DRAWN: u64 = 64 << 10;

impl Plan {
    fn from(matches: &ArgMatches) -> Result<Plan, Failure> {
        let list = |name: &str| matches.get_many::<String>(name).unwrap_or_default();
        let collectives = words::ops("sim", matches, "")?;
        let spec = matches.get_one::<String>("platform").map_or("", String::as_str);
        let platform = platform::read("--platform ", spec)?;
        let hosts = platform.hosts();
        let ranks = matches.get_one::<u32>("ranks").copied().unwrap_or(hosts);
        if !(1..=hosts).contains(&ranks) {
            let have = counted(hosts, "host");
            let cause = format!("{spec} has {have}, and a host runs one rank");
            let what = format!("cannot simulate {}", counted(ranks, "rank"));
            return Err(Failure::usage(what, cause, format!("--ranks {hosts}")));
        }
        let root = matches.get_one::<u32>("root").copied().unwrap_or(0);
        if root >= ranks {
            let cause = format!("the ranks are 0 to {}", ranks - 1);
            return Err(Failure::usage(format!("root {root} is out of range"), cause, "--root 0"));
        }
        let sizes = words::sizes(list("sizes"))?;
        let chosen = words::algorithms(&collectives, list("algorithm"))?;
        words::unserved(&collectives, list("algorithm")).iter().for_each(|line| output::note(line));
        let mut plan = Plan { platform, chosen, ranks, root, sizes };
        if ["timeline", "record"].iter().any(|name| matches.contains_id(name)) {
            plan.choose_one(matches, &collectives);
        }
        Ok(plan)
    }

    /// Of a run that is drawn, sets the defaults of what was not given.
    fn choose_one(&mut self, matches: &ArgMatches, collectives: &[Collective]) {
        let typed = |name: &str| matches.value_source(name) == Some(ValueSource::CommandLine);
        if !typed("sizes") {
            self.sizes = vec![DRAWN];
        }
        let &[collective] = collectives else { return };
        let shape = Shape::new(collective, self.ranks, self.sizes[0]);
        if let Some((algorithm, params)) = default_algorithm(&shape).filter(|_| !typed("algorithm"))
        {
            self.chosen = vec![Chosen { collective, algorithm, params }];
        }
    }

    fn calls(&self) -> Simulated<'_> {
        Simulated { platform: &self.platform, ranks: self.ranks, root: self.root }
    }

    /// Every run: an algorithm and a size.
    fn runs(&self) -> Vec<Run> {
        let of = |chosen: &Chosen| (chosen.collective, chosen.algorithm, chosen.params);
        Run::each(&self.chosen.iter().map(of).collect::<Vec<_>>(), &self.sizes)
    }

    /// The run, where one algorithm and one size are asked for.
    fn one_run(&self, what: &str) -> Result<Run, Failure> {
        let &[run] = &self.runs()[..] else {
            let algorithms = counted(self.chosen.len() as u64, "algorithm");
            let cause = format!("{algorithms}, {}", counted(self.sizes.len() as u64, "size"));
            let name = self.chosen.first().map_or("binomial", |first| first.algorithm.name);
            return Err(Failure::usage(what, cause, format!("--algorithm {name} --sizes 64K")));
        };
        Ok(run)
    }

    /// What a picture of one run is called.
    fn title(&self, run: &Run) -> String {
        let (op, platform) = (run.collective.name(), self.platform.name());
        let (size, ranks) = (format_size(run.size), counted(self.ranks, "rank"));
        format!("{op} {}, {size}, {ranks} on {platform}", run.algorithm.name)
    }

    fn env(&self) -> Row {
        Row::new().with("backend", format!("sim:{}", self.platform.name()))
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
    let times = plan.calls().rows(&plan.runs(), &*Bar::working());
    let times = times.map_err(|error| unsimulated_run("nothing was simulated", error))?;
    let line = |(algorithm, why): &(&Algorithm, String)| format!("{}: {why}", algorithm.name);
    let mut left_out: Vec<String> = times.refused.iter().map(line).collect();
    left_out.dedup();
    left_out.iter().for_each(|line| output::note(&format!("left out {line}")));
    let rows = times.rows;
    if rows.is_empty() {
        let what = "nothing was simulated";
        let cause = "no chosen algorithm serves this shape";
        return Err(Failure::usage(what, cause, "laneway info algorithms"));
    }
    let sizes: Vec<String> = plan.sizes.iter().map(|&size| format_size(size)).collect();
    let params = Row::new().with("platform", plan.platform.name()).with("sizes", sizes.join(","));
    let fastest = laneway_report::fastest(&rows);
    let summary = (!fastest.is_empty()).then(|| Row::new().with("fastest", fastest.join(" ")));
    let document = Document { verb: "sim", env: plan.env(), params, rows, summary };
    output.write_said(&document, None, &fastest)?;
    Ok(Exit::Done)
}

fn draw(plan: &Plan, file: &Path) -> Result<(), Failure> {
    let run = plan.one_run("a timeline shows one run")?;
    let mut recording = Recording::default();
    let drawn = plan.calls().run(&run, Some(&mut recording), &*Bar::working());
    drawn.map_err(|error| unsimulated_run("nothing to draw", error))?;
    let title = plan.title(&run);
    let (platform, ranks) = (&plan.platform, plan.ranks);
    let sites = (0..ranks).map(|rank| platform.site_of(rank).unwrap_or(0)).collect();
    let (resources, site_names) = (platform.resources(), platform.site_names());
    let timeline = Timeline { title, ranks, resources, site_names, sites };
    write(file, &timeline.draw(&recording))
}

fn export(platform: &Platform, dir: &Path) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        let what = format!("cannot write into `{}`", dir.display());
        Failure::environment(what, error.to_string(), "a folder in which you can create files")
    };
    std::fs::create_dir_all(dir).map_err(failed)?;
    let export =
        platform.export_simgrid().map_err(|error| advice::platform("--platform ", &error))?;
    for (name, text) in export.files() {
        write(&dir.join(name), &text)?;
    }
    let dir = dir.display();
    let arguments = export.arguments.join(" ");
    output::note(&format!(
        "smpirun -platform {dir}/platform.xml -hostfile {dir}/hostfile {arguments} PROGRAM"
    ));
    export
        .lost
        .iter()
        .for_each(|what| output::note(&format!("not expressible in SimGrid: {what}")));
    Ok(())
}

fn write(file: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(file, text).map_err(|error| {
        let what = format!("cannot write `{}`", file.display());
        Failure::environment(what, error.to_string(), output::writable(file))
    })
}
