//! The least time under linear conditions that arrive one by one: a dual simplex method.
//!
//! Variables are at least 0; the first is the time, which is made as small as possible. A
//! condition says that a weighted sum of the variables is at least some number. The answer at any
//! moment is the least time for the conditions so far, so that it only grows. With one variable
//! this is the largest quotient of the conditions.

/// Numbers up to 1 that differ by this are equal; the caller scales them so.
const EQUAL: f64 = 1e-13;

/// No way out: the conditions so far contradict each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contradiction;

/// A basic variable as a sum over the others.
#[derive(Clone, Debug)]
struct Row {
    variable: usize,
    constant: f64,
    weights: Vec<f64>,
}

#[derive(Clone, Debug)]
pub struct Least {
    variables: usize,
    /// What each column stands for. From `variables` on: by how much a condition is exceeded.
    columns: Vec<usize>,
    /// What the time grows by with each column: never below 0.
    costs: Vec<f64>,
    rows: Vec<Row>,
}

impl Least {
    pub fn new(variables: usize) -> Least {
        let mut costs = vec![0.0; variables];
        costs[0] = 1.0;
        Least { variables, columns: (0..variables).collect(), costs, rows: Vec::new() }
    }

    /// The value of each variable now.
    pub fn values(&self) -> Vec<f64> {
        let mut values = vec![0.0; self.variables];
        for row in self.rows.iter().filter(|row| row.variable < self.variables) {
            values[row.variable] = row.constant.max(0.0);
        }
        values
    }

    /// The conditions that hold the time up, in the order in which they were added.
    pub fn binding(&self) -> Vec<usize> {
        let exceeding = self.columns.iter().zip(&self.costs);
        let mut binding: Vec<usize> = exceeding
            .filter(|(column, cost)| **column >= self.variables && **cost > EQUAL)
            .map(|(column, _)| column - self.variables)
            .collect();
        binding.sort_unstable();
        binding
    }

    /// Adds the condition that the weighted sum is at least `least`.
    pub fn demand(&mut self, weights: &[f64], least: f64) -> Result<(), Contradiction> {
        let mut row = Row {
            variable: self.variables + self.rows.len(),
            constant: -least,
            weights: vec![0.0; self.variables],
        };
        for (at, column) in self.columns.iter().enumerate() {
            row.weights[at] = weights.get(*column).copied().unwrap_or(0.0);
        }
        for known in self.rows.iter().filter(|known| known.variable < self.variables) {
            add(&mut row, known, weights[known.variable]);
        }
        self.rows.push(row);
        self.settle()
    }

    /// Pivots until no variable is below 0. Bland's rule: of several, always the first variable, so
    /// that no state comes twice.
    fn settle(&mut self) -> Result<(), Contradiction> {
        loop {
            let broken = self.rows.iter().enumerate().filter(|(_, row)| row.constant < -EQUAL);
            let Some((leaving, _)) = broken.min_by_key(|(_, row)| row.variable) else {
                return Ok(());
            };
            let entering = self.entering(leaving).ok_or(Contradiction)?;
            self.pivot(leaving, entering);
        }
    }

    fn entering(&self, leaving: usize) -> Option<usize> {
        let weights = &self.rows[leaving].weights;
        let mut best: Option<(f64, usize)> = None;
        for (at, weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > EQUAL) {
            let ratio = self.costs[at] / weight;
            let better = best.is_none_or(|(least, other)| {
                let tied = (ratio - least).abs() <= EQUAL * least.max(EQUAL);
                if tied { self.columns[at] < self.columns[other] } else { ratio < least }
            });
            if better {
                best = Some((ratio, at));
            }
        }
        best.map(|(_, at)| at)
    }

    /// Lets a row's variable and a column's change places.
    fn pivot(&mut self, leaving: usize, entering: usize) {
        let mut row = self.rows.swap_remove(leaving);
        let weight = row.weights[entering];
        row.weights[entering] = -1.0;
        row.constant /= -weight;
        row.weights.iter_mut().for_each(|other| *other /= -weight);
        std::mem::swap(&mut row.variable, &mut self.columns[entering]);
        for other in &mut self.rows {
            let times = std::mem::take(&mut other.weights[entering]);
            add(other, &row, times);
        }
        let times = std::mem::take(&mut self.costs[entering]);
        for (cost, weight) in self.costs.iter_mut().zip(&row.weights) {
            *cost = (*cost + times * weight).max(0.0);
        }
        self.rows.push(row);
    }
}

fn add(row: &mut Row, other: &Row, times: f64) {
    if times != 0.0 {
        row.constant += times * other.constant;
        for (weight, other) in row.weights.iter_mut().zip(&other.weights) {
            *weight += times * other;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_variable_is_the_largest_quotient() {
        let mut least = Least::new(1);
        for (weight, demand, time) in [(0.5, 0.1, 0.2), (1.0, 0.1, 0.2), (0.25, 0.1, 0.4)] {
            least.demand(&[weight], demand).expect("a time");
            assert!((least.values()[0] - time).abs() < 1e-15);
        }
        assert_eq!(least.binding(), [2]);
        assert_eq!(least.demand(&[0.0], 0.1), Err(Contradiction));
    }

    #[test]
    fn what_two_share_is_parted() {
        // a + b <= t, a >= 0.3, b >= 0.4, t + a >= 0.2.
        let mut least = Least::new(3);
        for (weights, demand) in [
            ([1.0, -1.0, -1.0], 0.0),
            ([1.0, 1.0, 0.0], 0.2),
            ([0.0, 1.0, 0.0], 0.3),
            ([0.0, 0.0, 1.0], 0.4),
        ] {
            least.demand(&weights, demand).expect("a time");
        }
        let [time, a, b] = least.values()[..] else { panic!("three variables") };
        assert!((time - 0.7).abs() < 1e-15 && (a - 0.3).abs() < 1e-15 && (b - 0.4).abs() < 1e-15);
        assert_eq!(least.binding(), [0, 2, 3]);
    }
}
