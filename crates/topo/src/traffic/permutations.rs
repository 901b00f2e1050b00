//! What permutations drawn at random leave of the bandwidth.

use laneway_core::Row;
use laneway_core::units::{counted, grouped};

use crate::machine::Machine;
use crate::traffic::conflicts::{Counter, Tally};
use crate::traffic::order::Random;
use crate::traffic::sample::follow_each;

/// Random permutations and their conflicts.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Trials {
    /// The permutations.
    pub order: Random,
    /// All trials together.
    pub all: Tally,
    /// The mean over messages of 1 / conflict, for each trial.
    pub throughputs: Vec<f64>,
}

/// Draws permutations of a machine's hosts and counts the conflicts of each.
///
/// ```
/// use laneway_topo::Machine;
/// use laneway_topo::traffic::permutations::draw;
///
/// let trials = draw(&Machine::named("mlfm:d=4")?, 100, 1, false);
/// assert!(trials.mean().is_some_and(|mean| mean > 0.5));
/// # Ok::<(), laneway_topo::Error>(())
/// ```
pub fn draw(machine: &Machine, trials: u64, seed: u64, fixed_points: bool) -> Trials {
    let (wiring, routing, observer) = (machine.wiring(), machine.routing(), machine.observer());
    let order = Random { hosts: wiring.hosts(), phases: trials, seed, fixed_points };
    // To work out the ways of all pairs pays only where there are many trials.
    let many = order.phases > u64::from(wiring.switches());
    let counter = many.then(|| Counter::observed(wiring, routing, observer).ok()).flatten();
    let tallies = match counter {
        Some(counter) => counter.count_each(&order, observer),
        None => {
            let phases: Vec<u64> = (0..order.phases).collect();
            follow_each(wiring, routing, &order, &phases, observer)
        }
    };
    let mut all = Tally::default();
    tallies.iter().for_each(|trial| all.merge(trial));
    Trials { order, all, throughputs: tallies.iter().map(Tally::flow_mean).collect() }
}

impl Trials {
    fn messages(&self) -> u64 {
        self.all.flows.iter().sum()
    }

    /// The mean throughput over trials; `None` if no message arrives.
    pub fn mean(&self) -> Option<f64> {
        let count = self.throughputs.len() as f64;
        (self.messages() > 0).then(|| self.throughputs.iter().sum::<f64>() / count)
    }

    /// The standard error of the mean.
    pub fn standard_error(&self) -> Option<f64> {
        let (mean, count) = (self.mean()?, self.throughputs.len() as f64);
        let squares: f64 = self.throughputs.iter().map(|one| (one - mean).powi(2)).sum();
        Some((squares / (count - 1.0) / count).sqrt())
    }

    /// All of it in one row; the histogram has the share of messages with conflict 1, 2, 3, ….
    pub fn row(&self, machine: &Machine) -> Row {
        let messages = self.messages() as f64;
        let shares = self.all.flows.iter().skip(1).map(|&count| count as f64 / messages);
        Row::new()
            .with("topology", machine.spec.clone())
            .with("nodes", self.order.hosts)
            .with("trials", self.order.phases)
            .with("seed", self.order.seed)
            .with("throughput_mean", self.mean())
            .with("stderr", self.standard_error())
            .with("messages_per_link_max", self.all.worst())
            .with("lost", self.all.lost)
            .with("histogram", shares.collect::<Vec<f64>>())
    }

    /// The result of the trials, as text.
    pub fn answer(&self) -> String {
        let lost = match self.all.lost {
            0 => String::new(),
            lost => format!(" {} do not arrive.", counted(lost, "message")),
        };
        let (Some(mean), Some(error)) = (self.mean(), self.standard_error()) else {
            return format!("No message arrives.{lost}");
        };
        format!(
            "Random permutations keep {:.1} % of the bandwidth (standard error {:.2} % over {} \
             permutations); up to {} on a link.{lost}",
            100.0 * mean,
            100.0 * error,
            grouped(self.order.phases),
            counted(self.all.worst(), "message"),
        )
    }

    /// The histogram in words.
    pub fn sentence(&self) -> String {
        let messages = self.messages() as f64;
        let share = |count: u64| format!("{:.1} %", 100.0 * count as f64 / messages);
        let shares = (0..).zip(&self.all.flows).skip(1);
        let shares: Vec<String> = shares
            .map(|(conflict, &count)| format!("{} have conflict {conflict}", share(count)))
            .collect();
        format!("Of {} messages, {}.", grouped(self.messages()), shares.join(", "))
    }
}
