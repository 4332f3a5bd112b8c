//! Encodes packets as frames of bytes, for captures.
//!
//! Values that the simulator does not model are chosen so that every flow is identified by its addresses and ports.
//! Host *h* is 10.1.(h/250).(h%250 + 1) and 02:00:00:00:(h) in hexadecimal, and each flow has its own ports. Data
//! bytes are zeros. Streams begin at 1, as after a handshake, and wrap at 2^32. The window is scaled by
//! 2^[`WINDOW_SHIFT`], which no handshake announces.

mod checksum;
mod roce;
mod tcp;
mod udp;

use hostnet_model::params::FlowParams;
use hostnet_model::{Content, Ecn, Packet};

pub use tcp::WINDOW_SHIFT;

const ETHERNET_BYTES: usize = 14;
const IP_BYTES: usize = 20;
const IPV4: [u8; 2] = [0x08, 0x00];
const TTL: u8 = 64;
const PROTOCOL_TCP: u8 = 6;
const PROTOCOL_UDP: u8 = 17;
/// Protocol number for experiments (RFC 3692).
const PROTOCOL_RAW: u8 = 253;
const HOSTS_PER_SUBNET: u16 = 250;
/// Don't fragment.
const FLAGS: [u8; 2] = [0x40, 0x00];

/// Encoder of packets as frames. It holds one frame at a time.
#[derive(Debug)]
pub struct FrameEncoder<'a> {
    flows: &'a [FlowParams],
    frame: Vec<u8>,
}

impl<'a> FrameEncoder<'a> {
    /// Creates an encoder for packets of `flows`.
    #[must_use]
    pub fn new(flows: &'a [FlowParams]) -> Self {
        Self { flows, frame: Vec::new() }
    }

    /// Returns the frame of a packet: all headers and data, without the frame check sequence. A TCP frame with
    /// selective acknowledgements is longer than the simulated packet, whose size does not include them.
    ///
    /// # Panics
    /// Panics if the flow of the packet is not one of `flows`.
    pub fn of(&mut self, packet: &Packet) -> &[u8] {
        let flow = &self.flows[packet.flow as usize];
        let ports = PacketPorts::new(packet.flow, packet.from == flow.from);
        self.frame.clear();
        self.frame.resize(ETHERNET_BYTES + IP_BYTES, 0);
        let protocol = match &packet.content {
            Content::Tcp(segment) => {
                tcp::append(&mut self.frame, segment, ports, addresses(packet));
                PROTOCOL_TCP
            }
            Content::Roce(message) => {
                roce::append(&mut self.frame, message, packet.flow);
                PROTOCOL_UDP
            }
            Content::Udp(datagram) => {
                udp::append(&mut self.frame, datagram, ports, addresses(packet));
                PROTOCOL_UDP
            }
            Content::Raw | Content::Pool(_) => {
                let bytes = (packet.ip_bytes as usize).max(IP_BYTES);
                self.frame.resize(ETHERNET_BYTES + bytes, 0);
                PROTOCOL_RAW
            }
        };
        self.write_headers(packet, protocol);
        // The invariant CRC covers the IP header, which must be complete.
        if let Content::Roce(_) = packet.content {
            roce::write_crc(&mut self.frame[ETHERNET_BYTES..]);
        }
        &self.frame
    }

    /// Writes the Ethernet and IP headers in front of the frame's content.
    fn write_headers(&mut self, packet: &Packet, protocol: u8) {
        let length = self.frame.len() - ETHERNET_BYTES;
        let [from, to] = addresses(packet);
        self.frame[..6].copy_from_slice(&mac(packet.to));
        self.frame[6..12].copy_from_slice(&mac(packet.from));
        self.frame[12..14].copy_from_slice(&IPV4);
        let ip = &mut self.frame[ETHERNET_BYTES..][..IP_BYTES];
        ip[0] = 0x45;
        ip[1] = packet.priority << 5 | ecn_bits(packet.ecn);
        // A segment before segmentation offload may exceed the length field; captures of such segments have 0 there.
        ip[2..4].copy_from_slice(&u16::try_from(length).unwrap_or(0).to_be_bytes());
        ip[6..8].copy_from_slice(&FLAGS);
        ip[8] = TTL;
        ip[9] = protocol;
        ip[12..16].copy_from_slice(&from);
        ip[16..20].copy_from_slice(&to);
        let sum = checksum::finish(checksum::add(0, ip));
        ip[10..12].copy_from_slice(&sum.to_be_bytes());
    }
}

/// Ports of a packet.
#[derive(Clone, Copy, Debug)]
struct PacketPorts {
    source: u16,
    destination: u16,
}

impl PacketPorts {
    /// Returns the ports of a packet. The initiator of a flow has a port from 10000 on, the other end one from 5001
    /// on. No two flows share both.
    fn new(flow: u32, forward: bool) -> Self {
        const CLIENT: u32 = 10_000;
        const CLIENTS: u32 = 50_000;
        const SERVER: u32 = 5_001;
        let (client, server) = ((CLIENT + flow % CLIENTS) as u16, (SERVER + flow / CLIENTS) as u16);
        if forward {
            Self { source: client, destination: server }
        } else {
            Self { source: server, destination: client }
        }
    }
}

fn addresses(packet: &Packet) -> [[u8; 4]; 2] {
    [packet.from, packet.to].map(|host| [10, 1, (host / HOSTS_PER_SUBNET) as u8, (host % HOSTS_PER_SUBNET) as u8 + 1])
}

/// Returns a locally administered address (IEEE 802).
fn mac(host: u16) -> [u8; 6] {
    let [high, low] = host.to_be_bytes();
    [0x02, 0, 0, 0, high, low]
}

fn ecn_bits(ecn: Ecn) -> u8 {
    match ecn {
        Ecn::NotCapable => 0,
        Ecn::Capable => 2,
        Ecn::Marked => 3,
    }
}
