//! Every example of the help texts and of the documentation is run, as a person would type it.
//!
//! Each goes through a shell, in a folder with the files that examples name. `mpirun -n N` is a
//! script there that gives the command a simulated cluster of as many hosts: what is held here is
//! that an example does what it says, and `tests/it/mpi.rs` holds the MPIs.

mod stage;

use std::path::Path;

use stage::{Ended, Stage};

/// Examples that are not run here, by how they begin, and why; a whole one ends with `$`.
const LEFT_OUT: &[(&str, &str)] = &[
    ("laneway tour", "tests/it/command.rs walks the tour"),
    ("laneway lab", "tests/it/lab has labs, and takes them down"),
    ("laneway path drill", "tests/it/path.rs and tests/it/lab have the drills, with root"),
    ("laneway path serve", "tests/it/path.rs has both ends"),
    ("laneway path drain", "tests/it/watch.rs has programs with paths to drain"),
    ("laneway path undrain", "tests/it/watch.rs has programs with paths to drain"),
    ("laneway path info eth0", "interfaces of these names are on few machines"),
    ("laneway path info --peer", "the peer is another machine"),
    ("laneway path watch", "tests/it/watch.rs has programs to watch"),
    ("laneway check --backend net:", "interfaces of these names are on few machines"),
    ("laneway check --backend net --hosts", "the hosts are other machines"),
    ("laneway measure p2p --backend net:", "the hosts are other machines"),
    ("laneway measure p2p --backend local:memcpy,shm,tcp,mpi", "tests/it/measure_p2p.rs has an MPI"),
    ("laneway reproduce mpiblib$", "tests/it/reproduce.rs does all of it"),
    ("laneway reproduce mpiblib --format", "tests/it/reproduce.rs does all of it"),
    ("laneway reproduce mpiblib --quick", "tests/it/reproduce.rs does all of it"),
    ("laneway reproduce all", "tests of each paper do all of it"),
    ("laneway reproduce fullmesh --quick", "tests/it/reproduce_fullmesh.rs does all of it"),
    ("laneway reproduce fullmesh --format", "tests/it/reproduce_fullmesh.rs does all of it"),
    ("laneway reproduce path-migration", "tests/it/lab has it, with root"),
    ("laneway reproduce multilane", "tests/it/reproduce_multilane.rs: the whole of it takes minutes"),
    ("laneway completions", "it writes into the system's folders; tests/it/command.rs has them"),
    ("laneway topo watch", "it waits for a fabric; tests/it/topo_opensm.rs has one"),
    ("laneway topo export -t mlfm:d=4 --as guid2lid -o /var", "it writes into OpenSM's folder"),
    ("laneway topo check -t mlfm:d=4 --routing opensm.fdbs", "the file is OpenSM's"),
    ("laneway topo route -t mlfm:d=4 --from opensm.fdbs", "the file is OpenSM's"),
    ("laneway topo route -t file:found.txt --from opensm-lfts.dump", "the file is OpenSM's"),
    ("LANEWAY_MPI=/opt", "an installation that few machines have"),
    ("mpirun -n 5 laneway check --backend mpi:", "an installation that few machines have"),
    ("mpirun -n 64 laneway measure pairs --prometheus /var", "it writes into the system's folder"),
    ("srun", "Slurm is not here"),
    ("opensm", "the fabric software's own"),
    ("ibnetdiscover", "the fabric software's own"),
    ("man ", "the reader of manual pages"),
];

/// Examples whose exit code is a verdict on what they saw, by how they begin, and what it may be.
const VERDICTS: &[(&str, &[i32])] = &[
    // A paper's claim may differ.
    ("laneway reproduce", &[0, 1]),
    // A simulated gigabit is slower than 12 GB/s.
    ("mpirun -n 64 laneway measure pairs --min-bw 12GB/s", &[1]),
    // On processes of a busy machine a model need not hold, nor a figure be as sharp as asked for.
    ("laneway model fit --model loggp", &[0, 1, 4]),
    ("laneway measure coll scatter --timing root", &[0, 4]),
    // Outside an allocation of Slurm.
    ("laneway check --backend net --starter srun", &[3]),
    // The table of that fabric has one path for each pair.
    ("laneway topo alternates -t file:found.txt", &[1]),
];

/// Runs all of them; what failed, and which lines of the tables above stand for nothing.
fn run_all(stage: &Stage, examples: &[(String, String)], used: &mut [bool]) -> Vec<String> {
    let mut faults = Vec::new();
    for (place, command) in examples {
        let left_out = LEFT_OUT.iter().position(|(begin, _)| match begin.strip_suffix('$') {
            Some(whole) => command == whole,
            None => command.starts_with(begin),
        });
        if let Some(entry) = left_out {
            used[entry] = true;
            continue;
        }
        let verdict = VERDICTS.iter().find(|(begin, _)| command.starts_with(begin));
        let wanted = verdict.map_or(&[0][..], |(_, codes)| codes);
        match stage.run(command) {
            Ended::Code(code, _) if wanted.contains(&code) => {}
            Ended::Code(code, stderr) => {
                faults.push(format!("{place}: {command}\nends with {code}: {stderr}"));
            }
            Ended::TooLate => faults.push(format!("{place}: {command}\ndoes not end")),
        }
    }
    faults
}

#[test]
fn every_example_of_the_help_texts_and_the_documentation_runs() {
    let stage = Stage::new();
    let help = stage.examples_of_help();
    assert!(help.len() > 150, "only {} examples in the help texts", help.len());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let docs = stage::examples_of_docs(&root);
    assert!(docs.len() > 80, "only {} examples in the documentation", docs.len());
    let mut used = vec![false; LEFT_OUT.len()];
    let mut all = help;
    for example in docs {
        // Many stand in both.
        if !all.iter().any(|(_, command)| *command == example.1) {
            all.push(example);
        }
    }
    let faults = run_all(&stage, &all, &mut used);
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), all.len(), faults.join("\n"));
    let idle: Vec<&str> =
        LEFT_OUT.iter().zip(&used).filter(|(_, used)| !**used).map(|((b, _), _)| *b).collect();
    assert!(idle.is_empty(), "no example begins so any more: {idle:?}");
}
