//! What the controller does next: modes, and first-ready first-come first-served (FR-FCFS) within them.

use super::queue::Queue;
use super::{Channel, Mode};
use hostnet_kernel::Time;

/// A command to the DRAM, for a request of the given direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// Read or write a line of the open row.
    Cas { bank: usize, write: bool },
    /// Open the row that the oldest request of the bank wants.
    Activate { bank: usize, write: bool },
    /// Close a row that is in the way.
    Precharge { bank: usize, write: bool },
}

/// The best command found so far: column accesses before activations before precharges, the oldest first.
#[derive(Clone, Copy)]
struct Best {
    rank: (u8, u64),
    command: Option<Command>,
    /// The first clock at which anything may go.
    next: u64,
}

impl Best {
    fn new() -> Self {
        Self { rank: (u8::MAX, u64::MAX), command: None, next: u64::MAX }
    }

    #[inline]
    fn offer(&mut self, clock: u64, ready: u64, class: u8, order: u64, command: Command) {
        if ready > clock {
            self.next = self.next.min(ready);
        } else if (class, order) < self.rank {
            self.rank = (class, order);
            self.command = Some(command);
        }
    }
}

impl Channel {
    /// Enters or leaves write mode.
    pub(super) fn choose_mode(&mut self, clock: u64, now: Time) {
        let (reads, writes) = (self.reads.len(), self.writes.len());
        let p = &self.params;
        match self.mode {
            Mode::Read if writes >= p.write_high && (self.served >= p.reads_per_mode || reads <= p.reads_few) => {
                self.mode = Mode::Write;
                self.mode_since = now;
                self.served = 0;
                self.idle_drain = false;
                self.counters.write_modes += 1;
            }
            Mode::Write if writes <= p.write_low || (self.served >= p.writes_per_mode && reads > 0) => {
                self.mode = Mode::Read;
                self.counters.write_mode_ps += now.since(self.mode_since);
                self.served = 0;
            }
            _ => {}
        }
        if self.mode == Mode::Read {
            self.idle_drain = if self.idle_drain {
                writes > 0 && reads <= p.reads_few + 1
            } else {
                reads == 0 && writes >= p.idle_writes
            };
        }
        let _ = clock;
    }

    /// The command to issue at `clock`, and otherwise the first clock at which there may be one.
    pub(super) fn choose(&self, clock: u64) -> (Option<Command>, u64) {
        let mut best = Best::new();
        if self.mode == Mode::Write {
            self.scan(&self.writes, true, u64::MAX, clock, &mut best);
            return (best.command, best.next);
        }
        if self.idle_drain {
            self.scan(&self.writes, true, u64::MAX, clock, &mut best);
            return (best.command, best.next);
        }
        self.scan(&self.reads, false, u64::MAX, clock, &mut best);
        if best.command.is_none() && self.reads.banks != 0 && self.writes.len() >= self.params.spare_writes {
            self.scan(&self.writes, true, self.unread_ranks(), clock, &mut best);
        }
        (best.command, best.next)
    }

    /// Banks of ranks that no read waits for.
    fn unread_ranks(&self) -> u64 {
        (0..self.dram.ranks as usize)
            .map(|rank| self.timing.banks_of_rank(rank))
            .filter(|banks| banks & self.reads.banks == 0)
            .fold(0, |all, banks| all | banks)
    }

    fn scan(&self, queue: &Queue, write: bool, among: u64, clock: u64, best: &mut Best) {
        let mut banks = queue.banks & among;
        while banks != 0 {
            let bank = banks.trailing_zeros() as usize;
            banks &= banks - 1;
            self.offer(queue, bank, write, clock, best);
        }
    }

    #[inline]
    fn offer(&self, queue: &Queue, bank: usize, write: bool, clock: u64, best: &mut Best) {
        let Some(head) = queue.oldest(bank) else { return };
        let oldest = queue.entry(head);
        if self.timing.banks[bank].open_row.is_none() {
            let ready = self.timing.earliest_act(bank);
            best.offer(clock, ready, 1, oldest.order, Command::Activate { bank, write });
            return;
        }
        let hit = queue.hit(bank);
        let held = clock < oldest.arrived + u64::from(self.params.row_hold);
        match hit {
            Some(hit) if held || hit == head => {
                let order = queue.entry(hit).order;
                let ready = self.timing.earliest_cas(bank, write);
                best.offer(clock, ready, 0, order, Command::Cas { bank, write });
            }
            _ => {
                let ready = self.timing.earliest_precharge(bank);
                best.offer(clock, ready, 2, oldest.order, Command::Precharge { bank, write });
            }
        }
    }

    /// The first clock at which a request that has just come may change what the channel does.
    pub(super) fn first_use(&self, bank: usize, read: bool, clock: u64) -> u64 {
        if read != (self.mode == Mode::Read) || self.idle_drain || !read {
            return clock;
        }
        let mut best = Best::new();
        self.offer(&self.reads, bank, false, clock, &mut best);
        if best.command.is_some() { clock } else { best.next }
    }
}
