//! Counters of a fluid memory.

use crate::params::FluidPoint;
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// Picoseconds per second.
const PS_PER_S: u128 = 1_000_000_000_000;
/// One line, in the units in which lines that go to memory are counted.
pub(super) const LINE: u64 = 1 << 16;

/// Counts since the last reset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FluidCounts {
    /// Lines that devices wrote and read.
    pub lines: [u64; 2],
    /// Integrals of the entries in use of the write and of the read buffer of the IIO over time, in entries times ps.
    pub area: [u128; 2],
    /// By class: bytes read from and written to memory.
    pub bytes: Vec<[u64; 2]>,
}

/// Counters of a fluid memory.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct FluidCounters {
    /// Lines written and read by devices since the start of the run.
    pub(super) lines_ever: [u64; 2],
    /// Entries of the read buffer in use, times ps, since the start of the run.
    pub(super) read_area_ever: u128,
    /// Lines written and read up to the last reset.
    ever_before: [u64; 2],
    /// Areas of the write and of the read buffer at the last reset.
    area_before: [u128; 2],
    /// By class: lines read from and written to memory for devices and cores, in units of 2^-16.
    lines: Vec<[u64; 2]>,
    /// By class: bytes times 10^12 read and written by workloads that are not simulated.
    workloads: Vec<[u128; 2]>,
    /// Time up to which the traffic of these workloads is counted.
    settled: Time,
}

impl FluidCounters {
    pub(super) fn new(classes: usize) -> Self {
        Self {
            lines_ever: [0; 2],
            read_area_ever: 0,
            ever_before: [0; 2],
            area_before: [0; 2],
            lines: vec![[0; 2]; classes],
            workloads: vec![[0; 2]; classes],
            settled: Time::ZERO,
        }
    }

    pub(super) fn settled(&self) -> Time {
        self.settled
    }

    /// Adds the traffic of workloads since the last call, up to `now`.
    pub(super) fn add_workloads(&mut self, point: &FluidPoint, share: u32, now: Time) {
        let span = u128::from(now.since(self.settled));
        self.settled = now;
        for (sums, rates) in self.workloads.iter_mut().zip(&point.workloads) {
            for (sum, rate) in sums.iter_mut().zip(rates) {
                *sum += u128::from(FluidPoint::at(rate, share)) * span;
            }
        }
    }

    /// Counts lines that a device writes; `each` is the share of a line that goes to memory, in units of 2^-16.
    pub(super) fn write(&mut self, class: u8, lines: u8, each: u64) {
        self.lines_ever[0] += u64::from(lines);
        self.add(class, 0, u64::from(lines) * each);
    }

    pub(super) fn read(&mut self, class: u8, lines: u8, latency_ps: u64) {
        self.lines_ever[1] += u64::from(lines);
        self.read_area_ever += u128::from(lines) * u128::from(latency_ps);
        self.add(class, u64::from(lines) * LINE, 0);
    }

    /// Counts reads from and writes to memory, in units of 2^-16 lines.
    pub(super) fn add(&mut self, class: u8, reads: u64, writes: u64) {
        let [read, written] = &mut self.lines[usize::from(class)];
        *read += reads;
        *written += writes;
    }

    pub(super) fn reset(&mut self, write_area: u128) {
        self.ever_before = self.lines_ever;
        self.area_before = [write_area, self.read_area_ever];
        self.lines.iter_mut().for_each(|lines| *lines = [0; 2]);
        self.workloads.iter_mut().for_each(|bytes| *bytes = [0; 2]);
    }

    pub(super) fn counts(&self, write_area: u128) -> FluidCounts {
        let area = [write_area, self.read_area_ever];
        let bytes = |(lines, workload): (&[u64; 2], &[u128; 2])| {
            // Lines in units of 2^-16 to bytes: 64 / 2^16.
            [0, 1].map(|direction| lines[direction] / (LINE / 64) + (workload[direction] / PS_PER_S) as u64)
        };
        FluidCounts {
            lines: [0, 1].map(|direction| self.lines_ever[direction] - self.ever_before[direction]),
            area: [0, 1].map(|direction| area[direction] - self.area_before[direction]),
            bytes: self.lines.iter().zip(&self.workloads).map(bytes).collect(),
        }
    }
}
