//! Where a NIC sits in its server and in the network.

use super::{QueueMemory, RdmaEnd};
use crate::ether::WireParams;
use crate::params::PcieParams;
use hostnet_kernel::ComponentId;
use serde::{Deserialize, Serialize};

/// What the NIC knows of a flow. Flows of other hosts have an entry, too, which is not looked at.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NicFlow {
    /// The class that its lines count as.
    pub class: u8,
    /// The receive queue that it was steered to (aRFS); without one a hash spreads flows (RSS).
    pub queue: Option<u16>,
    /// The core that sends it, and is told when its segments have left.
    pub core: ComponentId,
    /// Data that segments are cut into at most, in bytes; at least 1.
    pub mss_bytes: u32,
}

/// A function of a NIC: a PCIe link of its own, to the IIO of a socket.
#[derive(Clone, Debug)]
pub struct FunctionWiring {
    /// The IIO that its link leads to.
    pub iio: ComponentId,
    /// Number of the link there: as many as there are drives.
    pub link: u8,
    /// The link.
    pub pcie: PcieParams,
}

/// The queues of a core: what comes in by one, and what it sends by the other.
#[derive(Clone, Debug)]
pub struct QueueWiring {
    /// The core.
    pub core: ComponentId,
    /// Their memory.
    pub memory: QueueMemory,
    /// The function that they go by.
    pub function: usize,
    /// Whether their memory is on another socket than the function. What is written there can be seen only when that
    /// socket has it; on its own socket the way to there is part of what the interrupt takes.
    pub far: bool,
    /// What a doorbell and an interrupt take longer between the core and the function than on one socket, in ps.
    pub away_ps: u64,
}

/// Where a NIC sits in its server and in the network.
#[derive(Clone, Debug)]
pub struct Wiring {
    /// Its functions. RDMA goes by the first.
    pub functions: Vec<FunctionWiring>,
    /// Per node: the function by which data that is sent from there is read, whatever its queue goes by, where there is
    /// one (IOctoSG). Empty: all is read by the function of its queue.
    pub hints: Vec<Option<usize>>,
    /// Per receive queue: whose it is. Without any the NIC takes nothing but RDMA.
    pub queues: Vec<QueueWiring>,
    /// Whether queues may interrupt from the start; not when their cores poll.
    pub armed: bool,
    /// Whether flows may be steered from one queue to another, so that their packets are numbered.
    pub steers: bool,
    /// The flows, by their number in packets.
    pub flows: Vec<NicFlow>,
    /// The ends of RoCE flows here, which need no core.
    pub rdma: Vec<RdmaEnd>,
    /// Its end of the cable. Its `before_ps` is set by the NIC.
    pub wire: WireParams,
    /// Classes of traffic.
    pub classes: usize,
}
