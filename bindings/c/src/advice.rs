//! The table of advice: for each kind of error of the libraries its code, and what a program may
//! try, in the words of C.

use laneway_model::ModelError;
use laneway_mpi::MpiError;
use laneway_sites::PlaceError;

use crate::failure::{Exit, Failure};
use crate::together::broken;

impl From<MpiError> for Failure {
    fn from(error: MpiError) -> Failure {
        let try_this = match &error {
            MpiError::UnknownFlavour { .. } => {
                "LANEWAY_MPI_FLAVOUR=open-mpi, mpich or standard-abi, if you know it to be one"
            }
            MpiError::WrongFlavour { .. } => "unset LANEWAY_MPI_FLAVOUR",
            MpiError::NotMpi { .. } => "a program that is linked to a whole MPI library",
            MpiError::SelfTest { .. } => "another MPI, or report this one",
            MpiError::Start { .. } => "a small MPI program of your own under the same launcher",
            MpiError::Simulated => "smpirun -np N … liblaneway_smpi.so …",
            MpiError::NotLoaded => "build the program with mpicc, against a shared MPI",
            MpiError::NotRunning => "call between MPI_Init and MPI_Finalize",
            MpiError::GivenUp { .. } => "let the other ranks take part, or wait before giving up",
            MpiError::NoCommunicator { .. } => "MPI_COMM_WORLD, or a communicator made from it",
            _ => "report this with the MPI that the program is linked to",
        };
        Failure::environment(error.to_string(), error.cause(), try_this)
    }
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Failure {
        let (exit, try_this) = match error {
            ModelError::Comm(error) => return broken(error),
            ModelError::Missing { .. } => (
                Exit::Usage,
                "estimate again with this experiment, or fit a model that does without it",
            ),
            ModelError::Sample { .. } => {
                (Exit::Usage, "measure again; a clock that was set meanwhile gives such figures")
            }
            ModelError::TooFewRanks { .. } => {
                (Exit::Usage, "more ranks, or a model that needs pairs alone, such as Hockney's")
            }
            ModelError::Sizes { .. } => {
                (Exit::Usage, "several sizes that differ, such as 4K,32K,256K")
            }
            ModelError::Request { .. } => (Exit::Usage, "see docs/model.md"),
            ModelError::Budget { .. } => (
                Exit::Precision,
                "a larger budget, fewer or shorter sizes, or experiments in parallel",
            ),
            ModelError::DoesNotHold { .. } => (
                Exit::Gate,
                "the platform's own simulation, or measuring the algorithms themselves",
            ),
            ModelError::Ranks { .. } => {
                (Exit::Usage, "as many ranks as the model has hosts, or estimate it anew")
            }
            ModelError::File { .. } => {
                (Exit::Usage, "a file that the estimation wrote; docs/model.md has the format")
            }
            _ => (Exit::Usage, "another algorithm"),
        };
        Failure::new(exit, error.what(), error.cause(), try_this)
    }
}

impl From<PlaceError> for Failure {
    fn from(error: PlaceError) -> Failure {
        match error {
            PlaceError::Platform(error) => {
                let example = error.generator().map_or("cluster:16", |meant| meant.example);
                let exit = if error.is_unread() { Exit::Environment } else { Exit::Usage };
                Failure::new(exit, error.to_string(), error.cause(), example)
            }
            PlaceError::Call { why } => {
                Failure::usage("no schedule for this call", why, "another root or size")
            }
            PlaceError::UnknownHost { host, platform } => Failure::usage(
                format!("the site of host `{host}` is unknown"),
                format!("{platform} has no host of that name"),
                "a platform with the hosts of these ranks",
            ),
            PlaceError::Comm(error) => broken(error),
            other => Failure::usage("where the ranks are", other.to_string(), "another platform"),
        }
    }
}
