//! Every example of the help texts and of the documentation is run, as a person would type it.
//!
//! Each goes through a shell, in a folder with the files that examples name. `mpirun -n N` is a
//! script there that gives the command a simulated cluster of as many hosts: what is held here is
//! that an example does what it says, and `mpi.rs` holds the MPIs.

mod stage;

use std::path::Path;

use stage::{Ended, Stage};

/// Examples that are not run here, by how they begin, and why; a whole one ends with `$`.
const LEFT_OUT: &[(&str, &str)] = &[
    ("laneway tour", "command.rs walks the tour"),
    ("laneway lab", "lab has labs, and takes them down"),
    ("laneway path drill", "path.rs and lab have the drills, with root"),
    ("laneway path serve", "path.rs has both ends"),
    ("laneway path drain", "watch.rs has programs with paths to drain"),
    ("laneway path undrain", "watch.rs has programs with paths to drain"),
    ("laneway path info eth0", "interfaces of these names are on few machines"),
    ("laneway path info --peer", "the peer is another machine"),
    ("laneway path watch", "watch.rs has programs to watch"),
    ("laneway check --backend net:", "interfaces of these names are on few machines"),
    ("laneway check --backend net --hosts", "the hosts are other machines"),
    ("laneway measure p2p --backend net:", "the hosts are other machines"),
    ("laneway measure p2p --backend local:memcpy,shm,tcp,mpi", "measure_p2p.rs has an MPI"),
    ("laneway reproduce mpiblib$", "reproduce.rs does all of it"),
    ("laneway reproduce mpiblib --format", "reproduce.rs does all of it"),
    ("laneway reproduce mpiblib --quick", "reproduce.rs does all of it"),
    ("laneway reproduce all", "tests of each paper do all of it"),
    ("laneway reproduce fullmesh --quick", "reproduce_fullmesh.rs does all of it"),
    ("laneway reproduce fullmesh --format", "reproduce_fullmesh.rs does all of it"),
    ("laneway reproduce path-migration", "lab has it, with root"),
    ("laneway reproduce multilane", "reproduce_multilane.rs: the whole of it takes minutes"),
    ("laneway completions", "it writes into the system's folders; command.rs has them"),
    ("laneway topo watch", "it waits for a fabric; topo_opensm.rs has one"),
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

/// Examples are divided among this number of tests, by verb or page: those of one place may
/// use files of each other.
const SHARDS: usize = 9;

/// The entry of the list of those that are not run.
fn left_out(command: &str) -> Option<usize> {
    LEFT_OUT.iter().position(|(begin, _)| match begin.strip_suffix('$') {
        Some(whole) => command == whole,
        None => command.starts_with(begin),
    })
}

/// Every example once, with its verb or page.
fn all(stage: &Stage) -> Vec<(String, String)> {
    let mut all = stage.examples_of_help();
    assert!(all.len() > 150, "only {} examples in the help texts", all.len());
    let docs = stage::examples_of_docs(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    assert!(docs.len() > 80, "only {} examples in the documentation", docs.len());
    for example in docs {
        // Many stand in both.
        if !all.iter().any(|(_, command)| *command == example.1) {
            all.push(example);
        }
    }
    all
}

/// The test that runs the examples of a place.
fn shard_of(place: &str) -> usize {
    // `measure coll --help`, `docs/sites.md:12`.
    let group = place.split([' ', ':']).next().unwrap_or(place);
    group.bytes().fold(0, |sum: usize, byte| 31 * (sum % 65_521) + usize::from(byte)) % SHARDS
}

/// Runs an example; what is wrong with how it ended.
fn fault(stage: &Stage, place: &str, command: &str) -> Option<String> {
    let verdict = VERDICTS.iter().find(|(begin, _)| command.starts_with(begin));
    let wanted = verdict.map_or(&[0][..], |(_, codes)| codes);
    match stage.run(command) {
        Ended::Code(code, _) if wanted.contains(&code) => None,
        Ended::Code(code, stderr) => {
            Some(format!("{place}: {command}\nends with {code}: {stderr}"))
        }
        Ended::TooLate => Some(format!("{place}: {command}\ndoes not end")),
    }
}

fn run_shard(shard: usize) {
    let stage = Stage::new();
    let examples: Vec<(String, String)> = all(&stage)
        .into_iter()
        .filter(|(place, command)| shard_of(place) == shard && left_out(command).is_none())
        .collect();
    assert!(!examples.is_empty(), "no examples in shard {shard}");
    let faults: Vec<String> =
        examples.iter().filter_map(|(place, command)| fault(&stage, place, command)).collect();
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), examples.len(), faults.join("\n"));
}

macro_rules! shards {
    ($($name:ident: $shard:expr,)*) => {
        $(#[test]
        fn $name() {
            run_shard($shard);
        })*

        #[test]
        fn every_shard_has_a_test() {
            let mut shards = [$($shard),*];
            shards.sort_unstable();
            assert!(shards.iter().copied().eq(0..SHARDS), "{shards:?}");
        }
    };
}

shards! {
    examples_run_in_shard_0: 0,
    examples_run_in_shard_1: 1,
    examples_run_in_shard_2: 2,
    examples_run_in_shard_3: 3,
    examples_run_in_shard_4: 4,
    examples_run_in_shard_5: 5,
    examples_run_in_shard_6: 6,
    examples_run_in_shard_7: 7,
    examples_run_in_shard_8: 8,
}

#[test]
fn every_line_of_the_list_of_those_left_out_is_used() {
    let all = all(&Stage::bare());
    let used: Vec<usize> = all.iter().filter_map(|(_, command)| left_out(command)).collect();
    let idle: Vec<&str> = (0..LEFT_OUT.len())
        .filter(|entry| !used.contains(entry))
        .map(|entry| LEFT_OUT[entry].0)
        .collect();
    assert!(idle.is_empty(), "no example begins so any more: {idle:?}");
}
