//! Whether messages of one pair go one after the other, and what those beside each other share.

use laneway_core::Rank;

use super::Lmo;
use super::card::{invert, is_shared};
use crate::error::ModelError;
use crate::experiments::{Experiments, Kind, Timed};
use crate::follow::{Double, Overtake};
use crate::parameter::{End, Parameter};

impl Lmo {
    /// The order with which the model is nearer to what short messages behind long ones took; in
    /// order where nothing tells the two apart.
    pub(crate) fn find_order(&mut self, experiments: &Experiments) -> Result<(), ModelError> {
        let mut off = [0.0; 2];
        for (in_order, off) in [true, false].into_iter().zip(&mut off) {
            self.in_order = in_order;
            for timed in experiments.fitted() {
                let Kind::Overtake { bytes } = timed.kind else { continue };
                let schedule = Overtake { ranks: 2, members: [0, 1], bytes };
                let network = self.among(&timed.ranks);
                let network = network.network(experiments.eager_bytes, End::Value);
                let said = network.run(&schedule)?;
                *off += (said / timed.time.value).ln().abs();
            }
        }
        self.in_order = off[0] <= off[1];
        Ok(())
    }

    /// What the messages of each pair have together, where they go beside each other.
    pub(crate) fn find_shares(&mut self, experiments: &Experiments) -> Result<(), ModelError> {
        if self.in_order {
            return Ok(());
        }
        let found = experiments.fitted().filter_map(|timed| match timed.kind {
            Kind::Double { bytes } => Some((timed, bytes)),
            _ => None,
        });
        let found = found.map(|(timed, bytes)| {
            let share = self.share(timed, bytes, experiments.eager_bytes)?;
            Ok((timed.ranks[0], timed.ranks[1], share))
        });
        for (from, to, share) in found.collect::<Result<Vec<_>, ModelError>>()? {
            self.set_share(from, to, share);
        }
        Ok(())
    }

    fn share(
        &self,
        timed: &Timed,
        bytes: u64,
        eager_bytes: u64,
    ) -> Result<Option<Parameter>, ModelError> {
        let alone = self.among(&timed.ranks);
        let schedule = Double { ranks: 2, members: [0, 1], bytes };
        let read = |per_byte: f64, end: End| -> Result<f64, ModelError> {
            let mut network = alone.network(eager_bytes, end);
            network.set_pair(0, 1, 1.0 / per_byte);
            network.run(&schedule)
        };
        if !is_shared(timed.time, read(0.0, End::Value)?) {
            return Ok(None);
        }
        let share = invert(timed.time, 2.0 * bytes as f64, &read)?.not_negative();
        // One message alone had as much at least.
        Ok(Some(share.at_most(self.per_byte(timed.ranks[0], timed.ranks[1]))))
    }

    fn set_share(&mut self, from: Rank, to: Rank, share: Option<Parameter>) {
        let pair = self.pair_mut(from, to);
        match from < to {
            true => pair.all_there = share,
            false => pair.all_back = share,
        }
    }
}
