//! Links between the core dies (CCDs) and the IO die of a socket.

use super::calendar::PortCalendar;
use super::MeshLeg;
use crate::params::ChipletsParams;
use serde::{Deserialize, Serialize};

/// Direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CcdDirection {
    /// Lines that the cores read: from the IO die to the CCD.
    Read,
    /// Lines that the cores write: from the CCD to the IO die.
    Write,
}

impl CcdDirection {
    /// Both directions.
    pub const ALL: [Self; 2] = [Self::Read, Self::Write];

    /// Returns the direction of a leg to or from a core.
    fn of(leg: MeshLeg) -> Option<Self> {
        match leg {
            MeshLeg::CoreToCha => Some(Self::Write),
            MeshLeg::ChaToCore => Some(Self::Read),
            _ => None,
        }
    }
}

/// Links of a socket: of each CCD, one in each direction. Only lines occupy them; requests and acknowledgements have
/// wires of their own.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CcdLinks {
    params: ChipletsParams,
    classes: usize,
    /// By CCD and direction.
    calendars: Vec<PortCalendar>,
    /// Cycles taken since the last reset, by CCD and direction.
    taken: Vec<u64>,
    /// Cycles that lines lost to others since the last reset, by CCD, direction and workload.
    waited: Vec<u64>,
}

impl CcdLinks {
    pub(super) fn new(params: &ChipletsParams, cores: usize, classes: usize) -> Self {
        let links = cores.div_ceil(params.cores_per_ccd as usize) * CcdDirection::ALL.len();
        Self {
            params: params.clone(),
            classes,
            calendars: vec![PortCalendar::new(); links],
            taken: vec![0; links],
            waited: vec![0; links * classes],
        }
    }

    /// Takes the link of a core for a line that reaches it at `cycle`. Returns the cycles lost to other lines. Cycles
    /// before `past` are over.
    pub(super) fn carry(&mut self, core: u32, leg: MeshLeg, cycle: u64, past: u64, class: u8) -> u64 {
        let Some(direction) = CcdDirection::of(leg) else { return 0 };
        let link = Self::index((core / self.params.cores_per_ccd) as usize, direction);
        let count = self.cycles(direction);
        let late = self.calendars[link].take(cycle, count, past);
        self.taken[link] += u64::from(count);
        self.waited[link * self.classes + usize::from(class)] += late;
        late
    }

    pub(super) fn reset(&mut self) {
        self.taken.fill(0);
        self.waited.fill(0);
    }

    fn index(ccd: usize, direction: CcdDirection) -> usize {
        ccd * CcdDirection::ALL.len() + direction as usize
    }

    /// Returns the cycles that a line occupies a link in a direction.
    #[must_use]
    pub fn cycles(&self, direction: CcdDirection) -> u32 {
        match direction {
            CcdDirection::Read => self.params.read_cycles,
            CcdDirection::Write => self.params.write_cycles,
        }
    }

    /// Returns the number of CCDs.
    #[must_use]
    pub fn ccds(&self) -> usize {
        self.taken.len() / CcdDirection::ALL.len()
    }

    /// Returns the cycles of a link that were taken since the last reset.
    #[must_use]
    pub fn taken(&self, ccd: usize, direction: CcdDirection) -> u64 {
        self.taken[Self::index(ccd, direction)]
    }

    /// Returns the cycles that the lines of a workload lost at a link since the last reset.
    #[must_use]
    pub fn waited(&self, ccd: usize, direction: CcdDirection, class: usize) -> u64 {
        self.waited[Self::index(ccd, direction) * self.classes + class]
    }
}
