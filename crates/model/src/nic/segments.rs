//! Segments of cores, and the packets that they are cut into.

use super::send_queue::{OpenSegment, SendQueue};
use super::Common;
use crate::line::{Content, Packet, PacketId, Packets};

/// Bytes of the IP and TCP headers, with time stamps.
pub(super) const HEADER_BYTES: u32 = 52;
/// Values of [`Packet::queue`] at the port: the type of the packet, and the bit `LAST` for the last packet of a
/// segment.
pub(super) const LAST: u16 = 1;
pub(super) const TCP: u16 = 2;
pub(super) const RDMA_DATA: u16 = 4;
pub(super) const RDMA_CONTROL: u16 = 6;
pub(super) const UDP: u16 = 8;

/// Returns true if the next packet of a queue's first segment can be cut: its descriptor has arrived, its priority is
/// not paused, and the send window, of which `window_used` bytes are in use, has room for the data.
pub(super) fn may_cut(window_used: u32, queue: &SendQueue, packets: &Packets, common: &Common) -> bool {
    let Some(open) = queue.open.front().filter(|open| open.known) else { return false };
    let packet = packets.get(open.id);
    let bytes = next_bytes(packet, open, common);
    // Data read for a paused priority would fill the send window (docs/models/nic.md, Data).
    !common.port.is_paused(packet.priority) && window_used + bytes <= common.params.send_window_bytes
}

/// Returns the bytes of data in memory of a packet or segment to send.
pub(super) fn data_bytes(packet: &Packet) -> u32 {
    match packet.content {
        Content::Tcp(segment) => segment.bytes,
        Content::Udp(datagram) => datagram.bytes,
        Content::Roce(_) | Content::Raw | Content::Pool(_) => packet.ip_bytes,
    }
}

/// Returns the bytes of data of the next packet of a segment.
pub(super) fn next_bytes(packet: &Packet, open: &OpenSegment, common: &Common) -> u32 {
    match packet.content {
        Content::Tcp(segment) => (segment.bytes - open.cut).min(common.flows[packet.flow as usize].mss_bytes),
        Content::Udp(datagram) => datagram.bytes,
        Content::Roce(_) | Content::Raw | Content::Pool(_) => packet.ip_bytes,
    }
}

/// Returns the packet that carries `bytes` bytes of a segment's data from offset `from` on.
pub(super) fn piece(whole: &Packet, from: u32, bytes: u32) -> Packet {
    let mut own = match whole.content {
        Content::Tcp(segment) => segment,
        Content::Udp(_) => return Packet { queue: UDP, next: PacketId::NONE, ..*whole },
        Content::Roce(_) | Content::Raw | Content::Pool(_) => return Packet { queue: 0, ..*whole },
    };
    own.sequence += u64::from(from);
    own.bytes = bytes;
    // CWR is set on the first packet only (docs/models/nic.md, Segmentation offload).
    own.reduced &= from == 0;
    Packet { ip_bytes: HEADER_BYTES + bytes, content: Content::Tcp(own), queue: TCP, next: PacketId::NONE, ..*whole }
}
