//! Decompresses files, which are recognized by their first bytes.

use std::io::{self, BufReader, Cursor, Read};

/// Size of the read buffer, in bytes.
const PIECE_BYTES: usize = 1 << 16;

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
/// Fails if the first bytes cannot be read, a compressed stream has an invalid header, or the crate was built without
/// the feature `compressed` and the source is compressed with xz or zstd.
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
        libraries::xz(BufReader::with_capacity(PIECE_BYTES, whole))?
    } else if zstd {
        libraries::zstd(BufReader::with_capacity(PIECE_BYTES, whole))?
    } else {
        Box::new(whole)
    })
}

fn skippable(magic: &[u8]) -> bool {
    matches!(magic, [0x50..=0x5f, rest @ ..] if rest.starts_with(ZSTD_SKIPPABLE))
}

/// Decoders whose libraries are written in C.
#[cfg(feature = "compressed")]
mod libraries {
    use liblzma::stream::{Stream, CONCATENATED};
    use std::io::{self, BufRead, Read};

    /// Maximum memory that an xz stream may need, in bytes; `xz -9` needs 65 MiB.
    const XZ_BYTES_MAX: u64 = 1 << 28;

    pub(super) fn xz(input: impl BufRead + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
        // The header of an xz file names its memory, so a hostile one could ask for 4 GiB.
        let stream = Stream::new_stream_decoder(XZ_BYTES_MAX, CONCATENATED)?;
        Ok(Box::new(liblzma::bufread::XzDecoder::new_stream(input, stream)))
    }

    pub(super) fn zstd(input: impl BufRead + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(zstd::Decoder::with_buffer(input)?))
    }
}

/// Errors in the place of decoders that the build leaves out.
#[cfg(not(feature = "compressed"))]
mod libraries {
    use std::io::{self, BufRead, Read};

    pub(super) fn xz(_: impl BufRead) -> io::Result<Box<dyn Read + Send>> {
        Err(left_out("xz", "xz -d"))
    }

    pub(super) fn zstd(_: impl BufRead) -> io::Result<Box<dyn Read + Send>> {
        Err(left_out("zstd", "zstd -d"))
    }

    fn left_out(format: &str, command: &str) -> io::Error {
        let message =
            format!("compressed with {format}, which this build of hostnet leaves out; decompress it with {command}");
        io::Error::new(io::ErrorKind::Unsupported, message)
    }
}
