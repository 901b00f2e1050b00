//! `laneway info`: what there is to choose from, and what this machine has.

use clap::{Arg, ArgMatches, Command};
use laneway_coll::{Counts, all};
use laneway_core::units::format_size;
use laneway_core::{Collective, Document, Row};
use laneway_measure::Method;
use laneway_measure::flags::{FLAGS, Flag};
use laneway_sim::platform::{GENERATORS, Generator};

use crate::failure::{Exit, Failure};
use crate::output::{self, Output};
use crate::{session, words};

const TOPICS: [&str; 7] =
    ["algorithms", "timings", "flags", "topologies", "engines", "platforms", "env"];

pub fn command() -> Command {
    Command::new("info")
        .about(
            "Lists algorithms, timing methods, flags, topologies, engines and platforms, and what \
             this machine has",
        )
        .after_help(
            "Examples:\n  \
             laneway info algorithms               every algorithm and its parameters\n  \
             laneway info algorithms allreduce     those of an operation\n  \
             laneway info timings                  the ways to time an operation\n  \
             laneway info flags                    flags of measured rows: meaning, what to do\n  \
             laneway info topologies               fabrics by formula\n  \
             laneway info engines                  the ways to route any fabric\n  \
             laneway info platforms                simulated clusters by name\n  \
             laneway info env                      this machine, and the MPI found\n  \
             mpirun -n 2 laneway info env          the MPI that started us\n  \
             LANEWAY_MPI=/opt/mpi laneway info env another library, by file or installation\n  \
             LANEWAY_MPI_THREADS=funneled mpirun -n 2 laneway info env   the thread level given",
        )
        .arg(Arg::new("topic").value_parser(TOPICS).default_value("env"))
        .arg(words::ops_arg().help("With algorithms: those of these operations [default: all]"))
        .args(session::args())
        .args(output::args())
}

pub fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let output = Output::from(matches)?;
    let topic = matches.get_one::<String>("topic").map_or("env", String::as_str);
    if topic != "algorithms" && matches.contains_id("op") {
        let what = format!("{topic} are not those of an operation");
        let cause = "operations have algorithms";
        return Err(Failure::usage(what, cause, "laneway info algorithms bcast"));
    }
    if topic == "algorithms" {
        let full = algorithms(&words::ops("info algorithms", matches, "all")?);
        let sentence = format!("There are {} algorithms.", full.rows.len());
        output.write_said(&full, Some(&brief(&full)), &[sentence])?;
        return Ok(Exit::Done);
    }
    if topic == "flags" {
        output.write(&flags(), Some(&flags_in_two_lines()))?;
        return Ok(Exit::Done);
    }
    let listed = match topic {
        "timings" => Some(timings()),
        "topologies" => Some(topologies()),
        "engines" => Some(engines()),
        "platforms" => Some(platforms()),
        _ => None,
    };
    if let Some(listed) = listed {
        output.write(&listed, None)?;
        return Ok(Exit::Done);
    }
    // Started by a launcher or with --ranks, the ranks tell; otherwise this process alone.
    let choice = session::checking(matches)?;
    if !choice.has_ranks() {
        output.write(&document(session::alone(&choice)?), None)?;
        return Ok(Exit::Done);
    }
    session::run(&choice, &|comm| print_env(comm, &output))
}

fn print_env(comm: &dyn laneway_core::Comm, output: &Output) -> Result<Exit, session::RankError> {
    let hosts = comm.hosts()?;
    if comm.rank() == 0 {
        let env = session::environment(comm);
        let mut distinct = hosts.clone();
        distinct.sort();
        distinct.dedup();
        let env = env.with("hosts", distinct.join(","));
        output.write(&document(env), None)?;
    }
    Ok(Exit::Done)
}

fn document(env: Row) -> Document {
    let line = |name: &str, value: &laneway_core::Value| {
        Row::new().with("item", name).with("value", value.clone())
    };
    let rows = env.0.iter().map(|(name, value)| line(name, value)).collect();
    Document { verb: "info", params: Row::new().with("topic", "env"), rows, env, summary: None }
}

fn timings() -> Document {
    let row = |method: Method| {
        let usual = if method == Method::default() { "yes" } else { "" };
        Row::new()
            .with("timing", method.name())
            .with("default", usual)
            .with("what", method.sentence())
    };
    list("timings", Method::ALL.map(row).to_vec())
}

fn flags() -> Document {
    let row = |flag: &Flag| {
        Row::new()
            .with("flag", flag.name)
            .with("what", flag.sentence)
            .with("what_to_do", flag.advice)
    };
    list("flags", FLAGS.iter().map(row).collect())
}

/// For a screen: what a flag means, and below it what to do.
fn flags_in_two_lines() -> Document {
    let row = |name: &'static str, text| Row::new().with("flag", name).with("what", text);
    let rows = |flag: &Flag| [row(flag.name, flag.sentence), row("", flag.advice)];
    list("flags", FLAGS.iter().flat_map(rows).collect())
}

fn topologies() -> Document {
    let row = |kind: &&laneway_topo::topologies::Kind| {
        Row::new()
            .with("topology", format!("{}:d=8", kind.name))
            .with("what", kind.sentence)
            .with("source", kind.source)
    };
    list("topologies", laneway_topo::KINDS.iter().map(row).collect())
}

fn engines() -> Document {
    let native = Row::new().with("engine", "native").with("what", "the topology's own forwarding");
    let row = |engine: &&laneway_topo::routing::engines::Engine| {
        Row::new().with("engine", engine.name).with("what", engine.sentence)
    };
    let others = laneway_topo::routing::engines::ENGINES.iter().map(row);
    list("engines", std::iter::once(native).chain(others).collect())
}

fn platforms() -> Document {
    let row = |generator: &Generator| {
        Row::new()
            .with("platform", generator.name)
            .with("example", generator.example)
            .with("what", generator.sentence)
    };
    list("platforms", GENERATORS.iter().map(row).collect())
}

fn list(topic: &str, rows: Vec<Row>) -> Document {
    let params = Row::new().with("topic", topic);
    Document { verb: "info", env: Row::new(), params, rows, summary: None }
}

/// The columns that fit a screen; JSON and CSV have them all.
fn brief(full: &Document) -> Document {
    const SHOWN: [&str; 4] = ["op", "algorithm", "parameters", "what"];
    let shown = |row: &Row| row.only(|name| SHOWN.contains(&name));
    Document { rows: full.rows.iter().map(shown).collect(), ..full.clone() }
}

fn algorithms(operations: &[Collective]) -> Document {
    let row = |algorithm: &laneway_coll::Algorithm| {
        let forms: Vec<&str> = Collective::ALL
            .into_iter()
            .filter(|form| form.family() == algorithm.family)
            .map(Collective::name)
            .collect();
        let parameters: Vec<String> = algorithm
            .parameters
            .iter()
            .map(|(p, value)| match p.words().get(*value as usize) {
                Some(word) => format!("{}={word}", p.name()),
                None => format!("{}={}", p.name(), format_size(*value)),
            })
            .collect();
        let keeps_order = algorithm.family.reduces().then_some(algorithm.ordered);
        Row::new()
            .with("op", algorithm.family.name())
            .with("algorithm", algorithm.name)
            .with("parameters", parameters.join(":"))
            .with("serves", forms.join(" "))
            .with("in_place", algorithm.in_place)
            .with("keeps_order", keeps_order)
            .with("counts", if algorithm.counts == Counts::All { "all" } else { "own" })
            .with("what", algorithm.sentence)
            .with("source", algorithm.source)
    };
    let is_asked = |algorithm: &&laneway_coll::Algorithm| {
        operations.iter().any(|operation| operation.family() == algorithm.family)
    };
    let rows: Vec<Row> = all().filter(is_asked).map(row).collect();
    let summary = Some(Row::new().with("algorithms", rows.len() as u64));
    let params = Row::new().with("topic", "algorithms");
    Document { verb: "info", env: Row::new(), params, rows, summary }
}
