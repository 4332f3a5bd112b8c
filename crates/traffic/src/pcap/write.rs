//! Writes pcap files.

use std::io::{self, Write};

const MAGIC_NS: u32 = 0xa1b2_3c4d;
const VERSION: [u16; 2] = [2, 4];
const LINKTYPE_ETHERNET: u32 = 1;
const PS_PER_S: u64 = 1_000_000_000_000;
const PS_PER_NS: u64 = 1_000;

/// Maximum number of bytes of a frame that a capture holds: the largest value that tools accept.
pub const SNAPLEN_MAX: u32 = 262_144;

/// Writes a capture of Ethernet frames with time stamps in ns.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    snaplen: u32,
}

impl<W: Write> Writer<W> {
    /// Begins a file. At most `snaplen` bytes of every frame are kept; the value is clamped to 1 to [`SNAPLEN_MAX`].
    ///
    /// # Errors
    /// Returns the errors of `out`.
    pub fn new(mut out: W, snaplen: u32) -> io::Result<Self> {
        let snaplen = snaplen.clamp(1, SNAPLEN_MAX);
        let mut header = Vec::with_capacity(24);
        header.extend(MAGIC_NS.to_le_bytes());
        header.extend(VERSION.iter().flat_map(|part| part.to_le_bytes()));
        header.extend([0; 8]);
        header.extend(snaplen.to_le_bytes());
        header.extend(LINKTYPE_ETHERNET.to_le_bytes());
        out.write_all(&header)?;
        Ok(Self { out, snaplen })
    }

    /// Returns the maximum number of bytes of a frame that are kept.
    #[must_use]
    pub fn snaplen(&self) -> u32 {
        self.snaplen
    }

    /// Writes a frame of `whole` bytes that begins with `data`, captured `time_ps` after the epoch.
    ///
    /// The time stamp is truncated to ns. If the frame is longer than `data`, only `data` is kept.
    ///
    /// # Errors
    /// Returns the errors of the output.
    pub fn frame(&mut self, time_ps: u64, data: &[u8], whole: u32) -> io::Result<()> {
        // Never more than the frame has, whatever the caller gives.
        let kept = &data[..data.len().min(self.snaplen as usize).min(whole as usize)];
        let stamp = [(time_ps / PS_PER_S) as u32, (time_ps % PS_PER_S / PS_PER_NS) as u32, kept.len() as u32, whole];
        for part in stamp {
            self.out.write_all(&part.to_le_bytes())?;
        }
        self.out.write_all(kept)
    }

    /// Ends the file and returns the output.
    ///
    /// # Errors
    /// Returns the errors of the output.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}
