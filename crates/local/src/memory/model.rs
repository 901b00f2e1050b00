//! Marks and doorbells in every order that loom finds: no rank sleeps while it has news.

use std::sync::Arc;
use std::time::Duration;

use loom::thread;

use super::marks;
use crate::doorbell::Doorbell;
use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// One rank's seat, with one sender's ring reduced to the number of its last cell.
struct Seat {
    cell: AtomicU32,
    marks: [AtomicU64; 1],
    doorbell: Doorbell,
}

impl Seat {
    fn new() -> Arc<Seat> {
        Arc::new(Seat {
            cell: AtomicU32::new(0),
            marks: [AtomicU64::new(0)],
            doorbell: Doorbell::new(),
        })
    }
}

/// Sends `messages` messages; sleeps never.
fn send(seat: &Seat, messages: u32, marked: bool) {
    for number in 1..=messages {
        seat.cell.store(number, Ordering::Release);
        if marked {
            marks::set(&seat.marks, 0);
        }
        seat.doorbell.ring();
    }
}

/// Whether the ring has news, asked as `Memory::poll` asks.
fn look(seat: &Seat, seen: &mut u32, marked: bool) -> bool {
    let mut looked = !marked;
    if marked {
        marks::take(&seat.marks, |_| looked = true);
    }
    let before = *seen;
    if looked {
        *seen = seat.cell.load(Ordering::Acquire);
    }
    *seen > before
}

/// Goes on as `Engine::wait_for` does; a wake-up that is lost is a deadlock of the model.
fn receive(seat: &Seat, messages: u32, marked: bool) {
    let mut seen = 0;
    while seen < messages {
        if look(seat, &mut seen, marked) {
            continue;
        }
        seat.doorbell.arm();
        if !look(seat, &mut seen, marked) {
            seat.doorbell.sleep(Duration::MAX);
        }
        seat.doorbell.disarm();
    }
}

/// Every order with a limited number of preemptions; without the limit it takes a minute and
/// finds no more.
fn check(marked: bool) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(4);
    model.check(move || {
        let seat = Seat::new();
        let other = seat.clone();
        let sender = thread::spawn(move || send(&other, 2, marked));
        receive(&seat, 2, marked);
        sender.join().expect("a sender that ends well");
    });
}

#[test]
fn a_sleeper_is_woken() {
    check(false);
}

#[test]
fn a_mark_is_not_lost() {
    check(true);
}
