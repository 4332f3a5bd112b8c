//! Piece of work of the driver of rings: loads, copies and stores of lines, and pointers.

use super::{RingDriver, RingJob, RingStep};
use crate::lfb::Lfb;
use crate::line::{Request, RequestKind};
use crate::mcn::{create_write, RingTag, NEXT_PS};
use crate::os::counters::{CoreTimeKind, StackCounts};
use crate::os::fetch::FetchResult;
use crate::os::lines::Lines;
use crate::os::task::{NextWork, Task};
use crate::params::ring_lines;
use crate::part::{Context, Payload, RingEvent};
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// Progress of a piece of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum RingPhase {
    /// The interrupt or timer has fired.
    Begin,
    /// Pointers of the other side are read.
    Look,
    /// Lines are copied.
    Move,
    /// The core waits until the device has all lines.
    Fence,
    /// The pointer is stored, or the packet is passed on.
    Finish,
}

/// Piece of work in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Work {
    job: RingJob,
    phase: RingPhase,
    class: u8,
    /// Number of lines to look at or of the message; of these, lines that are requested, copied, and stored to the
    /// device.
    lines: u32,
    asked: u32,
    taken: u32,
    stored: u32,
    /// Time at which the core is done with the lines copied so far.
    front: Time,
    /// First virtual line of the message in memory.
    memory: u64,
    fenced: bool,
    /// Time at which the last line was stored.
    since: Time,
}

impl Work {
    /// Notes that the device has all lines.
    pub(super) fn fenced(&mut self) {
        self.fenced = true;
    }

    /// Returns the activity that the time of the work counts for.
    fn spent(&self) -> CoreTimeKind {
        if matches!(self.job, RingJob::Write { .. }) {
            CoreTimeKind::Send
        } else {
            CoreTimeKind::Softirq
        }
    }

    fn turn(&mut self, phase: RingPhase, lines: u32) {
        (self.phase, self.lines, self.asked, self.taken, self.stored) = (phase, lines, 0, 0, 0);
    }
}

impl RingDriver {
    /// Begins a piece of work.
    pub(super) fn begin(&mut self, job: RingJob, context: &Context) {
        let now = context.now();
        let id = match job {
            RingJob::Poll { .. } => None,
            RingJob::Write { id, .. } | RingJob::Read { id, .. } => Some(id),
        };
        let packet = id.map(|id| *context.packets.get(id));
        let class = packet.map_or(0, |packet| self.class_of(packet.flow));
        let engines = self.has_engines();
        let memory = match (job, packet) {
            // Engines have put the message into memory already.
            (RingJob::Read { .. }, Some(packet)) if !engines => self.place(ring_lines(packet.ip_bytes)),
            (_, packet) => packet.map_or(0, |packet| packet.line),
        };
        let mut work = Work {
            job,
            phase: RingPhase::Begin,
            class,
            lines: 0,
            asked: 0,
            taken: 0,
            stored: 0,
            front: now,
            memory,
            fenced: false,
            since: now,
        };
        match job {
            RingJob::Poll { .. } => {}
            RingJob::Write { .. } => work.turn(RingPhase::Look, 1),
            RingJob::Read { .. } if engines => work.turn(RingPhase::Move, 1),
            RingJob::Read { .. } => work.turn(RingPhase::Move, packet.map_or(0, |packet| ring_lines(packet.ip_bytes))),
        }
        self.arrived.fill(false);
        self.work = Some(work);
    }

    /// Returns true if engines move messages: a message that is read is in memory already, and only its first line,
    /// which holds the destination, is loaded.
    fn has_engines(&self) -> bool {
        self.wiring.params.dma_lines.is_some()
    }

    /// Returns the interfaces whose poll words are read.
    fn polled_by(&self, job: RingJob) -> &[u16] {
        match job {
            RingJob::Poll { signal } => &self.polled[usize::from(signal)],
            RingJob::Write { .. } | RingJob::Read { .. } => &[],
        }
    }

    /// Returns the interface whose poll word arrives in a slot, if the core polls.
    pub(super) fn polled_at(&self, slot: u16) -> Option<u16> {
        self.polled_by(self.work?.job).get(usize::from(slot)).copied()
    }

    /// Loads a line of a buffer device into a slot. Returns false if no LFB entry is free.
    fn load(&mut self, line: u64, slot: u16, class: u8, lfb: &mut Lfb, context: &mut Context) -> bool {
        let now = context.now();
        if !lfb.try_take(class, now) {
            return false;
        }
        let request = Request {
            engine: lfb.engine,
            ..context.request(RequestKind::CoreFetch, line, class, RingTag::Read { slot }.tag(class))
        };
        let id = context.requests.insert(request);
        context.send(self.wiring.cha, self.wiring.to_cha_ps, Payload::Arrive(id));
        true
    }

    /// Stores a line of a buffer device past the caches. Returns false if no LFB entry is free.
    fn store(&mut self, line: u64, tag: RingTag, class: u8, lfb: &mut Lfb, context: &mut Context) -> bool {
        if lfb.idle == 0 {
            return false;
        }
        lfb.take_for_write(class, context.now());
        let id = create_write(line, class, tag, context);
        context.requests.get_mut(id).engine = lfb.engine;
        context.send(self.wiring.cha, self.wiring.to_cha_ps, Payload::Arrive(id));
        true
    }

    /// Returns the work per line of a message, in ps.
    fn line_ps(&self, job: RingJob) -> u64 {
        let params = &self.wiring.params;
        if self.has_engines() {
            return 0;
        }
        let drop_line_ps = if matches!(job, RingJob::Read { .. }) { params.drop_line_ps } else { 0 };
        params.copy_line_ps + params.checksum_line_ps + drop_line_ps
    }

    /// Returns the line of a ring that holds a line of a message.
    fn line_of(&self, job: RingJob, line: u32) -> u64 {
        let (port, first, out) = match job {
            RingJob::Write { port, line, .. } => (port, line, true),
            RingJob::Read { port, line, .. } => (port, line, false),
            RingJob::Poll { .. } => unreachable!("who polls moves nothing"),
        };
        let ring = self.wiring.params.ring_bytes[usize::from(!out)] / 64;
        self.wiring.windows[usize::from(port)].ring(out, (u32::from(first) + line) % ring)
    }

    /// Loads pointers of the other side. Returns true if all have arrived.
    fn look(&mut self, work: &mut Work, lfb: &mut Lfb, context: &mut Context) -> bool {
        while work.asked < work.lines {
            let line = match work.job {
                RingJob::Write { port, .. } => self.wiring.windows[usize::from(port)].other_start(),
                _ => self.wiring.windows[usize::from(self.polled_by(work.job)[work.asked as usize])].other_end(),
            };
            if !self.load(line, work.asked as u16, work.class, lfb, context) {
                break;
            }
            work.asked += 1;
        }
        work.asked == work.lines && self.arrived[..work.lines as usize].iter().all(|there| *there)
    }

    /// Stores lines that have been copied to the device. Returns true if all of these are in flight.
    fn flush(&mut self, work: &mut Work, lfb: &mut Lfb, context: &mut Context) -> bool {
        let RingJob::Write { port, .. } = work.job else { return true };
        while work.stored < work.taken {
            let line = self.line_of(work.job, work.stored);
            if !self.store(line, RingTag::Data { port }, work.class, lfb, context) {
                return false;
            }
            work.stored += 1;
            work.since = context.now();
        }
        true
    }

    /// Continues the piece of work. Returns [`RingStep::Nothing`] if it can continue at once, or is over.
    pub(super) fn work(
        &mut self,
        lines: &mut Lines,
        lfb: &mut Lfb,
        counts: &mut StackCounts,
        context: &mut Context,
    ) -> RingStep {
        let Some(mut work) = self.work else { return RingStep::Nothing };
        let spent = work.spent();
        let choice = match work.phase {
            RingPhase::Begin => {
                work.turn(RingPhase::Look, self.polled_by(work.job).len() as u32);
                Some(NextWork::Work(Task::Ring, self.wiring.params.poll_ps, spent))
            }
            RingPhase::Look => self.read_pointers(&mut work, lfb, context),
            RingPhase::Move => self.move_lines(&mut work, lines, lfb, counts, context),
            // Without a fence a controller may issue the pointer before the lines that it points to.
            RingPhase::Fence if work.fenced || !self.wiring.params.fence => {
                work.phase = RingPhase::Finish;
                None
            }
            RingPhase::Fence => Some(NextWork::Wait(spent)),
            RingPhase::Finish => return self.end_work(work, lfb, context),
        };
        // The interfaces send the jobs for the messages that the poll has found.
        let over = work.phase == RingPhase::Look && choice.is_none() && matches!(work.job, RingJob::Poll { .. });
        self.work = (!over).then_some(work);
        choice.map_or(RingStep::Nothing, RingStep::Busy)
    }

    /// Reads the pointers of the other side. Returns `None` if all have arrived.
    fn read_pointers(&mut self, work: &mut Work, lfb: &mut Lfb, context: &mut Context) -> Option<NextWork> {
        if !self.look(work, lfb, context) {
            return Some(NextWork::Wait(work.spent()));
        }
        self.arrived.fill(false);
        match work.job {
            RingJob::Write { id, .. } => work.turn(RingPhase::Move, ring_lines(context.packets.get(id).ip_bytes)),
            _ => context.send(self.wiring.part, NEXT_PS, Payload::Ring(RingEvent::Polled)),
        }
        work.front = context.now();
        None
    }

    /// Copies lines of a message. Returns `None` if all are copied and in flight to the device.
    fn move_lines(
        &mut self,
        work: &mut Work,
        lines: &mut Lines,
        lfb: &mut Lfb,
        counts: &mut StackCounts,
        context: &mut Context,
    ) -> Option<NextWork> {
        let (now, spent) = (context.now(), work.spent());
        loop {
            self.fetch_ahead(work, lines, lfb, context);
            let flushed = self.flush(work, lfb, context);
            if work.front > now {
                return Some(NextWork::Work(Task::Ring, work.front.since(now), spent));
            }
            if work.taken == work.lines {
                work.phase =
                    if matches!(work.job, RingJob::Write { .. }) { RingPhase::Fence } else { RingPhase::Finish };
                // The fence waits for lines on the channel, so all must have left the core.
                if flushed {
                    return None;
                }
                work.phase = RingPhase::Move;
                return Some(NextWork::Wait(spent));
            }
            let slot = work.taken as usize % self.arrived.len();
            if !self.arrived[slot] || !flushed || !lines.may_store() {
                return Some(NextWork::Wait(spent));
            }
            self.arrived[slot] = false;
            work.front = now + self.line_ps(work.job);
            if matches!(work.job, RingJob::Read { .. }) && !self.has_engines() {
                let address = (work.memory + u64::from(work.taken)) * 64;
                lines.store_for_ring(address, work.class, lfb, counts, context);
            }
            work.taken += 1;
        }
    }

    /// Requests lines ahead: of a message that is read only the first, which holds the length, until that line is
    /// copied.
    fn fetch_ahead(&mut self, work: &mut Work, lines: &mut Lines, lfb: &mut Lfb, context: &mut Context) {
        let reads = matches!(work.job, RingJob::Read { .. });
        // The length is in the first line, so no more can be requested before it.
        let ahead = if reads && work.taken == 0 { 1 } else { self.ahead };
        while work.asked < work.lines.min(work.taken + ahead) {
            let slot = (work.asked as usize % self.arrived.len()) as u16;
            if reads && !self.has_engines() {
                let line = self.line_of(work.job, work.asked);
                if !self.load(line, slot, work.class, lfb, context) {
                    return;
                }
            } else {
                let address = (work.memory + u64::from(work.asked)) * 64;
                match lines.read_for_ring(address, slot, work.class, lfb, context) {
                    FetchResult::Cached => self.note_arrived(slot),
                    FetchResult::Requested => {}
                    FetchResult::Full => return,
                }
            }
            work.asked += 1;
        }
    }

    /// Ends the piece of work: stores the pointer of a message, or passes its packet on.
    fn end_work(&mut self, work: Work, lfb: &mut Lfb, context: &mut Context) -> RingStep {
        match work.job {
            RingJob::Write { port, .. } => {
                let line = self.wiring.windows[usize::from(port)].own_end();
                if !self.store(line, RingTag::End { port }, work.class, lfb, context) {
                    return RingStep::Busy(NextWork::Wait(work.spent()));
                }
                if self.wiring.params.fence {
                    let ps = u32::try_from(context.now().since(work.since)).unwrap_or(u32::MAX);
                    context.send(self.wiring.part, NEXT_PS, Payload::Ring(RingEvent::Waited { port, ps }));
                }
            }
            RingJob::Read { id, port, .. } => {
                context.packets.get_mut(id).line = work.memory;
                let lines = work.lines as u16;
                context.send(self.wiring.part, NEXT_PS, Payload::Ring(RingEvent::Done { port, lines }));
                self.work = None;
                return RingStep::Forward(id);
            }
            RingJob::Poll { .. } => {}
        }
        self.work = None;
        RingStep::Nothing
    }
}
