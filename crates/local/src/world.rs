//! The ranks of a local run, as the board knows them.

use std::rc::Rc;

use laneway_core::{Clock, Rank};
use laneway_message::World;
use laneway_processes::{Monotonic, hostname};

use crate::board::Board;
use crate::sync::Ordering;

pub(crate) struct LocalWorld {
    pub board: Rc<Board>,
    pub clock: Monotonic,
    pub description: Vec<(&'static str, String)>,
}

impl World for LocalWorld {
    fn size(&self) -> u32 {
        self.board.size()
    }

    fn clock(&self) -> &dyn Clock {
        &self.clock
    }

    fn host(&self, _rank: Rank) -> String {
        hostname()
    }

    fn describe(&self) -> Vec<(&'static str, String)> {
        self.description.clone()
    }

    fn any_ended(&self) -> bool {
        self.board.head().gone.load(Ordering::Acquire) > 0
    }

    fn ended(&self, rank: Rank) -> Option<String> {
        self.board.ended(rank).map(|how| how.to_string())
    }

    fn abort(&self, code: i32, missed: Option<Rank>) -> ! {
        // The launcher sees our end first, then the word on the board, and ends the others.
        if let Some(rank) = missed {
            self.board.report_missed(rank);
        }
        self.board.ask_abort(code);
        std::process::exit(code)
    }
}
