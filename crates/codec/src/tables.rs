//! Lookup table, indexed by the tags of four floats.

use crate::format::CLASS_BYTES;

/// Bytes of four floats, by their tags.
pub(crate) static BYTES: [u8; 256] = bytes();

/// Returns the class of a lane, by the tags of four floats.
pub(crate) const fn class(tags: usize, lane: usize) -> usize {
    tags >> (2 * lane) & 3
}

const fn bytes() -> [u8; 256] {
    let mut table = [0; 256];
    let mut tags = 0;
    while tags < 256 {
        let mut lane = 0;
        while lane < 4 {
            table[tags] += CLASS_BYTES[class(tags, lane)] as u8;
            lane += 1;
        }
        tags += 1;
    }
    table
}
