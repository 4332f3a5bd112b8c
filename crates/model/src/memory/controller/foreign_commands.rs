//! Use of the buses and banks by others than requests: slots of an asynchronous DIMM, and clones of rows.

use super::{bits, Controller};

impl Controller {
    /// Returns the first clock from `clock` on at which a foreign command may use the command bus. If a line follows
    /// the command, `line` is true if the line goes to the device, false if it comes from the device.
    #[must_use]
    pub fn earliest_slot(&self, clock: u64, line: Option<bool>) -> u64 {
        let bus = clock.max(self.scheduler.buses.column);
        line.map_or(bus, |write| bus.max(self.scheduler.timing.earliest_transfer(write)))
    }

    /// Occupies the buses for a foreign command at `clock`, which is not after the planned command, and plans anew.
    pub fn use_slot(&mut self, clock: u64, line: Option<bool>) {
        self.scheduler.buses.use_column(clock);
        if let Some(write) = line {
            self.scheduler.timing.transfer(clock, write);
            self.scheduler.candidates.bus_used();
        }
        self.plan = self.scheduler.plan_from(clock);
    }

    /// Returns the clocks from the command of a slot to the end of its line, 0 without a line.
    #[must_use]
    pub fn slot_clocks(&self, line: Option<bool>) -> u64 {
        let t = &self.scheduler.dram.timing;
        line.map_or(0, |write| u64::from(if write { t.cwl } else { t.cl } + t.burst))
    }

    /// Occupies `banks` for `clocks` clocks as soon as all are free, from `clock` on, and leaves them without an open
    /// row. Returns the clock at which they are free again, or `None` while writes wait for one of them or a request
    /// owns one.
    pub fn occupy(&mut self, clock: u64, banks: u64, clocks: u64) -> Option<u64> {
        // A queued write may be for a row that the clone copies, and an owner still needs its open row.
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
