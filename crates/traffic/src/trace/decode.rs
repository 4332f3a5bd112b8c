//! Compressed files, told by their first bytes.

use liblzma::stream::{Stream, CONCATENATED};
use std::io::{self, BufReader, Cursor, Read};

/// Input is read in pieces of this size.
const PIECE_BYTES: usize = 1 << 16;
/// The most memory that an xz stream may ask for; `xz -9` needs 65 MiB.
const XZ_BYTES_MAX: u64 = 1 << 28;

const GZIP: &[u8] = &[0x1f, 0x8b];
const XZ: &[u8] = &[0xfd, b'7', b'z', b'X', b'Z', 0];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
/// A zstd file may begin with a frame to be skipped: 0x50 to 0x5f, and these (RFC 8878, 3.1.2).
const ZSTD_SKIPPABLE: &[u8] = &[0x2a, 0x4d, 0x18];

/// The text in `source`, plain or compressed with gzip, xz or zstd: every member, stream or frame of it, one after
/// another.
///
/// # Errors
/// When the first bytes cannot be read, or the beginning of a compressed stream is wrong.
pub fn decoded(mut source: impl Read + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
    let mut magic = Vec::new();
    source.by_ref().take(XZ.len() as u64).read_to_end(&mut magic)?;
    let zstd = magic.starts_with(ZSTD) || skippable(&magic);
    let (gzip, xz) = (magic.starts_with(GZIP), magic.starts_with(XZ));
    let whole = Cursor::new(magic).chain(source);
    Ok(if gzip {
        Box::new(flate2::bufread::MultiGzDecoder::new(BufReader::with_capacity(PIECE_BYTES, whole)))
    } else if xz {
        let stream = Stream::new_stream_decoder(XZ_BYTES_MAX, CONCATENATED)?;
        let input = BufReader::with_capacity(PIECE_BYTES, whole);
        Box::new(liblzma::bufread::XzDecoder::new_stream(input, stream))
    } else if zstd {
        Box::new(zstd::Decoder::with_buffer(BufReader::with_capacity(PIECE_BYTES, whole))?)
    } else {
        Box::new(whole)
    })
}

fn skippable(magic: &[u8]) -> bool {
    matches!(magic, [0x50..=0x5f, rest @ ..] if rest.starts_with(ZSTD_SKIPPABLE))
}
