//! Coding of groups on any processor.

use crate::format::{CLASS_BYTES, CLASS_MASK, CLASS_SHIFT, GROUP, GROUP_BYTES_MAX, TAG_BYTES};
use crate::quantiser::{float, Quantiser};
use crate::tables::BYTES;

/// Encodes a group and returns its size in bytes; bytes of `out` beyond are undefined.
#[inline(always)]
pub(crate) fn encode(quantiser: &Quantiser, values: &[f32; GROUP], out: &mut [u8; GROUP_BYTES_MAX]) -> usize {
    let classes = values.map(|value| quantiser.class(value.to_bits()));
    let words = values.map(|value| quantiser.word(value.to_bits()));
    let (mut tags, mut end) = (0_u32, TAG_BYTES);
    for (lane, (word, class)) in words.into_iter().zip(classes).enumerate() {
        tags |= class << (2 * lane);
        // Always four bytes, without a branch: the next float overwrites the surplus.
        out[end..end + 4].copy_from_slice(&(word >> CLASS_SHIFT[class as usize]).to_le_bytes());
        end += CLASS_BYTES[class as usize];
    }
    out[..TAG_BYTES].copy_from_slice(&(tags as u16).to_le_bytes());
    end
}

/// Decodes a group and returns its size in bytes.
#[inline(always)]
pub(crate) fn decode(group: &[u8; GROUP_BYTES_MAX], out: &mut [f32; GROUP]) -> usize {
    let tags = u16::from_le_bytes([group[0], group[1]]);
    let mut end = TAG_BYTES;
    for (lane, value) in out.iter_mut().enumerate() {
        let class = usize::from(tags >> (2 * lane) & 3);
        let bytes = [group[end], group[end + 1], group[end + 2], group[end + 3]];
        let word = u32::from_le_bytes(bytes) << CLASS_SHIFT[class] & CLASS_MASK[class];
        // The 32-bit class is the float itself; the others share one fixed-point format.
        *value = f32::from_bits(if class == 3 { word } else { float(word) });
        end += CLASS_BYTES[class];
    }
    end
}

/// Returns the size of a group with its tags, in bytes.
#[inline(always)]
pub(crate) fn bytes(tags: u16) -> usize {
    let [low, high] = tags.to_le_bytes();
    TAG_BYTES + usize::from(BYTES[usize::from(low)]) + usize::from(BYTES[usize::from(high)])
}
