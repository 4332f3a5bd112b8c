//! Accounts for the packets and bytes of each flow.

use crate::cluster::lab::{fabric, nic, servers};
use hostnet_kernel::Simulation;
use hostnet_model::ether::DropReason;
use hostnet_model::flow::{Application, DatagramCounts};
use hostnet_model::os::{NetStack, SocketCounts};
use hostnet_model::transport::tcp::TcpConnection;
use hostnet_model::World;

/// One end of a TCP flow.
pub struct Stream<'a> {
    pub flow: usize,
    pub host: u16,
    pub connection: &'a TcpConnection,
    pub application: &'a Application,
    /// Counters of its core, at a server.
    pub counts: Option<&'a SocketCounts>,
}

/// Returns all ends of TCP flows.
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

/// One end of a UDP flow: its application and, at a server, the counters of its core.
pub struct Datagrams<'a> {
    pub flow: usize,
    pub host: u16,
    pub application: &'a hostnet_model::flow::Datagrams,
    pub counts: Option<&'a SocketCounts>,
}

/// Returns all ends of UDP flows.
pub fn datagrams(simulation: &Simulation<World>) -> Vec<Datagrams<'_>> {
    let mut all = Vec::new();
    for core in servers(simulation).into_iter().flat_map(|machine| machine.engines::<NetStack>()) {
        all.extend(core.datagrams().map(|(params, counts, application)| Datagrams {
            flow: params.flow as usize,
            host: params.host,
            application,
            counts: Some(counts),
        }));
    }
    for end in fabric(simulation).endpoints().flat_map(|endpoint| endpoint.ends()) {
        let Some(application) = end.datagrams() else { continue };
        all.push(Datagrams { flow: end.flow() as usize, host: end.host(), application, counts: None });
    }
    all
}

/// Packets of a flow, in both directions.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Packets {
    /// Packets that hosts put on cables.
    pub sent: u64,
    /// Packets lost on the first cable, dropped by switches, or found damaged by endpoints.
    pub dropped_on_the_way: u64,
    /// Copies that switches made of packets for unknown hosts, and copies that ended at other hosts.
    pub copied: u64,
    pub strayed: u64,
    /// Packets that arrived at endpoints, and at NICs.
    pub at_endpoints: u64,
    pub at_nics: u64,
    /// Packets that NICs dropped, joined to segments, or delivered.
    pub dropped_by_nics: u64,
    pub joined: u64,
    pub delivered: u64,
    /// Packets that arrived at cores, and packets that connections processed.
    pub at_cores: u64,
    pub seen: u64,
}

/// Returns the packets of every flow of a world with none in flight.
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
            packets.strayed += counters.strays.packets;
        }
    }
    let fabric = fabric(simulation);
    for end in fabric.endpoints().flat_map(|endpoint| endpoint.ends()) {
        let packets = &mut all[end.flow() as usize];
        packets.sent += end.sent_packets();
        packets.at_endpoints += end.received_packets();
    }
    let drops = fabric.switches().map(|switch| switch.drops()).chain(fabric.endpoints().map(|end| end.drops()));
    for (flow, reason, packets) in drops.flat_map(|drops| drops.flows()) {
        let own = &mut all[flow as usize];
        *(if reason == DropReason::Copy { &mut own.strayed } else { &mut own.dropped_on_the_way }) += packets;
    }
    for (flow, packets) in fabric.learning_switches().flat_map(|(_, switch)| switch.copied()) {
        all[flow as usize].copied += packets;
    }
    let ends = streams(simulation).into_iter().map(|end| (end.flow, end.counts));
    for (flow, counts) in ends.chain(datagrams(simulation).into_iter().map(|end| (end.flow, end.counts))) {
        let Some(counts) = counts else { continue };
        all[flow].at_cores += counts.packets;
        all[flow].seen += counts.delivered;
    }
    all
}

/// Asserts that every datagram that was sent was read or was dropped for a reason, and that no other was read.
fn assert_datagrams(all: &[Datagrams], flow: usize, packets: &Packets) {
    let ends: Vec<_> = all.iter().filter(|end| end.flow == flow).collect();
    let sum = |of: fn(&DatagramCounts) -> u64| ends.iter().map(|end| of(end.application.counts())).sum::<u64>();
    let of_sockets = |of: fn(&SocketCounts) -> u64| ends.iter().filter_map(|end| end.counts).map(of).sum::<u64>();
    let (sent, received) = (sum(|counts| counts.sent), sum(|counts| counts.received));
    let dropped = packets.dropped_on_the_way + packets.dropped_by_nics + of_sockets(|counts| counts.dropped);
    assert_eq!((sent, sent), (packets.sent, received + dropped), "flow {flow}: {packets:?}");
    let asked = ends.iter().find(|end| end.application.latency().is_some());
    if let Some(counts) = asked.map(|end| end.application.counts()) {
        let answered = counts.received - counts.late;
        assert!(counts.late <= counts.timeouts && counts.sent <= answered + counts.timeouts + 1, "{counts:?}");
    }
}

/// Asserts that every packet of a drained world arrived or was dropped for a reason, and that every written byte
/// arrived once.
pub fn assert_conserved(simulation: &Simulation<World>, flows: usize) {
    let (all, datagrams) = (streams(simulation), datagrams(simulation));
    for (flow, packets) in packets(simulation, flows).into_iter().enumerate() {
        let arrived = packets.at_endpoints + packets.at_nics;
        assert_eq!(packets.sent, arrived + packets.dropped_on_the_way, "flow {flow}: {packets:?}");
        assert_eq!(packets.copied, packets.strayed, "flow {flow}: {packets:?}");
        let handled = packets.dropped_by_nics + packets.joined + packets.delivered;
        assert_eq!(packets.at_nics, handled, "flow {flow}: {packets:?}");
        // No core sees the data that RDMA delivers.
        let of_datagrams = datagrams.iter().any(|end| end.flow == flow);
        let to_cores = if of_datagrams || all.iter().any(|end| end.flow == flow) { packets.delivered } else { 0 };
        assert_eq!(to_cores, packets.at_cores, "flow {flow}: {packets:?}");
        assert_eq!(packets.at_cores, packets.seen, "flow {flow}: {packets:?}");
        if of_datagrams {
            assert_datagrams(&datagrams, flow, &packets);
        }
    }
    for (index, from) in all.iter().enumerate() {
        for to in all.iter().enumerate().filter(|(other, to)| *other != index && to.flow == from.flow).map(|(_, to)| to)
        {
            assert_stream(from, to);
        }
    }
}

/// Asserts that one end read what the other end wrote, each byte once, whatever was retransmitted.
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
