//! Totals of flows, read from the parts of a world.

use super::ends::{datagram_ends, ends, rdma_ends};
use hostnet_kernel::{Simulation, Time};
use hostnet_model::ether::{self, Fabric};
use hostnet_model::flow::{Application, DatagramCounts};
use hostnet_model::nic::{DropReason, Nic};
use hostnet_model::os::NetStack;
use hostnet_model::params::{ClusterParams, Traffic};
use hostnet_model::transport::roce::RoceConnection;
use hostnet_model::transport::tcp::{Counters, TcpConnection};
use hostnet_model::World;
use serde::{Deserialize, Serialize};

/// Totals of a flow since the start of the run, at both of its ends and at everything between them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FlowTotals {
    /// Bytes that applications read, at the responder and at the initiator of the flow.
    pub(crate) received_bytes: [u64; 2],
    /// Packets with data that were sent, including retransmissions.
    pub(crate) sent_packets: u64,
    pub(crate) retransmitted_packets: u64,
    pub(crate) timeouts: u64,
    pub(crate) probes: u64,
    /// Segments with data that arrived, those of them that arrived ECN-marked, and packets that a host marked.
    pub(crate) received_segments: u64,
    pub(crate) marked_segments: u64,
    pub(crate) marked_by_host: u64,
    /// Packets that arrived at NICs, and packets that NICs dropped: because the buffer was full, because no
    /// descriptor was free, or for another reason such as damage.
    pub(crate) nic_received: u64,
    pub(crate) nic_full: u64,
    pub(crate) nic_ring: u64,
    pub(crate) nic_other: u64,
    /// Packets that switches and cables dropped.
    pub(crate) fabric_dropped: u64,
    /// Datagrams dropped because the buffer of a UDP socket was full.
    pub(crate) socket_dropped: u64,
    /// Packets of any kind that ports of hosts sent, and packets that arrived at hosts.
    pub(crate) host_sent: u64,
    pub(crate) host_received: u64,
    /// RoCE: packets with data that were discarded as out of order, packets discarded as duplicates, and congestion
    /// notifications that DCQCN sent.
    pub(crate) out_of_order: u64,
    pub(crate) duplicates: u64,
    pub(crate) notifications: u64,
    /// Time that the data sent takes at the rate of DCQCN, and at the line rate of the port, in ps.
    pub(crate) paced_ps: u64,
    pub(crate) at_line_ps: u64,
    /// Time for which data was held back by the receive window, the send buffer or the limit of messages in flight,
    /// and by the congestion window, in ps.
    pub(crate) window_held_ps: u64,
    pub(crate) congestion_held_ps: u64,
    /// Segments that transports have received; used to detect progress.
    pub(crate) seen: u64,
}

impl FlowTotals {
    fn add_end(&mut self, initiator: bool, connection: &TcpConnection, application: &Application, now: Time) {
        self.received_bytes[usize::from(initiator)] += application.received_bytes();
        let Counters {
            packets_sent,
            packets_retransmitted,
            timeouts,
            probes,
            segments_marked,
            segments_received,
            acks_received,
            window_limited_ps,
            buffer_limited_ps,
            congestion_limited_ps,
            ..
        } = connection.counters_at(now);
        // TCP counts first transmissions and retransmissions apart.
        self.sent_packets += packets_sent + packets_retransmitted;
        self.retransmitted_packets += packets_retransmitted;
        self.timeouts += timeouts;
        self.probes += probes;
        self.received_segments += segments_received;
        self.marked_segments += segments_marked;
        self.window_held_ps += window_limited_ps + buffer_limited_ps;
        self.congestion_held_ps += congestion_limited_ps;
        self.seen += segments_received + acks_received;
    }

    fn add_rdma(&mut self, initiator: bool, connection: &RoceConnection, now: Time) {
        let counts = connection.counters();
        self.received_bytes[usize::from(initiator)] += counts.bytes_received;
        self.sent_packets += counts.packets_sent + counts.packets_retransmitted;
        self.retransmitted_packets += counts.packets_retransmitted;
        self.timeouts += counts.timeouts;
        // Discarded packets count as arrived, so that loss in the network and at the receiver stay apart.
        self.received_segments += counts.packets_received + counts.packets_out_of_order + counts.packets_duplicate;
        self.marked_segments += counts.packets_marked;
        self.out_of_order += counts.packets_out_of_order;
        self.duplicates += counts.packets_duplicate;
        self.notifications += counts.notifications_sent;
        self.paced_ps += counts.paced_ps;
        self.at_line_ps += counts.at_line_ps;
        self.window_held_ps += connection.window_limited_ps(now);
        self.seen += counts.packets_received + counts.packets_out_of_order + counts.packets_duplicate;
    }

    fn add_datagrams(&mut self, initiator: bool, counts: &DatagramCounts, dropped: u64) {
        self.received_bytes[usize::from(initiator)] += counts.received_bytes;
        self.sent_packets += counts.sent;
        self.received_segments += counts.received;
        self.timeouts += counts.timeouts;
        self.socket_dropped += dropped;
        self.seen += counts.received + dropped;
    }

    /// Returns the packets that NICs dropped.
    pub(crate) fn nic_dropped(&self) -> u64 {
        self.nic_full + self.nic_ring + self.nic_other
    }

    /// Returns the increase since the totals `before`.
    pub(crate) fn since(&self, before: &Self) -> Self {
        self.join(before, |now, before| now - before)
    }

    /// Returns the sum of both totals.
    pub(crate) fn plus(&self, other: &Self) -> Self {
        self.join(other, |one, other| one + other)
    }

    fn join(&self, other: &Self, join: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            received_bytes: [0, 1].map(|end| join(self.received_bytes[end], other.received_bytes[end])),
            sent_packets: join(self.sent_packets, other.sent_packets),
            retransmitted_packets: join(self.retransmitted_packets, other.retransmitted_packets),
            timeouts: join(self.timeouts, other.timeouts),
            probes: join(self.probes, other.probes),
            received_segments: join(self.received_segments, other.received_segments),
            marked_segments: join(self.marked_segments, other.marked_segments),
            marked_by_host: join(self.marked_by_host, other.marked_by_host),
            nic_received: join(self.nic_received, other.nic_received),
            nic_full: join(self.nic_full, other.nic_full),
            nic_ring: join(self.nic_ring, other.nic_ring),
            nic_other: join(self.nic_other, other.nic_other),
            fabric_dropped: join(self.fabric_dropped, other.fabric_dropped),
            socket_dropped: join(self.socket_dropped, other.socket_dropped),
            host_sent: join(self.host_sent, other.host_sent),
            host_received: join(self.host_received, other.host_received),
            out_of_order: join(self.out_of_order, other.out_of_order),
            duplicates: join(self.duplicates, other.duplicates),
            notifications: join(self.notifications, other.notifications),
            paced_ps: join(self.paced_ps, other.paced_ps),
            at_line_ps: join(self.at_line_ps, other.at_line_ps),
            window_held_ps: join(self.window_held_ps, other.window_held_ps),
            congestion_held_ps: join(self.congestion_held_ps, other.congestion_held_ps),
            seen: join(self.seen, other.seen),
        }
    }
}

/// Returns true if a flow replays a capture. Its packets belong to no transport and end where they arrive.
fn is_replay(cluster: &ClusterParams, flow: usize) -> bool {
    matches!(cluster.flows[flow].traffic, Traffic::Replay { .. })
}

/// Bytes received by each class of traffic since the start of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ClassBytes(pub(crate) Vec<u64>);

impl ClassBytes {
    /// Returns the sum of both. One of them may have no classes yet.
    pub(crate) fn plus(&self, other: &Self) -> Self {
        let of = |all: &Self, class: usize| all.0.get(class).copied().unwrap_or(0);
        let classes = self.0.len().max(other.0.len());
        Self((0..classes).map(|class| of(self, class) + of(other, class)).collect())
    }
}

/// Totals of all flows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AllFlowTotals {
    pub(crate) flows: Vec<FlowTotals>,
}

impl AllFlowTotals {
    pub(crate) fn read(simulation: &Simulation<World>, cluster: &ClusterParams, now: Time) -> Self {
        let mut totals = Self { flows: vec![FlowTotals::default(); cluster.flows.len()] };
        for world in simulation.worlds() {
            match world {
                World::Server(machine) => {
                    totals.count_ends(world, cluster, now);
                    machine.each().for_each(|nic| totals.count_nic(nic, cluster));
                    for (params, counts, _, _) in machine.engines::<NetStack>().flat_map(NetStack::sockets) {
                        totals.flows[params.flow as usize].marked_by_host += counts.marked_by_host;
                    }
                }
                World::Fabric(fabric) => totals.count_fabric(fabric, cluster, now),
                World::Remote => {}
            }
        }
        totals
    }

    /// Adds the ends of flows at a server.
    fn count_ends(&mut self, world: &World, cluster: &ClusterParams, now: Time) {
        for (flow, host, connection, application) in ends(world) {
            let initiator = cluster.flows[flow as usize].from == host;
            self.flows[flow as usize].add_end(initiator, connection, application, now);
        }
        for (flow, host, connection) in rdma_ends(world) {
            let initiator = cluster.flows[flow as usize].from == host;
            self.flows[flow as usize].add_rdma(initiator, connection, now);
        }
        for (flow, host, application, dropped) in datagram_ends(world) {
            let initiator = cluster.flows[flow as usize].from == host;
            self.flows[flow as usize].add_datagrams(initiator, application.counts(), dropped);
        }
    }

    /// Adds the ends of flows at endpoints, and drops in the fabric. Visits each end once, as there may be many.
    fn count_fabric(&mut self, fabric: &Fabric, cluster: &ClusterParams, now: Time) {
        let switches = fabric.switches().map(|switch| switch.drops());
        let endpoints = fabric.endpoints().map(|endpoint| endpoint.drops());
        let dropped = switches.chain(endpoints).flat_map(|drops| drops.flows());
        // Dropped copies of flooded packets are no losses of a flow.
        for (flow, _, packets) in dropped.filter(|(_, reason, _)| *reason != ether::DropReason::Copy) {
            self.flows[flow as usize].fabric_dropped += packets;
        }
        for end in fabric.endpoints().flat_map(|endpoint| endpoint.ends()) {
            let flow = end.flow() as usize;
            let (totals, initiator) = (&mut self.flows[flow], cluster.flows[flow].from == end.host());
            totals.host_sent += end.sent_packets();
            totals.host_received += end.received_packets();
            if let Some(stream) = end.stream() {
                totals.add_end(initiator, stream.connection(), stream.application(), now);
            } else if let Some(connection) = end.memory() {
                totals.add_rdma(initiator, connection, now);
            } else if let Some(application) = end.datagrams() {
                // Endpoints have no socket buffer that could overflow.
                totals.add_datagrams(initiator, application.counts(), 0);
            } else if let Some(application) = end.messages() {
                totals.received_bytes[usize::from(initiator)] += application.received_bytes();
            } else if is_replay(cluster, flow) {
                totals.sent_packets += end.sent_packets();
                totals.received_bytes[0] += end.received_bytes();
            }
        }
    }

    fn count_nic(&mut self, nic: &Nic, cluster: &ClusterParams) {
        for (number, (totals, flow)) in self.flows.iter_mut().zip(nic.flows()).enumerate() {
            let dropped = |reason| flow.dropped(reason).packets;
            totals.host_sent += flow.sent.packets;
            // Packets have arrived at the host even if its NIC drops them.
            totals.host_received += flow.received.packets;
            // The NIC is the sender on this cable, so it counts what the cable loses.
            totals.fabric_dropped += flow.lost.packets;
            totals.nic_received += flow.received.packets;
            totals.nic_full += dropped(DropReason::BufferFull);
            totals.nic_ring += dropped(DropReason::NoDescriptor);
            totals.nic_other +=
                dropped(DropReason::Corrupt) + dropped(DropReason::TooLong) + dropped(DropReason::NoQueue);
            if is_replay(cluster, number) {
                totals.received_bytes[0] += flow.delivered.bytes;
            }
        }
    }

    /// Returns the sum of both totals.
    pub(crate) fn plus(&self, other: &Self) -> Self {
        Self { flows: self.flows.iter().zip(&other.flows).map(|(one, other)| one.plus(other)).collect() }
    }

    /// Returns a number that grows as long as the network is not stuck.
    pub(crate) fn moved(&self) -> u64 {
        // Sent packets are no progress: retransmissions continue in a stuck network.
        self.flows.iter().map(|flow| flow.seen + flow.nic_received + flow.received_bytes.iter().sum::<u64>()).sum()
    }

    /// Returns the bytes that applications of each class read, at either end. A time slice keeps only these sums, as
    /// there may be many flows.
    pub(crate) fn received(&self, cluster: &ClusterParams) -> ClassBytes {
        let mut classes = vec![0; cluster.classes.len()];
        for (totals, flow) in self.flows.iter().zip(&cluster.flows) {
            classes[usize::from(flow.class)] += totals.received_bytes.iter().sum::<u64>();
        }
        ClassBytes(classes)
    }
}
