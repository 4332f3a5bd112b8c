//! How many bytes the IP packet of a frame has.

const ETHERNET_HEADER: usize = 14;
const TYPE_AT: usize = 12;
const VLAN_TAG: usize = 4;
const VLAN_TAGS_MAX: usize = 4;
const IPV6_HEADER: u32 = 40;

/// What the frames of a capture begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link {
    /// An Ethernet header.
    Ethernet,
    /// A header of so many bytes, always.
    Fixed(usize),
    /// An IP header.
    RawIp,
}

/// Bytes of the IP packet in a frame of `whole` bytes, of which `data` was captured: what its header says, else all
/// that follows the header of the link. The error is a sentence.
pub(super) fn ip_bytes(link: Link, data: &[u8], whole: u32) -> Result<u32, String> {
    let header = match link {
        Link::RawIp => 0,
        Link::Fixed(bytes) => bytes,
        Link::Ethernet => ethernet_header(data),
    };
    let rest = whole.saturating_sub(header as u32);
    if rest == 0 {
        return Err(format!("a packet of {whole} B has nothing but its link header of {header} B"));
    }
    let told = data.get(header..).and_then(told);
    Ok(told.filter(|&told| told > 0 && told <= rest).unwrap_or(rest))
}

/// Bytes of an Ethernet header with its VLAN tags.
fn ethernet_header(data: &[u8]) -> usize {
    let tagged = |tags: &usize| {
        let at = TYPE_AT + tags * VLAN_TAG;
        matches!(data.get(at..at + 2), Some([0x81, 0x00] | [0x88, 0xa8]))
    };
    ETHERNET_HEADER + VLAN_TAG * (0..VLAN_TAGS_MAX).take_while(tagged).count()
}

/// The length that an IP header gives; none when it is not one or was cut.
fn told(ip: &[u8]) -> Option<u32> {
    match ip.first()? >> 4 {
        4 => Some(u32::from(u16::from_be_bytes([*ip.get(2)?, *ip.get(3)?]))),
        6 => match u16::from_be_bytes([*ip.get(4)?, *ip.get(5)?]) {
            0 => None,
            payload => Some(u32::from(payload) + IPV6_HEADER),
        },
        _ => None,
    }
}
