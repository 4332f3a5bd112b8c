//! What became of the packets and bytes of each flow.

use crate::lab::{fabric, nic, servers};
use hostnet_kernel::Simulation;
use hostnet_model::flow::Application;
use hostnet_model::os::{NetStack, SocketCounts};
use hostnet_model::transport::tcp::Connection;
use hostnet_model::World;

/// One end of a flow over TCP.
pub struct Stream<'a> {
    pub flow: usize,
    pub host: u16,
    pub connection: &'a Connection,
    pub application: &'a Application,
    /// What its core counts, at a server.
    pub counts: Option<&'a SocketCounts>,
}

/// All ends of flows over TCP.
pub fn streams(simulation: &Simulation<World>) -> Vec<Stream<'_>> {
    let mut all = Vec::new();
    for machine in servers(simulation) {
        for core in machine.engines::<NetStack>() {
            all.extend(core.sockets().map(|(params, counts, connection, application)| Stream {
                flow: params.flow as usize,
                host: params.host,
                connection,
                application,
                counts: Some(counts),
            }));
        }
    }
    for end in fabric(simulation).endpoints().flat_map(|endpoint| endpoint.ends()) {
        let Some(stream) = end.stream() else { continue };
        all.push(Stream {
            flow: end.flow() as usize,
            host: end.host(),
            connection: stream.connection(),
            application: stream.application(),
            counts: None,
        });
    }
    all
}

/// The packets of a flow, in both directions.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Packets {
    /// Put on cables by hosts.
    pub sent: u64,
    /// Lost on the first cable, dropped by switches, or found damaged by endpoints.
    pub dropped_on_the_way: u64,
    /// Came in at endpoints, and at NICs.
    pub at_endpoints: u64,
    pub at_nics: u64,
    /// What NICs did with them.
    pub dropped_by_nics: u64,
    pub joined: u64,
    pub delivered: u64,
    /// Came to cores, and were seen by connections.
    pub at_cores: u64,
    pub seen: u64,
}

/// The packets of every flow of a world in which none is on its way.
pub fn packets(simulation: &Simulation<World>, flows: usize) -> Vec<Packets> {
    let mut all = vec![Packets::default(); flows];
    for machine in servers(simulation) {
        for (packets, counters) in all.iter_mut().zip(nic(machine).flows()) {
            packets.sent += counters.sent.packets;
            packets.dropped_on_the_way += counters.lost.packets;
            packets.at_nics += counters.received.packets;
            packets.dropped_by_nics += counters.dropped_in_all().packets;
            packets.joined += counters.joined.packets;
            packets.delivered += counters.delivered.packets;
        }
    }
    let fabric = fabric(simulation);
    for end in fabric.endpoints().flat_map(|endpoint| endpoint.ends()) {
        let packets = &mut all[end.flow() as usize];
        packets.sent += end.sent_packets();
        packets.at_endpoints += end.received_packets();
    }
    let drops = fabric.switches().map(|switch| switch.drops()).chain(fabric.endpoints().map(|end| end.drops()));
    for (flow, _, packets) in drops.flat_map(|drops| drops.flows()) {
        all[flow as usize].dropped_on_the_way += packets;
    }
    for stream in streams(simulation) {
        let Some(counts) = stream.counts else { continue };
        all[stream.flow].at_cores += counts.packets;
        all[stream.flow].seen += counts.delivered;
    }
    all
}

/// Every packet of a drained world arrived or was dropped for a reason, and every byte that was written arrived once.
pub fn assert_conserved(simulation: &Simulation<World>, flows: usize) {
    let all = streams(simulation);
    for (flow, packets) in packets(simulation, flows).into_iter().enumerate() {
        let arrived = packets.at_endpoints + packets.at_nics;
        assert_eq!(packets.sent, arrived + packets.dropped_on_the_way, "flow {flow}: {packets:?}");
        let handled = packets.dropped_by_nics + packets.joined + packets.delivered;
        assert_eq!(packets.at_nics, handled, "flow {flow}: {packets:?}");
        // What RDMA delivers no core sees.
        let to_cores = if all.iter().any(|end| end.flow == flow) { packets.delivered } else { 0 };
        assert_eq!(to_cores, packets.at_cores, "flow {flow}: {packets:?}");
        assert_eq!(packets.at_cores, packets.seen, "flow {flow}: {packets:?}");
    }
    for (index, from) in all.iter().enumerate() {
        for to in all.iter().enumerate().filter(|(other, to)| *other != index && to.flow == from.flow).map(|(_, to)| to)
        {
            assert_stream(from, to);
        }
    }
}

/// What one end wrote is what the other read: each byte once, whatever was sent again.
fn assert_stream(from: &Stream, to: &Stream) {
    let (sent, got) = (from.connection.counters(), to.connection.counters());
    let name = format!("flow {} from host {}", from.flow, from.host);
    assert_eq!(from.application.written_bytes(), to.application.received_bytes(), "{name}");
    assert_eq!(sent.bytes_sent, from.application.written_bytes(), "{name}");
    assert_eq!(sent.bytes_acked, sent.bytes_sent, "{name}");
    assert_eq!(got.bytes_received, sent.bytes_sent, "{name}");
    let again = sent.bytes_retransmitted + sent.window_probes;
    assert!(got.bytes_duplicate + got.bytes_refused <= again, "{name}: {sent:?}, {got:?}");
}
