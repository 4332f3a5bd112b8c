//! One direction of a link: time on the wire, and latency.

use crate::params::PcieParams;
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// One direction of a link, which sends one TLP after the other.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Lane {
    /// Time of a byte on the wire, in fs.
    fs_per_byte: u64,
    latency_ps: u64,
    /// Time at which the wire is free.
    free_at: Time,
    /// Time on the wire of all TLPs sent since the last reset, in ps; part of it may lie ahead.
    taken_ps: u64,
}

impl Lane {
    /// Creates one direction of a PCIe link. Data-link-layer packets take their share of the raw rate.
    #[must_use]
    pub fn new(params: &PcieParams) -> Self {
        // The share is in units of 2^-16; `u128`, so that no rate overflows.
        let usable = (u128::from(params.bytes_per_s) * u128::from((1 << 16) - params.dllp_share)) >> 16;
        Self::at_rate(usable as u64, params.latency_ps)
    }

    /// Creates one direction of a link that carries `bytes_per_s` without data-link-layer packets.
    #[must_use]
    pub fn at_rate(bytes_per_s: u64, latency_ps: u64) -> Self {
        Self { fs_per_byte: 1_000_000_000_000_000 / bytes_per_s.max(1), latency_ps, free_at: Time::ZERO, taken_ps: 0 }
    }

    /// Returns the time on the wire of a TLP of `bytes` bytes, header and framing included, in ps.
    #[must_use]
    pub fn wire_ps(&self, bytes: u64) -> u64 {
        // Rounded up, so that a link never carries more than its rate.
        (bytes * self.fs_per_byte).div_ceil(1000)
    }

    /// Returns the time at which the link can take the next TLP.
    #[must_use]
    pub fn free_at(&self) -> Time {
        self.free_at
    }

    /// Sends a TLP of `bytes` bytes as soon as the link is free. Returns the delay from `now` to its arrival, in ps.
    pub fn send(&mut self, now: Time, bytes: u64) -> u64 {
        let (start, wire_ps) = (self.free_at.max(now), self.wire_ps(bytes));
        self.taken_ps += wire_ps;
        self.free_at = start + wire_ps;
        self.free_at.since(now) + self.latency_ps
    }

    /// Returns the time since the last reset for which TLPs were on the wire, in ps.
    #[must_use]
    pub fn busy_ps(&self, now: Time) -> u64 {
        // Time on the wire that is still ahead of `now` belongs to the next reading.
        self.taken_ps.saturating_sub(self.free_at.ps().saturating_sub(now.ps()))
    }

    /// Starts a new measurement window. It counts what is left of the TLPs on the wire.
    pub fn reset(&mut self, now: Time) {
        self.taken_ps = self.free_at.ps().saturating_sub(now.ps());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gen3_x4_link_carries_what_its_overhead_leaves() {
        let params = PcieParams {
            bytes_per_s: 3_938_461_538,
            mps_bytes: 256,
            mrrs_bytes: 512,
            write_overhead_bytes: 24,
            read_overhead_bytes: 24,
            completion_overhead_bytes: 20,
            dllp_share: 0,
            latency_ps: 100_000,
            posted_lines: 64,
            nonposted_lines: 256,
        };
        let mut lane = Lane::new(&params);
        let first = lane.send(Time::ZERO, 280);
        let second = lane.send(Time::ZERO, 280);
        assert_eq!(second - first, lane.wire_ps(280), "the second TLP waits for the first");
        let goodput = 256.0 / lane.wire_ps(280) as f64 * 1000.0;
        assert!((goodput - 3.938 * 256.0 / 280.0).abs() < 0.01, "goodput {goodput} GB/s");
    }
}
