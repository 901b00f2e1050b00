//! What became of the packets.

/// Packets, and the bytes of these whole IP packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    pub packets: u64,
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
pub struct WayCounters {
    pub entered: Count,
    pub left: Count,
    /// By loss, or because the way was down.
    pub lost: Count,
    /// By a full queue.
    pub dropped: Count,
    pub duplicated: Count,
    pub reordered: Count,
    pub corrupted: Count,
}

/// Of one pipe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PipeCounters {
    pub most_waiting_bytes: u64,
    pub dropped: Count,
}

/// Of all ways, as [`super::Wan`] numbers them, and of all pipes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counters {
    pub ways: Vec<WayCounters>,
    pub pipes: Vec<PipeCounters>,
    /// Packets between sites that have no way.
    pub unrouted: Count,
    /// How far the caller was behind its clock when it took packets that had left: the sum.
    pub late_ns: u64,
    pub most_late_ns: u64,
}
