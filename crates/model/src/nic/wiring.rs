//! Connections of a NIC to its server and to the network.

use super::{QueueMemory, RdmaEnd};
use crate::ether::WireParams;
use crate::params::PcieParams;
use hostnet_kernel::ComponentId;
use serde::{Deserialize, Serialize};

/// Flow as the NIC sees it. Flows between other hosts have an unused entry.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NicFlow {
    /// Traffic class that lines of the flow are accounted to.
    pub class: u8,
    /// Receive queue that the flow is steered to (aRFS). Without one, a hash spreads flows (RSS).
    pub queue: Option<u16>,
    /// Core that sends the flow and is notified when its segments have left.
    pub core: ComponentId,
    /// Maximum payload of a packet, in bytes. At least 1.
    pub mss_bytes: u32,
}

/// Function of a NIC: a private PCIe link to the IIO of a socket.
#[derive(Clone, Debug)]
pub struct FunctionWiring {
    /// IIO that the link leads to.
    pub iio: ComponentId,
    /// Number of the link at the IIO, after the links of the drives.
    pub link: u8,
    /// Parameters of the link.
    pub pcie: PcieParams,
}

/// Receive queue and send queue of a core.
#[derive(Clone, Debug)]
pub struct QueueWiring {
    /// Core that owns the queues.
    pub core: ComponentId,
    /// Memory of the queues.
    pub memory: QueueMemory,
    /// Function that the queues belong to.
    pub function: usize,
    /// True if the memory is on another socket than the function. A write is then visible only once that socket has
    /// it. On the local socket, that latency is part of the interrupt latency.
    pub far: bool,
    /// Extra latency of a doorbell or an interrupt between sockets, in ps.
    pub away_ps: u64,
}

/// Connections of a NIC to its server and to the network.
#[derive(Clone, Debug)]
pub struct NicWiring {
    /// Functions of the NIC. RDMA uses the first.
    pub functions: Vec<FunctionWiring>,
    /// By node: function that reads the data sent from that node, whatever function the queue belongs to (IOctoSG).
    /// Empty if the function of the queue reads all data.
    pub hints: Vec<Option<usize>>,
    /// Receive queues and their cores. A NIC without queues accepts only RDMA.
    pub queues: Vec<QueueWiring>,
    /// True if queues may interrupt from the start. False if their cores poll.
    pub armed: bool,
    /// True if flows may be steered from one queue to another, so that their packets are numbered.
    pub steers: bool,
    /// Flows, by their id in packets.
    pub flows: Vec<NicFlow>,
    /// Local ends of RoCE flows, which need no core.
    pub rdma: Vec<RdmaEnd>,
    /// Parameters of the cable. The NIC sets `before_ps`.
    pub wire: WireParams,
    /// Number of traffic classes.
    pub classes: usize,
}
