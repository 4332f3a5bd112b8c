//! Where the time of a datagram goes, stage by stage.

use hostnet_kernel::Time;
use hostnet_measure::Histogram;
use serde::{Deserialize, Serialize};

/// Journeys of one end that a trace shows at most.
const KEPT_MAX: usize = 4096;

/// A stage on the way from one application to another. Stages follow one another without a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The system call of the sender, with its copy and socket buffer; of a NIC in a DIMM the clone, too.
    TxCopy,
    /// The kernel or driver of the sender, until the NIC's doorbell is rung.
    TxDriver,
    /// Of a NIC in a DIMM: flushes of data and descriptor, until memory has them.
    TxFlush,
    /// Reads and writes of the NIC's registers, until the NIC has the doorbell.
    TxRegister,
    /// The NIC reads descriptor and data.
    TxDma,
    /// From there to the last bit at the NIC of the receiver: its port, cables and switches. Of a host without a host
    /// network, all that is spent there too.
    Wire,
    /// The NIC writes data and completion, until the core can see it.
    RxDma,
    /// Of a NIC in a DIMM: the completion is invalidated and read.
    RxInvalidate,
    /// The kernel or driver of the receiver, what waits for it, and for the application to have its turn.
    RxDriver,
    /// The system call of the receiver, with its copy and socket buffer; of a NIC in a DIMM the wait for the clone.
    RxCopy,
}

impl Stage {
    /// Every stage, in order.
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

    /// Its name in tables and traces.
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

/// How long a datagram was in each stage so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Journey {
    begun: Time,
    ps: [u64; Stage::ALL.len()],
}

impl Journey {
    /// One that begins now.
    #[must_use]
    pub fn begin(now: Time) -> Self {
        Self { begun: now, ps: [0; Stage::ALL.len()] }
    }

    /// A stage ends now: what was not yet another's is its time.
    pub fn end(&mut self, stage: Stage, now: Time) {
        self.ps[stage as usize] += now.since(self.begun) - self.total_ps();
    }

    /// When it began.
    #[must_use]
    pub fn begun(&self) -> Time {
        self.begun
    }

    /// Time of all stages, in ps.
    #[must_use]
    pub fn total_ps(&self) -> u64 {
        self.ps.iter().sum()
    }

    /// Time of a stage, in ps.
    #[must_use]
    pub fn ps(&self, stage: Stage) -> u64 {
        self.ps[stage as usize]
    }
}

/// The journeys that ended at an application since the last reset.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Journeys {
    total: Histogram,
    ps: [u64; Stage::ALL.len()],
    /// Those since somebody looks on, the first ones of many.
    #[serde(skip)]
    kept: Option<Vec<Journey>>,
}

impl Journeys {
    /// Counts one that is over.
    pub fn add(&mut self, journey: &Journey) {
        if let Some(kept) = self.kept.as_mut().filter(|kept| kept.len() < KEPT_MAX) {
            kept.push(*journey);
        }
        self.total.record(journey.total_ps());
        self.ps.iter_mut().zip(journey.ps).for_each(|(sum, ps)| *sum += ps);
    }

    /// Adds those of another.
    pub fn merge(&mut self, other: &Self) {
        self.total.merge(&other.total);
        self.ps.iter_mut().zip(other.ps).for_each(|(sum, ps)| *sum += ps);
    }

    /// Times from one application to the other, in ps.
    #[must_use]
    pub fn total(&self) -> &Histogram {
        &self.total
    }

    /// Time of all of them in a stage, in ps.
    #[must_use]
    pub fn sum_ps(&self, stage: Stage) -> u64 {
        self.ps[stage as usize]
    }

    /// Keeps them one by one from now on, or not any more.
    pub fn watch(&mut self, on: bool) {
        self.kept = on.then(Vec::new);
    }

    /// Those that were kept.
    #[must_use]
    pub fn kept(&self) -> &[Journey] {
        self.kept.as_deref().unwrap_or_default()
    }

    /// Starts a new measuring window.
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
            let mut journey = Journey::begin(now);
            let mut expected = [0; Stage::ALL.len()];
            for (stage, ps) in steps {
                now += ps;
                journey.end(Stage::ALL[stage], now);
                expected[stage] += ps;
            }
            prop_assert_eq!(Stage::ALL.map(|stage| journey.ps(stage)), expected);
            prop_assert_eq!(journey.total_ps(), now.ps() - begun);
            let mut journeys = Journeys::default();
            (0..2).for_each(|_| journeys.add(&journey));
            prop_assert_eq!(Stage::ALL.map(|stage| journeys.sum_ps(stage)), expected.map(|ps| 2 * ps));
            prop_assert_eq!(journeys.total().sum(), 2 * u128::from(journey.total_ps()));
        }
    }
}
