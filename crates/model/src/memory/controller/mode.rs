//! Reading or writing: which direction the controller works in.

use super::{Controller, Plan};
use crate::params::IdleDrain;
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// Which way a controller works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Mode {
    Read,
    Write,
}

impl Controller {
    /// Enters or leaves write mode; true when the direction of work has changed.
    #[inline]
    pub(super) fn choose_mode(&mut self, now: Time, clock: u64) -> bool {
        !self.mode_stays() && self.change_mode(now, clock)
    }

    /// Whether it is plain that nothing changes.
    #[inline]
    fn mode_stays(&self) -> bool {
        let (reads, writes) = (self.reads.len(), self.writes.len());
        match self.mode {
            Mode::Read => reads > 0 && writes < self.params.write_high && !self.idle_drain,
            Mode::Write => writes > self.params.write_low && self.served < self.params.writes_per_mode,
        }
    }

    fn change_mode(&mut self, now: Time, clock: u64) -> bool {
        let before = (self.mode, self.idle_drain);
        let (reads, writes) = (self.reads.len(), self.writes.len());
        match self.mode {
            Mode::Read if self.starts_writing(reads, writes, clock) => self.start_writing(now),
            Mode::Write if self.stops_writing(reads, writes) => {
                self.mode = Mode::Read;
                self.counters.write_mode_ps += now.since(self.mode_since);
                self.served = 0;
            }
            _ => {}
        }
        if self.mode == Mode::Read && self.params.idle_drain == IdleDrain::Yield {
            self.idle_drain = if self.idle_drain {
                writes > 0 && !self.reads_press(reads, clock)
            } else {
                reads == 0 && self.suffice_when_idle(writes, clock)
            };
        }
        before != (self.mode, self.idle_drain)
    }

    /// Whether reads end the writes that an empty read queue let pass: by their number, by the number that would hit an
    /// open row, or by age.
    fn reads_press(&self, reads: u32, clock: u64) -> bool {
        let p = &self.params;
        reads > p.idle_reads
            || reads > p.idle_hits && self.reads.hitting() > p.idle_hits
            || clock >= self.patience_ends()
    }

    /// The clock at which the oldest read has waited long enough for writes that an empty read queue let pass.
    #[inline]
    fn patience_ends(&self) -> u64 {
        if self.reads.len() == 0 || self.params.idle_age == u32::MAX {
            return u64::MAX;
        }
        self.reads_since + u64::from(self.params.idle_age)
    }

    /// What is planned, or no more than to look again when a read has waited long enough.
    #[inline]
    pub(super) fn or_patience(&self, plan: Plan) -> Plan {
        if self.idle_drain {
            plan.or(Plan::nothing(self.patience_ends()))
        } else {
            plan
        }
    }

    /// Whether an idle read queue lets so many writes pass.
    fn suffice_when_idle(&self, writes: u32, clock: u64) -> bool {
        writes >= self.params.idle_writes || clock >= self.flush_at()
    }

    /// The clock at which the last write has waited long enough for others.
    #[inline]
    fn flush_at(&self) -> u64 {
        if self.writes.len() == 0 || self.params.idle_flush == u32::MAX {
            return u64::MAX;
        }
        self.last_write + u64::from(self.params.idle_flush)
    }

    /// What is planned in read mode, or no more than to look again when writes have waited long enough for others.
    #[inline]
    pub(super) fn or_flush(&self, plan: Plan) -> Plan {
        if self.params.idle_flush == u32::MAX || self.reads.len() > 0 {
            plan
        } else {
            plan.or(Plan::nothing(self.flush_at()))
        }
    }

    fn starts_writing(&self, reads: u32, writes: u32, clock: u64) -> bool {
        let p = &self.params;
        let idle = p.idle_drain == IdleDrain::Mode && reads == 0 && self.suffice_when_idle(writes, clock);
        idle || writes >= p.write_high && (self.served >= p.reads_per_mode || reads <= p.reads_few)
    }

    fn stops_writing(&self, reads: u32, writes: u32) -> bool {
        let p = &self.params;
        if p.idle_drain == IdleDrain::Mode && reads == 0 {
            return writes == 0;
        }
        writes <= p.write_low || self.served >= p.writes_per_mode && reads > 0
    }

    fn start_writing(&mut self, now: Time) {
        self.mode = Mode::Write;
        self.mode_since = now;
        self.served = 0;
        self.idle_drain = false;
        self.counters.write_modes += 1;
    }
}
