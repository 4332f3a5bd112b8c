//! Packets that a transport would cut a message into: their number, and their bytes on the wire.

use super::super::wire::{Wire, TCP_HEADER_BYTES};
use crate::params::Transport;
use crate::transport::roce::DATA_HEADER_BYTES;
use serde::{Deserialize, Serialize};

/// Sizes of the packets of a transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct PacketSizes {
    /// Largest data of a packet, in bytes; at least 1.
    payload_max: u64,
    /// Data after which a new packet begins at the latest, in bytes: a work request of RoCE; `u64::MAX` for TCP.
    request: u64,
    /// Headers of a packet, in bytes.
    header: u32,
}

/// Parameters of a transport that matter to whole messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(in super::super) struct MessageTransport {
    pub(super) sizes: PacketSizes,
    /// Data that may be written and not acknowledged, in bytes.
    pub(in super::super) buffer_bytes: u64,
    /// Data that may be in flight, in bytes.
    pub(super) flight_bytes: u64,
    /// Initial congestion window, in bytes, and the time without data after which it is that again, in ps.
    pub(super) start_bytes: u64,
    pub(super) idle_ps: u64,
    /// Packets per acknowledgement.
    pub(super) ack_packets: u32,
}

impl MessageTransport {
    /// Returns what a transport says about messages; none for a transport that carries none.
    pub(in super::super) fn of(transport: &Transport) -> Option<Self> {
        match transport {
            Transport::Tcp(tcp) => {
                let payload_max = tcp.mss_bytes.max(1).into();
                let sizes = PacketSizes { payload_max, request: u64::MAX, header: TCP_HEADER_BYTES };
                let flight_bytes = tcp.send_buffer_bytes.min(tcp.receive_buffer_bytes);
                Some(Self {
                    sizes,
                    buffer_bytes: tcp.send_buffer_bytes,
                    flight_bytes,
                    start_bytes: u64::from(tcp.initial_window) * payload_max,
                    idle_ps: tcp.rto_min_ps,
                    ack_packets: tcp.ack_segments,
                })
            }
            Transport::Roce(roce) => {
                let (payload_max, request) = (roce.mtu_bytes.max(1).into(), roce.message_bytes.max(1));
                let sizes = PacketSizes { payload_max, request, header: DATA_HEADER_BYTES };
                let buffer_bytes = request.saturating_mul(roce.in_flight.into());
                Some(Self {
                    sizes,
                    buffer_bytes,
                    flight_bytes: buffer_bytes,
                    start_bytes: u64::MAX,
                    idle_ps: u64::MAX,
                    ack_packets: roce.ack_packets,
                })
            }
            Transport::Udp(_) | Transport::Raw => None,
        }
    }
}

/// Bytes of the IP packet of an acknowledgement: a header, which is nearly all of it over RoCE as well.
const ACKNOWLEDGEMENT_BYTES: u32 = TCP_HEADER_BYTES;

impl MessageTransport {
    /// Returns the time from the first bit of full packets on a path until their acknowledgement is back, in ps,
    /// without the delays of both ways.
    pub(super) fn round_ps<'a>(
        &self,
        there: impl Iterator<Item = &'a Wire> + Clone,
        back: impl Iterator<Item = &'a Wire>,
    ) -> u64 {
        let bytes = self.sizes.payload_max.saturating_mul(self.ack_packets.max(1).into());
        let ack_ps = |wire: &Wire| wire.serialization_ps(wire.wire_bytes(ACKNOWLEDGEMENT_BYTES));
        self.sizes.train_ps(bytes, there) + back.map(ack_ps).sum::<u64>()
    }
}

/// Packets of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PacketCount {
    pub(super) packets: u64,
    /// Bytes of all IP packets.
    pub(super) ip_bytes: u64,
}

impl PacketSizes {
    /// Returns the packets of `bytes` bytes.
    pub(super) fn count(&self, bytes: u64) -> PacketCount {
        let each = self.request.div_ceil(self.payload_max);
        let packets = bytes / self.request * each + (bytes % self.request).div_ceil(self.payload_max);
        PacketCount { packets, ip_bytes: bytes + packets * u64::from(self.header) }
    }

    /// Returns the bytes of the IP packets of `bytes` bytes.
    pub(super) fn ip_bytes(&self, bytes: u64) -> u64 {
        self.count(bytes).ip_bytes
    }

    /// Returns the bytes on a wire of the first `bytes` bytes of a message.
    pub(super) fn wire_bytes(&self, bytes: u64, wire: &Wire) -> u64 {
        let PacketCount { packets, ip_bytes } = self.count(bytes);
        // Only the last packet may be shorter than the smallest frame.
        let last = self.ip_bytes_of_last(bytes);
        let filled = wire.wire_bytes(last) - (last + wire.framing_bytes());
        ip_bytes + packets * u64::from(wire.framing_bytes()) + u64::from(filled)
    }

    /// Returns the bytes of the IP packet with the last data of a message.
    fn ip_bytes_of_last(&self, bytes: u64) -> u32 {
        let rest = bytes % self.request % self.payload_max;
        self.header + if rest == 0 { self.payload_max.min(bytes) } else { rest } as u32
    }

    /// Returns the time of a full packet on a wire, in ps.
    pub(super) fn full_ps(&self, wire: &Wire) -> u64 {
        wire.serialization_ps(wire.wire_bytes(self.header + self.payload_max as u32))
    }

    /// Returns the time of a message over idle wires without their delays, in ps: all packets but the last are equal,
    /// so it waits for the others at one wire only.
    pub(super) fn train_ps<'a>(&self, bytes: u64, wires: impl Iterator<Item = &'a Wire> + Clone) -> u64 {
        let packets = self.count(bytes).packets;
        let last = self.ip_bytes_of_last(bytes);
        let last_ps = |wire: &Wire| wire.serialization_ps(wire.wire_bytes(last));
        let mut after: u64 = wires.clone().map(last_ps).sum();
        if packets <= 1 {
            return after;
        }
        let (mut before, mut slowest, mut longest) = (0, 0, 0);
        for wire in wires {
            let full_ps = self.full_ps(wire);
            before += full_ps;
            slowest = full_ps.max(slowest);
            // The first packet is part of `before` and the last one of `after`, which leaves two fewer.
            longest = longest.max(before + (packets - 2) * slowest + after);
            after -= last_ps(wire);
        }
        longest
    }
}
