//! Unloaded latencies of a socket: sums of fixed delays, see `docs/domains.md`.

use hostnet_model::params::{DramParams, SocketParams};

fn ns(ps: u64) -> f64 {
    ps as f64 / 1000.0
}

/// Unloaded latency of a row hit in DRAM up to the end of its data, in ns.
#[must_use]
pub fn dram_ns(dram: &DramParams) -> f64 {
    // The row is open: rcd, or rp + rcd, would come on top (docs/domains.md, The four domains).
    clocks_ns(dram, f64::from(dram.timing.cl + dram.timing.burst * dram.accesses_per_line))
}

/// Unloaded latency of a read from its admission to the CHA until its data is back at the CHA, in ns.
#[must_use]
pub fn cha_read_ns(socket: &SocketParams) -> f64 {
    ns(socket.cha.read_to_mc_ps + socket.cha.from_mc_ps) + dram_ns(&socket.memory.dram)
}

/// Unloaded latency of a device write from its admission to the CHA until the memory controller accepts it, in ns.
#[must_use]
pub fn cha_io_write_ns(socket: &SocketParams) -> f64 {
    ns(socket.cha.io_write_to_mc_ps + socket.cha.write_ack_ps)
}

/// Unloaded latency of the C2M-Read domain, in ns.
#[must_use]
pub fn c2m_read_ns(socket: &SocketParams) -> f64 {
    ns(socket.core.to_cha_ps + socket.core.from_cha_ps) + cha_read_ns(socket)
}

/// Unloaded latency of the C2M-Write domain, in ns.
#[must_use]
pub fn c2m_write_ns(socket: &SocketParams) -> f64 {
    // C2M-Write ends at admission to the CHA, so memory has no part in it.
    ns(socket.core.to_cha_ps + socket.core.write_ack_ps)
}

/// Unloaded latency of the P2M-Write domain, in ns.
#[must_use]
pub fn p2m_write_ns(socket: &SocketParams) -> f64 {
    // P2M-Write ends when the WPQ accepts the line, so the DRAM access has no part in it.
    ns(socket.iio.write_to_cha_ps + socket.iio.write_ack_ps) + cha_io_write_ns(socket)
}

/// Unloaded latency of the P2M-Read domain, in ns.
#[must_use]
pub fn p2m_read_ns(socket: &SocketParams) -> f64 {
    ns(socket.iio.read_to_cha_ps + socket.iio.read_return_ps) + cha_read_ns(socket)
}

/// Converts `count` DRAM clocks to ns.
pub(crate) fn clocks_ns(dram: &DramParams, count: f64) -> f64 {
    count * dram.clock_ps_numerator as f64 / dram.clock_ps_denominator as f64 / 1000.0
}
