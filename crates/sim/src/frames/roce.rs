//! Encodes RoCE v2: UDP, and the transport headers of InfiniBand (InfiniBand architecture specification, chapter 9
//! and annex A17).

use hostnet_model::transport::roce::{Roce, RoceOperation};

const UDP_PORT: u16 = 4791;
/// First source port; the source port spreads flows over paths.
const SOURCE_PORT: u16 = 0xc000;
const UDP_BYTES: usize = 8;
const IP_BYTES: usize = 20;
const ICRC_BYTES: usize = 4;
/// Packet sequence numbers have 24 bits.
const SEQUENCE_MASK: u64 = 0x00ff_ffff;
const PARTITION: [u8; 2] = [0xff, 0xff];
/// First queue pair of flows; queue pairs 0 and 1 are for management.
const QUEUE_PAIR: u32 = 256;
const ACKNOWLEDGE_REQUEST: u8 = 0x80;
const SYNDROME_ACK: u8 = 0x1f;
const SYNDROME_OUT_OF_ORDER: u8 = 0x60;
const NOTIFICATION_BYTES: usize = 16;
/// Value that replaces fields that change in transit when the checksum is computed.
const MASKED: u8 = 0xff;

/// Appends the UDP header, the transport headers, the data, and room for the checksum that [`write_crc`] writes.
pub(super) fn append(frame: &mut Vec<u8>, message: &Roce, flow: u32) {
    let start = frame.len();
    frame.extend((SOURCE_PORT | (flow & 0x3fff) as u16).to_be_bytes());
    frame.extend(UDP_PORT.to_be_bytes());
    frame.extend([0; 4]);
    frame.extend([opcode(message), 0]);
    frame.extend(PARTITION);
    frame.extend(((QUEUE_PAIR + flow) & 0x00ff_ffff).to_be_bytes());
    let request = if message.last && message.operation == RoceOperation::Write { ACKNOWLEDGE_REQUEST } else { 0 };
    let sequence = ((message.sequence & SEQUENCE_MASK) as u32).to_be_bytes();
    frame.extend([request, sequence[1], sequence[2], sequence[3]]);
    append_extended_header(frame, message);
    let data = match message.operation {
        RoceOperation::Write | RoceOperation::ReadResponse => message.bytes as usize,
        _ => 0,
    };
    let padded = data.next_multiple_of(4);
    // The pad count of the base transport header: data are padded to 4 bytes.
    frame[start + UDP_BYTES + 1] |= ((padded - data) as u8) << 4;
    frame.resize(frame.len() + padded + ICRC_BYTES, 0);
    let length = u16::try_from(frame.len() - start).unwrap_or(0);
    frame[start + 4..start + 6].copy_from_slice(&length.to_be_bytes());
}

/// Returns the opcode of a reliable connection. A packet does not know if it is the first of its message, whose
/// header would name the memory region; it is encoded as a middle packet.
fn opcode(message: &Roce) -> u8 {
    match (message.operation, message.last) {
        (RoceOperation::Write, false) => 0x07,
        (RoceOperation::Write, true) => 0x08,
        (RoceOperation::ReadRequest, _) => 0x0c,
        (RoceOperation::ReadResponse, false) => 0x0e,
        (RoceOperation::ReadResponse, true) => 0x0f,
        (RoceOperation::Acknowledge | RoceOperation::OutOfOrder, _) => 0x11,
        (RoceOperation::Congestion, _) => 0x81,
    }
}

/// Appends the extended header of the operation.
fn append_extended_header(frame: &mut Vec<u8>, message: &Roce) {
    match (message.operation, message.last) {
        (RoceOperation::ReadRequest, _) => {
            frame.extend(message.offset.to_be_bytes());
            frame.extend([0; 4]);
            frame.extend(message.bytes.to_be_bytes());
        }
        (RoceOperation::Acknowledge, _) | (RoceOperation::ReadResponse, true) => frame.extend([SYNDROME_ACK, 0, 0, 0]),
        (RoceOperation::OutOfOrder, _) => frame.extend([SYNDROME_OUT_OF_ORDER, 0, 0, 0]),
        (RoceOperation::Congestion, _) => frame.extend([0; NOTIFICATION_BYTES]),
        (RoceOperation::Write, _) | (RoceOperation::ReadResponse, false) => {}
    }
}

/// Writes the invariant CRC at the end of an IP packet.
pub(super) fn write_crc(packet: &mut [u8]) {
    let (body, place) = packet.split_at_mut(packet.len() - ICRC_BYTES);
    let mut masked = [0; IP_BYTES + UDP_BYTES + 12];
    masked.copy_from_slice(&body[..IP_BYTES + UDP_BYTES + 12]);
    // IP type of service, time to live and checksum; UDP checksum; the reserved byte after the partition key.
    for at in [1, 8, 10, 11, IP_BYTES + 6, IP_BYTES + 7, IP_BYTES + UDP_BYTES + 4] {
        masked[at] = MASKED;
    }
    let mut sum = crc32fast::Hasher::new();
    sum.update(&[MASKED; 8]);
    sum.update(&masked);
    sum.update(&body[masked.len()..]);
    place.copy_from_slice(&sum.finalize().to_le_bytes());
}
