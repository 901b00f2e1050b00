//! A queue pair and its transitions, reliable or for datagrams.

use std::ffi::c_int;
use std::ptr::null_mut;
use std::sync::Arc;

use super::device::{CompletionQueue, Device, check, failed};
use super::ffi::*;
use crate::driver::setup::Setup;
use crate::error::NetError;

/// Requests of each kind that a queue pair holds.
pub(super) const DEPTH: u32 = 128;

pub(super) struct QueuePair {
    pub queue: CompletionQueue,
    pub device: Arc<Device>,
    qp: *mut ibv_qp,
    number: u32,
}

// SAFETY: libibverbs lets any thread use any of its objects.
unsafe impl Send for QueuePair {}

/// What a datagram needs besides its bytes.
pub(super) struct Target {
    pub ah: *mut ibv_ah,
    pub number: u32,
    pub key: u32,
}

/// What both ends of a reliable connection agreed on.
pub(super) struct Peer {
    pub number: u32,
    pub receive_start: u32,
    pub send_start: u32,
    /// In InfiniBand's code.
    pub mtu: u8,
}

/// All bytes zero, in the state that is asked for.
pub(super) fn attributes(state: u32) -> ibv_qp_attr {
    // SAFETY: all bytes zero is a value of this plain structure.
    ibv_qp_attr { qp_state: state, ..unsafe { std::mem::zeroed() } }
}

impl QueuePair {
    /// In RESET. `kind` is `IBV_QPT_RC` or `IBV_QPT_UD`.
    pub fn new(device: &Arc<Device>, kind: u32) -> Result<QueuePair, NetError> {
        let queue = CompletionQueue::new(device, 2 * DEPTH)?;
        let cap = ibv_qp_cap {
            max_send_wr: DEPTH,
            max_recv_wr: DEPTH,
            max_send_sge: 1,
            max_recv_sge: 1,
            max_inline_data: 0,
        };
        let mut attr = ibv_qp_init_attr {
            qp_context: null_mut(),
            send_cq: queue.cq,
            recv_cq: queue.cq,
            srq: null_mut(),
            cap,
            qp_type: kind,
            sq_sig_all: 0,
        };
        // SAFETY: domain and completion queue are of this device, and live as long as the pair.
        let qp = unsafe { (device.library.ibv_create_qp)(device.pd, &raw mut attr) };
        if qp.is_null() {
            return Err(failed("ibv_create_qp"));
        }
        // SAFETY: it has just been made.
        let number = unsafe { (*qp).qp_num };
        Ok(QueuePair { queue, device: Arc::clone(device), qp, number })
    }

    pub fn number(&self) -> u32 {
        self.number
    }

    pub fn is(&self, pair: *const ibv_qp) -> bool {
        std::ptr::eq(self.qp, pair)
    }

    pub fn modify(&self, mut attr: ibv_qp_attr, mask: u32, what: &str) -> Result<(), NetError> {
        let mask = mask as c_int;
        // SAFETY: the pair is there, and the attributes are ours.
        let result = unsafe { (self.device.library.ibv_modify_qp)(self.qp, &raw mut attr, mask) };
        check(&format!("ibv_modify_qp {what}"), result)
    }

    pub fn query(&self, mask: u32) -> Result<ibv_qp_attr, NetError> {
        let mut attr = attributes(0);
        // SAFETY: all bytes zero is a value of this plain structure.
        let mut init: ibv_qp_init_attr = unsafe { std::mem::zeroed() };
        // SAFETY: the pair is there, and both structures are ours.
        let result = unsafe {
            let query = self.device.library.ibv_query_qp;
            query(self.qp, &raw mut attr, mask as c_int, &raw mut init)
        };
        check("ibv_query_qp", result)?;
        Ok(attr)
    }

    /// A reliable one from RESET to INIT: receives may be posted.
    pub fn init(&self, port: u8) -> Result<(), NetError> {
        let attr = ibv_qp_attr { port_num: port, ..attributes(IBV_QPS_INIT) };
        let mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
        self.modify(attr, mask, "to INIT")
    }

    /// From INIT to RTR, with its primary path.
    pub fn ready_to_receive(
        &self,
        setup: &Setup,
        peer: &Peer,
        path: ibv_ah_attr,
    ) -> Result<(), NetError> {
        let attr = ibv_qp_attr {
            ah_attr: path,
            path_mtu: peer.mtu.into(),
            dest_qp_num: peer.number,
            rq_psn: peer.receive_start,
            max_dest_rd_atomic: 1,
            min_rnr_timer: setup.not_ready_timer.code(),
            ..attributes(IBV_QPS_RTR)
        };
        let mask = IBV_QP_STATE
            | IBV_QP_AV
            | IBV_QP_PATH_MTU
            | IBV_QP_DEST_QPN
            | IBV_QP_RQ_PSN
            | IBV_QP_MAX_DEST_RD_ATOMIC
            | IBV_QP_MIN_RNR_TIMER;
        self.modify(attr, mask, "to RTR")
    }

    /// From RTR to RTS. Alternate paths are loaded after: the same way then as later.
    pub fn ready_to_send(&self, setup: &Setup, peer: &Peer) -> Result<(), NetError> {
        let attr = ibv_qp_attr {
            timeout: setup.ack_timeout.code(),
            retry_cnt: setup.retries.count(),
            rnr_retry: setup.not_ready_retries.count(),
            sq_psn: peer.send_start,
            max_rd_atomic: 1,
            ..attributes(IBV_QPS_RTS)
        };
        let mask = IBV_QP_STATE
            | IBV_QP_TIMEOUT
            | IBV_QP_RETRY_CNT
            | IBV_QP_RNR_RETRY
            | IBV_QP_SQ_PSN
            | IBV_QP_MAX_QP_RD_ATOMIC;
        self.modify(attr, mask, "to RTS")
    }

    /// Gives the device an alternate path, and asks it to load it.
    pub fn load(&self, setup: &Setup, path: ibv_ah_attr) -> Result<(), NetError> {
        let attr = ibv_qp_attr {
            alt_ah_attr: path,
            alt_port_num: path.port_num,
            alt_pkey_index: 0,
            alt_timeout: setup.ack_timeout.code(),
            path_mig_state: IBV_MIG_REARM,
            ..attributes(0)
        };
        self.modify(attr, IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE, "to REARM")
    }

    /// Asks the device to use the alternate path, which is armed.
    pub fn migrate(&self) -> Result<(), NetError> {
        let attr = ibv_qp_attr { path_mig_state: IBV_MIG_MIGRATED, ..attributes(0) };
        self.modify(attr, IBV_QP_PATH_MIG_STATE, "to MIGRATED")
    }

    /// One for datagrams from RESET to RTS.
    pub fn serve_datagrams(&self, port: u8, key: u32, start: u32) -> Result<(), NetError> {
        let init = ibv_qp_attr { port_num: port, qkey: key, ..attributes(IBV_QPS_INIT) };
        let mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
        self.modify(init, mask, "of datagrams to INIT")?;
        self.modify(attributes(IBV_QPS_RTR), IBV_QP_STATE, "of datagrams to RTR")?;
        let rts = ibv_qp_attr { sq_psn: start, ..attributes(IBV_QPS_RTS) };
        self.modify(rts, IBV_QP_STATE | IBV_QP_SQ_PSN, "of datagrams to RTS")
    }

    /// Sends a part of a region.
    ///
    /// # Safety
    /// The region stays, and the part is not written, until the request is completed or the queue
    /// pair destroyed; the address handle of the target, too.
    pub unsafe fn post_send(
        &self,
        id: u64,
        part: Option<ibv_sge>,
        target: Option<&Target>,
    ) -> Result<(), NetError> {
        let mut part = part;
        let (ah, remote_qpn, remote_qkey) =
            target.map_or((null_mut(), 0, 0), |target| (target.ah, target.number, target.key));
        let mut request = ibv_send_wr {
            wr_id: id,
            next: null_mut(),
            num_sge: part.is_some().into(),
            sg_list: part.as_mut().map_or(null_mut(), |part| part),
            opcode: IBV_WR_SEND,
            send_flags: IBV_SEND_SIGNALED,
            imm_data: 0,
            ud: ud { ah, remote_qpn, remote_qkey, longer: [0; 2] },
            remote_srqn: 0,
            bind_mw: [0; 6],
        };
        let mut bad = null_mut();
        // SAFETY: the request is read during the call; what it names stays, as the caller says.
        let result = unsafe {
            let post = (*self.device.context).ops.post_send;
            let post = post.ok_or(NetError::Device { why: "no ibv_post_send".into() })?;
            post(self.qp, &raw mut request, &raw mut bad)
        };
        check("ibv_post_send", result)
    }

    /// Lets a message be written to a part of a region.
    ///
    /// # Safety
    /// As for [`QueuePair::post_send`]; and the part is not read, either.
    pub unsafe fn post_receive(&self, id: u64, part: Option<ibv_sge>) -> Result<(), NetError> {
        let mut part = part;
        let mut request = ibv_recv_wr {
            wr_id: id,
            next: null_mut(),
            num_sge: part.is_some().into(),
            sg_list: part.as_mut().map_or(null_mut(), |part| part),
        };
        let mut bad = null_mut();
        // SAFETY: as above.
        let result = unsafe {
            let post = (*self.device.context).ops.post_recv;
            let post = post.ok_or(NetError::Device { why: "no ibv_post_recv".into() })?;
            post(self.qp, &raw mut request, &raw mut bad)
        };
        check("ibv_post_recv", result)
    }

    /// After this the device touches no memory of requests; false where it may.
    pub fn destroy(&mut self) -> bool {
        if self.qp.is_null() {
            return true;
        }
        // SAFETY: the pair is there, and is not used after this.
        let gone = unsafe { (self.device.library.ibv_destroy_qp)(self.qp) } == 0;
        if gone {
            self.qp = null_mut();
        }
        gone
    }
}

impl Drop for QueuePair {
    fn drop(&mut self) {
        self.destroy();
    }
}

/// The way to a peer, for datagrams.
pub(super) struct AddressHandle {
    device: Arc<Device>,
    pub ah: *mut ibv_ah,
}

// SAFETY: as for the queue pair.
unsafe impl Send for AddressHandle {}

impl AddressHandle {
    pub fn new(device: &Arc<Device>, mut to: ibv_ah_attr) -> Result<AddressHandle, NetError> {
        // SAFETY: the domain is open, and the structure is ours.
        let ah = unsafe { (device.library.ibv_create_ah)(device.pd, &raw mut to) };
        match ah.is_null() {
            true => Err(failed("ibv_create_ah")),
            false => Ok(AddressHandle { device: Arc::clone(device), ah }),
        }
    }
}

impl Drop for AddressHandle {
    fn drop(&mut self) {
        // SAFETY: it is there, and is not used after this.
        unsafe { (self.device.library.ibv_destroy_ah)(self.ah) };
    }
}
