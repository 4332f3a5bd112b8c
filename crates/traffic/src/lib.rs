//! Requests for a memory system without a server: generated, or read from the traces of other simulators.
//!
//! [`Traffic`] describes generated requests, which [`Synthetic`] generates; [`Trace`] reads a file. Both are
//! iterators that hold one request at a time, so their memory does not depend on the number of requests.
//!
//! Traces of a processor contain more: [`AccessTrace`] reads them with sizes, threads and instructions, and
//! [`TraceSteps`] converts them to the steps of a simulated core. [`PacketTrace`] reads traces of a network on a
//! chip. [`pcap`] reads and writes packet captures, [`chakra`] reads and writes the traces of the ranks of training
//! jobs, and [`NpyFloats`] reads floats that NumPy has saved.

pub mod chakra;
mod npy;
pub mod pcap;
mod synthetic;
mod trace;

pub use npy::{NpyFloats, NPY_FLOATS_MAX};
pub use synthetic::{Pattern, Synthetic, Traffic, TrafficError, STREAMS_MAX};
pub use trace::{
    decoded, Access, AccessFormat, AccessTrace, Format, PacketLine, PacketTrace, Pages, StepOptions, Trace, TraceError,
    TraceStep, TraceSteps, ACCESS_BYTES_MAX, KEPT_STEPS_MAX, LINE_LENGTH_MAX, PACKET_FLITS_MAX, PAGE_BYTES,
};

/// Size of a line, in bytes.
pub const LINE_BYTES: u64 = 64;

/// Last DRAM clock at which a request may arrive. With a clock of up to 2 ns, 2^53 clocks fit in the 2^64 ps of
/// simulated time.
pub const CLOCK_MAX: u64 = 1 << 53;

/// A request to read or write one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// DRAM clock at which the source issues the request: 0 to [`CLOCK_MAX`], always 0 for a saturating source.
    pub clock: u64,
    /// Number of the line: its byte address / 64.
    pub line: u64,
    /// True if the line is written.
    pub write: bool,
    /// Number of the stream that the request belongs to; 0 if there is only one.
    pub source: u8,
}
