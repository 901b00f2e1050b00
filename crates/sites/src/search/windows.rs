//! Windows that have no effect: settings that differ in nothing else need no simulation.

use laneway_coll::Parameter;
use laneway_sim::Network;

use super::trial::Tried;
use super::{Search, Setting};
use crate::choose::Candidate;

impl Search<'_, '_> {
    /// What a setting takes whose window has no effect: a narrower one and a wider one take the
    /// same time, or a narrower one and one half as wide; or windows of eager messages have none.
    pub(super) fn found_with_other_windows(&self, setting: &Setting) -> Option<Candidate> {
        if !setting.has(Parameter::Window) {
            return None;
        }
        let window = setting.params.get(Parameter::Window);
        let is_free = self.has_free_window(setting);
        let is_like = |other: &&Candidate| {
            let params = other.params.with(Parameter::Window, window);
            other.algorithm == setting.algorithm && params == setting.params
        };
        let others = self.tried.iter().filter_map(|tried| tried.found.as_ref()).filter(is_like);
        let value = |other: &Candidate| other.params.get(Parameter::Window);
        let found = others.clone().find(|narrow| {
            let is_far =
                |other: &&Candidate| value(other) >= window || value(other) >= 2 * value(narrow);
            let is_equal = |other: &Candidate| other.time == narrow.time;
            is_free || value(narrow) < window && others.clone().filter(is_far).any(is_equal)
        });
        found.map(|found| Candidate { params: setting.params, ..found.clone() })
    }

    /// Whether the window of a setting has no effect, as that of other eager settings.
    fn has_free_window(&self, setting: &Setting) -> bool {
        let name = setting.algorithm.name;
        self.free_windows.contains(&name) && self.is_eager(setting)
    }

    /// Whether no message of a setting waits for its receive, as far as its parameters say.
    fn is_eager(&self, setting: &Setting) -> bool {
        let longest = self.shape.blocks().longest(self.shape.ranks).max(self.shape.vector());
        let is_cut = setting.has(Parameter::Segment) && setting.params.segment() > 0;
        let segment = if is_cut { setting.params.segment() } else { longest };
        segment.min(longest) <= self.sites.platform.eager_bytes()
    }

    /// Notes that windows of eager messages have no effect for an algorithm, if another one took
    /// the same time.
    pub(super) fn note_free_window(&mut self, setting: &Setting, time: f64) {
        let name = setting.algorithm.name;
        if !setting.has(Parameter::Window)
            || self.free_windows.contains(&name)
            || !self.is_eager(setting)
        {
            return;
        }
        let window = setting.params.get(Parameter::Window);
        let is_other = |tried: &Tried| {
            let params = tried.setting.params.with(Parameter::Window, window);
            let is_far = tried.setting.params.get(Parameter::Window).abs_diff(window) > window / 2;
            is_far && tried.setting.algorithm == setting.algorithm && params == setting.params
        };
        if self.tried.iter().any(|tried| is_other(tried) && tried.time() == Some(time)) {
            self.free_windows.push(name);
        }
    }
}
