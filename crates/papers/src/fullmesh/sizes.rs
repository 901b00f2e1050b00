//! Tables 1 and 3 and figure 10: how many nodes and switches, and how well ports are used.

use laneway_topo::cost::Parts;
use laneway_topo::topology;

use super::{DEGREES, TABLE, counted};
use crate::error::PaperError;
use crate::part::{Axes, Curve, Drawn, Part};
use crate::{Claim, Printed};

/// Kinds of table 1 and figure 10, with the paper's formulas in p: nodes, switches, efficiency.
struct Formula {
    kind: &'static str,
    nodes: fn(f64) -> f64,
    switches: fn(f64) -> f64,
    efficiency: f64,
}

const FORMULAS: [Formula; 3] = [
    Formula {
        kind: "fat-tree-2",
        nodes: |p| p * p / 2.0,
        switches: |p| 3.0 * p / 2.0,
        efficiency: 1.0 / 3.0,
    },
    Formula {
        kind: "fat-tree-3-max",
        nodes: |p| p.powi(3) / 4.0,
        switches: |p| 5.0 * p * p / 4.0,
        efficiency: 1.0 / 5.0,
    },
    Formula {
        kind: "mlfm",
        nodes: |p| p.powi(3) / 8.0 + p * p / 4.0,
        switches: |p| 3.0 * (p * p / 8.0 + p / 4.0),
        efficiency: 1.0 / 3.0,
    },
];

pub fn table_1() -> Result<Part, PaperError> {
    let mut claims = Vec::new();
    for formula in FORMULAS {
        for p in [8, 36] {
            let parts = Parts::of(
                &*topology(&format!("{}:p={p}", formula.kind)).map_err(PaperError::testbed)?,
            );
            let (kind, ports) = (formula.kind, f64::from(p));
            let claim = |what: &str, paper: f64, ours: f64| {
                Claim::ratio_of(format!("{kind}, p = {p}: {what}"), Some(paper), ours).equal()
            };
            claims.extend([
                claim("nodes", (formula.nodes)(ports), f64::from(parts.hosts)),
                claim("switches", (formula.switches)(ports), f64::from(parts.switches)),
                claim("port efficiency", formula.efficiency, parts.port_efficiency()),
            ]);
        }
    }
    Ok(Part {
        claims,
        ..counted(
            "table-1",
            "Table 1: the largest fabrics of switches with p ports; the paper's formulas \
                  beside counts",
            TABLE,
        )
    })
}

/// What the text says of figure 10: kind, ports, nodes.
const STATED: [(&str, u32, f64); 5] = [
    ("fat-tree-2", 36, 648.0),
    ("fat-tree-3-max", 36, 11_664.0),
    ("mlfm", 36, 6_156.0),
    ("mlfm", 48, 14_400.0),
    ("mlfm", 64, 33_792.0),
];

pub fn figure_10() -> Result<Part, PaperError> {
    let nodes = |kind: &str, p: u32| -> Result<f64, PaperError> {
        Ok(f64::from(topology(&format!("{kind}:p={p}")).map_err(PaperError::testbed)?.hosts()))
    };
    let mut claims = Vec::new();
    for (kind, p, paper) in STATED {
        let what = format!("{kind}, p = {p}: nodes");
        claims.push(Claim::ratio_of(what, Some(paper), nodes(kind, p)?).equal());
    }
    let layer = nodes("mlfm", 36)? / 18.0;
    claims.push(Claim::ratio_of("one layer alone, p = 36: nodes", Some(342.0), layer).equal());
    for p in [36, 64] {
        let ours = nodes("mlfm", p)? / nodes("fat-tree-3-max", p)?;
        let what = format!("p = {p}: nodes of the mesh over those of the largest 3-level tree");
        let claim = Claim::ratio_of(what, Some(0.5), ours);
        claims.push(claim.printed(Printed::new(0.5, 0.1), "about half the size"));
    }
    let mut curves = Vec::new();
    for formula in FORMULAS {
        let point = |p: u32| Ok((u64::from(p), nodes(formula.kind, p)?));
        let points = (4..=64).step_by(2).map(point).collect::<Result<_, PaperError>>()?;
        let (op, label) = ("largest fabrics by ports of a switch", formula.kind.to_string());
        curves.push(Curve::new(op, label, points));
    }
    let (up, along) = ("nodes", "ports of a switch");
    Ok(Part {
        claims,
        curves,
        ..counted(
            "figure-10",
            "Figure 10: the largest number of nodes, p = 4 to 64",
            Axes { across: "at", unit: Some("nodes"), up, along, drawn: Drawn::Lines },
        )
    })
}

/// Table 3 by kind, then by degree: switches, and nodes. Two cells cannot be read in our copy.
type Cells = [Option<f64>; 3];
const TABLE_3: [(&str, Cells, Cells); 3] = [
    ("mlfm", [Some(30.0), None, Some(513.0)], [Some(80.0), Some(576.0), Some(6_156.0)]),
    (
        "fat-tree-3",
        [Some(40.0), Some(160.0), Some(810.0)],
        [Some(64.0), Some(512.0), Some(5_832.0)],
    ),
    ("fat-tree-3-half", [Some(28.0), Some(112.0), Some(567.0)], [Some(64.0), None, Some(5_832.0)]),
];

/// paper: fullmesh 1: about four in ten switches less.
const FOUR_IN_TEN: Printed = Printed::new(0.4, 0.1);

pub fn table_3() -> Result<Part, PaperError> {
    let mut claims = Vec::new();
    // By kind and degree.
    let (mut all_switches, mut a_node) = (Vec::new(), Vec::new());
    for (kind, switches, nodes) in TABLE_3 {
        for (at, d) in DEGREES.into_iter().enumerate() {
            let parts =
                Parts::of(&*topology(&format!("{kind}:d={d}")).map_err(PaperError::testbed)?);
            let (has_switches, has_nodes) = (f64::from(parts.switches), f64::from(parts.hosts));
            for (what, paper, ours) in
                [("switches", switches[at], has_switches), ("nodes", nodes[at], has_nodes)]
            {
                let claim = Claim::ratio_of(format!("{kind}, d = {d}: {what}"), paper, ours);
                claims.push(if paper.is_some() { claim.equal() } else { claim });
            }
            all_switches.push(has_switches);
            a_node.push(has_switches / has_nodes);
        }
    }
    let saved = 1.0 - a_node[2] / a_node[5];
    claims.push(
        Claim::ratio_of("d = 18: switches saved, a node, mesh for the tree", Some(0.4), saved)
            .printed(FOUR_IN_TEN, "about four in ten"),
    );
    let whole = 1.0 - all_switches[2] / all_switches[5];
    claims.push(
        Claim::ratio_of("d = 18: switches saved, in all, for more nodes", Some(0.4), whole)
            .printed(FOUR_IN_TEN, "about four in ten"),
    );
    Ok(Part {
        claims,
        ..counted(
            "table-3",
            "Table 3: the fabrics of the evaluation; two cells of the paper cannot be read in \
                  our copy",
            TABLE,
        )
    })
}
