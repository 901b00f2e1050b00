//! Names the slow node of a cluster. Here it is simulated, with a card that receives at a third of
//! its rate; on a real one `survey.run(comm, &())` takes the communicator of any backend.

use std::error::Error;

use laneway_measure::pairs::{Gate, Survey};
use laneway_sim::Program;
use laneway_sim::platform::Platform;

const CLUSTER: &str = r#"
include = ["cluster:6"]

[[event]]
at = "0s"
host = "node4"
direction = "in"
factor = 0.33
"#;

pub fn main() -> Result<(), Box<dyn Error>> {
    let platform = Platform::parse("slow.toml", CLUSTER)?;
    let mut survey = Survey::new();
    survey.gate = Some(Gate::Share(0.9));
    let ended = Program::new(&platform, 6).run(|comm| survey.run(comm, &()))?;
    for findings in ended.results {
        // Rank 0 has them.
        if let Some(findings) = findings? {
            println!("{}", findings.sentences().join("\n"));
            assert_eq!(findings.suspects(), ["node4 bandwidth in"]);
            assert!(findings.fails_gate());
        }
    }
    Ok(())
}
