//! Latency of datagrams, broken down by stage of their path.

use hostnet_kernel::Time;
use hostnet_measure::Histogram;
use serde::{Deserialize, Serialize};

/// Maximum number of datagrams per end whose breakdowns are kept for a trace.
const KEPT_MAX: usize = 4096;

/// A stage of the path from one application to another. Stages follow one another without a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// System call of the sender, with its copy and socket buffer; for a NIC in a DIMM, the clone, too.
    TxCopy,
    /// Kernel or driver of the sender, until the doorbell is rung.
    TxDriver,
    /// For a NIC in a DIMM: flushes of payload and descriptor, until memory has them.
    TxFlush,
    /// Reads and writes of NIC registers, until the NIC has the doorbell.
    TxRegister,
    /// DMA reads of descriptor and payload by the NIC.
    TxDma,
    /// From the end of the DMA to the last bit at the receiving NIC: port, cables and switches. For an endpoint, also
    /// the time spent inside it.
    Wire,
    /// DMA writes of payload and completion by the NIC, until the core can see them.
    RxDma,
    /// For a NIC in a DIMM: invalidation and read of the completion.
    RxInvalidate,
    /// Kernel or driver of the receiver, including waits for it and until the application runs.
    RxDriver,
    /// System call of the receiver, with its copy and socket buffer; for a NIC in a DIMM, the wait for the clone.
    RxCopy,
}

impl Stage {
    /// All stages, in order.
    pub const ALL: [Self; 10] = [
        Self::TxCopy,
        Self::TxDriver,
        Self::TxFlush,
        Self::TxRegister,
        Self::TxDma,
        Self::Wire,
        Self::RxDma,
        Self::RxInvalidate,
        Self::RxDriver,
        Self::RxCopy,
    ];

    /// Returns the name of the stage in tables and traces.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::TxCopy => "tx_copy",
            Self::TxDriver => "tx_driver",
            Self::TxFlush => "tx_flush",
            Self::TxRegister => "tx_register",
            Self::TxDma => "tx_dma",
            Self::Wire => "wire",
            Self::RxDma => "rx_dma",
            Self::RxInvalidate => "rx_invalidate",
            Self::RxDriver => "rx_driver",
            Self::RxCopy => "rx_copy",
        }
    }
}

/// Time of one datagram in each stage so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageTimes {
    begun: Time,
    ps: [u64; Stage::ALL.len()],
}

impl StageTimes {
    /// Starts a breakdown now.
    #[must_use]
    pub fn begin(now: Time) -> Self {
        Self { begun: now, ps: [0; Stage::ALL.len()] }
    }

    /// Ends `stage` at `now`: time that is not yet attributed to a stage is attributed to this one.
    pub fn end(&mut self, stage: Stage, now: Time) {
        self.ps[stage as usize] += now.since(self.begun) - self.total_ps();
    }

    /// Returns the time at which the datagram was sent.
    #[must_use]
    pub fn begun(&self) -> Time {
        self.begun
    }

    /// Returns the time in all stages, in ps.
    #[must_use]
    pub fn total_ps(&self) -> u64 {
        self.ps.iter().sum()
    }

    /// Returns the time in one stage, in ps.
    #[must_use]
    pub fn ps(&self, stage: Stage) -> u64 {
        self.ps[stage as usize]
    }
}

/// Latency statistics of the datagrams that applications have read since the last reset.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StageStats {
    total: Histogram,
    ps: [u64; Stage::ALL.len()],
    /// Breakdowns of single datagrams, at most the first [`KEPT_MAX`]; none unless they are recorded.
    #[serde(skip)]
    kept: Option<Vec<StageTimes>>,
}

impl StageStats {
    /// Adds a datagram that has been read.
    pub fn add(&mut self, stage_times: &StageTimes) {
        if let Some(kept) = self.kept.as_mut().filter(|kept| kept.len() < KEPT_MAX) {
            kept.push(*stage_times);
        }
        self.total.record(stage_times.total_ps());
        self.ps.iter_mut().zip(stage_times.ps).for_each(|(sum, ps)| *sum += ps);
    }

    /// Adds the statistics of other datagrams.
    pub fn merge(&mut self, other: &Self) {
        self.total.merge(&other.total);
        self.ps.iter_mut().zip(other.ps).for_each(|(sum, ps)| *sum += ps);
    }

    /// Returns the latencies from application to application, in ps.
    #[must_use]
    pub fn total(&self) -> &Histogram {
        &self.total
    }

    /// Returns the time of all datagrams in a stage, in ps.
    #[must_use]
    pub fn sum_ps(&self, stage: Stage) -> u64 {
        self.ps[stage as usize]
    }

    /// Starts or stops recording breakdowns of single datagrams.
    pub fn watch(&mut self, on: bool) {
        self.kept = on.then(Vec::new);
    }

    /// Returns the recorded breakdowns.
    #[must_use]
    pub fn kept(&self) -> &[StageTimes] {
        self.kept.as_deref().unwrap_or_default()
    }

    /// Starts a new measurement window.
    pub fn reset(&mut self) {
        *self = Self { kept: self.kept.take(), ..Self::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn stages_tile_the_journey(
            begun in 0_u64..1 << 50,
            steps in prop::collection::vec((0_usize..10, 0_u64..1 << 40), 0..40),
        ) {
            let mut now = Time::from_ps(begun);
            let mut stage_times = StageTimes::begin(now);
            let mut expected = [0; Stage::ALL.len()];
            for (stage, ps) in steps {
                now += ps;
                stage_times.end(Stage::ALL[stage], now);
                expected[stage] += ps;
            }
            prop_assert_eq!(Stage::ALL.map(|stage| stage_times.ps(stage)), expected);
            prop_assert_eq!(stage_times.total_ps(), now.ps() - begun);
            let mut stage_stats = StageStats::default();
            (0..2).for_each(|_| stage_stats.add(&stage_times));
            prop_assert_eq!(Stage::ALL.map(|stage| stage_stats.sum_ps(stage)), expected.map(|ps| 2 * ps));
            prop_assert_eq!(stage_stats.total().sum(), 2 * u128::from(stage_times.total_ps()));
        }
    }
}
