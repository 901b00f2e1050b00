//! Watches the processes of the ranks until all have ended, and ends them when one dies or a signal
//! asks for it.

use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, ExitStatus};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use laneway_core::Rank;
use laneway_processes::{ENDING, REPORTED, kill_group};

use crate::error::{Death, RanksError};
use crate::output::News;
use crate::words::{Ended, Word};

/// How long the others may take to end by themselves after a rank has failed in an orderly way.
const GRACE: Duration = Duration::from_millis(500);

/// How long a look may be away where nothing is heard.
const LOOK: Duration = Duration::from_millis(200);

/// How long the output of ranks that have ended is waited for.
const LAST_WORDS: Duration = Duration::from_secs(2);

struct Member {
    child: Child,
    /// `None` when nothing more is to be sent to it.
    input: Option<ChildStdin>,
    host: String,
    ended: Option<Death>,
    /// Whether its output has ended.
    is_silent: bool,
}

/// Why a run stops.
pub(crate) enum Stop {
    Error(RanksError),
    /// A rank has said why, and this is the run's exit code.
    Code(i32),
    Signal(i32),
}

impl From<RanksError> for Stop {
    fn from(error: RanksError) -> Stop {
        Stop::Error(error)
    }
}

pub(crate) struct Supervisor {
    members: Vec<Member>,
    news: Receiver<News>,
    /// The first rank that ended with a failure, and when.
    first: Option<(Rank, Instant)>,
}

fn death(status: ExitStatus) -> Death {
    let signal = || Death::Signal(status.signal().unwrap_or(0));
    status.code().map_or_else(signal, Death::Code)
}

impl Supervisor {
    pub fn new(news: Receiver<News>) -> Supervisor {
        Supervisor { members: Vec::new(), news, first: None }
    }

    pub fn add(&mut self, mut child: Child, host: String) {
        let input = child.stdin.take();
        self.members.push(Member { child, input, host, ended: None, is_silent: false });
    }

    /// Says something to a rank; one that does not listen has ended, or is about to.
    pub fn say(&mut self, rank: Rank, text: &str) {
        let member = &mut self.members[rank as usize];
        let said = member.input.as_mut().map(|input| input.write_all(text.as_bytes()));
        if said.is_some_and(|said| said.is_err()) {
            member.input = None;
        }
    }

    pub fn say_to_all(&mut self, text: &str) {
        (0..self.members.len()).for_each(|rank| self.say(rank as Rank, text));
    }

    /// One word of every rank, by rank.
    pub fn hear_all(&mut self, limit: Duration, what: &'static str) -> Result<Vec<Word>, Stop> {
        let begun = Instant::now();
        let mut words: Vec<Option<Word>> = vec![None; self.members.len()];
        while let Some(missing) = words.iter().position(Option::is_none) {
            match self.next(LOOK)? {
                Some((rank, Word::Failed(error))) => {
                    let host = self.members[rank as usize].host.clone();
                    let error = Box::new(error);
                    return Err(RanksError::Refused { rank, host, error }.into());
                }
                Some((rank, word)) => words[rank as usize] = Some(word),
                None => {}
            }
            self.check_unheard(&words)?;
            if begun.elapsed() > limit {
                let host = self.members[missing].host.clone();
                let seconds = limit.as_secs();
                let late = RanksError::Late { rank: missing as Rank, host, seconds, what };
                return Err(late.into());
            }
        }
        Ok(words.into_iter().flatten().collect())
    }

    /// Stops where a rank has ended of which a word was still due, or one that had come so far has
    /// failed since.
    fn check_unheard(&self, words: &[Option<Word>]) -> Result<(), Stop> {
        for (rank, member) in self.members.iter().enumerate() {
            let Some(how) = member.ended.filter(|_| member.is_silent) else { continue };
            if words[rank].is_none() {
                let (rank, host) = (rank as Rank, member.host.clone());
                return Err(RanksError::NotStarted { rank, host, how }.into());
            }
            if how != Death::Code(0) {
                return self.verdict().and_then(|code| Err(Stop::Code(code)));
            }
        }
        Ok(())
    }

    /// The next word of a rank, if one comes in time; ends of ranks are noted, too.
    fn next(&mut self, limit: Duration) -> Result<Option<(Rank, Word)>, Stop> {
        let news = self.news.recv_timeout(limit);
        self.reap();
        match news {
            Ok(News::Word(rank, word)) => Ok(Some((rank, word))),
            Ok(News::Silent(rank)) => {
                self.members[rank as usize].is_silent = true;
                Ok(None)
            }
            Ok(News::Signal(signal)) if ENDING.contains(&signal) => Err(Stop::Signal(signal)),
            Ok(News::Signal(_)) | Err(_) => Ok(None),
        }
    }

    /// Records every rank that has ended since the last look, and informs the others.
    fn reap(&mut self) {
        for rank in 0..self.members.len() {
            let member = &mut self.members[rank];
            if member.ended.is_some() {
                continue;
            }
            let Ok(Some(status)) = member.child.try_wait() else { continue };
            let how = death(status);
            member.ended = Some(how);
            member.input = None;
            if how == Death::Code(0) {
                // Others may wait for it in vain: they shall know.
                let ended = Ended { rank: rank as Rank, how: how.to_string() };
                self.say_to_all(&ended.encode());
            } else if self.first.is_none() || !is_orderly(how) {
                // A violent end says more than an exit code that it may have caused.
                self.first = Some((rank as Rank, Instant::now()));
            }
        }
    }

    /// Returns the run's exit code when every rank has ended, by itself or by our hand.
    pub fn watch(&mut self) -> Result<i32, Stop> {
        loop {
            if self.members.iter().all(|member| member.ended.is_some()) {
                self.hear_last_words();
                return self.verdict();
            }
            let mut limit = LOOK;
            if let Some((rank, when)) = self.first {
                let spent = when.elapsed();
                let orderly = self.members[rank as usize].ended.is_some_and(is_orderly);
                if !orderly || spent >= GRACE {
                    self.end_all();
                    self.hear_last_words();
                    return self.verdict();
                }
                limit = limit.min(GRACE - spent);
            }
            self.next(limit)?;
        }
    }

    /// What the ends of all say together.
    fn verdict(&self) -> Result<i32, Stop> {
        let Some((first, _)) = self.first else { return Ok(0) };
        let Member { host, ended, .. } = &self.members[first as usize];
        match ended {
            // It has said why. Where rank 0 has come to an end of its own, that is the run's.
            Some(Death::Code(code)) if REPORTED.contains(code) => match self.members[0].ended {
                Some(Death::Code(root)) if REPORTED.contains(&root) => Ok(root),
                _ => Ok(*code),
            },
            how => {
                let (host, how) = (host.clone(), how.unwrap_or(Death::Code(0)));
                Err(RanksError::RankDied { rank: first, host, how }.into())
            }
        }
    }

    /// Lets the output of all pass; a process that a rank left behind may keep it open.
    fn hear_last_words(&mut self) {
        let begun = Instant::now();
        let talks = |members: &[Member]| members.iter().any(|member| !member.is_silent);
        while talks(&self.members) && begun.elapsed() < LAST_WORDS {
            if let Ok(News::Silent(rank)) = self.news.recv_timeout(Duration::from_millis(20)) {
                self.members[rank as usize].is_silent = true;
            }
        }
    }

    /// Ends every rank that still runs, with its group, and waits for its end. A rank of another
    /// host ends when its input does.
    fn end_all(&mut self) {
        let alive = |member: &&mut Member| member.ended.is_none();
        // Not yet waited for, so the numbers cannot mean other processes.
        for member in self.members.iter_mut().filter(alive) {
            member.input = None;
            kill_group(member.child.id());
        }
        for member in self.members.iter_mut().filter(alive) {
            // Its input has ended before it was killed, perhaps, and it has left with a code; but
            // that is not an end of its own.
            member.ended = member.child.wait().ok().map(|_| Death::Signal(libc::SIGKILL));
        }
    }
}

fn is_orderly(how: Death) -> bool {
    matches!(how, Death::Code(code) if REPORTED.contains(&code))
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        self.end_all();
    }
}
