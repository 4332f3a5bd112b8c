//! The paths of flows through the network, and the unloaded time of a flow.

use crate::read::ends::network;
use crate::read::ports::{ports, PortPlace, PortView};
use crate::report::view::WorldView;
use hostnet_model::ether::{fabric_crossing_ps, Egress, Endpoint, Network, TCP_HEADER_BYTES};
use hostnet_model::params::{AddressLearningParams, CableEnd, FlowParams, Traffic, Transport};
use hostnet_model::transport::roce::{ACKNOWLEDGE_BYTES, DATA_HEADER_BYTES, REQUEST_BYTES};
use std::collections::BTreeMap;

/// Number of ports after which a path must be a loop: no network has paths that long.
const PORTS_MAX: usize = 1 << 16;

/// Ports of a network, from which the paths of flows are found.
pub(super) struct FlowPaths<'a> {
    network: Network<'a>,
    /// Ports of each switch, by number.
    switches: Vec<Vec<PortView<'a>>>,
    /// Ports of each host, by number.
    hosts: Vec<Vec<PortView<'a>>>,
    /// Endpoint of each host with several ports.
    endpoints: BTreeMap<u16, &'a Endpoint>,
    /// Parameters of the switches that learn addresses.
    fabrics: BTreeMap<u32, &'a AddressLearningParams>,
}

/// A stage that serializes packets.
#[derive(Clone, Copy)]
enum PathStage<'a> {
    Port(&'a Egress),
    Fabric(&'a AddressLearningParams),
}

impl PathStage<'_> {
    /// Returns the serialization time of a packet, in ps.
    fn serialization_ps(self, ip_bytes: u32) -> u64 {
        match self {
            Self::Port(egress) => egress.serialization_ps(ip_bytes),
            Self::Fabric(params) => fabric_crossing_ps(params, ip_bytes),
        }
    }

    /// Returns the delay after serialization, in ps. Any number of packets may be in this delay at once.
    fn delay_ps(self) -> u64 {
        match self {
            Self::Port(egress) => egress.delay_ps(),
            Self::Fabric(params) => params.delay_ps,
        }
    }
}

impl<'a> FlowPaths<'a> {
    /// Collects the ports of the network, or returns `None` if there is none.
    pub(super) fn new(view: &'a WorldView) -> Option<Self> {
        let network = network(view.simulation);
        if network.is_empty() {
            return None;
        }
        let cluster = &view.plan.cluster;
        let mut switches: Vec<Vec<PortView>> = cluster.switches.iter().map(|_| Vec::new()).collect();
        let mut hosts: Vec<Vec<PortView>> = cluster.hosts.iter().map(|_| Vec::new()).collect();
        for port in ports(view.simulation, cluster, view.now) {
            match port.end {
                CableEnd::Switch(switch) => switches[usize::from(switch)].push(port),
                CableEnd::Host(host) => hosts[usize::from(host)].push(port),
            }
        }
        let several = view.endpoints().filter(|&(host, ..)| hosts[usize::from(host)].len() > 1);
        let endpoints = several.map(|(host, .., endpoint)| (host, endpoint)).collect();
        let fabrics = network.learning_switches().map(|(number, switch)| (number, switch.params())).collect();
        Some(Self { network, switches, hosts, endpoints, fabrics })
    }

    /// Returns the stages that packets of a flow pass from one host to another.
    fn path(&self, flow: u32, from: u16, to: u16) -> Option<Vec<PathStage<'_>>> {
        let ports = self.ports(flow, from, to)?;
        let stages = |port: &PortView<'a>| [self.fabric_before(port), Some(PathStage::Port(port.egress))];
        Some(ports.into_iter().flat_map(stages).flatten().collect())
    }

    /// Returns the switch fabric upstream of a port, if the port is at a switch that learns.
    fn fabric_before(&self, port: &PortView) -> Option<PathStage<'_>> {
        let CableEnd::Switch(switch) = port.end else { return None };
        Some(PathStage::Fabric(self.fabrics.get(&u32::from(switch))?))
    }

    /// Returns the ports that packets of a flow pass from one host to another, or `None` if no path leads to that host.
    pub(super) fn ports(&self, flow: u32, from: u16, to: u16) -> Option<Vec<&PortView<'a>>> {
        let mut port = self.host_port(from, (flow, from, to))?;
        let mut path = Vec::new();
        while path.len() < PORTS_MAX {
            path.push(port);
            match port.peer()? {
                CableEnd::Host(host) if host == to => return Some(path),
                CableEnd::Host(host) => port = self.chosen_port(host, (flow, from, to))?,
                CableEnd::Switch(switch) => {
                    let out = self.network.switch(switch.into())?.routes().port(flow, from, to)?;
                    port = self.switches[usize::from(switch)].get(usize::from(out))?;
                }
            }
        }
        None
    }

    /// Returns the port by which a host sends packets of a flow from one host to another.
    fn host_port(&self, host: u16, (flow, from, to): (u32, u16, u16)) -> Option<&PortView<'a>> {
        match self.endpoints.get(&host) {
            Some(_) => self.chosen_port(host, (flow, from, to)),
            None => self.hosts[usize::from(host)].first(),
        }
    }

    /// Returns the one of several ports by which a host sends or forwards packets of a flow.
    fn chosen_port(&self, host: u16, (flow, from, to): (u32, u16, u16)) -> Option<&PortView<'a>> {
        let port = self.endpoints.get(&host)?.port_of(flow, from, to)?;
        self.hosts[usize::from(host)].get(usize::from(port))
    }

    /// Returns the places of the ports that packets of a flow pass, in order.
    pub(super) fn port_places(&self, flow: u32, from: u16, to: u16) -> Vec<PortPlace> {
        self.ports(flow, from, to).unwrap_or_default().into_iter().map(PortView::place).collect()
    }

    /// Returns true if data of a flow passes a port.
    pub(super) fn data_passes(&self, number: u32, flow: &FlowParams, place: PortPlace) -> bool {
        directions(flow).into_iter().any(|(from, to)| self.port_places(number, from, to).contains(&place))
    }

    /// Returns the unloaded time of a message of `bytes` bytes between two ranks.
    pub(super) fn message_ps(
        &self,
        number: u32,
        flow: &FlowParams,
        from: u16,
        to: u16,
        bytes: u64,
    ) -> Option<UnloadedMessage> {
        let path = self.path(number, from, to)?;
        let (payload_max, header) = match &flow.transport {
            Transport::Tcp(tcp) => (tcp.mss_bytes, TCP_HEADER_BYTES),
            Transport::Roce(roce) => (roce.mtu_bytes, DATA_HEADER_BYTES),
            Transport::Udp(_) | Transport::Raw => return None,
        };
        let delays_ps = path.iter().map(|stage| stage.delay_ps()).sum();
        let train = PacketTrain { bytes, payload_max, header };
        Some(UnloadedMessage { whole_ps: train.alone_ps(&path), delays_ps, slowest_ps: train.slowest_ps(&path) })
    }

    /// Returns the unloaded completion time of a flow that ends, in ps: its packets are sent back to back at the rate
    /// of the slowest cable, with nothing before them. Of servers, only the cable counts.
    pub(super) fn ideal_ps(&self, number: u32, flow: &FlowParams) -> Option<u64> {
        let (from, to) = (flow.from, flow.to);
        match (&flow.transport, &flow.traffic) {
            (Transport::Tcp(tcp), Traffic::Bulk { bytes }) => {
                Some(train_ps(&self.path(number, from, to)?, *bytes, tcp.mss_bytes, TCP_HEADER_BYTES))
            }
            (Transport::Roce(roce), Traffic::Bulk { bytes }) => {
                let data = train_ps(&self.path(number, from, to)?, *bytes, roce.mtu_bytes, DATA_HEADER_BYTES);
                // A write completes at the sender with the acknowledgement of its last packet.
                let answer = DATA_HEADER_BYTES + ACKNOWLEDGE_BYTES;
                Some(data + packet_ps(&self.path(number, to, from)?, answer))
            }
            (Transport::Roce(roce), Traffic::Read { bytes }) => {
                // A read begins with a request, and its data travel in the opposite direction.
                let data = train_ps(&self.path(number, to, from)?, *bytes, roce.mtu_bytes, DATA_HEADER_BYTES);
                Some(data + packet_ps(&self.path(number, from, to)?, DATA_HEADER_BYTES + REQUEST_BYTES))
            }
            _ => None,
        }
    }
}

/// Returns the time of one packet over idle stages, in ps.
fn packet_ps(path: &[PathStage], ip_bytes: u32) -> u64 {
    path.iter().map(|stage| stage.serialization_ps(ip_bytes) + stage.delay_ps()).sum()
}

/// Unloaded time of a message.
pub(super) struct UnloadedMessage {
    /// Time from the first bit sent to the last bit received, in ps.
    pub(super) whole_ps: u64,
    /// Part of this time that a higher rate does not shorten, in ps.
    pub(super) delays_ps: u64,
    /// Time of the packets of the message at the slowest stage, in ps: a message right behind another message takes no
    /// longer.
    pub(super) slowest_ps: u64,
}

/// Data in packets of at most `payload_max` bytes, each with a header.
#[derive(Clone, Copy)]
struct PacketTrain {
    bytes: u64,
    payload_max: u32,
    header: u32,
}

impl PacketTrain {
    /// Returns the number of packets, and the size of the last one with its header, in bytes.
    fn packets(self) -> (u64, u32) {
        let packets = self.bytes.div_ceil(u64::from(self.payload_max)).max(1);
        (packets, self.header + (self.bytes - (packets - 1) * u64::from(self.payload_max)) as u32)
    }

    /// Returns the time of all packets at the slowest stage, in ps.
    fn slowest_ps(self, path: &[PathStage]) -> u64 {
        let (packets, last_bytes) = self.packets();
        let at = |stage: &PathStage| {
            (packets - 1) * stage.serialization_ps(self.header + self.payload_max) + stage.serialization_ps(last_bytes)
        };
        path.iter().map(at).max().unwrap_or(0)
    }

    /// Returns the time of all packets over idle stages, in ps.
    fn alone_ps(self, path: &[PathStage]) -> u64 {
        train_ps(path, self.bytes, self.payload_max, self.header)
    }
}

/// Returns the time of data in packets of at most `payload_max` bytes, each with a header, over idle stages, in ps. All
/// packets but the last have the same size, so the last one waits for the others at one stage only and passes later
/// stages freely.
fn train_ps(path: &[PathStage], bytes: u64, payload_max: u32, header: u32) -> u64 {
    let (packets, last_bytes) = PacketTrain { bytes, payload_max, header }.packets();
    if packets == 1 {
        return packet_ps(path, last_bytes);
    }
    let delays: u64 = path.iter().map(|stage| stage.delay_ps()).sum();
    let (mut before, mut slowest) = (0, 0);
    let mut after: u64 = path.iter().map(|stage| stage.serialization_ps(last_bytes)).sum();
    let mut longest = 0;
    for stage in path {
        let full = stage.serialization_ps(header + payload_max);
        before += full;
        slowest = full.max(slowest);
        // The first packet is part of `before` and the last one of `after`, which leaves two fewer.
        longest = longest.max(before + (packets - 2) * slowest + after);
        after -= stage.serialization_ps(last_bytes);
    }
    delays + longest
}

/// Returns the directions in which a flow carries data, as pairs of hosts.
pub(super) fn directions(flow: &FlowParams) -> Vec<(u16, u16)> {
    let (there, back) = ((flow.from, flow.to), (flow.to, flow.from));
    match flow.traffic {
        Traffic::Bulk { .. }
        | Traffic::Replay { .. }
        | Traffic::Datagrams { .. }
        | Traffic::Generate { .. }
        | Traffic::Packets(_)
        | Traffic::Forward(_) => vec![there],
        Traffic::Read { .. } => vec![back],
        Traffic::Rpc { .. } | Traffic::Service(_) | Traffic::Messages(_) | Traffic::Ping { .. } => {
            vec![there, back]
        }
    }
}
