//! Streams: a payload with a header that says what it holds.

use crate::codec::Codec;
use crate::format::{Mode, GROUP, GROUP_BYTES_MAX, TAG_BYTES};
use crate::payload::{decode, DecodeError};
use thiserror::Error;

/// Bytes of the header of a stream.
pub const HEADER_BYTES: usize = 16;

const MAGIC: [u8; 4] = *b"HNGC";
const VERSION: u8 = 1;

/// What a stream says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// How it was made.
    pub codec: Codec,
    /// How many floats it holds.
    pub floats: u64,
}

/// A stream that is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum StreamError {
    /// It is shorter than a header.
    #[error("byte {bytes}: the stream ends within its header of {HEADER_BYTES} bytes")]
    Short {
        /// Its length.
        bytes: usize,
    },
    /// A byte of its header is none that there may be.
    #[error("byte {at}: {what} {value}; must be {rule}")]
    Header {
        /// Where the byte stands.
        at: usize,
        /// What it is.
        what: &'static str,
        /// Its value.
        value: u32,
        /// What it must be.
        rule: &'static str,
    },
    /// So many floats do not have so many bytes.
    #[error("byte 8: {floats} floats in {bytes} bytes; must have {least} to {most} bytes")]
    Count {
        /// The floats that the header names.
        floats: u64,
        /// The bytes of the payload.
        bytes: usize,
        /// The fewest bytes that they take.
        least: u128,
        /// The most.
        most: u128,
    },
    /// Its payload is none.
    #[error(transparent)]
    Payload(#[from] DecodeError),
    /// Something stands behind the payload.
    #[error("byte {at}: {bytes} bytes behind the last float; must be none")]
    Behind {
        /// Where it begins.
        at: usize,
        /// How much it is.
        bytes: usize,
    },
}

impl Header {
    /// Its bytes.
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

    /// Reads the header of a stream, and makes sure that the floats it names can be in it.
    ///
    /// # Errors
    /// It is none, of a version that is not known, or names more or fewer floats than the rest has room for.
    pub fn read(stream: &[u8]) -> Result<Self, StreamError> {
        let short = StreamError::Short { bytes: stream.len() };
        let (header, payload) = stream.split_first_chunk::<HEADER_BYTES>().ok_or(short)?;
        let refused = |at: usize, what, rule| StreamError::Header { at, what, value: u32::from(header[at]), rule };
        if let Some(at) = (0..MAGIC.len()).find(|&at| header[at] != MAGIC[at]) {
            return Err(refused(at, "of the magic is", "\"HNGC\""));
        }
        if header[4] != VERSION {
            return Err(refused(4, "version", "1"));
        }
        let mode = Mode::ALL.get(usize::from(header[5])).ok_or_else(|| refused(5, "mode", "0, 1 or 2"))?;
        let codec = Codec::new(*mode, i64::from(header[6])).map_err(|_| refused(6, "bound", "1 to 15"))?;
        if header[7] != 0 {
            return Err(refused(7, "reserved", "0"));
        }
        let floats = u64::from_le_bytes(header[8..].try_into().unwrap_or_default());
        let groups = u128::from(floats.div_ceil(GROUP as u64));
        let (least, most) = (groups * TAG_BYTES as u128, groups * GROUP_BYTES_MAX as u128);
        if !(least..=most).contains(&(payload.len() as u128)) {
            return Err(StreamError::Count { floats, bytes: payload.len(), least, most });
        }
        Ok(Self { codec, floats })
    }

    /// Begins to decode the stream that this header was read from.
    #[must_use]
    pub fn decoder<'a>(&self, stream: &'a [u8]) -> Decoder<'a> {
        Decoder { stream, at: HEADER_BYTES, floats_left: self.floats }
    }
}

/// A stream that is being decoded, a part after the other.
#[derive(Clone, Debug)]
pub struct Decoder<'a> {
    stream: &'a [u8],
    /// Where the next group begins.
    at: usize,
    floats_left: u64,
}

impl Decoder<'_> {
    /// Decodes the next floats: whole groups, or all that are left.
    ///
    /// # Errors
    /// The stream ends before them, or goes on behind the last. `out` is undefined then.
    ///
    /// # Panics
    /// If `out` ends within a group, or is longer than what is left.
    pub fn fill(&mut self, out: &mut [f32]) -> Result<(), StreamError> {
        let (floats, bytes) = (out.len() as u64, self.stream.len());
        assert!(floats == self.floats_left || floats < self.floats_left && floats % GROUP as u64 == 0);
        self.at +=
            decode(self.stream.get(self.at..).unwrap_or_default(), out).map_err(|error| error.behind(self.at))?;
        self.floats_left -= floats;
        if self.floats_left == 0 && self.at < bytes {
            return Err(StreamError::Behind { at: self.at, bytes: bytes - self.at });
        }
        Ok(())
    }
}

impl Codec {
    /// The stream of `values`.
    #[must_use]
    pub fn compress(&self, values: &[f32]) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend_from_slice(&Header { codec: *self, floats: values.len() as u64 }.to_bytes());
        self.encode(values, &mut out);
        out
    }
}

/// The floats of a stream. They take at most sixteen times its memory.
///
/// # Errors
/// It is no stream.
pub fn decompress(stream: &[u8]) -> Result<Vec<f32>, StreamError> {
    let header = Header::read(stream)?;
    let mut out = vec![0.0; header.floats as usize];
    header.decoder(stream).fill(&mut out)?;
    Ok(out)
}
