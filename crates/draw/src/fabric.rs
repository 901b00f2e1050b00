//! A fabric as a drawing: its switches in layers or levels, the load of its cables, and what has
//! failed or was not found.
//!
//! Begin with [`Subject`], which says what is drawn; [`draw`] and [`draw_phases`] are the drawings.
//!
//! ```
//! use laneway_draw::fabric::{self, Heat, Subject};
//! use laneway_topo::{Counter, topology};
//!
//! let tree = topology("fat-tree-2:d=4").expect("a topology");
//! let subject = Subject::planned(&*tree);
//! let (counter, order) = (Counter::new(&*tree, &*tree).expect("small"), tree.order());
//! let heat = Heat::of_phase(&counter, tree.hosts(), &*order, 1);
//! assert!(fabric::draw(&subject, Some(&heat)).contains("messages on a cable in phase 1"));
//! ```

mod bundles;
mod heat;
mod layout;
mod legend;
mod levels;
mod lines;
mod mesh;
mod picture;
mod subject;

use std::ops::Range;

use laneway_core::Phases;
use laneway_topo::Counter;

use layout::Layout;
use picture::Panel;

pub use heat::Heat;
pub use subject::Subject;

/// Small drawings that a page has room for.
pub const MOST_PANELS: u64 = 48;

/// The fabric on one page, with its load if there is one to show.
pub fn draw(subject: &Subject, heat: Option<&Heat>) -> String {
    let layout = match (subject.mesh(), heat, subject.is_damaged()) {
        (None, ..) => levels::layout(subject.plan()),
        (Some(mesh), None, false) => mesh::plan(mesh, 330.0),
        (Some(mesh), ..) => mesh::layers(mesh),
    };
    let panel = Panel::new(subject, &layout, heat, subject.kind().to_owned());
    picture::page(&[panel], subject, heat)
}

/// Phases of an order, each with its load and the messages of one switch: one phase large, several
/// small, the first [`MOST_PANELS`] of them.
///
/// `is_own` says whether the order is the topology's own, which a full mesh sends from each layer
/// to the same number of layers ahead.
pub fn draw_phases(
    subject: &Subject,
    counter: &Counter,
    order: &dyn Phases,
    phases: Range<u64>,
    is_own: bool,
) -> String {
    let hosts = subject.wiring().hosts();
    let layout: Layout = match subject.mesh() {
        Some(mesh) => mesh::plan(mesh, 300.0),
        None => levels::layout(subject.plan()),
    };
    let end = phases.end.min(phases.start.saturating_add(MOST_PANELS));
    let is_several = end - phases.start > 1;
    let mut partners = vec![0; hosts as usize];
    let (mut panels, mut shown) = (Vec::new(), None);
    for phase in phases.start..end {
        order.partners(phase, &mut partners);
        let heat = Heat::of_phase(counter, hosts, order, phase);
        let panel = Panel::new(subject, &layout, Some(&heat), String::new());
        let mut panel = panel.with_messages(subject, &partners);
        let ahead = subject.mesh().filter(|_| is_own).and_then(|mesh| {
            let to = *partners.first()?;
            Some(mesh.place(subject.planned_host(to)?).0)
        });
        let layers = match ahead {
            None => String::new(),
            Some(0) => ", within layers".to_owned(),
            Some(ahead) => format!(", layer l to l + {ahead}"),
        };
        panel.title = format!("phase {phase}{layers}");
        panel.note = format!("largest load {}", panel.most());
        panels.push(panel);
        shown = Some(heat);
    }
    if is_several {
        shown = shown.map(|heat| heat.described("messages on a cable".to_string()));
    }
    picture::page(&panels, subject, shown.as_ref())
}
