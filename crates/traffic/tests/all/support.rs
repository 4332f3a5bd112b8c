//! Plain and compressed traces in memory.

use hostnet_traffic::{Access, AccessFormat, AccessTrace, Format, Request, Trace, TraceError};
use std::io::{Cursor, Write};

/// Capacity of the memory in these tests, in bytes.
pub(crate) const CAPACITY_BYTES: u64 = 1 << 34;

/// Compression of a trace.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Packing {
    Plain,
    Gzip,
    Xz,
    Zstd,
}

impl Packing {
    pub(crate) const ALL: [Self; 4] = [Self::Plain, Self::Gzip, Self::Xz, Self::Zstd];

    pub(crate) fn pack(self, text: &[u8]) -> Vec<u8> {
        match self {
            Self::Plain => text.to_vec(),
            Self::Gzip => {
                let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
                encoder.write_all(text).expect("memory takes all");
                encoder.finish().expect("memory takes all")
            }
            Self::Xz => {
                let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 0);
                encoder.write_all(text).expect("memory takes all");
                encoder.finish().expect("memory takes all")
            }
            Self::Zstd => zstd::encode_all(text, 1).expect("memory takes all"),
        }
    }
}

/// Reads a whole trace, or returns its first error.
pub(crate) fn read(bytes: Vec<u8>, format: Option<Format>) -> Result<Vec<Request>, TraceError> {
    Trace::from_reader("a.trace", Cursor::new(bytes), format, CAPACITY_BYTES)?.collect()
}

/// Reads all accesses of a trace, or returns its first error.
pub(crate) fn read_accesses(bytes: Vec<u8>, format: Option<AccessFormat>) -> Result<Vec<Access>, TraceError> {
    AccessTrace::from_reader("a.trace", Cursor::new(bytes), format)?.collect()
}

/// Writes `requests` as a trace.
pub(crate) fn written(requests: &[Request], format: Format) -> Vec<u8> {
    let mut text = Vec::new();
    requests.iter().for_each(|request| format.write(&mut text, request).expect("memory takes all"));
    text
}
