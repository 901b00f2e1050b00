//! Advice on measurements that are refused.

use laneway_measure::pairs::{self, PARTNERS};
use laneway_measure::{p2p, sweep};

use super::Advised;
use crate::failure::Exit;

impl Advised for sweep::Refusal {
    fn exit(&self) -> Exit {
        Exit::Usage
    }

    fn what(&self) -> String {
        self.to_string()
    }

    fn cause(&self) -> String {
        sweep::Refusal::cause(self)
    }

    fn advice(&self) -> String {
        use sweep::Refusal;
        let advice = match self {
            Refusal::UnknownAlgorithm { .. } | Refusal::NothingMeasured => {
                "laneway info algorithms"
            }
            Refusal::NoRivals => "--algorithm all --race",
            Refusal::ExactRace => "--max-reps 100 --race, without --reps",
            Refusal::NoRoot { .. } => "--root 0",
            Refusal::NoTrueTime => "--backend sim:cluster:16 --truth",
            Refusal::NoIsolation { .. } => "--isolation barrier:dissemination",
            Refusal::NoSites => "--sites two-sites:8x8, or FILE.toml",
            Refusal::Memory(_) => "smaller --sizes, or fewer ranks",
            _ => "laneway measure coll --help",
        };
        advice.into()
    }
}

impl Advised for p2p::sweep::Refusal {
    fn exit(&self) -> Exit {
        Exit::Usage
    }

    fn what(&self) -> String {
        self.to_string()
    }

    fn cause(&self) -> String {
        p2p::sweep::Refusal::cause(self)
    }

    fn advice(&self) -> String {
        use p2p::sweep::Refusal;
        let advice = match self {
            Refusal::TooFewRanks { least: 3, .. } => "--ranks 3",
            Refusal::TooFewRanks { .. } => "--ranks 2",
            Refusal::NoSuchRank { .. } => "--pairs 0:1",
            Refusal::PairsAndTriples => "--pattern point-to-two --pairs 0:1:2",
            Refusal::TwoPairsAtOnce { .. } => "--pairs 0:1,2:3",
            Refusal::NothingToHide => "--sizes 8:4M",
            Refusal::Window { .. } => "--window 64",
            Refusal::Back => "--pattern round-trip --back 8",
            Refusal::NoCaches => "--cache warm",
            Refusal::NoCopyOf { .. } => "--pattern latency,bandwidth",
            _ => "smaller --sizes, or a smaller --window",
        };
        advice.into()
    }
}

impl Advised for pairs::Refusal {
    fn exit(&self) -> Exit {
        Exit::Usage
    }

    fn what(&self) -> String {
        self.to_string()
    }

    fn cause(&self) -> String {
        pairs::Refusal::cause(self)
    }

    fn advice(&self) -> String {
        use pairs::Refusal;
        match self {
            Refusal::NoPairs => "--ranks 4".into(),
            Refusal::NothingToCompare => "--ranks 3".into(),
            Refusal::Partners { ranks: 0..=3, .. } => "measure pairs without --sample".into(),
            Refusal::Partners { ranks, .. } => format!("--sample {}", PARTNERS.min(ranks - 1)),
            Refusal::Sites { ranks, .. } => format!("--sites {},{}", ranks.div_ceil(2), ranks / 2),
            _ => "--size 1M".into(),
        }
    }
}
