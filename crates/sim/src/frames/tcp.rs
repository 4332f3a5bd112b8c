//! Encodes TCP headers (RFC 9293), with timestamps (RFC 7323) and selective acknowledgements (RFC 2018).

use super::{checksum, PacketPorts, PROTOCOL_TCP};
use hostnet_kernel::Time;
use hostnet_model::transport::tcp::Segment;

/// Window scale: the window field counts units of 2 to this many bytes.
pub const WINDOW_SHIFT: u32 = 7;

const HEADER_BYTES: usize = 20;
const NOP: u8 = 1;
const TIMESTAMPS: [u8; 2] = [8, 10];
const SACK: u8 = 5;
const ACK: u8 = 0x10;
const PUSH: u8 = 0x08;
const ECE: u8 = 0x40;
const CWR: u8 = 0x80;
/// Linux time stamps count ms.
const PS_PER_STAMP: u64 = 1_000_000_000;

/// Appends the header and the data of a segment between two addresses.
pub(super) fn append(frame: &mut Vec<u8>, segment: &Segment, ports: PacketPorts, addresses: [[u8; 4]; 2]) {
    let start = frame.len();
    frame.extend(ports.source.to_be_bytes());
    frame.extend(ports.destination.to_be_bytes());
    frame.extend(number(segment.sequence).to_be_bytes());
    frame.extend(number(segment.ack).to_be_bytes());
    frame.extend([0, flags(segment)]);
    frame.extend(window(segment.window).to_be_bytes());
    frame.extend([0; 4]);
    options(frame, segment);
    let header = frame.len() - start;
    frame[start + 12] = ((header / 4) as u8) << 4;
    frame.resize(start + header + segment.bytes as usize, 0);
    // The data bytes are zeros and add nothing to the checksum.
    let length = (header + segment.bytes as usize) as u32;
    let mut pseudo = addresses.concat();
    pseudo.extend([0, PROTOCOL_TCP]);
    pseudo.extend(length.to_be_bytes());
    let sum = checksum::add(checksum::add(0, &pseudo), &frame[start..start + header]);
    frame[start + 16..start + 18].copy_from_slice(&checksum::finish(sum).to_be_bytes());
    debug_assert!(header >= HEADER_BYTES);
}

/// Returns the sequence number of a byte of a stream. The stream begins after the SYN, which has number 0.
fn number(byte: u64) -> u32 {
    byte.wrapping_add(1) as u32
}

/// Returns the window field, rounded up so that only an empty window is encoded as 0.
fn window(bytes: u64) -> u16 {
    u16::try_from(bytes.div_ceil(1 << WINDOW_SHIFT)).unwrap_or(u16::MAX)
}

fn flags(segment: &Segment) -> u8 {
    let flag = |is: bool, bit: u8| if is { bit } else { 0 };
    ACK | flag(segment.bytes > 0, PUSH) | flag(segment.echo, ECE) | flag(segment.reduced, CWR)
}

fn options(frame: &mut Vec<u8>, segment: &Segment) {
    let stamp = |time: Time| (time.ps() / PS_PER_STAMP) as u32;
    frame.extend([NOP, NOP]);
    frame.extend(TIMESTAMPS);
    frame.extend(stamp(segment.sent).to_be_bytes());
    frame.extend(stamp(segment.sent_echo).to_be_bytes());
    let blocks = segment.sack.iter().filter(|block| block.end > block.start);
    let count = blocks.clone().count();
    if count > 0 {
        frame.extend([NOP, NOP, SACK, 2 + 8 * count as u8]);
        for edge in blocks.flat_map(|block| [block.start, block.end]) {
            frame.extend(number(edge).to_be_bytes());
        }
    }
}
