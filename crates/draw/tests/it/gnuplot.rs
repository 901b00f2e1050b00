//! The script that we write, run by gnuplot itself where it is installed.

use std::process::{Command, Stdio};

use laneway_core::{Document, Row};
use laneway_draw::Format;
use laneway_needs::{Need, program};

#[test]
fn gnuplot_draws_what_we_write() {
    if !Need::Gnuplot.is_met(program("gnuplot")) {
        return;
    }
    let row = |algorithm: &str, size: u32| {
        Row::new()
            .with("op", "all_reduce {x}")
            .with("algorithm", algorithm)
            .with("size_bytes", size)
            .with("time_us", 2.0 + f64::from(size))
            .with("ci_low_us", 1.5 + f64::from(size))
            .with("ci_high_us", 2.5 + f64::from(size))
    };
    let rows = vec![row("it's `date` \"x\"", 0), row("it's `date` \"x\"", 64), row("$b\n", 8)];
    let document = Document { verb: "t", env: Row::new(), params: Row::new(), rows, summary: None };
    let path = std::env::temp_dir().join(format!("laneway-gnuplot-{}.gp", std::process::id()));
    std::fs::write(&path, Format::Gnuplot.render(&document)).expect("a file");
    let mut gnuplot = Command::new("gnuplot");
    gnuplot.args(["-e", "set terminal svg"]).arg(&path).stdin(Stdio::null());
    let drawn = gnuplot.output();
    let _ = std::fs::remove_file(&path);
    let drawn = drawn.expect("gnuplot runs");
    let (svg, said) = (String::from_utf8_lossy(&drawn.stdout), drawn.stderr);
    let said = String::from_utf8_lossy(&said);
    assert!(drawn.status.success() && said.is_empty(), "{said}");
    assert!(svg.contains("</svg>") && svg.contains("it's `date`"), "{svg}");
    assert!(svg.contains("all_reduce {x}"), "{svg}");
}
