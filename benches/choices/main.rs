//! Holds the choice for calls over sites to what else could have been chosen, on platforms that
//! users have: 300 fresh ones in every run (`draw.rs`), 30 of them large, and those of `cases.rs`.
//!
//! `LANEWAY_SEED=7` begins with that seed, and does one platform unless `LANEWAY_PLATFORMS=20` says
//! how many; one alone shows its file, what measuring wrote, and all of its calls.
//! `LANEWAY_CASE=triangle` does one of the named cases, `LANEWAY_CASE=all` all of them and nothing
//! else. `LANEWAY_FILES=folder` keeps the files of all platforms there. `LANEWAY_SIMGRID=no` does
//! without SimGrid. Ends with code 1 where a claim does not hold.

mod case;
mod cases;
mod claims;
mod dice;
mod draw;
mod flow;
mod measured;
mod opponents;
mod plan;
mod routed;
mod simgrid;

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use case::{Case, Judges, Row};
use draw::Drawn;
use laneway_benches::seeds::{Seeds, on_all_cores};
use laneway_benches::smpirun::{built, object};

const PLATFORMS: usize = 300;

/// A platform to judge.
struct Subject {
    name: String,
    seed: u64,
    drawn: Drawn,
}

fn main() -> ExitCode {
    let found = Seeds::from_env().and_then(|seeds| Ok((built()?, subjects(&seeds)?)));
    let (folder, subjects) = match found {
        Ok(found) => found,
        Err(why) => {
            eprintln!("error: {why}\ntry:   LANEWAY_SEED=7 LANEWAY_PLATFORMS=20");
            return ExitCode::from(2);
        }
    };
    let has_simgrid = std::env::var("LANEWAY_SIMGRID").as_deref() != Ok("no");
    let library = if has_simgrid { object(&folder) } else { None };
    if has_simgrid && library.is_none() {
        eprintln!("try:   LANEWAY_SIMGRID=no, for no judgement by SimGrid");
        return ExitCode::from(3);
    }
    let judges = Judges { object: library.as_deref() };
    let kept = std::env::var_os("LANEWAY_FILES");
    let begun = Instant::now();
    let all = on_all_cores(&subjects, |subject| {
        let Subject { name, seed, drawn } = subject;
        let case = judges.judge(name.clone(), *seed, drawn.clone());
        keep(kept.as_ref().map(Path::new), &case);
        report(&case, begun.elapsed().as_secs());
        case
    });
    if let [case] = &all[..] {
        println!("{}", case.drawn.text);
        println!("{}", case.measured.as_deref().unwrap_or_default());
        case.rows.iter().for_each(|row| println!("{}", claims::line(case, row)));
    }
    if !has_simgrid {
        println!("not judged by SimGrid");
    }
    if claims::print(&all) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Prints what a run that is cut should have shown.
fn report(case: &Case, seconds: u64) {
    let (rows, failed) = (case.rows.len(), case.failures.len());
    let sum = |part: fn(&Row) -> f64| case.rows.iter().map(part).sum::<f64>();
    let (choosing, comparing) = (sum(|row| row.choosing_seconds), sum(|row| row.comparing_seconds));
    eprintln!(
        "{seconds} s: {}: {rows} choices in {choosing:.1} s, {failed} failures, measured in \
         {:.1} s, compared in {comparing:.1} s",
        case.name, case.measuring_seconds
    );
    for row in case.rows.iter().filter(|row| row.loss() > claims::LOSES) {
        eprintln!("  {}", claims::line(case, row));
    }
}

/// Named cases and seeds, as the environment says.
fn subjects(seeds: &Seeds) -> Result<Vec<Subject>, String> {
    let named = |(name, drawn): (&str, Drawn)| Subject { name: name.into(), seed: 0, drawn };
    let cases = cases::all();
    match std::env::var("LANEWAY_CASE") {
        Ok(name) if name == "all" => return Ok(cases.into_iter().map(named).collect()),
        Ok(name) => {
            let names: Vec<&str> = cases.iter().map(|case| case.0).collect();
            let unknown = format!("no case `{name}`; there are {}", names.join(", "));
            let case = cases.into_iter().find(|case| case.0 == name).ok_or(unknown)?;
            return Ok(vec![named(case)]);
        }
        Err(_) => {}
    }
    let count = seeds.count.unwrap_or(PLATFORMS);
    println!("{count} platforms from seed {}", seeds.first);
    let of_seed =
        |seed: u64| Subject { name: format!("seed {seed}"), seed, drawn: Drawn::new(seed) };
    let drawn = (seeds.first..).take(count).map(of_seed);
    // A given seed is done alone.
    let cases = if seeds.count.is_none() { cases } else { Vec::new() };
    Ok(cases.into_iter().map(named).chain(drawn).collect())
}

/// Writes a platform's files where a folder is given.
fn keep(folder: Option<&Path>, case: &Case) {
    let Some(folder) = folder else { return };
    let name = case.name.replace(' ', "-");
    let measured = case.measured.as_ref().map(|text| (format!("{name}-measured.toml"), text));
    let files = [(format!("{name}.toml"), &case.drawn.text)];
    for (file, text) in files.into_iter().chain(measured) {
        let file = folder.join(file);
        if let Err(error) = std::fs::write(&file, text) {
            eprintln!("warning: {} was not written: {error}", file.display());
        }
    }
}
