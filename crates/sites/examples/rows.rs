//! Work over two sites: rank 0 has a matrix and a vector, the ranks multiply its rows, and rank 0
//! gets the products back, once by what is chosen for the sites and once by the paper's one lane.
//!
//! ```text
//! cargo run -p laneway-sites --example rows
//! cargo run -p laneway-sites --example rows -- sites:6,3,3,connection=50Mbit
//! ```
//!
//! The sites are simulated here; over MPI the same calls take an `MpiComm`.

use laneway_coll::find;
use laneway_core::{Buffers, Collective, Comm, Exec, Shape};
use laneway_sim::Program;
use laneway_sim::platform::Platform;
use laneway_sites::{PlaceError, Placed};

const ROWS: usize = 16;
const COLUMNS: usize = 1024;

fn bytes(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn numbers(bytes: &[u8]) -> Vec<f64> {
    let number = |chunk: &[u8]| f64::from_le_bytes(std::array::from_fn(|at| chunk[at]));
    bytes.chunks(8).map(number).collect()
}

fn product(row: &[f64]) -> f64 {
    row.iter().enumerate().map(|(column, value)| value * (column % 5) as f64).sum()
}

/// A scatter or gather by what is chosen for the sites, or by an algorithm that is named.
fn call(
    comm: &dyn Comm,
    placed: &Placed,
    shape: Shape,
    named: Option<&str>,
    (input, output): (&[u8], &mut [u8]),
) -> Result<(), PlaceError> {
    let Some(name) = named else { return placed.run(comm, &shape, input, output, None) };
    let shape = placed.place(shape);
    let (algorithm, params) = find(shape.collective, name).expect("an algorithm");
    let schedule = algorithm.schedule(&shape, &params).expect("a schedule");
    let mut tmp = vec![0; schedule.tmp_len(comm.rank()) as usize];
    Ok(Exec::new(comm, &*schedule, Buffers::new(input, output, &mut tmp), None, 0)?.run()?)
}

/// What every rank does: how many products are wrong on rank 0, and the seconds that it took.
fn work(comm: &dyn Comm, sites: &str, named: Option<&str>) -> Result<(usize, f64), PlaceError> {
    let (rank, ranks) = (comm.rank(), comm.size());
    let placed = Placed::find(comm, Some(sites))?.expect("a platform is named");
    let count = if rank == 0 { ranks as usize * ROWS * COLUMNS } else { 0 };
    let matrix: Vec<f64> = (0..count).map(|at| (at % 11) as f64).collect();

    let begun = comm.clock().now();
    let mut rows = vec![0; ROWS * COLUMNS * 8];
    let out = Shape::new(Collective::Scatter, ranks, rows.len() as u64);
    call(comm, &placed, out, named, (&bytes(&matrix), &mut rows))?;
    let mine: Vec<f64> = numbers(&rows).chunks(COLUMNS).map(product).collect();
    let mut products = vec![0; if rank == 0 { ranks as usize * ROWS * 8 } else { 0 }];
    let back = Shape::new(Collective::Gather, ranks, (ROWS * 8) as u64);
    call(comm, &placed, back, named, (&bytes(&mine), &mut products))?;
    let took = comm.clock().now() - begun;

    let right: Vec<f64> = matrix.chunks(COLUMNS).map(product).collect();
    let wrong = numbers(&products).iter().zip(&right).filter(|(one, other)| one != other).count();
    Ok((wrong, took))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sites = std::env::args().nth(1).unwrap_or_else(|| "two-sites:8x8".into());
    let platform = Platform::read(&sites)?;
    for (name, named) in [("chosen", None), ("single-lane", Some("single-lane"))] {
        let program = Program::new(&platform, platform.hosts());
        let mut results = program.run(|comm| work(comm, &sites, named))?.results;
        let (wrong, took) = results.remove(0)?;
        println!("rows out, products back, {name}: {:.2} ms, {wrong} wrong", took * 1e3);
    }
    Ok(())
}
