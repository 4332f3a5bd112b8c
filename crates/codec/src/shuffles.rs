//! Lookup tables of the vector code, indexed by a byte: the tags of four floats, or bits.

use crate::format::CLASS_BYTES;
use crate::tables::class;

/// Shuffle index that clears a byte.
const EMPTY: u8 = 0x80;

/// Shuffle from four words to their packed bytes, by the tags.
pub(crate) static PACK: [[u8; 16]; 256] = shuffles(true);
/// Shuffle from packed bytes to the top bytes of four words, with zeros below, by the tags.
pub(crate) static UNPACK: [[u8; 16]; 256] = shuffles(false);
/// Bits of a byte, each with a zero inserted above.
pub(crate) static SPREAD: [u16; 256] = spread();

const fn shuffles(pack: bool) -> [[u8; 16]; 256] {
    let mut table = [[EMPTY; 16]; 256];
    let mut tags = 0;
    while tags < 256 {
        let (mut packed, mut lane) = (0, 0);
        while lane < 4 {
            let bytes = CLASS_BYTES[class(tags, lane)];
            let mut byte = 0;
            while byte < bytes {
                // A class keeps the top bytes of its word, which come last in little-endian order.
                let in_word = 4 * lane + 4 - bytes + byte;
                if pack {
                    table[tags][packed] = in_word as u8;
                } else {
                    table[tags][in_word] = packed as u8;
                }
                packed += 1;
                byte += 1;
            }
            lane += 1;
        }
        tags += 1;
    }
    table
}

const fn spread() -> [u16; 256] {
    let mut table = [0; 256];
    let mut bits = 0;
    while bits < 256 {
        let mut bit = 0;
        while bit < 8 {
            table[bits] |= ((bits >> bit & 1) as u16) << (2 * bit);
            bit += 1;
        }
        bits += 1;
    }
    table
}
