//! Writes captures of simulated packets during a run.

use crate::output::Output;
use hostnet_model::params::FlowParams;
use hostnet_model::Packet;
use hostnet_sim::frames::FrameEncoder;
use hostnet_traffic::pcap::Writer;
use std::io;
use std::path::Path;

/// An open capture file.
pub(crate) struct Capture<'a> {
    frames: FrameEncoder<'a>,
    writer: Writer<Output>,
    failed: Option<io::Error>,
}

impl<'a> Capture<'a> {
    /// Creates the file, for packets of `flows`.
    pub(crate) fn create(path: &Path, snaplen: u32, flows: &'a [FlowParams]) -> io::Result<Self> {
        let writer = Writer::new(Output::create(path, "")?, snaplen)?;
        Ok(Self { frames: FrameEncoder::new(flows), writer, failed: None })
    }

    /// Appends packets. Returns false from the first error on, which [`Capture::finish`] then returns.
    pub(crate) fn add(&mut self, packets: &[(hostnet_kernel::Time, Packet)]) -> bool {
        for (time, packet) in packets {
            let frame = self.frames.of(packet);
            if let Err(error) = self.writer.frame(time.ps(), frame, frame.len() as u32) {
                self.failed = Some(error);
                return false;
            }
        }
        true
    }

    /// Writes all buffered data and ends the file.
    pub(crate) fn finish(self) -> io::Result<()> {
        match self.failed {
            Some(error) => Err(error),
            None => self.writer.finish()?.finish(),
        }
    }
}
