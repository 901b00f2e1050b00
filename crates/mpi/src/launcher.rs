//! Which launcher started this process, read from its environment alone: a library asked too early
//! would start a run of one rank, and most launchers leave plain marks.

use std::ffi::OsString;

use crate::error::MpiError;

/// Set by smpirun to the number of ranks.
pub const SMPI_SIZE: &str = "SMPI_GLOBAL_SIZE";

/// Reads one variable; tests give a closure over a list.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// The environment of this process.
pub fn of_process(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// The kinds of launcher, as far as they differ in where their MPI library is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// mpirun of Open MPI: ORTE in version 4, PRRTE in version 5.
    OpenMpi,
    /// mpiexec.hydra of MPICH and of what descends from it.
    Hydra,
    /// mpiexec.hydra of Intel MPI.
    Intel,
    /// srun of Slurm.
    Slurm,
    /// mpiexec of HPE's parallel application launch service.
    Pals,
    /// smpirun of SimGrid, which simulates the ranks.
    Smpi,
    /// Another launcher that speaks PMIx or PMI.
    Other,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::OpenMpi => "Open MPI mpirun",
            Kind::Hydra => "MPICH mpiexec",
            Kind::Intel => "Intel MPI mpirun",
            Kind::Slurm => "Slurm srun",
            Kind::Pals => "PALS mpiexec",
            Kind::Smpi => "SimGrid smpirun",
            Kind::Other => "a PMIx launcher",
        }
    }
}

/// A launcher, and what it said about this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launcher {
    pub kind: Kind,
    pub rank: Option<u32>,
    pub size: Option<u32>,
}

impl Launcher {
    /// For example "Open MPI mpirun, rank 3 of 5".
    pub fn describe(&self) -> String {
        match (self.rank, self.size) {
            (Some(rank), Some(size)) => format!("{}, rank {rank} of {size}", self.kind.name()),
            (Some(rank), None) => format!("{}, rank {rank}", self.kind.name()),
            (None, Some(size)) => format!("{}, {size} ranks", self.kind.name()),
            (None, None) => self.kind.name().into(),
        }
    }
}

/// The launcher that started this process, in words; `None` where it was started by hand.
pub fn launched() -> Option<String> {
    detect(&of_process).ok().map(|launcher| launcher.describe())
}

/// The rank that the launcher gave to this process, where one started it and says so.
pub fn launched_rank() -> Option<u32> {
    match detect(&of_process) {
        Ok(launcher) => launcher.rank,
        Err(_) => unjoined_task(&of_process)?.rank,
    }
}

/// Refuses to go on in one task of several that a launcher started without PMI and PMIx: no MPI
/// can join them, and each would take itself for the whole run.
pub fn refuse_unjoined_task() -> Result<(), MpiError> {
    unjoined_task(&of_process).map_or(Ok(()), |task| Err(task.into_error()))
}

/// One task of several that have nothing to find each other by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    marks: &'static Marks,
    rank: Option<u32>,
    tasks: Option<u32>,
}

/// Variables that a launcher sets for each task, with or without PMI.
#[derive(Debug, PartialEq, Eq)]
struct Marks {
    launcher: &'static str,
    rank: &'static str,
    first_rank: u32,
    size: &'static str,
}

/// First, because a batch script has a rank of Slurm too.
const SLURM: Marks =
    Marks { launcher: "srun", rank: "SLURM_PROCID", first_rank: 0, size: "SLURM_STEP_NUM_TASKS" };

/// Rank variables that only tasks have. The initial program of a Flux instance has none, and
/// neither has a batch script of LSF, whose `blaunch` counts from 1.
const OTHERS: [Marks; 3] = [
    Marks { launcher: "flux", rank: "FLUX_TASK_RANK", first_rank: 0, size: "FLUX_JOB_SIZE" },
    Marks {
        launcher: "jsrun",
        rank: "JSM_NAMESPACE_RANK",
        first_rank: 0,
        size: "JSM_NAMESPACE_SIZE",
    },
    Marks { launcher: "blaunch", rank: "LSF_PM_TASKID", first_rank: 1, size: "LSB_DJOB_NUMPROC" },
];

/// The step of Slurm that salloc's shell runs in where a cluster is configured so; the number of
/// tasks that it has inherited is the allocation's.
const INTERACTIVE_STEP: u32 = 0xFFFF_FFFA;

/// The task that this process is, where its launcher started several and no MPI can join them.
pub fn unjoined_task(env: Environment<'_>) -> Option<Task> {
    if detect(env).is_ok() {
        return None;
    }
    let number = |name: &str| env(name)?.to_str()?.trim().parse::<u32>().ok();
    let task = |marks: &'static Marks| {
        let rank = number(marks.rank).map(|rank| rank.saturating_sub(marks.first_rank));
        Task { marks, rank, tasks: number(marks.size) }
    };
    let slurm = task(&SLURM);
    let several = slurm.tasks.is_some_and(|tasks| tasks > 1) || slurm.rank.is_some_and(|r| r > 0);
    if several && number("SLURM_STEP_ID") != Some(INTERACTIVE_STEP) {
        return Some(slurm);
    }
    OTHERS.iter().map(task).find(|task| task.rank.is_some() && task.tasks != Some(1))
}

impl Task {
    fn into_error(self) -> MpiError {
        let Marks { launcher, rank, .. } = self.marks;
        let because = match self.marks == &SLURM {
            true => "srun started it without an MPI plugin (srun --mpi=list)".into(),
            false => format!("{launcher} started it, as {rank} shows, without PMI and PMIx"),
        };
        MpiError::NotJoined { task: self.rank, tasks: self.tasks, because }
    }
}

/// The launcher whose marks are in `env`, or what the environment shows instead.
pub fn detect(env: Environment<'_>) -> Result<Launcher, String> {
    let has = |name: &str| env(name).is_some();
    let number = |names: &[&str]| {
        names.iter().find_map(|name| env(name)?.to_str()?.trim().parse::<u32>().ok())
    };
    let found = |kind, rank: &[&str], size: &[&str]| {
        Ok(Launcher { kind, rank: number(rank), size: number(size) })
    };
    // First, because a simulation may itself be started by one of the others.
    if has(SMPI_SIZE) {
        return found(Kind::Smpi, &[], &[SMPI_SIZE]);
    }
    if has("OMPI_COMM_WORLD_RANK") {
        return found(Kind::OpenMpi, &["OMPI_COMM_WORLD_RANK"], &["OMPI_COMM_WORLD_SIZE"]);
    }
    // A rank started by srun has PMI or PMIx marks as well; without those no MPI can start there.
    let managed = has("PMI_RANK") || has("PMI_ID") || has("PMI_FD") || has("PMIX_RANK");
    if managed && has("SLURM_PROCID") && !has("HYDI_CONTROL_FD") {
        let size = ["SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"];
        return found(Kind::Slurm, &["SLURM_PROCID"], &size);
    }
    let (rank, size) =
        (["PMI_RANK", "PMI_ID", "PMIX_RANK"], ["PMI_SIZE", "PALS_SIZE", "PMI_UNIVERSE_SIZE"]);
    if has("PALS_RANKID") {
        return found(Kind::Pals, &["PALS_RANKID"], &size);
    }
    if has("PMI_RANK") || has("PMI_ID") || has("HYDI_CONTROL_FD") {
        let intel = has("I_MPI_HYDRA_UUID") || has("HYDRA_BSTRAP_LAUNCHER");
        return found(if intel { Kind::Intel } else { Kind::Hydra }, &rank, &size);
    }
    if managed {
        return found(Kind::Other, &rank, &size);
    }
    if has("SLURM_PROCID") {
        return Err("srun started this process, but without an MPI plugin (srun --mpi=list)".into());
    }
    Err("no variable of mpirun, mpiexec or srun is in the environment".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(pairs: &[(&str, &str)]) -> Result<String, String> {
        let env = |name: &str| {
            pairs.iter().find(|pair| pair.0 == name).map(|pair| OsString::from(pair.1))
        };
        detect(&env).map(|launcher| launcher.describe())
    }

    #[test]
    fn launchers_are_known_by_their_marks() {
        let rank = [("OMPI_COMM_WORLD_RANK", "3"), ("OMPI_COMM_WORLD_SIZE", "5")];
        assert_eq!(seen(&rank).unwrap(), "Open MPI mpirun, rank 3 of 5");
        let hydra = [("PMI_RANK", "1"), ("PMI_SIZE", "2"), ("PMI_FD", "6")];
        assert_eq!(seen(&hydra).unwrap(), "MPICH mpiexec, rank 1 of 2");
        let intel = [("PMI_RANK", "1"), ("PMI_SIZE", "2"), ("I_MPI_HYDRA_UUID", "x")];
        assert_eq!(seen(&intel).unwrap(), "Intel MPI mpirun, rank 1 of 2");
        let slurm = [("SLURM_PROCID", "7"), ("SLURM_NTASKS", "8"), ("PMIX_RANK", "7")];
        assert_eq!(seen(&slurm).unwrap(), "Slurm srun, rank 7 of 8");
        let simulated = [("SMPI_GLOBAL_SIZE", "16"), ("PMI_RANK", "1")];
        assert_eq!(seen(&simulated).unwrap(), "SimGrid smpirun, 16 ranks");
        let odd = [("OMPI_COMM_WORLD_RANK", "three")];
        assert_eq!(seen(&odd).unwrap(), "Open MPI mpirun");
    }

    #[test]
    fn a_process_started_by_hand_gets_the_reason() {
        assert!(seen(&[]).unwrap_err().contains("no variable"));
        assert!(seen(&[("SLURM_PROCID", "0")]).unwrap_err().contains("--mpi=list"));
        // What a user sets to run as root is not a mark of a launcher.
        assert!(seen(&[("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("I_MPI_ROOT", "/opt")]).is_err());
    }

    fn unjoined(pairs: &[(&str, &str)]) -> Option<(Option<u32>, Option<u32>)> {
        let env = |name: &str| {
            pairs.iter().find(|pair| pair.0 == name).map(|pair| OsString::from(pair.1))
        };
        unjoined_task(&env).map(|task| (task.rank, task.tasks))
    }

    #[test]
    fn a_task_of_several_is_known_without_pmi() {
        let slurm = [("SLURM_PROCID", "3"), ("SLURM_STEP_NUM_TASKS", "8")];
        assert_eq!(unjoined(&slurm), Some((Some(3), Some(8))));
        assert_eq!(unjoined(&[("SLURM_PROCID", "1")]), Some((Some(1), None)));
        let flux = [("FLUX_TASK_RANK", "0"), ("FLUX_JOB_SIZE", "2")];
        assert_eq!(unjoined(&flux), Some((Some(0), Some(2))));
        let jsrun = [("JSM_NAMESPACE_RANK", "1"), ("JSM_NAMESPACE_SIZE", "4")];
        assert_eq!(unjoined(&jsrun), Some((Some(1), Some(4))));
        let lsf = [("LSF_PM_TASKID", "1"), ("LSB_DJOB_NUMPROC", "4")];
        assert_eq!(unjoined(&lsf), Some((Some(0), Some(4))));
        // With PMI an MPI joins them, or finds that it cannot.
        assert_eq!(unjoined(&[slurm[0], slurm[1], ("PMI_RANK", "3")]), None);
        assert_eq!(unjoined(&[("PALS_RANKID", "3")]), None);
    }

    #[test]
    fn an_allocation_is_not_a_task_of_several() {
        let job = [("SLURM_JOB_ID", "7"), ("SLURM_NTASKS", "8"), ("SLURM_NNODES", "4")];
        assert_eq!(unjoined(&job), None);
        let script = [&job[..], &[("SLURM_PROCID", "0"), ("SLURM_LOCALID", "0")]].concat();
        assert_eq!(unjoined(&script), None);
        let step = [("SLURM_STEP_ID", "4294967290"), ("SLURM_STEP_NUM_TASKS", "8")];
        assert_eq!(unjoined(&[&script[..], &step].concat()), None, "salloc's shell");
        let one = [("SLURM_STEP_ID", "0"), ("SLURM_STEP_NUM_TASKS", "1")];
        assert_eq!(unjoined(&[&script[..], &one].concat()), None, "a single task");
        assert_eq!(unjoined(&[("FLUX_JOB_SIZE", "8"), ("FLUX_URI", "local:///x")]), None);
        assert_eq!(unjoined(&[("FLUX_TASK_RANK", "0"), ("FLUX_JOB_SIZE", "1")]), None);
        assert_eq!(unjoined(&[("LSB_JOBID", "7"), ("LSB_DJOB_NUMPROC", "8")]), None);
    }
}
