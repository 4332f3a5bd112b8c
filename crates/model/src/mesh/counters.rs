//! Counters of a mesh, by port and by leg.

use super::MeshPort;
use serde::{Deserialize, Serialize};

/// Leg of the path of a line over the mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MeshLeg {
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

impl MeshLeg {
    /// All legs.
    pub const ALL: [Self; 6] =
        [Self::CoreToCha, Self::ChaToCore, Self::ChaToChannel, Self::ChannelToCha, Self::IioToCha, Self::ChaToIio];

    /// Returns the kind of the part at the end that is no slice: 0 for a core, 1 for a memory controller, 2 for the
    /// IIO.
    pub(super) fn partner(self) -> usize {
        match self {
            Self::CoreToCha | Self::ChaToCore => 0,
            Self::ChaToChannel | Self::ChannelToCha => 1,
            Self::IioToCha | Self::ChaToIio => 2,
        }
    }
}

/// Counters of the messages of a leg.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LegCounters {
    /// Number of messages.
    pub messages: u64,
    /// Total cycles of their routes on an idle mesh.
    pub route_cycles: u64,
    /// Total cycles lost to other messages.
    pub waited_cycles: u64,
}

/// Counters of a mesh since the last reset.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MeshCounters {
    classes: usize,
    ports: usize,
    /// Cycles taken, by port.
    taken: Vec<u64>,
    /// Cycles that messages lost, by class and port.
    waited: Vec<u64>,
    /// Counters of messages, by class and leg.
    legs: Vec<LegCounters>,
}

impl MeshCounters {
    pub(super) fn new(ports: usize, classes: usize) -> Self {
        Self {
            classes,
            ports,
            taken: vec![0; ports],
            waited: vec![0; ports * classes],
            legs: vec![LegCounters::default(); MeshLeg::ALL.len() * classes],
        }
    }

    pub(super) fn reset(&mut self) {
        *self = Self::new(self.ports, self.classes);
    }

    /// Counts `count` cycles that a message takes of a port, and the `late` cycles that it lost there.
    #[inline]
    pub(super) fn take(&mut self, port: MeshPort, class: u8, count: u32, late: u64) {
        self.taken[port.index()] += u64::from(count);
        // Speed only: most messages lose nothing.
        if late > 0 {
            self.waited[usize::from(class) * self.ports + port.index()] += late;
        }
    }

    /// Counts a message of a leg: `route` cycles on an idle mesh, and `waited` cycles lost.
    #[inline]
    pub(super) fn note(&mut self, leg: MeshLeg, class: u8, route: u64, waited: u64) {
        let counters = &mut self.legs[usize::from(class) * MeshLeg::ALL.len() + leg as usize];
        counters.messages += 1;
        counters.route_cycles += route;
        counters.waited_cycles += waited;
    }

    /// Returns the cycles of a port that were taken.
    #[must_use]
    pub fn taken(&self, port: MeshPort) -> u64 {
        self.taken[port.index()]
    }

    /// Returns the cycles that messages of a workload lost at a port.
    #[must_use]
    pub fn waited(&self, port: MeshPort, class: usize) -> u64 {
        self.waited[class * self.ports + port.index()]
    }

    /// Returns the counters of the messages of a workload on a leg.
    #[must_use]
    pub fn leg(&self, leg: MeshLeg, class: usize) -> LegCounters {
        self.legs[class * MeshLeg::ALL.len() + leg as usize]
    }
}
