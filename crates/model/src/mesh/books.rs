//! What a mesh has carried: by port, and by leg of the way of a line.

use super::Port;
use serde::{Deserialize, Serialize};

/// A leg of the way of a line over the mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Leg {
    /// From a core to a slice.
    CoreToCha,
    /// From a slice to a core.
    ChaToCore,
    /// From a slice to a memory controller.
    ChaToChannel,
    /// From a memory controller to a slice.
    ChannelToCha,
    /// From the IIO to a slice.
    IioToCha,
    /// From a slice to the IIO.
    ChaToIio,
}

impl Leg {
    /// Every leg.
    pub const ALL: [Self; 6] =
        [Self::CoreToCha, Self::ChaToCore, Self::ChaToChannel, Self::ChannelToCha, Self::IioToCha, Self::ChaToIio];

    /// Who is at the end that is no slice: 0 a core, 1 a memory controller, 2 the IIO.
    pub(super) fn partner(self) -> usize {
        match self {
            Self::CoreToCha | Self::ChaToCore => 0,
            Self::ChaToChannel | Self::ChannelToCha => 1,
            Self::IioToCha | Self::ChaToIio => 2,
        }
    }
}

/// The messages of a leg.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LegBooks {
    /// How many.
    pub messages: u64,
    /// Cycles that their ways take with nobody else on the mesh, in all.
    pub way_cycles: u64,
    /// Cycles that they lost to others, in all.
    pub waited_cycles: u64,
}

/// What a mesh has carried since the last reset.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Books {
    classes: usize,
    ports: usize,
    /// By port: cycles taken.
    taken: Vec<u64>,
    /// By class and port: cycles that messages lost there.
    waited: Vec<u64>,
    /// By class and leg.
    legs: Vec<LegBooks>,
}

impl Books {
    pub(super) fn new(ports: usize, classes: usize) -> Self {
        Self {
            classes,
            ports,
            taken: vec![0; ports],
            waited: vec![0; ports * classes],
            legs: vec![LegBooks::default(); Leg::ALL.len() * classes],
        }
    }

    pub(super) fn reset(&mut self) {
        *self = Self::new(self.ports, self.classes);
    }

    #[inline]
    pub(super) fn take(&mut self, port: Port, class: u8, count: u32, late: u64) {
        self.taken[port.index()] += u64::from(count);
        if late > 0 {
            self.waited[usize::from(class) * self.ports + port.index()] += late;
        }
    }

    #[inline]
    pub(super) fn note(&mut self, leg: Leg, class: u8, way: u64, waited: u64) {
        let books = &mut self.legs[usize::from(class) * Leg::ALL.len() + leg as usize];
        books.messages += 1;
        books.way_cycles += way;
        books.waited_cycles += waited;
    }

    /// Cycles of a port that were taken.
    #[must_use]
    pub fn taken(&self, port: Port) -> u64 {
        self.taken[port.index()]
    }

    /// Cycles that messages of a workload lost at a port.
    #[must_use]
    pub fn waited(&self, port: Port, class: usize) -> u64 {
        self.waited[class * self.ports + port.index()]
    }

    /// What a workload sent by a leg.
    #[must_use]
    pub fn leg(&self, leg: Leg, class: usize) -> LegBooks {
        self.legs[class * Leg::ALL.len() + leg as usize]
    }
}
