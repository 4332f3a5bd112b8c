//! Coding of groups on x86 with AVX2: vector arithmetic on eight floats, and a byte shuffle per four floats.

use crate::format::{GROUP, GROUP_BYTES_MAX, TAG_BYTES};
use crate::quantiser::Quantiser;
use crate::shuffles::{PACK, SPREAD, UNPACK};
use crate::tables::BYTES;
use core::arch::x86_64::{__m128i, __m256, __m256i};
use pulp::cast;
use pulp::x86::V3;

const SIGN: i32 = i32::MIN;
const MAGNITUDE: i32 = i32::MAX;
const ONE: i32 = 127 << 23;
/// Weight of the last bit of a word, as its reciprocal: 2^31.
const FRACTIONS: f32 = 2_147_483_648.0;
/// Mask of the tag 11 in each lane.
const FULL: [i32; GROUP] = [3, 3 << 2, 3 << 4, 3 << 6, 3 << 8, 3 << 10, 3 << 12, 3 << 14];

/// Encodes a group and returns its size in bytes; bytes of `out` beyond are undefined.
#[inline(always)]
pub(crate) fn encode(simd: V3, quantiser: &Quantiser, values: &[f32; GROUP], out: &mut [u8; GROUP_BYTES_MAX]) -> usize {
    let (avx, avx2) = (simd.avx, simd.avx2);
    let bits: __m256i = cast(*values);
    let magnitude = avx2._mm256_and_si256(bits, avx._mm256_set1_epi32(MAGNITUDE));
    let short = at_least(simd, magnitude, quantiser.zero_below as i32);
    let wide = at_least(simd, magnitude, quantiser.eight_below as i32);
    let full = at_least(simd, magnitude, ONE);

    // cvtt truncates as the portable code; out of range it gives 2^31, and those lanes keep the float itself.
    let fixed = avx._mm256_cvttps_epi32(avx._mm256_mul_ps(cast(magnitude), avx._mm256_set1_ps(FRACTIONS)));
    let [eight, sixteen] = quantiser.halves;
    let (eight, sixteen) = (avx._mm256_set1_epi32(eight as i32), avx._mm256_set1_epi32(sixteen as i32));
    let half = avx2._mm256_blendv_epi8(eight, sixteen, wide);
    // Unsigned minimum: the sum may have passed 2^31 by rounding up.
    let rounded = avx2._mm256_min_epu32(avx2._mm256_add_epi32(fixed, half), avx._mm256_set1_epi32(MAGNITUDE));
    let word = avx2._mm256_or_si256(rounded, avx2._mm256_and_si256(bits, avx._mm256_set1_epi32(SIGN)));
    let [low_words, high_words]: [__m128i; 2] = cast(avx2._mm256_blendv_epi8(word, bits, full));

    let (short, wide, full) = (lanes(simd, short), lanes(simd, wide), lanes(simd, full));
    // Bit 0 of a tag is set in classes 1 and 3, bit 1 in classes 2 and 3.
    let tags = SPREAD[short & !wide | full] | SPREAD[wide] << 1;
    let [low, high] = tags.to_le_bytes().map(usize::from);
    let middle = TAG_BYTES + usize::from(BYTES[low]);
    out[..TAG_BYTES].copy_from_slice(&tags.to_le_bytes());
    // Always 16 bytes, without a branch: the second half overwrites the surplus of the first.
    out[TAG_BYTES..TAG_BYTES + 16].copy_from_slice(&shuffled(simd, low_words, &PACK[low]));
    out[middle..middle + 16].copy_from_slice(&shuffled(simd, high_words, &PACK[high]));
    middle + usize::from(BYTES[high])
}

/// Decodes a group and returns its size in bytes.
#[inline(always)]
pub(crate) fn decode(simd: V3, group: &[u8; GROUP_BYTES_MAX], out: &mut [f32; GROUP]) -> usize {
    let (avx, avx2) = (simd.avx, simd.avx2);
    let tags = u16::from_le_bytes([group[0], group[1]]);
    let [low, high] = tags.to_le_bytes().map(usize::from);
    let middle = TAG_BYTES + usize::from(BYTES[low]);
    let mut halves = [[0_u8; 16]; 2];
    halves[0].copy_from_slice(&group[TAG_BYTES..TAG_BYTES + 16]);
    halves[1].copy_from_slice(&group[middle..middle + 16]);
    let word: __m256i =
        cast([shuffled(simd, cast(halves[0]), &UNPACK[low]), shuffled(simd, cast(halves[1]), &UNPACK[high])]);

    let magnitude = avx2._mm256_and_si256(word, avx._mm256_set1_epi32(MAGNITUDE));
    let float = avx._mm256_mul_ps(avx._mm256_cvtepi32_ps(magnitude), avx._mm256_set1_ps(1.0 / FRACTIONS));
    let sign = avx2._mm256_and_si256(word, avx._mm256_set1_epi32(SIGN));
    let signed: __m256 = cast(avx2._mm256_or_si256(cast(float), sign));
    let full: __m256i = cast(FULL);
    let stays = avx2._mm256_and_si256(avx._mm256_set1_epi32(i32::from(tags)), full);
    // Both bits of the tag are set: the 32-bit class, whose word is the float.
    let stays = avx2._mm256_cmpeq_epi32(stays, full);
    *out = cast(avx._mm256_blendv_ps(signed, cast(word), cast(stays)));
    middle + usize::from(BYTES[high])
}

/// Returns all ones in the lanes with a magnitude of at least `least`.
#[inline(always)]
fn at_least(simd: V3, magnitude: __m256i, least: i32) -> __m256i {
    // AVX2 has only `>`, and magnitudes are not negative, so least - 1 does not wrap.
    simd.avx2._mm256_cmpgt_epi32(magnitude, simd.avx._mm256_set1_epi32(least - 1))
}

/// Returns a mask with one bit per lane.
#[inline(always)]
fn lanes(simd: V3, mask: __m256i) -> usize {
    simd.avx._mm256_movemask_ps(cast(mask)) as usize & 0xFF
}

#[inline(always)]
fn shuffled(simd: V3, bytes: __m128i, order: &[u8; 16]) -> [u8; 16] {
    cast(simd.ssse3._mm_shuffle_epi8(bytes, cast(*order)))
}
