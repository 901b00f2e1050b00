//! What differs between the families of MPI libraries: handles, constants and the status.
//!
//! The tables were taken from each family's own header and are proved again at every start by
//! `selftest.rs`.

pub mod mpich;
pub mod open_mpi;
pub mod smpi;
pub mod standard;

use laneway_core::{DataType, ReduceOp};

use crate::error::MpiError;
use crate::library::Library;
use crate::status::Layout;
use smpi::Simulator;

/// An MPI handle as a machine word: an address for Open MPI and SMPI, else a small number.
pub type Handle = usize;

/// A family of libraries that share one binary interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Family {
    /// Open MPI's.
    OpenMpi,
    /// MPICH's, which Intel MPI and others share.
    Mpich,
    /// That of the MPI-5 standard.
    Standard,
    /// SimGrid's.
    Smpi,
}

impl Family {
    /// All of them.
    pub const ALL: [Family; 4] = [Family::OpenMpi, Family::Mpich, Family::Standard, Family::Smpi];

    /// The word for it, as `LANEWAY_MPI_FLAVOUR` takes it.
    pub fn name(self) -> &'static str {
        match self {
            Family::OpenMpi => "open-mpi",
            Family::Mpich => "mpich",
            Family::Standard => "standard-abi",
            Family::Smpi => "smpi",
        }
    }
}

/// The names of the predefined attributes.
#[derive(Clone, Copy, Debug)]
pub struct Keys {
    pub tag_ub: i32,
    pub host: i32,
    pub io: i32,
    pub wtime_is_global: i32,
    pub universe_size: i32,
    pub last_used_code: i32,
    pub app_num: i32,
}

/// Everything that a caller without a header must know.
#[derive(Clone, Debug)]
pub struct Flavour {
    pub comm_null: Handle,
    pub comm_world: Handle,
    pub comm_self: Handle,
    pub request_null: Handle,
    pub errors_return: Handle,
    pub byte: Handle,
    /// In the order of [`DataType::ALL`].
    pub types: [Handle; 10],
    /// In the order of [`ReduceOp::ALL`].
    pub operators: [Handle; 10],
    pub any_source: i32,
    pub any_tag: i32,
    pub undefined: i32,
    /// The address that stands for "in place".
    pub in_place: usize,
    pub status: Layout,
    /// Bytes between two requests of an array.
    pub request_bytes: usize,
    /// Single, funneled, serialized, multiple.
    pub threads: [i32; 4],
    pub keys: Keys,
    pub error_truncate: i32,
    /// Whether the status of a truncated receive has the length of the message. Others leave there
    /// what the receive had room for, or what happened to be there.
    pub truncated_length: bool,
    pub error_in_status: i32,
    /// Set where all ranks are parts of one process and time is virtual.
    pub simulator: Option<Simulator>,
}

impl Flavour {
    pub fn data_type(&self, ty: DataType) -> Handle {
        // ALL lists the variants in the order of their declaration.
        self.types[ty as usize]
    }

    pub fn operator(&self, op: ReduceOp) -> Handle {
        self.operators[op as usize]
    }
}

/// Decides the family from what the library exports and says of itself. `asked` is the user's word
/// for a library that says nothing known; even that is refused where the library contradicts it.
pub fn decide(library: &Library, version: &str, asked: Option<&str>) -> Result<Family, MpiError> {
    let simulated = library.has(smpi::MARK);
    let open_mpi = library.has("ompi_mpi_comm_world");
    let standard = library.standard_abi()?.is_some();
    let Some(asked) = asked else {
        let known = ["MPICH", "Intel(R) MPI", "MVAPICH", "ParaStation"];
        return match () {
            () if simulated => Ok(Family::Smpi),
            () if open_mpi => Ok(Family::OpenMpi),
            () if standard => Ok(Family::Standard),
            () if known.iter().any(|name| version.contains(name)) => Ok(Family::Mpich),
            () => Err(MpiError::UnknownFlavour {
                file: library.file().into(),
                version: version.into(),
            }),
        };
    };
    let refuse = |why: &str| {
        let (file, asked) = (library.file().into(), asked.to_owned());
        Err(MpiError::WrongFlavour { file, asked, why: why.into() })
    };
    match Family::ALL.into_iter().find(|family| family.name() == asked) {
        Some(Family::OpenMpi) if !open_mpi => refuse("it has no ompi_mpi_comm_world"),
        Some(Family::Standard) if !standard => refuse("MPI_Abi_get_version does not say so"),
        Some(Family::Smpi) if !simulated => refuse("it is not SimGrid"),
        Some(family) if simulated && family != Family::Smpi => refuse("it is SimGrid"),
        Some(family) => Ok(family),
        None => refuse("LANEWAY_MPI_FLAVOUR is open-mpi, mpich, standard-abi or smpi"),
    }
}

/// The table of a family; for Open MPI and SMPI its addresses are in the library.
pub fn table(family: Family, library: &Library) -> Result<Flavour, MpiError> {
    match family {
        Family::OpenMpi => open_mpi::table(library),
        Family::Mpich => Ok(mpich::table()),
        Family::Standard => Ok(standard::table()),
        Family::Smpi => smpi::table(library),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_and_operators_are_listed_in_the_order_of_their_tables() {
        for (at, ty) in DataType::ALL.into_iter().enumerate() {
            assert_eq!(ty as usize, at);
        }
        for (at, op) in ReduceOp::ALL.into_iter().enumerate() {
            assert_eq!(op as usize, at);
        }
        // The low byte but one of an MPICH type handle is the size of the type.
        for ty in DataType::ALL {
            assert_eq!(mpich::table().data_type(ty) >> 8 & 0xff, ty.size() as usize);
        }
    }
}
