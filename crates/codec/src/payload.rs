//! Payloads: sequences of groups of eight floats.

use crate::format::{GROUP, GROUP_BYTES_MAX, TAG_BYTES};
use crate::portable;
use crate::quantiser::Quantiser;
use thiserror::Error;

/// Groups that are encoded before they are appended. The groups and their floats fit into a first-level cache.
const BLOCK_GROUPS: usize = 256;

/// Reason why a payload cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DecodeError {
    /// The payload ends within a group.
    #[error("byte {at}: the payload ends within a group; must be whole groups of {GROUP} floats")]
    Truncated {
        /// Offset of the group, in bytes.
        at: usize,
    },
    /// A lane beyond the last float has bits.
    #[error("byte {at}: tags {tags:#06x} give bits to floats behind the last; must be 00 there")]
    Behind {
        /// Offset of the group, in bytes.
        at: usize,
        /// Tags of the group.
        tags: u16,
    },
}

impl DecodeError {
    /// Shifts the offset in the error by `bytes` bytes that precede the payload.
    pub(crate) fn behind(self, bytes: usize) -> Self {
        match self {
            Self::Truncated { at } => Self::Truncated { at: at + bytes },
            Self::Behind { at, tags } => Self::Behind { at: at + bytes, tags },
        }
    }
}

/// Implementation of the coding of groups.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Engine {
    /// Portable code.
    Portable,
    /// AVX2 instructions.
    #[cfg(target_arch = "x86_64")]
    Avx2(pulp::x86::V3),
}

impl Engine {
    /// Returns the fastest engine that this processor supports.
    pub(crate) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        if let Some(simd) = pulp::x86::V3::try_new() {
            return Self::Avx2(simd);
        }
        Self::Portable
    }

    pub(crate) fn encode(self, quantiser: &Quantiser, values: &[f32], out: &mut Vec<u8>) {
        match self {
            Self::Portable => encode_groups(values, out, |group, out| portable::encode(quantiser, group, out)),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(simd) => simd.vectorize(
                #[inline(always)]
                || {
                    encode_groups(
                        values,
                        out,
                        #[inline(always)]
                        |group, out| crate::x86::encode(simd, quantiser, group, out),
                    )
                },
            ),
        }
    }

    /// Replaces every float by its decoded value, and returns the largest error.
    pub(crate) fn roundtrip(self, quantiser: &Quantiser, values: &mut [f32]) -> f32 {
        match self {
            Self::Portable => quantiser.roundtrip(values),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(simd) => simd.vectorize(
                #[inline(always)]
                || quantiser.roundtrip(values),
            ),
        }
    }

    pub(crate) fn decode(self, payload: &[u8], out: &mut [f32]) -> Result<usize, DecodeError> {
        match self {
            Self::Portable => decode_groups(payload, out, portable::decode),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(simd) => simd.vectorize(
                #[inline(always)]
                || {
                    decode_groups(
                        payload,
                        out,
                        #[inline(always)]
                        |group, out| crate::x86::decode(simd, group, out),
                    )
                },
            ),
        }
    }
}

pub(crate) fn encode(quantiser: &Quantiser, values: &[f32], out: &mut Vec<u8>) {
    Engine::detect().encode(quantiser, values, out);
}

/// Decodes a payload to as many floats as `out` holds, and returns the bytes consumed.
///
/// # Errors
/// Returns a [`DecodeError`] if the payload ends before the last of the floats, or gives bits to lanes beyond. `out`
/// is undefined then.
pub fn decode(payload: &[u8], out: &mut [f32]) -> Result<usize, DecodeError> {
    Engine::detect().decode(payload, out)
}

#[inline(always)]
fn encode_groups(
    values: &[f32],
    out: &mut Vec<u8>,
    group: impl Fn(&[f32; GROUP], &mut [u8; GROUP_BYTES_MAX]) -> usize,
) {
    let mut block = [0_u8; BLOCK_GROUPS * GROUP_BYTES_MAX];
    for part in values.chunks(BLOCK_GROUPS * GROUP) {
        let mut end = 0;
        let whole = part.chunks_exact(GROUP);
        let tail = whole.remainder();
        for values in whole {
            if let (Some(values), Some(out)) = (values.first_chunk(), block[end..].first_chunk_mut()) {
                end += group(values, out);
            }
        }
        if !tail.is_empty() {
            let (mut filled, mut coded) = ([0.0; GROUP], [0; GROUP_BYTES_MAX]);
            filled[..tail.len()].copy_from_slice(tail);
            let bytes = group(&filled, &mut coded);
            block[end..end + bytes].copy_from_slice(&coded[..bytes]);
            end += bytes;
        }
        // Appended by block, so that `out` grows once per block and not once per group.
        out.extend_from_slice(&block[..end]);
    }
}

#[inline(always)]
fn decode_groups(
    payload: &[u8],
    out: &mut [f32],
    group: impl Fn(&[u8; GROUP_BYTES_MAX], &mut [f32; GROUP]) -> usize,
) -> Result<usize, DecodeError> {
    let mut at = 0;
    let mut whole = out.chunks_exact_mut(GROUP);
    for values in &mut whole {
        let Some(values) = values.first_chunk_mut() else { break };
        at += match payload[at..].first_chunk() {
            // Engines read a group at its largest size; near the end of the payload it is padded.
            Some(coded) => group(coded, values),
            None => group(&padded_group(payload, at)?, values),
        };
    }
    let tail = whole.into_remainder();
    if !tail.is_empty() {
        let (coded, mut values) = (padded_group(payload, at)?, [0.0; GROUP]);
        let tags = u16::from_le_bytes([coded[0], coded[1]]);
        // Lanes behind the last float must take no bytes (docs/codec-format.md, Tails).
        if tags >> (2 * tail.len()) != 0 {
            return Err(DecodeError::Behind { at, tags });
        }
        at += group(&coded, &mut values);
        tail.copy_from_slice(&values[..tail.len()]);
    }
    Ok(at)
}

/// Returns the group at an offset near the end of the payload, padded with zeros to the largest size of a group.
#[cold]
fn padded_group(payload: &[u8], at: usize) -> Result<[u8; GROUP_BYTES_MAX], DecodeError> {
    let rest = &payload[at..];
    let mut coded = [0; GROUP_BYTES_MAX];
    let bytes = rest.len().min(GROUP_BYTES_MAX);
    coded[..bytes].copy_from_slice(&rest[..bytes]);
    let tags = u16::from_le_bytes([coded[0], coded[1]]);
    // The tags are checked first: without them the size of the group is not known.
    if rest.len() < TAG_BYTES || rest.len() < portable::bytes(tags) {
        return Err(DecodeError::Truncated { at });
    }
    Ok(coded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Codec, Mode};
    use proptest::prelude::*;

    fn bits() -> impl Strategy<Value = u32> {
        let near = (100_u32..130, any::<u32>()).prop_map(|(exponent, rest)| exponent << 23 | rest & 0x807F_FFFF);
        prop_oneof![any::<u32>(), near]
    }

    /// Decodes `floats` floats, and returns the bytes consumed and the bits of the floats.
    fn decoded(engine: Engine, payload: &[u8], floats: usize) -> Result<(usize, Vec<u32>), DecodeError> {
        let mut out = vec![0.0; floats];
        engine.decode(payload, &mut out).map(|end| (end, out.into_iter().map(f32::to_bits).collect()))
    }

    proptest! {
        #[test]
        fn every_processor_makes_the_same_bytes_and_floats(
            bits in prop::collection::vec(bits(), 0..70),
            mode in 0..3_usize,
            exponent in 1..=15_i64,
        ) {
            let mut values: Vec<f32> = bits.iter().copied().map(f32::from_bits).collect();
            let quantiser = Codec::new(Mode::ALL[mode], exponent).expect("it is in range").quantiser;
            let (mut plain, mut fast) = (Vec::new(), Vec::new());
            Engine::Portable.encode(&quantiser, &values, &mut plain);
            Engine::detect().encode(&quantiser, &values, &mut fast);
            prop_assert_eq!(&plain, &fast);
            let rounded: Vec<u32> = bits.iter().map(|&bits| quantiser.round(bits)).collect();
            let expected = Ok((plain.len(), rounded.clone()));
            prop_assert_eq!(decoded(Engine::Portable, &plain, bits.len()), expected.clone());
            prop_assert_eq!(decoded(Engine::detect(), &plain, bits.len()), expected);
            let mut same = values.clone();
            let errors = [Engine::Portable.roundtrip(&quantiser, &mut same),
                Engine::detect().roundtrip(&quantiser, &mut values)];
            prop_assert_eq!(errors[0], errors[1]);
            prop_assert_eq!(values.iter().map(|value| value.to_bits()).collect::<Vec<_>>(), rounded);
        }

        #[test]
        fn every_processor_reads_any_bytes_alike(
            payload in prop::collection::vec(any::<u8>(), 0..200),
            floats in 0..60_usize,
        ) {
            let plain = decoded(Engine::Portable, &payload, floats);
            prop_assert_eq!(plain, decoded(Engine::detect(), &payload, floats));
        }
    }
}
