//! Lines behind a link in the request buffers: the share of the entries that they may hold, and the registers that
//! count them.

use crate::part::{BufferCounters, IioCounter};
use hostnet_kernel::Time;
use hostnet_measure::Domain;
use serde::{Deserialize, Serialize};

/// Entries that lines behind a link may hold, of each slice. The other entries are left to local lines, so that slow
/// requests cannot take all of them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ExpanderShare {
    /// Maximum number of entries of a slice that such lines may hold.
    entries: u32,
    /// Entries of each slice that such lines hold.
    used: Vec<u32>,
    domain: Domain,
}

impl ExpanderShare {
    /// Creates a share of `entries` entries of each of `slices` slices.
    fn new(entries: u32, slices: u32, classes: usize) -> Self {
        let all = entries * slices;
        Self { entries, used: vec![0; slices as usize], domain: Domain::new(all, all, classes) }
    }

    /// Returns the entries as a domain, from the admission of a line to its answer.
    pub(super) fn domain(&self) -> &Domain {
        &self.domain
    }

    pub(super) fn domain_mut(&mut self) -> &mut Domain {
        &mut self.domain
    }

    /// Returns true if another line may take an entry of a slice.
    pub(super) fn has_room(&self, slice: usize) -> bool {
        self.used[slice] < self.entries
    }

    /// Takes an entry of a slice.
    ///
    /// # Panics
    /// Panics if the share is used up.
    fn take(&mut self, slice: usize, class: u16, now: Time) {
        self.used[slice] += 1;
        assert!(self.domain.try_acquire(now, class), "a slice with room in the share has a free entry");
    }

    /// Returns an entry of a slice that was taken at `since`.
    fn give_back(&mut self, slice: usize, class: u16, since: Time, now: Time) {
        self.used[slice] -= 1;
        self.domain.release(now, class, since);
    }
}

/// Registers that count the entries that lines behind a link hold.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct ExpanderRegisters {
    counters: BufferCounters,
    /// Entries that such lines hold now.
    held: u32,
    /// Clock by which occupancy is added up, in ps.
    clock_ps: u64,
}

/// Lines behind a link in the request buffers.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct ExpanderEntries {
    share: Option<ExpanderShare>,
    registers: Option<ExpanderRegisters>,
}

impl ExpanderEntries {
    /// Limits the lines to `entries` entries of each of `slices` slices.
    pub(super) fn with_share(self, entries: u32, slices: u32, classes: usize) -> Self {
        Self { share: Some(ExpanderShare::new(entries, slices, classes)), ..self }
    }

    /// Counts the lines; occupancy is added up every `clock_ps` ps.
    pub(super) fn with_registers(self, clock_ps: u64) -> Self {
        Self { registers: Some(ExpanderRegisters { counters: BufferCounters::default(), held: 0, clock_ps }), ..self }
    }

    /// Returns the share of the entries, if there is one.
    pub(super) fn share(&self) -> Option<&ExpanderShare> {
        self.share.as_ref()
    }

    pub(super) fn share_mut(&mut self) -> Option<&mut ExpanderShare> {
        self.share.as_mut()
    }

    /// Notes that a line takes an entry of a slice.
    pub(super) fn take(&mut self, slice: usize, class: u16, now: Time) {
        if let Some(share) = &mut self.share {
            share.take(slice, class, now);
        }
        if let Some(registers) = &mut self.registers {
            registers.counters.insert(now);
            registers.held += 1;
        }
    }

    /// Notes that a line that took an entry of a slice at `since` leaves it.
    pub(super) fn give_back(&mut self, slice: usize, class: u16, since: Time, now: Time) {
        if let Some(share) = &mut self.share {
            share.give_back(slice, class, since, now);
        }
        if let Some(registers) = &mut self.registers {
            registers.counters.leave(now);
            registers.held -= 1;
        }
    }

    /// Returns the value of a counter.
    ///
    /// # Panics
    /// Panics if the lines are not counted, or the counter is one of the IIO.
    pub(super) fn counter(&self, counter: IioCounter, now: Time) -> u64 {
        let ExpanderRegisters { counters, held, clock_ps } =
            self.registers.as_ref().expect("who reads the registers has them count");
        match counter {
            IioCounter::ExpanderOccupancy => counters.occupancy_ps(now, *held) / clock_ps,
            IioCounter::ExpanderInsertions => counters.insertions(),
            other => unreachable!("the IIO counts {other:?}"),
        }
    }
}
