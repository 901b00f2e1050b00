//! Any order made one without conflict: messages of a phase that meet go one after the other.

use laneway_core::Phases;

use super::flows::Flows;

/// The number of phases with a message in them, and the phase of each message, which is numbered
/// sender times ranks plus receiver. `None` if the order leaves out a message.
pub fn split(flows: &Flows, order: &dyn Phases) -> Option<(usize, Vec<u32>)> {
    let ranks = flows.ranks();
    let mut phase_of = vec![u32::MAX; ranks * ranks];
    let mut partners = vec![0; ranks];
    // What each part of a phase has taken; the lists are used again for the next phase.
    let mut parts: Vec<Vec<bool>> = Vec::new();
    let mut phases = 0;
    for phase in 0..order.count() {
        order.partners(phase, &mut partners);
        let mut used = 0;
        for (from, &to) in partners.iter().enumerate().filter(|&(from, &to)| from != to as usize) {
            let to = to as usize;
            let is_free = |part: &Vec<bool>| flows.needs(from, to).all(|need| !part[need]);
            let part = match parts[..used].iter().position(is_free) {
                Some(part) => part,
                None => {
                    match parts.get_mut(used) {
                        Some(part) => part.fill(false),
                        None => parts.push(vec![false; flows.resources()]),
                    }
                    used += 1;
                    used - 1
                }
            };
            flows.needs(from, to).for_each(|need| parts[part][need] = true);
            phase_of[from * ranks + to] = (phases + part) as u32;
        }
        phases += used;
    }
    let is_complete = flows.all().all(|(from, to)| phase_of[from * ranks + to] != u32::MAX);
    is_complete.then_some((phases, phase_of))
}
