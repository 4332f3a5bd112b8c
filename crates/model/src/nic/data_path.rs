//! State that the receive side and the send side of a NIC share, and the paths of data between memory and the cable.

use super::counters::{FlowCounters, NicCounters};
use super::function::Function;
use super::ncap::NcapWatch;
use super::rdma::Rdma;
use super::receive::Receive;
use super::transmit::Transmit;
use super::wiring::NicFlow;
use crate::ether::Egress;
use crate::line::{socket_of, Translator};
use crate::params::NicParams;
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// State that the receive side and the send side share.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Common {
    pub(super) params: NicParams,
    pub(super) pages: Translator,
    /// By node: the function that reads fragments on that node (IOctoSG). Empty if the function of the queue reads
    /// all.
    pub(super) hints: Vec<Option<usize>>,
    pub(super) flows: Vec<NicFlow>,
    /// Payload of the largest packet that the NIC sends, in bytes.
    pub(super) largest_bytes: u32,
    /// Packets received, by flow. Empty unless flows may be steered from one queue to another.
    pub(super) orders: Vec<u64>,
    /// Time of the last packet received, by flow. Empty unless steering rules expire.
    pub(super) used: Vec<Time>,
    /// Seed of the hash that spreads flows over queues (RSS).
    pub(super) hash: u64,
    pub(super) port: Egress,
    pub(super) rdma: Rdma,
    pub(super) counters: NicCounters,
    pub(super) flow_counters: Vec<FlowCounters>,
    /// Counter of requests for power management (NCAP), if enabled.
    pub(super) watch: Option<Box<NcapWatch>>,
}

impl Common {
    /// Returns the function that the descriptor names for a line of virtual memory, if it names one.
    pub(super) fn hint(&mut self, line: u64) -> Option<usize> {
        if self.hints.is_empty() {
            return None;
        }
        // The hint names the node of the physical page, which the driver knows from the fragment.
        let node = socket_of(self.pages.physical(line * 64) / 64);
        self.hints.get(usize::from(node)).copied().flatten()
    }
}

/// Paths of data between memory and the cable: the functions, the receive side and the send side.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct DataPath {
    pub(super) common: Common,
    pub(super) functions: Vec<Function>,
    pub(super) receive: Receive,
    pub(super) transmit: Transmit,
}
