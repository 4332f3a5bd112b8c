//! Packet captures: read from pcap and pcapng files, and written as pcap.

mod length;
mod read;
mod write;

pub use read::{from_reader, read, CapturedPacket, PcapError, PACKETS_MAX};
pub use write::{Writer, SNAPLEN_MAX};
