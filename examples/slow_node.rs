//! Names the slow node of a cluster. Here it is simulated, with a card that receives at a third of
//! its rate; on a real one `survey.run(&world, &())` takes the world of `join`.

use laneway::{Gate, Platform, Result, Survey, simulate};

const CLUSTER: &str = r#"include = ["cluster:6"]
[[event]]
at = "0s"
host = "node4"
direction = "in"
factor = 0.33
"#;

pub fn main() -> Result<()> {
    let platform = Platform::parse("slow.toml", CLUSTER)?;
    let mut survey = Survey::new();
    survey.gate = Some(Gate::Share(0.9));
    for findings in simulate(&platform, 6, |comm| survey.run(comm, &()))? {
        // Rank 0 has them.
        let Some(findings) = findings? else { continue };
        println!("{}", findings.sentences().join("\n"));
        assert_eq!(findings.suspects(), ["node4 bandwidth in"]);
        assert!(findings.fails_gate());
    }
    Ok(())
}
