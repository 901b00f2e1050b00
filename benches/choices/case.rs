//! One platform: what is chosen for each call on it, from the true file and from a measured one,
//! and what else could have been.

use std::path::Path;
use std::time::Instant;

use laneway_core::{Collective, Shape};
use laneway_sim::Simulation;
use laneway_sim::platform::Platform;
use laneway_sites::{Choice, Sites};

use crate::dice::Dice;
use crate::draw::{Call, Drawn, MOST_SMALL};
use crate::flow::{self, Least, Relays, Towards};
use crate::measured::{self, Measured};
use crate::opponents::Ground;
use crate::routed::Routes;
use crate::simgrid;

/// Settings that are drawn for a call on a small platform, and on a large one.
const SETTINGS: usize = 200;
const SETTINGS_LARGE: usize = 20;
/// For each of this many settings, scatters and gathers have one more opponent by drawn routes.
const ROUTED: usize = 4;
/// Of a small platform, and of a large one, a choice this near to the bound needs no comparison.
const AT_BOUND: f64 = 1.0005;
const AT_BOUND_LARGE: f64 = 1.03;
/// Larger platforms are not measured, for the time that it takes.
const MOST_MEASURED: u32 = 40;
/// Schedules that SimGrid times for a call beside the choices.
const FOR_SIMGRID: usize = 12;

/// What the choice knew of the platform.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Known {
    True,
    Measured,
}

/// A choice, and how it compares; seconds.
#[derive(Clone, Debug)]
pub struct Row {
    pub call: Call,
    pub ranks: u32,
    pub known: Known,
    pub chosen: String,
    /// On the true platform.
    pub time: f64,
    pub predicted: f64,
    pub best: String,
    pub best_time: f64,
    pub bounds: Bounds,
    pub flagged: bool,
    pub choosing_seconds: f64,
    /// Of all opponents of the call, in its first row.
    pub comparing_seconds: f64,
    pub by_simgrid: Option<BySimgrid>,
}

/// What nothing can beat; none for other operations than scatter and gather.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bounds {
    /// What the library says.
    pub library: Option<f64>,
    /// What the program of this benchmark says, with and without relays at third sites.
    pub own: Option<Least>,
    pub own_two_sites: Option<Least>,
}

/// SimGrid's times.
#[derive(Clone, Debug)]
pub struct BySimgrid {
    pub time: f64,
    pub best: String,
    pub best_time: f64,
}

impl BySimgrid {
    pub fn loss(&self) -> f64 {
        self.time / self.best_time - 1.0
    }
}

impl Row {
    /// The part of the best time that the choice takes more.
    pub fn loss(&self) -> f64 {
        self.time / self.best_time - 1.0
    }

    /// How far the prediction is off.
    pub fn error(&self) -> f64 {
        (self.predicted / self.time - 1.0).abs()
    }
}

/// A platform and what came of it.
pub struct Case {
    pub name: String,
    pub drawn: Drawn,
    /// The measured file.
    pub measured: Option<String>,
    pub measuring_seconds: f64,
    pub rows: Vec<Row>,
    /// Calls without a choice, files that were not measured, and why.
    pub failures: Vec<String>,
    /// Files that were rightly not written.
    pub refusals: Vec<String>,
}

/// The judges that there are.
#[derive(Clone, Copy, Default)]
pub struct Judges<'a> {
    /// Our library for SimGrid.
    pub object: Option<&'a Path>,
}

impl Judges<'_> {
    pub fn judge(&self, name: String, seed: u64, drawn: Drawn) -> Case {
        let (rows, failures, refusals) = (Vec::new(), Vec::new(), Vec::new());
        let (measured, measuring_seconds) = (None, 0.0);
        let mut case = Case { name, drawn, measured, measuring_seconds, rows, failures, refusals };
        let platform = match Platform::parse(&case.name, &case.drawn.text) {
            Ok(platform) => platform,
            Err(error) => {
                case.failures.push(error.to_string());
                return case;
            }
        };
        let begun = Instant::now();
        let given = (!case.drawn.are_sites_found).then_some(&case.drawn.sites[..]);
        let measured =
            (platform.hosts() <= MOST_MEASURED).then(|| measured::measure(&platform, given));
        let measured = match measured {
            Some(Ok(measured)) => Some(measured),
            Some(Err(why)) => {
                let may_refuse = case.drawn.are_sites_found && !case.drawn.can_sites_be_found;
                let list = if may_refuse { &mut case.refusals } else { &mut case.failures };
                list.push(format!("not measured: {why}"));
                None
            }
            None => None,
        };
        case.measuring_seconds = begun.elapsed().as_secs_f64();
        for (number, call) in (1..).zip(&case.drawn.calls) {
            let truth = Truth { platform: &platform, drawn: &case.drawn, call };
            let dice = &mut Dice::new(seed ^ (number << 40));
            let name = format!("{}-{number}", case.name);
            match truth.judge(self, &name, measured.as_ref(), dice) {
                Ok(rows) => case.rows.extend(rows),
                Err(why) => case.failures.push(format!("{}: {why}", call.spelled())),
            }
        }
        case.measured = measured.map(|measured| measured.text);
        case
    }
}

/// A call on the true platform.
struct Truth<'a> {
    platform: &'a Platform,
    drawn: &'a Drawn,
    call: &'a Call,
}

/// A choice, what it is known from, and how long it took.
struct Chosen {
    known: Known,
    choice: Choice,
    seconds: f64,
    /// On the true platform.
    time: f64,
}

impl Truth<'_> {
    fn judge(
        &self,
        judges: &Judges,
        name: &str,
        measured: Option<&Measured>,
        dice: &mut Dice,
    ) -> Result<Vec<Row>, String> {
        let sites = Sites::one_each(self.platform);
        let ranks = self.platform.hosts();
        let shape = self.call.shape(ranks);
        let mut all = vec![self.choose(&shape, Known::True, self.platform)?];
        if let Some(measured) = measured {
            all.push(self.choose(&shape, Known::Measured, &measured.platform)?);
        }
        let bounds = self.bounds(&all[0].choice);
        let begun = Instant::now();
        let (best, others) = self.best(&sites, &shape, &all, bounds, dice);
        let comparing_seconds = begun.elapsed().as_secs_f64();
        let by_simgrid = match judges.object {
            Some(object) if self.drawn.is_simgrids && simgrid::fits(self.call, ranks) => {
                self.by_simgrid(object, name, &all, others)?
            }
            _ => Vec::new(),
        };
        let rows = all.into_iter().enumerate().map(|(number, chosen)| Row {
            call: self.call.clone(),
            ranks,
            known: chosen.known,
            chosen: chosen.choice.best.spelled(),
            time: chosen.time,
            predicted: chosen.choice.best.time,
            best: best.name.clone(),
            best_time: best.time,
            bounds,
            flagged: chosen.known == Known::Measured
                && measured.is_some_and(|measured| measured.flags(&shape, &chosen.choice)),
            choosing_seconds: chosen.seconds,
            comparing_seconds: if number == 0 { comparing_seconds } else { 0.0 },
            by_simgrid: by_simgrid.get(number).cloned(),
        });
        Ok(rows.collect())
    }

    /// The schedule knows the sites, their order and the rates of hosts from the same file as the
    /// choice, as it does where ranks are placed on that file.
    fn choose(&self, shape: &Shape, known: Known, platform: &Platform) -> Result<Chosen, String> {
        let begun = Instant::now();
        let sites = Sites::one_each(platform);
        let choice = sites.choose(shape).map_err(|error| error.to_string())?;
        let seconds = begun.elapsed().as_secs_f64();
        let schedule = sites.schedule(shape, choice.best.algorithm, &choice.best.params);
        let schedule = schedule.map_err(|error| error.to_string())?;
        let simulated = Simulation::new(self.platform).run(&*schedule);
        let time = simulated.map_err(|error| error.to_string())?.finish;
        Ok(Chosen { known, choice, seconds, time })
    }

    fn towards(&self) -> Option<Towards> {
        match self.call.op {
            Collective::Scatter => Some(Towards::Ranks),
            Collective::Gather => Some(Towards::Root),
            _ => None,
        }
    }

    fn bounds(&self, choice: &Choice) -> Bounds {
        let Some(towards) = self.towards() else { return Bounds::default() };
        let (root, size) = (self.call.root as usize, self.call.size as f64);
        let own = |relays| Some(flow::least(&self.drawn.wires, towards, relays, root, size));
        Bounds {
            library: choice.bound.as_ref().map(|bound| bound.time),
            own: own(Relays::AllSites),
            own_two_sites: own(Relays::TwoSites),
        }
    }

    /// The fastest that is known, and schedules that are worth another look.
    fn best(
        &self,
        sites: &Sites,
        shape: &Shape,
        all: &[Chosen],
        bounds: Bounds,
        dice: &mut Dice,
    ) -> (Best, Vec<String>) {
        let mut best = Best { name: String::new(), time: f64::INFINITY };
        let mut others = Vec::new();
        for Chosen { choice, time, known, .. } in all {
            best.take(&choice.best.spelled(), *time);
            if *known == Known::True {
                for candidate in &choice.all {
                    // The time of a part of a run is what is to be judged.
                    if !candidate.part_of_run {
                        best.take(&candidate.spelled(), candidate.time);
                    }
                    others.push(candidate.spelled());
                }
            }
        }
        let is_small = shape.ranks as usize <= MOST_SMALL;
        let (settings, near) = match is_small {
            true => (SETTINGS, AT_BOUND),
            false => (SETTINGS_LARGE, AT_BOUND_LARGE),
        };
        let slowest = all.iter().map(|chosen| chosen.time).fold(0.0, f64::max);
        let ground = Ground { platform: self.platform, sites, shape, size: self.call.size };
        let is_compared = bounds.own.is_none_or(|own| slowest > near * own.time);
        if let (true, Some(towards)) = (is_compared, self.towards()) {
            let (wires, root, size) = (&self.drawn.wires, self.call.root, self.call.size);
            let routes = Routes { wires, towards, root, size };
            for _ in 0..settings / ROUTED {
                let (name, routed) = routes.draw(dice);
                if let Some(time) = ground.time_of(&routed, best.time) {
                    best.take(&name, time);
                }
            }
        }
        if is_compared {
            for _ in 0..settings {
                let opponent = ground.draw(dice);
                if let Some(time) = ground.time(&opponent, best.time) {
                    best.take(&opponent.spelled(), time);
                    others.extend(opponent.is_in_given_order().then(|| opponent.spelled()));
                }
            }
        }
        (best, others)
    }

    /// What SimGrid says of each choice, against the last of the others and the best of them.
    fn by_simgrid(
        &self,
        object: &Path,
        name: &str,
        all: &[Chosen],
        others: Vec<String>,
    ) -> Result<Vec<BySimgrid>, String> {
        let chosen: Vec<String> = all.iter().map(|chosen| chosen.choice.best.spelled()).collect();
        let mut names: Vec<String> = others.into_iter().rev().take(FOR_SIMGRID).collect();
        names.extend(chosen.iter().cloned());
        let text = &self.drawn.text;
        let times = simgrid::times(object, self.platform, text, self.call, name, &names)?;
        let best = times.iter().min_by(|one, other| one.1.total_cmp(other.1));
        let Some((best, best_time)) = best else { return Err("SimGrid timed nothing".into()) };
        let of = |name: &String| BySimgrid {
            time: times.get(name).copied().unwrap_or(f64::NAN),
            best: best.clone(),
            best_time: *best_time,
        };
        Ok(chosen.iter().map(of).collect())
    }
}

/// The fastest so far.
struct Best {
    name: String,
    time: f64,
}

impl Best {
    fn take(&mut self, name: &str, time: f64) {
        if time < self.time {
            (self.name, self.time) = (name.to_owned(), time);
        }
    }
}
