//! Simulates every algorithm of a broadcast on a cluster that you do not have.

use laneway::{Collective, Platform, Result, Shape, algorithms, simulate_schedule};

pub fn main() -> Result<()> {
    let platform = Platform::read("cluster:64,rate=10Gbit,latency=5us")?;
    let shape = Shape::new(Collective::Bcast, platform.hosts(), 1 << 20);
    let mut found = Vec::new();
    for algorithm in algorithms(Collective::Bcast) {
        // An algorithm may not serve a shape, as where ranks are not a power of two.
        let Ok(schedule) = algorithm.schedule(&shape, &algorithm.defaults()) else { continue };
        let outcome = simulate_schedule(&platform, &*schedule)?;
        found.push((outcome.finish, algorithm.name, outcome.messages));
    }
    found.sort_by(|one, other| one.0.total_cmp(&other.0));
    for (seconds, name, messages) in &found {
        println!("{name:<18} {:>9.1} us, {messages} messages", seconds * 1e6);
    }
    Ok(())
}
