//! A connection in software with the manager of its paths, whatever carries its packets.

use laneway_path::{
    Config, Connection, Event, Manager, Modify, Nanos, PathId, Policy, QpState, Refusal,
};

use crate::driver::kind::PathKind;
use crate::driver::setup::Setup;

/// The longest part of a message in a frame of a stream: shorter ones cost calls to the kernel.
const FRAME_BYTES: usize = 256 << 10;

/// What both ends agreed on, as one of them sees it.
pub(crate) struct Ends {
    pub number: u32,
    pub peer: u32,
    /// The first packet numbers of this end and of the peer.
    pub start: u32,
    pub peer_start: u32,
    pub packet_bytes: usize,
    pub paths: u8,
    pub leads: bool,
    pub kind: PathKind,
}

/// Ready to send and to receive.
pub(crate) fn establish(
    now: Nanos,
    setup: &Setup,
    ends: &Ends,
) -> Result<(Connection, Manager), Refusal> {
    let Ends { number, paths, .. } = *ends;
    let mut connection = Connection::new(Config { number, paths });
    if ends.kind == PathKind::Stream {
        connection = connection.over_streams(FRAME_BYTES);
    }
    let init = Modify { path: Some(setup.primary), ..Modify::to(QpState::Init) };
    connection.modify(now, init)?;
    let next = PathId((setup.primary.0 + 1) % paths);
    let specifies = setup.arms || setup.specifies;
    let alternate = (specifies && next != setup.primary).then_some(next);
    let rtr = Modify {
        peer: Some(ends.peer),
        receive_number: Some(ends.peer_start),
        packet_bytes: Some(ends.packet_bytes),
        not_ready_timer: Some(setup.not_ready_timer),
        alternate,
        load: setup.arms && alternate.is_some(),
        ..Modify::to(QpState::Rtr)
    };
    connection.modify(now, rtr)?;
    let rts = Modify {
        send_number: Some(ends.start),
        ack_timeout: Some(setup.ack_timeout),
        retries: Some(setup.retries),
        not_ready_retries: Some(setup.not_ready_retries),
        ..Modify::to(QpState::Rts)
    };
    connection.modify(now, rts)?;
    let policy = Policy { leads: ends.leads, ..setup.policy };
    Ok((connection, Manager::new(policy, paths)))
}

/// When either of them has something to do.
pub(crate) fn next_timeout(connection: &Connection, manager: &Manager) -> Option<Nanos> {
    [connection.next_timeout(), manager.next_timeout()].into_iter().flatten().min()
}

/// Time has passed.
pub(crate) fn on_timeout(now: Nanos, connection: &mut Connection, manager: &mut Manager) {
    if connection.next_timeout().is_some_and(|at| at <= now) {
        connection.on_timeout(now);
    }
    if manager.next_timeout().is_some_and(|at| at <= now) {
        manager.on_timeout(now, connection);
    }
}

/// The next event, after the manager has acted on it.
pub(crate) fn poll_event(
    now: Nanos,
    connection: &mut Connection,
    manager: &mut Manager,
) -> Option<Event> {
    let event = connection.poll_event()?;
    manager.on_event(now, connection, &event);
    Some(event)
}
