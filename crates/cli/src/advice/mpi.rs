//! Advice on MPI libraries and their launchers.

use laneway_mpi::MpiError;

use super::Advised;
use crate::failure::Exit;

impl Advised for MpiError {
    fn exit(&self) -> Exit {
        match self {
            MpiError::NoThreadLevel { .. } => Exit::Usage,
            _ => Exit::Environment,
        }
    }

    fn what(&self) -> String {
        self.to_string()
    }

    fn cause(&self) -> String {
        MpiError::cause(self)
    }

    fn advice(&self) -> String {
        let advice = match self {
            MpiError::NotLaunched { .. } => {
                "mpirun -n N PROGRAM …, or the backend local, which needs no MPI"
            }
            MpiError::NotJoined { .. } => {
                "the launcher of an MPI, such as mpirun, or the backend local: ranks of this \
                 machine alone"
            }
            MpiError::Missing { .. } => "LANEWAY_MPI=FILE, or the folder MPI is installed in",
            MpiError::NotFound { .. } => {
                "install Open MPI or MPICH, or LANEWAY_MPI=FILE; ranks of this machine need no MPI"
            }
            MpiError::LauncherWithoutLibrary { .. } => {
                "LANEWAY_MPI=FILE with the library that belongs to this launcher"
            }
            MpiError::NotALibrary { .. } => "LANEWAY_MPI=FILE with a whole libmpi.so",
            MpiError::OtherArchitecture { .. } => "LANEWAY_MPI=FILE with a library of this machine",
            MpiError::Refused { .. } => "LD_LIBRARY_PATH with the folders of what it needs",
            MpiError::NotMpi { .. } => "LANEWAY_MPI=FILE with an MPI library, such as libmpi.so",
            MpiError::UnknownFlavour { .. } => {
                "LANEWAY_MPI_FLAVOUR=open-mpi, mpich or standard-abi, if you know it to be one"
            }
            MpiError::WrongFlavour { .. } => "unset LANEWAY_MPI_FLAVOUR",
            MpiError::NoThreadLevel { variable, .. } => {
                return format!("{variable}=funneled, or unset it for single");
            }
            MpiError::SelfTest { .. } => "LANEWAY_MPI=FILE with another MPI, or report this one",
            MpiError::Start { .. } => "a small MPI program of your own under the same launcher",
            MpiError::Alone { .. } => {
                "the launcher that belongs to this library, or LANEWAY_MPI=FILE"
            }
            MpiError::NotSimulated { .. } => "smpirun -np N … liblaneway_smpi.so …",
            MpiError::GivenUp { .. } => "let the other ranks take part, or wait before giving up",
            // What only a program that has started MPI itself can do wrong.
            _ => "report this with all that was printed",
        };
        advice.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_launcher_the_way_out_is_named() {
        let error = MpiError::NotLaunched { because: "no variable of mpirun".into() };
        let failure = error.failure().to_string();
        assert!(failure.starts_with("error: started without an MPI launcher\ncause: no variable"));
        assert!(
            failure.contains("\ntry:   mpirun -n N PROGRAM …, or the backend local"),
            "{failure}"
        );
    }

    #[test]
    fn a_word_is_a_mistake_and_a_library_is_not() {
        let level = MpiError::NoThreadLevel { asked: "many".into(), variable: "THREADS" };
        assert_eq!((level.exit(), MpiError::NotLoaded.exit()), (Exit::Usage, Exit::Environment));
        assert_eq!(level.advice(), "THREADS=funneled, or unset it for single");
    }
}
