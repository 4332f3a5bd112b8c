//! The work of cores: operations, work queues and completion queues.

use super::Chip;
use crate::agenda::Action;
use crate::caches::Access;
use crate::core::{CoreActivity, REGION_LINES};
use crate::floor::{Unit, DATA_LINES};
use crate::op::RemoteOp;
use crate::params::QUEUE_LINES;
use crate::stats::PARTS;
use crate::{Mode, OpKind, Placement};
use hostnet_coherence::cache::Completion;
use hostnet_coherence::tile::TileHalf;

impl Chip {
    /// Begins an operation of a core.
    pub(crate) fn begin(&mut self, core: u16) {
        self.units.tiles[usize::from(core)].core.more = false;
        if self.stopping {
            self.end(core);
            return;
        }
        let lines = self.fabric.params.workload.lines;
        let mut base = || {
            // Aligned to the length of an operation, which therefore stays within the region.
            let places = REGION_LINES / u64::from(lines);
            DATA_LINES + self.fabric.rng.below(places) * u64::from(lines)
        };
        let (local, remote) = (base(), base());
        let (target, far) = self.remote.target(&mut self.fabric);
        let kind = self.draw_kind();
        let op =
            RemoteOp { kind, core, lines, target, far, local, remote, began: self.fabric.now, ..RemoteOp::default() };
        let op = self.ops.put(op);
        self.units.tiles[usize::from(core)].core.doing = CoreActivity::Busy;
        if self.fabric.params.ni.placement == Placement::Numa {
            let now = self.fabric.now;
            let one = self.ops.get(op);
            // Without queues the first parts of the latency take no time.
            (one.written, one.read, one.handed) = (now, now, now);
            self.at_backend(op, self.fabric.params.software.load);
            self.load_more(core);
        } else {
            self.fabric.schedule(self.fabric.params.software.wq_write, Action::StoreWq { core, op });
        }
    }

    fn draw_kind(&mut self) -> OpKind {
        let writes = match self.fabric.params.workload.writes_percent {
            // Nothing is drawn where nothing is random, so that the addresses of both extremes are alike.
            0 => false,
            100 => true,
            percent => self.fabric.rng.below(100) < u64::from(percent),
        };
        if writes {
            OpKind::Write
        } else {
            OpKind::Read
        }
    }

    /// Counts a load of a core without queues and schedules the next one if another may be in flight.
    fn load_more(&mut self, core: u16) {
        let software = self.fabric.params.software;
        let one = &mut self.units.tiles[usize::from(core)].core;
        one.out += 1;
        if self.fabric.params.workload.mode == Mode::Async && one.out < software.mshrs {
            one.more = true;
            self.fabric.schedule(software.load, Action::Begin(core));
        }
    }

    /// Lets a core that begins no more operations wait for those in flight.
    fn end(&mut self, core: u16) {
        let one = &mut self.units.tiles[usize::from(core)].core;
        if one.written == one.read {
            one.doing = CoreActivity::Nothing;
        } else if one.doing != CoreActivity::Spinning {
            one.doing = CoreActivity::Spinning;
            self.poll(core);
        }
    }

    /// Stores a computed work queue entry.
    pub(crate) fn store_wq(&mut self, core: u16, op: u32) {
        let one = &mut self.units.tiles[usize::from(core)].core;
        let entry = one.written;
        let place = (entry % one.requests.len() as u64) as usize;
        one.requests[place] = op;
        one.storing = op;
        let line = self.fabric.wq_line(core, entry);
        // The value of a line is the number of entries written so far; 0 is an unused queue.
        if self.access(Unit::Core(core), TileHalf::Core, line, Access::Store(entry as u32 + 1)).is_some() {
            self.stored_wq(core);
        }
    }

    fn stored_wq(&mut self, core: u16) {
        let one = &mut self.units.tiles[usize::from(core)].core;
        one.written += 1;
        one.since_poll += 1;
        self.ops.get(one.storing).written = self.fabric.now;
        self.go_on(core);
    }

    /// Chooses the next activity of a core.
    fn go_on(&mut self, core: u16) {
        let software = self.fabric.params.software;
        let asynchronous = self.fabric.params.workload.mode == Mode::Async;
        let one = &mut self.units.tiles[usize::from(core)].core;
        // An entry is in use until its completion has been read, so both queues have room alike.
        let room = one.written - one.read < one.requests.len() as u64;
        if !(asynchronous && room) {
            one.doing = CoreActivity::Spinning;
            self.poll(core);
        // Completions that are known are read before further operations; others are looked for every few operations.
        } else if (one.since_poll >= software.poll_every && !one.loading) || one.seen > one.read {
            one.since_poll = 0;
            self.poll(core);
        } else {
            self.begin(core);
        }
    }

    /// Polls a changed line of the completion queue for a core that is spinning.
    pub(crate) fn poll_again(&mut self, core: u16) {
        let one = &mut self.units.tiles[usize::from(core)].core;
        one.polling = false;
        if one.doing == CoreActivity::Spinning {
            self.poll(core);
        }
    }

    /// Polls the completion queue of a core.
    fn poll(&mut self, core: u16) {
        let one = &self.units.tiles[usize::from(core)].core;
        let entry = one.read;
        // A line holds several entries: the last poll has already shown this one.
        if one.seen > entry {
            self.read_entry(core, 0);
            return;
        }
        if one.loading {
            return;
        }
        let line = self.fabric.cq_line(core, entry);
        match self.access(Unit::Core(core), TileHalf::Core, line, Access::Load) {
            Some((Completion::Loaded(value), handed_over)) if u64::from(value) > entry => {
                self.units.tiles[usize::from(core)].core.seen = u64::from(value);
                // The poll itself has already taken one cycle of the handover.
                let handover = self.fabric.params.ni.handover_cycles.saturating_sub(1);
                self.read_entry(core, if handed_over { handover } else { 0 });
            }
            // A spinning core needs no further event: `changed` polls again when the line changes.
            Some(_) => self.found_nothing(core),
            None => {
                let one = &mut self.units.tiles[usize::from(core)].core;
                one.loading = true;
                if one.doing != CoreActivity::Spinning {
                    self.begin(core);
                }
            }
        }
    }

    fn found_nothing(&mut self, core: u16) {
        if self.units.tiles[usize::from(core)].core.doing != CoreActivity::Spinning {
            self.begin(core);
        }
    }

    /// Schedules the read of an entry, which takes software some cycles after the entry has arrived.
    fn read_entry(&mut self, core: u16, after: u32) {
        let seen = self.fabric.now + u64::from(after);
        self.units.tiles[usize::from(core)].core.doing = CoreActivity::Busy;
        // The operation is complete for software only when it has read the entry.
        self.fabric.schedule(after + self.fabric.params.software.cq_read, Action::CqRead { core, seen });
    }

    pub(crate) fn cq_read(&mut self, core: u16, seen: u64) {
        let one = &mut self.units.tiles[usize::from(core)].core;
        let op = one.completions[(one.read % one.completions.len() as u64) as usize];
        one.read += 1;
        self.finish(op, seen);
        match self.fabric.params.workload.mode {
            Mode::Async => {
                // Remaining entries are read one after the other before further operations begin.
                self.units.tiles[usize::from(core)].core.since_poll = self.fabric.params.software.poll_every;
                self.go_on(core);
            }
            Mode::Sync => self.begin(core),
            Mode::Turns => self.next_turn(core),
        }
    }

    /// Begins an operation of the next core that takes part.
    fn next_turn(&mut self, core: u16) {
        self.units.tiles[usize::from(core)].core.doing = CoreActivity::Nothing;
        let cores = &self.fabric.params.workload.cores;
        // In ascending order, and from the last core back to the first.
        let after = cores.iter().position(|one| *one > core).unwrap_or(0);
        let next = cores[after];
        self.begin(next);
    }

    /// Completes an operation of a core without queues, all of whose lines have arrived.
    pub(crate) fn loaded(&mut self, op: u32) {
        let now = self.fabric.now;
        let one = self.ops.get(op);
        (one.at_frontend, one.posting, one.posted) = (now, now, now);
        let core = one.core;
        self.finish(op, now);
        let one = &mut self.units.tiles[usize::from(core)].core;
        one.out -= 1;
        match self.fabric.params.workload.mode {
            Mode::Turns => self.next_turn(core),
            // The next load is scheduled already.
            Mode::Async if one.more => {}
            Mode::Sync | Mode::Async => self.begin(core),
        }
    }

    /// Records a completed operation.
    fn finish(&mut self, op: u32, seen: u64) {
        let now = self.fabric.now;
        let op = self.ops.take(op);
        let last = op.last;
        // The network between the chips has a latency and no queues, so arrival follows from departure.
        let arrived = last.left + u64::from(op.far);
        let times: [u64; PARTS.len() + 1] = [
            op.began,
            op.written,
            op.read,
            op.handed,
            op.at_backend,
            last.made,
            last.left,
            arrived,
            arrived + last.served,
            last.back,
            last.at_rcp,
            op.completed,
            op.at_frontend,
            op.posting,
            op.posted,
            seen,
            now,
        ];
        self.stats.breakdown.add(&times);
        self.stats.latency.record(now - op.began);
    }

    /// Handles the completion of an access that had to wait.
    pub(crate) fn cached(&mut self, at: Unit, half: TileHalf, line: u64, completion: Completion) {
        self.queues.end_fill(at, line);
        let core = (line / QUEUE_LINES) as u16;
        match (half, completion) {
            (TileHalf::Ni, Completion::Loaded(_)) => self.wq_loaded(core),
            (TileHalf::Ni, Completion::Stored) => self.cq_stored(core),
            (TileHalf::Core, Completion::Stored) => self.stored_wq(core),
            (TileHalf::Core, Completion::Loaded(value)) => {
                let one = &mut self.units.tiles[usize::from(core)].core;
                one.loading = false;
                // A line of older entries has a smaller number than one that was read before.
                one.seen = one.seen.max(u64::from(value));
                if one.doing == CoreActivity::Spinning {
                    if one.seen > one.read {
                        self.read_entry(core, 0);
                    } else {
                        self.units.poll_soon(core, &mut self.fabric);
                    }
                }
            }
        }
        if self.units.caches(at).is_pair() {
            self.units.changed(at, line, &mut self.fabric);
        }
        // Retries an access that had to wait for one of the other half of a tile.
        let Some((at, half, line, access)) = self.queues.take_stalled(at, line) else { return };
        if let Some((completion, _)) = self.access(at, half, line, access) {
            self.cached(at, half, line, completion);
        }
    }
}
