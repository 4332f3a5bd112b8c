//! Streams: payloads with a header that describes their content.

use crate::codec::Codec;
use crate::format::{Mode, GROUP, GROUP_BYTES_MAX, TAG_BYTES};
use crate::payload::{decode, DecodeError};
use thiserror::Error;

/// Bytes of the header of a stream.
pub const HEADER_BYTES: usize = 16;

const MAGIC: [u8; 4] = *b"HNGC";
const VERSION: u8 = 1;

/// Header of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Codec that the stream was encoded with.
    pub codec: Codec,
    /// Number of floats in the stream.
    pub floats: u64,
}

/// Reason why a stream is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum StreamError {
    /// The stream is shorter than a header.
    #[error("byte {bytes}: the stream ends within its header of {HEADER_BYTES} bytes")]
    Short {
        /// Length of the stream, in bytes.
        bytes: usize,
    },
    /// A byte of the header has an invalid value.
    #[error("byte {at}: {what} {value}; must be {rule}")]
    Header {
        /// Offset of the byte.
        at: usize,
        /// Name of the field.
        what: &'static str,
        /// Value of the byte.
        value: u32,
        /// Valid values.
        rule: &'static str,
    },
    /// The size of the payload is impossible for the number of floats.
    #[error("byte 8: {floats} floats in {bytes} bytes; must have {least} to {most} bytes")]
    Count {
        /// Number of floats in the header.
        floats: u64,
        /// Bytes of the payload.
        bytes: usize,
        /// Smallest size of so many floats, in bytes.
        least: u128,
        /// Largest size of so many floats, in bytes.
        most: u128,
    },
    /// The payload is damaged.
    #[error(transparent)]
    Payload(#[from] DecodeError),
    /// Bytes follow the payload.
    #[error("byte {at}: {bytes} bytes behind the last float; must be none")]
    Behind {
        /// Offset of the first of them.
        at: usize,
        /// Number of bytes.
        bytes: usize,
    },
}

impl Header {
    /// Encodes the header.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4] = VERSION;
        bytes[5] = self.codec.mode() as u8;
        bytes[6] = self.codec.bound_exponent() as u8;
        bytes[8..].copy_from_slice(&self.floats.to_le_bytes());
        bytes
    }

    /// Decodes the header of a stream, and checks that the payload can hold the number of floats that the header
    /// states.
    ///
    /// # Errors
    /// Returns a [`StreamError`] if the header is invalid or of an unknown version, or if the size of the payload does
    /// not match the number of floats.
    pub fn read(stream: &[u8]) -> Result<Self, StreamError> {
        let short = StreamError::Short { bytes: stream.len() };
        let (header, payload) = stream.split_first_chunk::<HEADER_BYTES>().ok_or(short)?;
        let refused = |at: usize, what, rule| StreamError::Header { at, what, value: u32::from(header[at]), rule };
        if let Some(at) = (0..MAGIC.len()).find(|&at| header[at] != MAGIC[at]) {
            return Err(refused(at, "of the magic is", "\"HNGC\""));
        }
        // Checked before the other fields, which another version may lay out differently.
        if header[4] != VERSION {
            return Err(refused(4, "version", "1"));
        }
        let mode = Mode::ALL.get(usize::from(header[5])).ok_or_else(|| refused(5, "mode", "0, 1 or 2"))?;
        let codec = Codec::new(*mode, i64::from(header[6])).map_err(|_| refused(6, "bound", "1 to 15"))?;
        if header[7] != 0 {
            return Err(refused(7, "reserved", "0"));
        }
        let floats = u64::from_le_bytes(header[8..].try_into().unwrap_or_default());
        // A damaged header may name up to 2^64 floats, whose bytes exceed 64 bits.
        let groups = u128::from(floats.div_ceil(GROUP as u64));
        let (least, most) = (groups * TAG_BYTES as u128, groups * GROUP_BYTES_MAX as u128);
        // Checked before memory is taken: a damaged count cannot ask for more than 16 times the stream.
        if !(least..=most).contains(&(payload.len() as u128)) {
            return Err(StreamError::Count { floats, bytes: payload.len(), least, most });
        }
        Ok(Self { codec, floats })
    }

    /// Creates a decoder of the stream that this header was read from.
    #[must_use]
    pub fn decoder<'a>(&self, stream: &'a [u8]) -> Decoder<'a> {
        Decoder { stream, at: HEADER_BYTES, floats_left: self.floats }
    }
}

/// Decoder that decodes a stream in parts.
#[derive(Clone, Debug)]
pub struct Decoder<'a> {
    stream: &'a [u8],
    /// Offset of the next group, in bytes.
    at: usize,
    floats_left: u64,
}

impl Decoder<'_> {
    /// Decodes the next floats: whole groups, or all that are left.
    ///
    /// # Errors
    /// Returns a [`StreamError`] if the stream ends before the last float, or continues after it. The contents of `out`
    /// are then unspecified.
    ///
    /// # Panics
    /// Panics if `out` ends within a group, or is longer than the floats left.
    pub fn fill(&mut self, out: &mut [f32]) -> Result<(), StreamError> {
        let (floats, bytes) = (out.len() as u64, self.stream.len());
        assert!(floats == self.floats_left || floats < self.floats_left && floats % GROUP as u64 == 0);
        self.at +=
            decode(self.stream.get(self.at..).unwrap_or_default(), out).map_err(|error| error.behind(self.at))?;
        self.floats_left -= floats;
        // A stream that goes on behind its last float is damaged.
        if self.floats_left == 0 && self.at < bytes {
            return Err(StreamError::Behind { at: self.at, bytes: bytes - self.at });
        }
        Ok(())
    }
}

impl Codec {
    /// Compresses `values` to a stream.
    #[must_use]
    pub fn compress(&self, values: &[f32]) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend_from_slice(&Header { codec: *self, floats: values.len() as u64 }.to_bytes());
        self.encode(values, &mut out);
        out
    }
}

/// Decompresses a stream to floats, which take at most sixteen times its memory.
///
/// # Errors
/// Returns a [`StreamError`] if the stream is damaged.
pub fn decompress(stream: &[u8]) -> Result<Vec<f32>, StreamError> {
    let header = Header::read(stream)?;
    // `Header::read` has bounded the count by the length of the stream.
    let mut out = vec![0.0; header.floats as usize];
    header.decoder(stream).fill(&mut out)?;
    Ok(out)
}
