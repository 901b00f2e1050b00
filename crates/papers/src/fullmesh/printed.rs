//! The tables of figures 4, 7 and 8 as the paper prints them: a line for each phase, a column for
//! each source, the destination in it.

use laneway_core::Rank;

pub const FIGURE_4: &str = "\
    0 1 2 3 4 5 6 7 8
    1 2 3 4 5 6 7 8 0
    2 3 4 5 6 7 8 0 1
    3 4 5 6 7 8 0 1 2
    4 5 6 7 8 0 1 2 3
    5 6 7 8 0 1 2 3 4
    6 7 8 0 1 2 3 4 5
    7 8 0 1 2 3 4 5 6
    8 0 1 2 3 4 5 6 7";

/// Within the first layer, phases 0 to 11.
pub const FIGURE_7: &str = "\
    3 7 11 6 10 2 9 1 5 0 4 8
    4 8 9 7 11 0 10 2 3 1 5 6
    5 6 10 8 9 1 11 0 4 2 3 7
    6 10 5 9 1 8 0 4 11 3 7 2
    7 11 3 10 2 6 1 5 9 4 8 0
    8 9 4 11 0 7 2 3 10 5 6 1
    9 4 8 0 7 11 3 10 2 6 1 5
    10 5 6 1 8 9 4 11 0 7 2 3
    11 3 7 2 6 10 5 9 1 8 0 4
    0 1 2 3 4 5 6 7 8 9 10 11
    1 2 0 4 5 3 7 8 6 10 11 9
    2 0 1 5 3 4 8 6 7 11 9 10";

/// From the first layer to the second, phases 12 to 23.
pub const FIGURE_8: &str = "\
    18 22 17 21 13 20 12 16 23 15 19 14
    19 23 15 22 14 18 13 17 21 16 20 12
    20 21 16 23 12 19 14 15 22 17 18 13
    21 16 20 12 19 23 15 22 14 18 13 17
    22 17 18 13 20 21 16 23 12 19 14 15
    23 15 19 14 18 22 17 21 13 20 12 16
    15 19 23 18 22 14 21 13 17 12 16 20
    16 20 21 19 23 12 22 14 15 13 17 18
    17 18 22 20 21 13 23 12 16 14 15 19
    12 13 14 15 16 17 18 19 20 21 22 23
    13 14 12 16 17 15 19 20 18 22 23 21
    14 12 13 17 15 16 20 18 19 23 21 22";

/// The lines of a table.
pub fn lines(table: &str) -> Vec<Vec<Rank>> {
    let numbers =
        |line: &str| line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    table.lines().map(numbers).collect()
}
