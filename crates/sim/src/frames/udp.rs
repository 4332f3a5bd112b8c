//! Encodes UDP headers (RFC 768).

use super::{checksum, PacketPorts, PROTOCOL_UDP};
use hostnet_model::transport::udp::Datagram;

const HEADER_BYTES: usize = 8;
/// A checksum of zero means that there is none, so a computed zero is sent as this value.
const ZERO: u16 = 0xffff;

/// Appends the header and the data of a datagram between two addresses. The data begin with the number of the
/// datagram, as far as it fits; the remaining bytes are zeros.
pub(super) fn append(frame: &mut Vec<u8>, datagram: &Datagram, ports: PacketPorts, addresses: [[u8; 4]; 2]) {
    let start = frame.len();
    let length = HEADER_BYTES + datagram.bytes as usize;
    frame.extend(ports.source.to_be_bytes());
    frame.extend(ports.destination.to_be_bytes());
    frame.extend(u16::try_from(length).unwrap_or(0).to_be_bytes());
    frame.extend([0; 2]);
    let number = datagram.number.to_be_bytes();
    frame.extend(&number[..number.len().min(datagram.bytes as usize)]);
    frame.resize(start + length, 0);
    let mut pseudo = addresses.concat();
    pseudo.extend([0, PROTOCOL_UDP]);
    pseudo.extend((length as u32).to_be_bytes());
    let sum = checksum::finish(checksum::add(checksum::add(0, &pseudo), &frame[start..]));
    let sum = if sum == 0 { ZERO } else { sum };
    frame[start + 6..start + 8].copy_from_slice(&sum.to_be_bytes());
}
