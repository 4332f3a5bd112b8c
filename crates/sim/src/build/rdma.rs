//! Builds the ends of RoCE flows, which are part of the NIC of a server.

use super::attach::HostFlowEnd;
use super::SocketBuilder;
use hostnet_model::flow::Application;
use hostnet_model::nic::{RankEnd, RdmaEnd};
use hostnet_model::params::{rdma_memory_bytes, Traffic, Transport, RDMA_REGION_BYTES};
use hostnet_model::transport::roce::RoceConnection;
use std::collections::BTreeMap;

/// Builds the ends of RoCE flows at this server, each with its own memory region.
pub(super) fn rdma_ends(socket: &SocketBuilder) -> Vec<RdmaEnd> {
    let Some(attachment) = &socket.server.attachment else { return Vec::new() };
    let port = attachment.wire.as_ref().map_or(0, |wire| wire.bytes_per_s);
    let mut regions = BTreeMap::new();
    let end = |end: HostFlowEnd| {
        let Transport::Roce(roce) = &end.flow.transport else { return None };
        let peer = if end.initiator { end.flow.to } else { end.flow.from };
        let region_bytes = match &end.flow.traffic {
            Traffic::Messages(to) => {
                let job = || attachment.cluster.jobs[to.job as usize].rdma_region_bytes();
                // Computed once per job, as the regions of all of its flows have one size.
                *regions.entry(to.job).or_insert_with(job)
            }
            _ => RDMA_REGION_BYTES,
        };
        Some(RdmaEnd {
            flow: end.number,
            hosts: [attachment.host, peer],
            priority: end.flow.priority,
            base: socket.allocate_near_nic(rdma_memory_bytes(region_bytes)),
            region_bytes,
            start_ps: end.flow.start_ps,
            initiator: end.initiator,
            connection: RoceConnection::new(roce, &end.flow.traffic, end.initiator, port),
            rank: rank_end(socket, &end),
        })
    };
    attachment.ends().filter_map(end).collect()
}

/// Returns the state of a flow end that carries messages of a rank, or `None` for other traffic.
fn rank_end(socket: &SocketBuilder, end: &HostFlowEnd) -> Option<RankEnd> {
    let Traffic::Messages(_) = end.flow.traffic else { return None };
    let application = Application::new(&end.flow.traffic, end.initiator, None);
    Some(RankEnd { core: socket.server.layout.core(end.core), application, waits: false })
}
