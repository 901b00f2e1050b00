//! Where the two ends are: hosts of a lab with two cards each, or this machine's loopback interface
//! with two addresses, which needs no privilege.

use std::net::{Ipv4Addr, SocketAddr};

use laneway_connections::{Endpoint, LocalPath, Options, Secret, Setup};
use laneway_drill::{Stage, StageOptions};
use laneway_path::PathId;

use crate::error::PaperError;
use crate::part::How;
use crate::request::Request;

/// Two ends with two paths between them.
pub enum Hosts {
    /// Real devices and switches of the kernel; a fault takes the carrier of one.
    Lab(Box<Stage>),
    /// Real UDP between two addresses.
    Loopback {
        /// What both ends know.
        secret: Secret,
        /// Why there is no lab.
        why: String,
    },
}

/// A carrier that is gone until it is given back.
pub struct Fault {
    path: PathId,
}

impl Hosts {
    /// A lab, or loopback where none can be built.
    pub fn build(request: &Request) -> Result<Hosts, PaperError> {
        let program = request.program.clone();
        let options = StageOptions { rate: "10Gbit".into(), one_switch: true, program };
        Ok(match Stage::build(&options) {
            Ok(stage) => Hosts::Lab(Box::new(stage)),
            Err(why) => {
                let words = format!("two ends of one process {}", std::process::id());
                let secret = Secret::from_bytes(words.as_bytes())?;
                Hosts::Loopback { secret, why: why.to_string() }
            }
        })
    }

    pub fn how(&self) -> How {
        match self {
            Hosts::Lab(_) => How::Lab,
            Hosts::Loopback { .. } => How::Loopback,
        }
    }

    /// The endpoint of one end; the second one accepts connections.
    pub fn endpoint(&self, end: usize, setup: Setup) -> Result<Endpoint, PaperError> {
        match self {
            Hosts::Lab(stage) => Ok(stage.on_both_paths(end, setup)?),
            Hosts::Loopback { secret, .. } => {
                // 127.0.0.1 and 127.0.0.2, both ends at each: ports tell them apart.
                let path = |number: u8| {
                    let address = Ipv4Addr::new(127, 0, 0, number);
                    LocalPath::at(SocketAddr::from((address, 0)))
                };
                let (paths, secret) = (vec![path(1), path(2)], *secret);
                Ok(Endpoint::open(Options { paths, secret, accepts: end == 1, setup })?)
            }
        }
    }

    /// Takes the carrier of the sender's card. Over loopback its endpoint learns what a card would
    /// say, and sends nothing more there, though the interface is as it was.
    pub fn strike(&self, path: PathId) -> Result<Fault, PaperError> {
        if let Hosts::Lab(stage) = self {
            stage.fault(&carrier(stage, path), true)?;
        }
        Ok(Fault { path })
    }

    /// Gives it back.
    pub fn repair(&self, fault: Fault) -> Result<(), PaperError> {
        if let Hosts::Lab(stage) = self {
            stage.fault(&carrier(stage, fault.path), false)?;
        }
        Ok(())
    }

    /// Whether an endpoint must be informed of a fault, as no device does it.
    pub fn informs(&self) -> bool {
        matches!(self, Hosts::Loopback { .. })
    }

    /// Removes the lab.
    pub fn remove(self) -> Result<(), PaperError> {
        match self {
            Hosts::Lab(stage) => Ok(stage.remove()?),
            Hosts::Loopback { .. } => Ok(()),
        }
    }
}

fn carrier(stage: &Stage, path: PathId) -> String {
    format!("carrier {}:eth{}", stage.sender(), path.0)
}
