//! Reads the protobuf messages of a file, one after the other.

use super::{at, ChakraError};
use prost::Message;
use std::io::{self, Read};

/// Size of the largest message of a file, in bytes.
const MESSAGE_BYTES_MAX: u64 = 1 << 20;
/// Length of the longest varint in a file, in bytes.
const VARINT_BYTES: usize = 10;
/// Largest number up to which all whole numbers are exact as floats.
const FLOAT_MAX: f64 = 9_007_199_254_740_992.0;

#[derive(Clone, PartialEq, Message)]
pub(super) struct Metadata {
    #[prost(string, tag = "1")]
    pub(super) version: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct RawNode {
    #[prost(uint64, tag = "1")]
    pub(super) id: u64,
    #[prost(bytes = "vec", tag = "2")]
    pub(super) name: Vec<u8>,
    #[prost(int32, tag = "3")]
    pub(super) kind: i32,
    #[prost(uint64, repeated, tag = "4")]
    pub(super) ctrl_deps: Vec<u64>,
    #[prost(uint64, repeated, tag = "5")]
    pub(super) data_deps: Vec<u64>,
    #[prost(uint64, tag = "7")]
    pub(super) duration_micros: u64,
    #[prost(message, optional, tag = "8")]
    pub(super) inputs: Option<Inputs>,
    #[prost(message, repeated, tag = "10")]
    pub(super) attr: Vec<Attribute>,
}

/// Inputs of a node, as text.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Inputs {
    #[prost(bytes = "vec", tag = "1")]
    pub(super) values: Vec<u8>,
}

/// An attribute with one number, string, boolean or list of booleans; attributes of other types have none of these.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Attribute {
    #[prost(bytes = "vec", tag = "1")]
    pub(super) name: Vec<u8>,
    #[prost(double, optional, tag = "3")]
    pub(super) double: Option<f64>,
    #[prost(float, optional, tag = "5")]
    pub(super) float: Option<f32>,
    #[prost(int32, optional, tag = "7")]
    pub(super) int32: Option<i32>,
    #[prost(int64, optional, tag = "9")]
    pub(super) int64: Option<i64>,
    #[prost(uint32, optional, tag = "11")]
    pub(super) uint32: Option<u32>,
    #[prost(uint64, optional, tag = "13")]
    pub(super) uint64: Option<u64>,
    #[prost(sint32, optional, tag = "15")]
    pub(super) sint32: Option<i32>,
    #[prost(sint64, optional, tag = "17")]
    pub(super) sint64: Option<i64>,
    #[prost(fixed32, optional, tag = "19")]
    pub(super) fixed32: Option<u32>,
    #[prost(fixed64, optional, tag = "21")]
    pub(super) fixed64: Option<u64>,
    #[prost(sfixed32, optional, tag = "23")]
    pub(super) sfixed32: Option<i32>,
    #[prost(sfixed64, optional, tag = "25")]
    pub(super) sfixed64: Option<i64>,
    #[prost(bool, optional, tag = "27")]
    pub(super) truth: Option<bool>,
    #[prost(message, optional, tag = "28")]
    pub(super) truths: Option<BoolList>,
    #[prost(bytes = "vec", optional, tag = "29")]
    pub(super) text: Option<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct BoolList {
    #[prost(bool, repeated, tag = "1")]
    pub(super) values: Vec<bool>,
}

impl Attribute {
    /// Returns the whole number of the attribute, if it has one.
    pub(super) fn number(&self) -> Option<i128> {
        let small = [self.int32, self.sint32, self.sfixed32].into_iter().flatten().map(i128::from);
        let large = [self.int64, self.sint64, self.sfixed64].into_iter().flatten().map(i128::from);
        let unsigned = [self.uint32, self.fixed32].into_iter().flatten().map(i128::from);
        let wide = [self.uint64, self.fixed64].into_iter().flatten().map(i128::from);
        let floats = [self.double, self.float.map(f64::from)].into_iter().flatten();
        // A float counts only if it is a whole number exactly.
        let whole = floats.filter(|value| value.fract() == 0.0 && value.abs() <= FLOAT_MAX).map(|value| value as i128);
        small.chain(large).chain(unsigned).chain(wide).chain(whole).next()
    }

    /// Returns true if the attribute is true or a number other than 0.
    pub(super) fn is_true(&self) -> bool {
        self.truth.unwrap_or_else(|| self.number().is_some_and(|number| number != 0))
    }
}

/// Reads a file message by message.
pub(super) struct Messages<R> {
    from: R,
    /// Number of bytes read so far.
    pub(super) offset: u64,
    /// The message that was read last.
    pub(super) message: Vec<u8>,
}

impl<R: Read> Messages<R> {
    pub(super) fn new(from: R) -> Self {
        Self { from, offset: 0, message: Vec::new() }
    }

    /// Reads the length of the next message. Returns `None` at the end of the file.
    fn length(&mut self) -> Result<Option<u64>, ChakraError> {
        let (begin, mut length) = (self.offset, 0_u64);
        for place in 0..VARINT_BYTES {
            let mut byte = [0];
            match self.from.read_exact(&mut byte) {
                Ok(()) => self.offset += 1,
                // The end of the file is legal between messages, not within a length.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof && place == 0 => return Ok(None),
                Err(error) => return Err(self.broken(&error)),
            }
            // Seven bits per byte, the lowest first (varint of protobuf).
            length |= u64::from(byte[0] & 0x7f).checked_shl(7 * place as u32).unwrap_or(0);
            if byte[0] < 0x80 {
                return Ok(Some(length));
            }
        }
        Err(at(begin, format!("a length of a message has more than {VARINT_BYTES} bytes")))
    }

    fn broken(&self, error: &io::Error) -> ChakraError {
        if error.kind() == io::ErrorKind::UnexpectedEof {
            at(self.offset, "the file ends amid a message")
        } else {
            at(self.offset, error)
        }
    }

    /// Reads the next message. Returns false at the end of the file. It allocates memory only for bytes that are
    /// present.
    pub(super) fn next(&mut self) -> Result<bool, ChakraError> {
        let begin = self.offset;
        let Some(length) = self.length()? else { return Ok(false) };
        // Before memory is taken: a damaged length may ask for anything.
        if length > MESSAGE_BYTES_MAX {
            return Err(at(begin, format!("a message of {length} B; at most {MESSAGE_BYTES_MAX} B are allowed")));
        }
        self.message.clear();
        let read = (&mut self.from).take(length).read_to_end(&mut self.message).map_err(|error| self.broken(&error))?;
        self.offset += read as u64;
        if (read as u64) < length {
            return Err(at(self.offset, "the file ends amid a message"));
        }
        Ok(true)
    }
}
