//! Decompresses files, which are recognized by their first bytes.

use liblzma::stream::{Stream, CONCATENATED};
use std::io::{self, BufReader, Cursor, Read};

/// Size of the read buffer, in bytes.
const PIECE_BYTES: usize = 1 << 16;
/// Maximum memory that an xz stream may need, in bytes; `xz -9` needs 65 MiB.
const XZ_BYTES_MAX: u64 = 1 << 28;

const GZIP: &[u8] = &[0x1f, 0x8b];
const XZ: &[u8] = &[0xfd, b'7', b'z', b'X', b'Z', 0];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
/// A zstd file may begin with a skippable frame, whose magic is 0x50 to 0x5f followed by these bytes (RFC 8878,
/// 3.1.2).
const ZSTD_SKIPPABLE: &[u8] = &[0x2a, 0x4d, 0x18];

/// Returns the text in `source`, plain or decompressed from gzip, xz or zstd: all of its members, streams or frames,
/// one after another.
///
/// # Errors
/// Fails if the first bytes cannot be read or a compressed stream has an invalid header.
pub fn decoded(mut source: impl Read + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
    let mut magic = Vec::new();
    // The length of the longest magic.
    source.by_ref().take(XZ.len() as u64).read_to_end(&mut magic)?;
    let zstd = magic.starts_with(ZSTD) || skippable(&magic);
    let (gzip, xz) = (magic.starts_with(GZIP), magic.starts_with(XZ));
    // The bytes looked at are put in front again, since a pipe cannot seek.
    let whole = Cursor::new(magic).chain(source);
    Ok(if gzip {
        Box::new(flate2::bufread::MultiGzDecoder::new(BufReader::with_capacity(PIECE_BYTES, whole)))
    } else if xz {
        // The header of an xz file names its memory, so a hostile one could ask for 4 GiB.
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
