//! Requests for a memory system without a server around it: generated, or read from the traces of other simulators.
//!
//! [`Traffic`] describes generated requests and makes a [`Synthetic`] of them; [`Trace`] reads a file. Both are
//! iterators that hold one request at a time, so neither length costs memory.
//!
//! Traces of a processor have more to tell: [`AccessTrace`] reads them, with sizes, threads and instructions, and
//! [`TraceSteps`] makes them what a simulated core goes through. [`PacketTrace`] reads traces of a network on a chip.
//! [`pcap`] reads and writes captures of packets, [`chakra`] reads and writes what the ranks of training jobs do, and
//! [`Npy`] reads floats that NumPy has saved.

pub mod chakra;
mod npy;
pub mod pcap;
mod synthetic;
mod trace;

pub use npy::{Npy, NPY_FLOATS_MAX};
pub use synthetic::{Pattern, Synthetic, Traffic, TrafficError, STREAMS_MAX};
pub use trace::{
    decoded, Access, AccessFormat, AccessTrace, Format, PacketLine, PacketTrace, Pages, StepOptions, Trace, TraceError,
    TraceStep, TraceSteps, ACCESS_BYTES_MAX, KEPT_STEPS_MAX, LINE_LENGTH_MAX, PACKET_FLITS_MAX, PAGE_BYTES,
};

/// Bytes of a line.
pub const LINE_BYTES: u64 = 64;

/// The last DRAM clock at which a request may arrive. A device with a clock of up to 2 ns has 2^53 of them in the 2^64
/// ps of simulated time.
pub const CLOCK_MAX: u64 = 1 << 53;

/// One line to be read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// DRAM clock at which the request exists at its source: 0 to [`CLOCK_MAX`], 0 when the source is saturating.
    pub clock: u64,
    /// Byte address / 64.
    pub line: u64,
    /// Whether the line is written.
    pub write: bool,
    /// Number of the stream it belongs to; 0 when there is only one.
    pub source: u8,
}
