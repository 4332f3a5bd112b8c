//! Ranks at endpoints acknowledge messages from servers as hosts with GRO do. Otherwise the cores of these servers
//! would process more acknowledgements than if the peers were servers.

use crate::code::Code;
use crate::error::Issue;
use crate::resolve::cluster::servers::HostServers;
use hostnet_params::{JobParams, JobSpec, Size, Transport};

/// Maximum size of a segment that Linux coalesces.
const MERGED: Size = Size(64 << 10);
/// Time after which the first unacknowledged packet is acknowledged, in ps. Chosen: as long as a NIC may delay an
/// interrupt.
const WAITS_PS: u64 = 20_000_000;

/// Returns true if one of two hosts is a server and the other an endpoint.
pub(super) fn is_mixed(servers: &HostServers, one: u16, other: u16) -> bool {
    let is_server = |host: u16| servers.is_server(host.into());
    is_server(one) != is_server(other)
}

/// Returns the transport of messages between endpoints and servers.
pub(super) fn merged(
    path: &str,
    spec: &mut JobSpec,
    job: &JobParams,
    servers: &HostServers,
    carried: &Transport,
) -> Result<Transport, Issue> {
    let first = job.hosts.first().copied().unwrap_or(0);
    let mixed = job.hosts.iter().any(|&host| is_mixed(servers, first, host));
    let Transport::Tcp(tcp) = carried else {
        return none(path, spec, "over TCP").map(|()| carried.clone());
    };
    if !mixed {
        return none(path, spec, "where some ranks are at endpoints and others at servers").map(|()| carried.clone());
    }
    let Size(bytes) = *spec.gro.get_or_insert(MERGED);
    let segments = u32::try_from(bytes / u64::from(tcp.mss_bytes.max(1))).unwrap_or(u32::MAX);
    let mut merged = tcp.clone();
    if segments > merged.ack_segments {
        merged.ack_segments = segments;
        merged.ack_delay_ps = merged.ack_delay_ps.min(WAITS_PS);
    }
    Ok(Transport::Tcp(merged))
}

fn none(path: &str, spec: &JobSpec, only: &str) -> Result<(), Issue> {
    let message = || format!("has an effect only {only}");
    spec.gro.map_or(Ok(()), |_| Err(Issue::new(Code::NoEffect, format!("{path}.gro"), message())))
}
