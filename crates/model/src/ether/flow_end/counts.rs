//! Packets and bytes that an end of a flow has sent and received.

use super::FlowEnd;

impl FlowEnd {
    /// Returns the packets that the transport has sent since the start of the run.
    #[must_use]
    pub fn sent_packets(&self) -> u64 {
        self.sent_packets
    }

    /// Returns the bytes of IP packets that the transport has sent since the start of the run.
    #[must_use]
    pub fn sent_bytes(&self) -> u64 {
        self.sent_bytes
    }

    /// Returns the packets received since the start of the run.
    #[must_use]
    pub fn received_packets(&self) -> u64 {
        self.received_packets
    }

    /// Returns the bytes of IP packets received since the start of the run.
    #[must_use]
    pub fn received_bytes(&self) -> u64 {
        self.received_bytes
    }
}
