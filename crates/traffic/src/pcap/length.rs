//! Computes the length of the IP packet in a frame and that of its headers, in bytes.

const ETHERNET_HEADER: usize = 14;
const TYPE_AT: usize = 12;
const VLAN_TAG: usize = 4;
const VLAN_TAGS_MAX: usize = 4;
const IPV4_HEADER: usize = 20;
const IPV6_HEADER: u32 = 40;
const TCP_HEADER: usize = 20;

/// Link header at the begin of the frames of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinkHeader {
    /// An Ethernet header.
    Ethernet,
    /// A header of a fixed number of bytes.
    Fixed(usize),
    /// No link header: frames begin with an IP header.
    RawIp,
}

/// Lengths of the IP packet in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PacketLengths {
    pub(super) ip_bytes: u32,
    /// Length of the headers of IP and TCP; `None` if the packet is not TCP.
    pub(super) tcp_headers: Option<u16>,
}

/// Computes the lengths of the IP packet in a frame of `whole` bytes, of which `data` was captured.
///
/// The length of the packet is that in its header or, if that is implausible, all that follows the link header. The
/// error is a sentence.
pub(super) fn of_frame(link: LinkHeader, data: &[u8], whole: u32) -> Result<PacketLengths, String> {
    let header = match link {
        LinkHeader::RawIp => 0,
        LinkHeader::Fixed(bytes) => bytes,
        LinkHeader::Ethernet => ethernet_header(data),
    };
    let rest = whole.saturating_sub(header as u32);
    if rest == 0 {
        return Err(format!("a packet of {whole} B has nothing but its link header of {header} B"));
    }
    let ip = data.get(header..).unwrap_or_default();
    // A shorter packet than the frame is padding; a longer one is a header that cannot be right.
    let ip_bytes = told(ip).filter(|&told| told > 0 && told <= rest).unwrap_or(rest);
    let headers = headers(ip);
    let jumbo = headers.map_or(0, |headers| headers.jumbo);
    // Headers longer than the packet are damaged: it is then treated as one without TCP.
    let tcp_headers = headers.map(|headers| headers.kept).filter(|&kept| u32::from(kept) + jumbo <= ip_bytes);
    Ok(PacketLengths { ip_bytes: ip_bytes - tcp_headers.map_or(0, |_| jumbo), tcp_headers })
}

/// Lengths of the headers of a TCP packet.
#[derive(Clone, Copy)]
struct Headers {
    /// Headers of IP and TCP, which every segment cut from the packet has too.
    kept: u16,
    /// Header of a jumbogram, which no segment has.
    jumbo: u32,
}

/// Returns the header lengths of a packet that is TCP and not a fragment. A TCP header that was not captured counts
/// as one without options.
fn headers(ip: &[u8]) -> Option<Headers> {
    const TCP: u8 = 6;
    const HOP_BY_HOP: u8 = 0;
    const HOP_BY_HOP_BYTES: usize = 8;
    const FRAGMENT: u16 = 0x3fff;
    let (own, jumbo) = match ip.first()? >> 4 {
        // Offset and more-fragments bits: a fragment has no TCP header, or not all of its data.
        4 if u16::from_be_bytes([*ip.get(6)?, *ip.get(7)?]) & FRAGMENT == 0 && *ip.get(9)? == TCP => {
            (usize::from(ip[0] & 0xf) * 4, 0)
        }
        6 => match *ip.get(6)? {
            TCP => (IPV6_HEADER as usize, 0),
            // The hop-by-hop header of a jumbogram: 8 bytes, then TCP (RFC 2675).
            HOP_BY_HOP if ip.get(40..42) == Some(&[TCP, 0]) => (IPV6_HEADER as usize, HOP_BY_HOP_BYTES),
            _ => return None,
        },
        _ => return None,
    };
    // Data offset of TCP, in words of 4 bytes (RFC 9293); if not captured, a header without options.
    let offset = ip.get(own + jumbo + 12).map_or(TCP_HEADER, |byte| usize::from(byte >> 4) * 4);
    (own >= IPV4_HEADER && offset >= TCP_HEADER).then_some(Headers { kept: (own + offset) as u16, jumbo: jumbo as u32 })
}

/// Length of an Ethernet header with its VLAN tags.
fn ethernet_header(data: &[u8]) -> usize {
    let tagged = |tags: &usize| {
        let at = TYPE_AT + tags * VLAN_TAG;
        // IEEE 802.1Q and 802.1ad.
        matches!(data.get(at..at + 2), Some([0x81, 0x00] | [0x88, 0xa8]))
    };
    ETHERNET_HEADER + VLAN_TAG * (0..VLAN_TAGS_MAX).take_while(tagged).count()
}

/// Returns the packet length in an IP header, or `None` if the header is invalid or was not captured.
fn told(ip: &[u8]) -> Option<u32> {
    match ip.first()? >> 4 {
        4 => Some(u32::from(u16::from_be_bytes([*ip.get(2)?, *ip.get(3)?]))),
        6 => match u16::from_be_bytes([*ip.get(4)?, *ip.get(5)?]) {
            // A jumbogram has a length of 0 here (RFC 2675).
            0 => None,
            payload => Some(u32::from(payload) + IPV6_HEADER),
        },
        _ => None,
    }
}
