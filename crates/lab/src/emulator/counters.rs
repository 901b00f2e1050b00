//! What became of the packets.

/// Packets, and the bytes of these whole IP packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Count {
    /// How many packets.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Count {
    pub(super) fn add(&mut self, bytes: usize) {
        self.packets += 1;
        self.bytes += bytes as u64;
    }
}

/// Of one way. When nothing is under way any more, `entered + duplicated` is
/// `left + lost + dropped`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WayCounters {
    /// What came in.
    pub entered: Count,
    /// What went out.
    pub left: Count,
    /// By loss, or because the way was down.
    pub lost: Count,
    /// By a full queue.
    pub dropped: Count,
    /// Copies that were made.
    pub duplicated: Count,
    /// Packets that overtook.
    pub reordered: Count,
    /// Packets with a wrong bit.
    pub corrupted: Count,
}

/// Of one pipe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PipeCounters {
    /// The most that ever waited.
    pub most_waiting_bytes: u64,
    /// By its full queue.
    pub dropped: Count,
}

/// Of all ways, as [`super::Wan`] numbers them, and of all pipes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Of each way.
    pub ways: Vec<WayCounters>,
    /// Of each pipe.
    pub pipes: Vec<PipeCounters>,
    /// Packets between sites that have no way.
    pub unrouted: Count,
    /// How far the caller was behind its clock when it took packets that had left: the sum.
    pub late_ns: u64,
    /// The most that it ever was.
    pub most_late_ns: u64,
}
