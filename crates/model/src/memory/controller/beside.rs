//! What uses the buses and the banks beside the requests: slots of a DIMM that answers for itself, and clones of rows.

use super::{bits, Controller};

impl Controller {
    /// The first clock from `clock` on at which a command that is none of the controller's may go over the bus; with a
    /// line, to the device or from it, if `line` says which (true: to it).
    #[must_use]
    pub fn earliest_slot(&self, clock: u64, line: Option<bool>) -> u64 {
        let bus = clock.max(self.scheduler.buses.column);
        line.map_or(bus, |write| bus.max(self.scheduler.timing.earliest_transfer(write)))
    }

    /// Such a command goes at `clock`, which is no later than the planned one; decides anew.
    pub fn use_slot(&mut self, clock: u64, line: Option<bool>) {
        self.scheduler.buses.use_column(clock);
        if let Some(write) = line {
            self.scheduler.timing.transfer(clock, write);
            self.scheduler.candidates.bus_used();
        }
        self.plan = self.scheduler.plan_from(clock);
    }

    /// Clocks from the command of a slot to the end of its line.
    #[must_use]
    pub fn slot_clocks(&self, line: Option<bool>) -> u64 {
        let t = &self.scheduler.dram.timing;
        line.map_or(0, |write| u64::from(if write { t.cwl } else { t.cl } + t.burst))
    }

    /// Occupies `banks` for `clocks` clocks as soon as they are free from `clock` on, with no row open at the end:
    /// the clock at which they are free again. Nothing while writes wait for them, or a request owns one of them.
    pub fn occupy(&mut self, clock: u64, banks: u64, clocks: u64) -> Option<u64> {
        if (self.scheduler.writes.banks | self.scheduler.owned()) & banks != 0 {
            return None;
        }
        let begin = bits(banks).map(|bank| self.scheduler.timing.earliest_open(bank)).max().unwrap_or(0).max(clock);
        let open = banks & self.scheduler.timing.open;
        self.scheduler.timing.occupy(banks, begin + clocks);
        bits(open).for_each(|bank| self.row_closed(bank));
        self.scheduler.candidates.refreshed();
        self.plan = self.scheduler.plan_from(clock);
        Some(begin + clocks)
    }
}
