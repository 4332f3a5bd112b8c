//! Output files that are compressed while they are written.

use flate2::write::GzEncoder;
use liblzma::write::XzEncoder;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Compression level of xz, its own default.
const XZ_PRESET: u32 = 6;

/// An open output file, plain or compressed.
pub(crate) enum Output {
    Plain(BufWriter<File>),
    Gzip(BufWriter<GzEncoder<File>>),
    Xz(BufWriter<XzEncoder<File>>),
    Zstd(BufWriter<zstd::Encoder<'static, File>>),
}

impl Output {
    /// Creates the file. `compression` is "gzip", "xz" or "zstd"; anything else means none.
    pub(crate) fn create(path: &Path, compression: &str) -> io::Result<Self> {
        let file = File::create(path)?;
        Ok(match compression {
            "gzip" => Self::Gzip(BufWriter::new(GzEncoder::new(file, flate2::Compression::fast()))),
            "xz" => Self::Xz(BufWriter::new(XzEncoder::new(file, XZ_PRESET))),
            "zstd" => Self::Zstd(BufWriter::new(zstd::Encoder::new(file, 0)?)),
            _ => Self::Plain(BufWriter::new(file)),
        })
    }

    /// Writes all buffered data and ends the file.
    pub(crate) fn finish(self) -> io::Result<()> {
        // A drop would ignore errors of the bytes that are still buffered.
        match self {
            Self::Plain(output) => output.into_inner()?.flush(),
            Self::Gzip(output) => output.into_inner()?.finish().map(drop),
            Self::Xz(output) => output.into_inner()?.finish().map(drop),
            Self::Zstd(output) => output.into_inner()?.finish().map(drop),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(output) => output.write(bytes),
            Self::Gzip(output) => output.write(bytes),
            Self::Xz(output) => output.write(bytes),
            Self::Zstd(output) => output.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(output) => output.flush(),
            Self::Gzip(output) => output.flush(),
            Self::Xz(output) => output.flush(),
            Self::Zstd(output) => output.flush(),
        }
    }
}
