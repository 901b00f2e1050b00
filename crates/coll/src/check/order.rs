//! Which earlier accesses a lane knows to be over: vector clocks over the lanes of one rank.

use std::rc::Rc;

use laneway_core::Step;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Local,
    Send,
    Recv,
}

/// One use of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    pub lane: u32,
    pub round: u64,
    /// Counts the steps of the lane.
    pub number: u64,
    pub kind: Kind,
}

/// Set of ranks, for barriers: who is known to have begun.
pub type Heard = Rc<Vec<u64>>;

#[derive(Clone)]
struct Knowledge {
    /// Rounds of each lane that are known to be complete.
    rounds: Vec<u64>,
    heard: Heard,
}

struct Lane {
    steps: u64,
    now: Knowledge,
    /// Own transfers with smaller numbers are known to be over.
    sends_over: u64,
    recvs_over: u64,
    /// What was known when each round had been issued; kept where there are other lanes to ask.
    issued: Vec<Knowledge>,
    /// Receives that are complete in this run: their knowledge, until the lane has it.
    arrived: Vec<(Access, Heard)>,
}

/// The order of events within one rank.
pub struct Order {
    lanes: Vec<Lane>,
    /// Whether messages carry who was heard of.
    listens: bool,
}

impl Order {
    pub fn new(lanes: u32, own: Heard, listens: bool) -> Order {
        let now = Knowledge { rounds: vec![0; lanes as usize], heard: own };
        let lane = || Lane {
            steps: 0,
            now: now.clone(),
            sends_over: 0,
            recvs_over: 0,
            issued: Vec::new(),
            arrived: Vec::new(),
        };
        Order { lanes: (0..lanes).map(|_| lane()).collect(), listens }
    }

    /// A new access of a lane.
    pub fn access(&mut self, lane: u32, round: u64, kind: Kind) -> Access {
        let number = self.lanes[lane as usize].steps;
        self.lanes[lane as usize].steps += 1;
        Access { lane, round, number, kind }
    }

    /// Whether `lane` knows that `access` is over.
    pub fn over(&self, access: &Access, lane: u32) -> bool {
        let own = &self.lanes[lane as usize];
        if access.round < own.now.rounds[access.lane as usize] {
            return true;
        }
        access.lane == lane
            && match access.kind {
                Kind::Local => true,
                Kind::Send => access.number < own.sends_over,
                Kind::Recv => access.number < own.recvs_over,
            }
    }

    pub fn passed(&mut self, lane: u32, gate: &Step) {
        let own = &mut self.lanes[lane as usize];
        match *gate {
            Step::AtMost { sends, recvs } => {
                if sends == 0 {
                    own.sends_over = own.steps;
                }
                if recvs == 0 {
                    own.recvs_over = own.steps;
                }
            }
            Step::After { lane: other, round } => {
                let known = self.lanes[other as usize].issued.get(round as usize).cloned();
                let own = &mut self.lanes[lane as usize];
                if let Some(known) = known {
                    for (mine, theirs) in own.now.rounds.iter_mut().zip(&known.rounds) {
                        *mine = (*mine).max(*theirs);
                    }
                    own.now.heard = union(&own.now.heard, &known.heard);
                }
                let mine = &mut own.now.rounds[other as usize];
                *mine = (*mine).max(round + 1);
                if self.listens && other != lane {
                    self.listen(other, lane);
                }
            }
            _ => {}
        }
        if self.listens {
            self.listen(lane, lane);
        }
    }

    /// `lane` takes in what arrived in lane `at` and is over, as far as it knows.
    fn listen(&mut self, at: u32, lane: u32) {
        let arrived = std::mem::take(&mut self.lanes[at as usize].arrived);
        for (access, heard) in &arrived {
            if self.over(access, lane) {
                let own = &mut self.lanes[lane as usize];
                own.now.heard = union(&own.now.heard, heard);
            }
        }
        self.lanes[at as usize].arrived = arrived;
    }

    pub fn issued(&mut self, lane: u32) {
        if self.lanes.len() > 1 {
            let own = &mut self.lanes[lane as usize];
            own.issued.push(own.now.clone());
        }
    }

    /// What a message that `lane` sends now tells of.
    pub fn heard(&self, lane: u32) -> Heard {
        self.lanes[lane as usize].now.heard.clone()
    }

    pub fn arrived(&mut self, access: Access, heard: Heard) {
        if self.listens {
            self.lanes[access.lane as usize].arrived.push((access, heard));
        }
    }

    /// Everything the rank has heard of when it is done.
    pub fn heard_in_the_end(&self) -> Heard {
        let all = self
            .lanes
            .iter()
            .flat_map(|lane| lane.arrived.iter().map(|(_, heard)| heard).chain([&lane.now.heard]));
        all.fold(Rc::new(Vec::new()), |a, b| union(&a, b))
    }
}

fn union(a: &Heard, b: &Heard) -> Heard {
    if Rc::ptr_eq(a, b) || b.is_empty() {
        return a.clone();
    }
    if a.is_empty() {
        return b.clone();
    }
    Rc::new(a.iter().zip(b.iter()).map(|(x, y)| x | y).collect())
}
