//! What is chosen for a scatter or gather is within 1.05 of the max-flow bound: two and three
//! sites, one card and two, slow connections, blocks of 256 KiB to 4 MiB, from any root.

use laneway_core::{Collective, Rank, Shape};
use laneway_needs::amount;
use laneway_sim::platform::Platform;
use laneway_sites::Sites;

const MOST: f64 = 1.05;

const NETWORKS: [&str; 4] = [
    "two-sites:32x32",
    "two-sites:32x32,rate=10Gbit,wan-rate=1Gbit,wan=10Gbit",
    "sites:32,16,8",
    "sites:32,16,8,rate=10Gbit,wan-rate=1Gbit,uplink=10Gbit",
];

/// A quarter, an eighth and a sixteenth of the card that leads to other sites.
const CONNECTIONS: [&str; 3] = ["250Mbit", "125Mbit", "62.5Mbit"];

const SIZES: [u64; 4] = [256 << 10, 512 << 10, 1 << 20, 4 << 20];

/// A call, and how many times the bound its choice takes.
struct Cell {
    over: f64,
    call: String,
    choice: String,
}

impl std::fmt::Display for Cell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {:.4} with {}", self.call, self.over, self.choice)
    }
}

/// The first and the last rank of each site.
fn roots(sites: &Sites) -> Vec<Rank> {
    let placement = sites.placement();
    let site = |rank: Rank| placement.location(rank).site;
    let is_end = |rank: &Rank| {
        let neighbours = [rank.checked_sub(1), Some(rank + 1)];
        let inside = |other: Option<Rank>| {
            other.is_some_and(|other| other < placement.ranks() && site(other) == site(*rank))
        };
        !neighbours.into_iter().all(inside)
    };
    (0..placement.ranks()).filter(is_end).collect()
}

fn cells(network: &str) -> Vec<Cell> {
    let mut cells = Vec::new();
    let mut number = 0;
    for connection in CONNECTIONS {
        let spec = format!("{network},connection={connection}");
        let platform = Platform::read(&spec).expect("a platform");
        let sites = Sites::one_each(&platform);
        let ranks = sites.placement().ranks();
        for op in [Collective::Scatter, Collective::Gather] {
            for (size, root) in SIZES
                .iter()
                .flat_map(|size| roots(&sites).into_iter().map(move |root| (*size, root)))
            {
                // Two of five have every size with every root.
                number += 1;
                if number % 5 >= amount(2, 5) {
                    continue;
                }
                let shape = Shape::new(op, ranks, size).with_root(root);
                let choice = sites.choose(&shape).expect("a choice");
                let over = choice.best.time / choice.bound.expect("a bound").time;
                let call = format!("{spec} {} of {size} from {root}", op.name());
                cells.push(Cell { over, call, choice: choice.best.spelled() });
            }
        }
    }
    cells
}

#[test]
fn every_choice_is_within_five_percent_of_the_bound() {
    let cells: Vec<Cell> = std::thread::scope(|scope| {
        let threads = NETWORKS.map(|network| scope.spawn(move || cells(network)));
        threads.into_iter().flat_map(|thread| thread.join().expect("choices")).collect()
    });
    assert_eq!(cells.len(), amount(192, 480));
    let worst = cells.iter().max_by(|a, b| a.over.total_cmp(&b.over)).expect("a cell");
    println!("{} cells, the worst {worst}", cells.len());
    let is_bad = |cell: &&Cell| !(1.0 - 1e-9..=MOST).contains(&cell.over);
    let bad: Vec<String> = cells.iter().filter(is_bad).map(Cell::to_string).collect();
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}
