//! `laneway sim`: schedules on a simulated cluster, in virtual time.

mod record;

use std::path::Path;
use std::sync::Arc;

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command, value_parser};
use laneway_coll::{Algorithm, default_algorithm};
use laneway_core::units::{counted, format_size};
use laneway_core::{Collective, Document, Exit, Failure, Observer as _, Row, Shape};
use laneway_draw::timeline::{Recording, Timeline};
use laneway_sim::network::Network;
use laneway_sim::platform::Platform;
use laneway_sim::{Observer, Outcome, SimError, Simulation};

use crate::output::{self, Output};
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

/// Bytes of a run that is drawn, where nobody says.
const DRAWN: u64 = 64 << 10;

/// Why a run has no outcome.
enum NoOutcome {
    /// The algorithm does not serve the shape.
    Refused(String),
    Failed(Failure),
}

impl Plan {
    fn from(matches: &ArgMatches) -> Result<Plan, Failure> {
        let list = |name: &str| matches.get_many::<String>(name).unwrap_or_default();
        let collectives = words::ops("sim", matches, "")?;
        let spec = matches.get_one::<String>("platform").map_or("", String::as_str);
        let platform =
            Platform::read(spec).map_err(|error| error.into_failure_of("--platform "))?;
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

    /// Of a run that is drawn, what nobody typed is what is usual.
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

    fn root_of(&self, collective: Collective) -> Option<u32> {
        collective.has_root().then_some(self.root)
    }

    fn shape(&self, collective: Collective, size: u64) -> Shape {
        let root = self.root_of(collective).unwrap_or(0);
        let hosts: Vec<u32> = (0..self.ranks).collect();
        let placement = Arc::new(self.platform.placement(&hosts));
        Shape::new(collective, self.ranks, size).with_root(root).with_placement(placement)
    }

    /// Every run: an algorithm and a size.
    fn runs(&self) -> Vec<(Chosen, u64)> {
        let sizes = |chosen: &Chosen| match chosen.collective {
            Collective::Barrier => vec![0],
            _ => self.sizes.clone(),
        };
        let of = |&chosen: &Chosen| sizes(&chosen).into_iter().map(move |size| (chosen, size));
        let mut all: Vec<(Chosen, u64)> = self.chosen.iter().flat_map(of).collect();
        let place = |op: Collective| self.chosen.iter().position(|one| one.collective == op);
        all.sort_by_key(|(chosen, size)| (place(chosen.collective), *size));
        all
    }

    /// The run, where one algorithm and one size are asked for.
    fn one_run(&self, what: &str) -> Result<(Chosen, u64), Failure> {
        let &[run] = &self.runs()[..] else {
            let algorithms = counted(self.chosen.len() as u64, "algorithm");
            let cause = format!("{algorithms}, {}", counted(self.sizes.len() as u64, "size"));
            let name = self.chosen.first().map_or("binomial", |first| first.algorithm.name);
            return Err(Failure::usage(what, cause, format!("--algorithm {name} --sizes 64K")));
        };
        Ok(run)
    }

    /// What a picture of one run is called.
    fn title(&self, chosen: Chosen, size: u64) -> String {
        let (op, platform) = (chosen.collective.name(), self.platform.name());
        let (size, ranks) = (format_size(size), self.ranks);
        let ranks = counted(ranks, "rank");
        format!("{op} {}, {size}, {ranks} on {platform}", chosen.algorithm.name)
    }

    fn env(&self) -> Row {
        Row::new().with("backend", format!("sim:{}", self.platform.name()))
    }

    /// One algorithm with one size, watched where somebody wants to.
    fn simulate(
        &self,
        Chosen { collective, algorithm, params }: Chosen,
        size: u64,
        observer: Option<&mut (dyn Observer + Send)>,
        progress: &dyn laneway_core::Observer,
    ) -> Result<Outcome, NoOutcome> {
        let schedule = algorithm.schedule(&self.shape(collective, size), &params);
        let schedule = schedule.map_err(|refusal| NoOutcome::Refused(refusal.0))?;
        let mut simulation = Simulation::new(&self.platform).progress(progress);
        if let Some(observer) = observer {
            simulation = simulation.observed(observer);
        }
        let failed = |error| NoOutcome::Failed(unsimulated(algorithm, error));
        simulation.run(&*schedule).map_err(failed)
    }
}

fn unsimulated(algorithm: &Algorithm, error: SimError) -> Failure {
    let what = format!("{} cannot be simulated", algorithm.name);
    let try_this = match error {
        SimError::Partition { .. } => "`until = \"2s\"` in the [[event]] that takes the link down",
        _ => "report this with the command line",
    };
    Failure::environment(what, error.to_string(), try_this)
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
    let runs = plan.runs();
    let bar = Bar::working();
    for (number, &(chosen, size)) in runs.iter().enumerate() {
        let Chosen { collective, algorithm, params } = chosen;
        // Of several runs, those that are over are counted; of a single one its rounds.
        let what = format!("{} {}", collective.name(), algorithm.name);
        bar.progress(number as u64, runs.len() as u64, &what);
        let inside: &dyn laneway_core::Observer = if runs.len() == 1 { &*bar } else { &() };
        match plan.simulate(chosen, size, None, inside) {
            Err(NoOutcome::Failed(failure)) => return Err(failure),
            Err(NoOutcome::Refused(why)) => refused.push(format!("{}: {why}", algorithm.name)),
            Ok(outcome) => rows.push(
                Row::new()
                    .with("op", collective.name())
                    .with("algorithm", algorithm.label(&params))
                    .with("ranks", plan.ranks)
                    .with("root", plan.root_of(collective))
                    .with("size_bytes", size)
                    .with("time_us", outcome.finish * 1e6)
                    .with("messages", outcome.messages)
                    .with("bytes", outcome.bytes),
            ),
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

fn draw(plan: &Plan, file: &Path) -> Result<(), Failure> {
    let (chosen, size) = plan.one_run("a timeline shows one run")?;
    let mut recording = Recording::default();
    let drawn = plan.simulate(chosen, size, Some(&mut recording), &*Bar::working());
    drawn.map_err(|error| match error {
        NoOutcome::Failed(failure) => failure,
        NoOutcome::Refused(why) => {
            Failure::usage("nothing to draw", why, "laneway info algorithms")
        }
    })?;
    let title = plan.title(chosen, size);
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
    let export = platform.export_simgrid().map_err(|error| error.into_failure())?;
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
