//! Reads pcap and pcapng files.

use super::length::{of_frame, LinkHeader, PacketLengths};
use crate::decoded;
use hostnet_files::UserFile;
use pcap_parser::{create_reader, Block, Linktype, PcapBlockOwned, PcapError as Broken, PcapHeader};
use std::fmt;
use std::io::{self, Read};
use std::path::Path;

/// Largest number of packets of a capture.
pub const PACKETS_MAX: usize = 1 << 26;
/// Size of the largest block of a file, in bytes.
const BLOCK_BYTES_MAX: usize = 1 << 20;
/// An obsolete pcapng block type, which current tools no longer write.
const PACKET_BLOCK: u32 = 2;
const PS_PER_S: u128 = 1_000_000_000_000;
const PS_PER_US: u128 = 1_000_000;
const PS_PER_NS: u128 = 1_000;

/// A captured packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapturedPacket {
    /// Time of capture, in ps after the earliest packet.
    pub time_ps: u64,
    /// Length of the captured IP packet in bytes, at least 1, without the header of a jumbogram.
    pub ip_bytes: u32,
    /// Length of the IP and TCP headers, in bytes; `None` for other packets.
    pub tcp_headers: Option<u16>,
}

/// The first error in a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PcapError {
    offset: Option<u64>,
    fault: String,
}

impl PcapError {
    fn at(offset: usize, fault: impl Into<String>) -> Self {
        Self { offset: Some(offset as u64), fault: fault.into() }
    }

    fn whole(fault: impl Into<String>) -> Self {
        Self { offset: None, fault: fault.into() }
    }

    /// Returns the offset of the error in bytes from the begin of the (decompressed) file; `None` if it concerns the
    /// whole file.
    #[must_use]
    pub fn offset(&self) -> Option<u64> {
        self.offset
    }

    /// Describes the error and its place in the file.
    #[must_use]
    pub fn message(&self) -> String {
        match self.offset {
            Some(offset) => format!("at byte {offset}: {}", self.fault),
            None => self.fault.clone(),
        }
    }
}

impl fmt::Display for PcapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message())
    }
}

impl std::error::Error for PcapError {}

/// Reads a capture and returns its packets in the order of time.
///
/// The file is pcap with time stamps in us or ns and either byte order, or pcapng; plain or compressed with gzip, xz
/// or zstd. Frames are Ethernet, raw IP, Linux cooked captures (SLL, SLL2) or loopback.
///
/// # Errors
/// Fails if the file cannot be read, is no capture, is truncated, or has other frames.
pub fn read(path: &Path) -> Result<Vec<CapturedPacket>, PcapError> {
    let unreadable = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => PcapError::whole("cannot be read: there is no such file"),
        _ => PcapError::whole(format!("cannot be read: {error}")),
    };
    let opened = UserFile::open_regular(path).map_err(unreadable)?;
    from_reader(decoded(opened).map_err(unreadable)?)
}

/// Like [`read`], but reads from a reader of the decompressed file.
///
/// # Errors
/// Returns the same errors as [`read`].
pub fn from_reader(source: impl Read + Send) -> Result<Vec<CapturedPacket>, PcapError> {
    let mut source = FullReader(source);
    let mut reader = match create_reader(BLOCK_BYTES_MAX, &mut source) {
        Ok(reader) => reader,
        Err(Broken::Eof) => return Err(PcapError::whole("is empty")),
        Err(Broken::Incomplete(_)) => return Err(PcapError::at(0, "cut short within the header of the file")),
        Err(Broken::ReadError) => return Err(PcapError::whole("cannot be read: its compressed stream is damaged")),
        Err(_) => return Err(PcapError::at(0, "neither the beginning of a pcap file nor of a pcapng file")),
    };
    let mut packets = Packets::default();
    loop {
        // Taken before the block is read, so that errors name its first byte.
        let offset = reader.consumed();
        match reader.next() {
            Ok((length, block)) => {
                packets.take(&block).map_err(|fault| PcapError::at(offset, fault))?;
                reader.consume(length);
            }
            Err(Broken::Eof) => break,
            // Not an error: the block goes on beyond the buffer.
            Err(Broken::Incomplete(_)) => {
                let refilled = reader.refill();
                refilled.map_err(|_| PcapError::at(offset, "its compressed stream is damaged"))?;
            }
            Err(Broken::UnexpectedEof) => return Err(PcapError::at(offset, "cut short within a packet")),
            Err(Broken::BufferTooSmall) => {
                let fault = format!("a block of more than {BLOCK_BYTES_MAX} B: damaged, or no capture of packets");
                return Err(PcapError::at(offset, fault));
            }
            Err(_) => return Err(PcapError::at(offset, "not a block of a capture: damaged")),
        }
    }
    packets.in_order()
}

/// Fills the whole buffer where possible, so that the parser sees the complete file header.
struct FullReader<R>(R);

impl<R: Read> Read for FullReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.0.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }
}

/// Link type and clock of a file, or of an interface in it.
#[derive(Clone, Copy)]
struct Interface {
    link: LinkHeader,
    /// Time stamps per second.
    resolution: u64,
    offset_s: i64,
}

/// Packets read so far.
#[derive(Default)]
struct Packets {
    interfaces: Vec<Interface>,
    ps_per_stamp: u128,
    /// Time of each packet in ps since the epoch, and its lengths.
    found: Vec<(i128, PacketLengths)>,
}

impl Packets {
    fn take(&mut self, block: &PcapBlockOwned<'_>) -> Result<(), String> {
        match block {
            PcapBlockOwned::LegacyHeader(header) => self.begin(header),
            PcapBlockOwned::Legacy(packet) => {
                let interface = self.interface(0)?;
                let stamp = u128::from(packet.ts_usec) * self.ps_per_stamp;
                let time = (u128::from(packet.ts_sec) * PS_PER_S + stamp) as i128;
                self.add(interface, time, packet.data, packet.origlen)
            }
            PcapBlockOwned::NG(Block::SectionHeader(_)) => {
                // Interfaces are numbered anew in every section of a pcapng file.
                self.interfaces.clear();
                Ok(())
            }
            PcapBlockOwned::NG(Block::InterfaceDescription(interface)) => {
                let resolution = stamps_per_s(interface.if_tsresol)?;
                let link = link_of(interface.linktype)?;
                self.interfaces.push(Interface { link, resolution, offset_s: interface.ts_offset() });
                Ok(())
            }
            PcapBlockOwned::NG(Block::EnhancedPacket(packet)) => {
                let interface = self.interface(packet.if_id as usize)?;
                let stamp = u128::from(packet.ts_high) << 32 | u128::from(packet.ts_low);
                // In 128 bits: a stamp of 64 bits times 10^12 exceeds 64.
                let since = (stamp * PS_PER_S / u128::from(interface.resolution)) as i128;
                let time = since + i128::from(interface.offset_s) * PS_PER_S as i128;
                // Blocks are padded to 32 bits; the padding is not part of the packet.
                let captured = packet.data.get(..packet.caplen as usize).unwrap_or(packet.data);
                self.add(interface, time, captured, packet.origlen)
            }
            PcapBlockOwned::NG(Block::SimplePacket(_)) => {
                Err("a simple packet block has no time of capture".to_string())
            }
            PcapBlockOwned::NG(Block::Unknown(block)) if block.block_type == PACKET_BLOCK => {
                Err("a packet block of an obsolete kind; editcap -F pcapng converts it".to_string())
            }
            // Names, statistics and comments are of no use here.
            PcapBlockOwned::NG(_) => Ok(()),
        }
    }

    fn begin(&mut self, header: &PcapHeader) -> Result<(), String> {
        self.ps_per_stamp = if header.is_nanosecond_precision() { PS_PER_NS } else { PS_PER_US };
        self.interfaces.push(Interface { link: link_of(header.network)?, resolution: 1, offset_s: 0 });
        Ok(())
    }

    fn interface(&self, number: usize) -> Result<Interface, String> {
        self.interfaces
            .get(number)
            .copied()
            .ok_or_else(|| format!("a packet of interface {number}, which is not described"))
    }

    fn add(&mut self, interface: Interface, time: i128, data: &[u8], whole: u32) -> Result<(), String> {
        if self.found.len() == PACKETS_MAX {
            return Err(format!("more than {PACKETS_MAX} packets"));
        }
        self.found.push((time, of_frame(interface.link, data, whole)?));
        Ok(())
    }

    fn in_order(mut self) -> Result<Vec<CapturedPacket>, PcapError> {
        // Stable: packets with equal stamps keep the order of the file.
        self.found.sort_by_key(|(time, _)| *time);
        let first = self.found.first().map_or(0, |(time, _)| *time);
        let captured = |(time, PacketLengths { ip_bytes, tcp_headers }): (i128, PacketLengths)| {
            let time_ps = u64::try_from(time - first);
            let time_ps = time_ps.map_err(|_| PcapError::whole("its packets lie more than 200 days apart"))?;
            Ok(CapturedPacket { time_ps, ip_bytes, tcp_headers })
        };
        self.found.into_iter().map(captured).collect()
    }
}

/// Returns the time stamps per second of an interface: a power of ten, or of two if the highest bit is set.
fn stamps_per_s(code: u8) -> Result<u64, String> {
    let power = u32::from(code & 0x7f);
    // if_tsresol of pcapng: the highest bit selects the base.
    let stamps = if code & 0x80 == 0 { 10u64.checked_pow(power) } else { 1u64.checked_shl(power) };
    stamps.ok_or_else(|| format!("an interface has a resolution of time, {code}, that is too fine"))
}

/// Returns the link header for a link type. The error is a sentence.
fn link_of(kind: Linktype) -> Result<LinkHeader, String> {
    /// Raw IP as numbered on some systems (LINKTYPE_RAW is 101).
    const RAW_OLD: [i32; 2] = [12, 14];
    const LINUX_SLL2: Linktype = Linktype(276);
    // The upper bits hold the length of a frame check sequence, and flags.
    match Linktype(kind.0 & 0xffff) {
        Linktype::ETHERNET => Ok(LinkHeader::Ethernet),
        Linktype::RAW | Linktype::IPV4 | Linktype::IPV6 => Ok(LinkHeader::RawIp),
        Linktype::LINUX_SLL => Ok(LinkHeader::Fixed(16)),
        LINUX_SLL2 => Ok(LinkHeader::Fixed(20)),
        Linktype::NULL | Linktype::LOOP => Ok(LinkHeader::Fixed(4)),
        Linktype(number) if RAW_OLD.contains(&number) => Ok(LinkHeader::RawIp),
        Linktype(number) => Err(format!(
            "its link type is {number}; Ethernet (1), raw IP (101, 228, 229), Linux SLL (113, 276) and loopback (0, \
            108) can be read"
        )),
    }
}
