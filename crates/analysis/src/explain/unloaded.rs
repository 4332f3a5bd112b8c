//! Latencies of a socket without load: sums of fixed delays, see `docs/domains.md`.

use crate::formula::clocks_ns;
use hostnet_model::params::{DramParams, SocketParams};

fn ns(ps: u64) -> f64 {
    ps as f64 / 1000.0
}

/// A line from DRAM when its row is open, in ns.
#[must_use]
pub fn dram_ns(dram: &DramParams) -> f64 {
    clocks_ns(dram, f64::from(dram.timing.cl + dram.timing.burst * dram.accesses_per_line))
}

/// From admission of a read to the CHA until its data is back there, in ns.
#[must_use]
pub fn cha_read_ns(socket: &SocketParams) -> f64 {
    ns(socket.cha.read_to_mc_ps + socket.cha.from_mc_ps) + dram_ns(&socket.memory.dram)
}

/// From admission of a device's write to the CHA until the memory controller has accepted it, in ns.
#[must_use]
pub fn cha_io_write_ns(socket: &SocketParams) -> f64 {
    ns(socket.cha.io_write_to_mc_ps + socket.cha.write_ack_ps)
}

/// C2M-Read in ns.
#[must_use]
pub fn c2m_read_ns(socket: &SocketParams) -> f64 {
    ns(socket.core.to_cha_ps + socket.core.from_cha_ps) + cha_read_ns(socket)
}

/// C2M-Write in ns.
#[must_use]
pub fn c2m_write_ns(socket: &SocketParams) -> f64 {
    ns(socket.core.to_cha_ps + socket.core.write_ack_ps)
}

/// P2M-Write in ns.
#[must_use]
pub fn p2m_write_ns(socket: &SocketParams) -> f64 {
    ns(socket.iio.write_to_cha_ps + socket.iio.write_ack_ps) + cha_io_write_ns(socket)
}

/// P2M-Read in ns.
#[must_use]
pub fn p2m_read_ns(socket: &SocketParams) -> f64 {
    ns(socket.iio.read_to_cha_ps + socket.iio.read_return_ps) + cha_read_ns(socket)
}
