//! Sends over a connection that migrates: a path is taken out of use half way, and nothing is lost.

use std::error::Error;
use std::time::Duration;

use laneway::{ConnectOptions, PathId, connect_to, listen};

pub fn main() -> Result<(), Box<dyn Error>> {
    // Two paths: here two addresses of this machine.
    let options = ConnectOptions::at(["127.0.0.1:0".parse()?, "127.0.0.2:0".parse()?]);
    let (listener, limit) = (listen(&options)?, Duration::from_secs(10));
    let here = connect_to(&listener.addresses(), &options)?;
    let there = listener.accept()?;
    here.wait_for_alternate(limit)?;
    (0..1000u32).try_for_each(|number| here.send(number.to_le_bytes()))?;
    here.drain(PathId(0))?;
    for number in 0..1000u32 {
        assert_eq!(there.receive(limit)?, number.to_le_bytes());
    }
    println!("1000 messages arrived, the last ones over {}: {:?}", here.path()?, here.events());
    Ok(())
}
