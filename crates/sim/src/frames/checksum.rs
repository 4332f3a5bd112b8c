//! Computes the Internet checksum (RFC 1071).

/// Adds bytes to a sum of 16-bit words. An odd number of bytes is padded with a zero.
pub(super) fn add(sum: u32, bytes: &[u8]) -> u32 {
    let words = bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair.get(1).copied().unwrap_or(0)));
    let total: u64 = u64::from(sum) + words.map(u64::from).sum::<u64>();
    fold(total)
}

/// Returns the checksum of a sum.
pub(super) fn finish(sum: u32) -> u16 {
    !(fold(sum.into()) as u16)
}

fn fold(mut sum: u64) -> u32 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u32
}
