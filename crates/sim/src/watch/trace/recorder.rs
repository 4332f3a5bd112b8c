//! Follows every line through the events of a run.

use super::passage::passages;
use super::{Crossing, Hop, OccupancyCounter, Trace};
use crate::read::sample::PoolGroup;
use crate::watch::events::{event_request, Part};
use hostnet_kernel::{ComponentId, Event, Observer, Time};
use hostnet_model::params::SocketParams;
use hostnet_model::{Machine, Notice, PartKind, Payload, Pool, Request, RequestId};

/// Maximum number of crossings kept: a file of some tens of MB.
const CROSSINGS_MAX: usize = 100_000;
/// Maximum number of steps of a counter.
const STEPS_MAX: u64 = 10_000;
/// Minimum step of a counter, in ps: the resolution of the file.
const STEP_MIN_PS: u64 = 1_000;

/// Data about a line in flight that its request does not have.
#[derive(Clone, Copy, Debug, Default)]
struct LineInFlight {
    line: u64,
    at_cha_ps: u64,
    at_mc_ps: u64,
    left_cha_ps: u64,
}

/// Recorder of the trace of a server.
#[derive(Clone, Debug)]
pub(crate) struct TraceRecorder {
    trace: Trace,
    first: ComponentId,
    /// Flights by request; `None` for a line that was sent before the trace began.
    flights: Vec<Option<LineInFlight>>,
    /// Index of the first counter of each component.
    first_counter: Vec<usize>,
    /// Time until which the counters of each component are known, in ps.
    seen_ps: Vec<u64>,
    next_line: u64,
    from_mc_ps: u64,
    write_ack_ps: u64,
    /// Time from a RD command to the end of its data, in ps.
    data_ps: u64,
}

impl TraceRecorder {
    /// Creates a recorder for `machine`, a server of one socket with `params`, from `start_ps` to `end_ps`.
    pub(crate) fn new(params: &SocketParams, machine: &Machine, start_ps: u64, end_ps: u64) -> Self {
        let dram = &params.memory.dram;
        let clocks = u64::from(dram.timing.cl + dram.timing.burst);
        let step_ps = ((end_ps - start_ps) / STEPS_MAX).next_multiple_of(STEP_MIN_PS).max(STEP_MIN_PS);
        let mut recorder = Self {
            trace: Trace {
                start_ps,
                end_ps,
                crossings: Vec::new(),
                one_in: 1,
                counters: Vec::new(),
                passages: Vec::new(),
            },
            first: machine.first_id(),
            flights: Vec::new(),
            first_counter: Vec::new(),
            seen_ps: vec![start_ps; machine.components().len()],
            next_line: 0,
            from_mc_ps: params.cha.from_mc_ps,
            write_ack_ps: params.cha.write_ack_ps,
            data_ps: clocks * dram.clock_ps_numerator / dram.clock_ps_denominator,
        };
        for (name, part) in machine.parts() {
            let counters = &mut recorder.trace.counters;
            recorder.first_counter.push(counters.len());
            queues(part, |Pool { group, domain }| {
                let (capacity, in_use) = (domain.capacity(), domain.in_use());
                counters.push(OccupancyCounter::new(name.into(), group, capacity, in_use, start_ps, step_ps));
            });
        }
        recorder
    }

    /// Returns true if a component belongs to the observed server.
    pub(crate) fn follows(&self, component: ComponentId) -> bool {
        // An id below the first wraps to a large number, so one comparison checks both ends.
        (component.0.wrapping_sub(self.first.0) as usize) < self.first_counter.len()
    }

    /// Returns the planned end of the trace, in ps.
    pub(crate) fn end_ps(&self) -> u64 {
        self.trace.end_ps
    }

    /// Returns the trace of `machine` until `now_ps`. The statistics of the machine must have been settled.
    pub(crate) fn finish(mut self, machine: &Machine, now_ps: u64) -> Trace {
        // Parts without a late event still have steps that no counter has seen.
        (0..self.first_counter.len()).for_each(|index| self.step(index, now_ps, machine));
        self.trace.end_ps = now_ps;
        self.trace.passages = passages(machine);
        self.trace.counters.iter_mut().for_each(|counter| counter.finish(now_ps));
        // Queues that were never used are left out.
        self.trace.counters.retain(|counter| counter.points.iter().any(|point| point.1 > 0.0));
        self.trace
    }

    fn flight(&mut self, id: RequestId) -> &mut Option<LineInFlight> {
        let index = id.0 as usize;
        if self.flights.len() <= index {
            self.flights.resize(index + 1, None);
        }
        &mut self.flights[index]
    }

    fn start_line(&mut self, id: RequestId, now_ps: u64) {
        let line = self.next_line;
        self.next_line += 1;
        *self.flight(id) = Some(LineInFlight { line, at_cha_ps: now_ps, ..LineInFlight::default() });
    }

    /// Records the time at which a request sent to a channel will arrive there.
    fn record_memory_arrival(&mut self, notices: &Notice) {
        let Payload::Arrive(id) = notices.payload else { return };
        if let Some(flight) = self.flight(id) {
            flight.at_mc_ps = notices.at.ps();
        }
    }

    /// Records the end of a request in a domain of the CHA, whose answer is then sent back.
    fn record_cha_end(&mut self, id: RequestId, request: &Request, now_ps: u64) {
        let group = if request.kind.is_read() { PoolGroup::ChaRead } else { PoolGroup::ChaWrite };
        // The answer took this long from the controller to the CHA, so it left there earlier.
        let answered_ps = if request.kind.is_read() { now_ps - self.from_mc_ps } else { now_ps - self.write_ack_ps };
        let data_ps = self.data_ps;
        let part = Part { kind: "cha", number: 0, server: Some(0) };
        let flight = self.flight(id).as_mut().map(|flight| {
            flight.left_cha_ps = now_ps;
            *flight
        });
        // Lines that never went to a local channel have no hops behind the CHA.
        let hops = flight.filter(|flight| flight.at_mc_ps > 0).map(|flight| {
            // Data that leave earlier than DRAM could deliver them came from the WPQ.
            let read_ps = answered_ps.saturating_sub(data_ps);
            let served = match request.kind.is_read() {
                true if read_ps >= flight.at_mc_ps => [Some((Hop::Rpq, read_ps)), Some((Hop::Dram, answered_ps))],
                true => [Some((Hop::Forwarded, answered_ps)), None],
                false => [Some((Hop::WaitForWpq, answered_ps)), None],
            };
            [Some((Hop::ToMc, flight.at_mc_ps)), served[0], served[1], Some((Hop::FromMc, now_ps))]
        });
        self.keep_crossing(flight, hops, crossing(request, group, part, request.admitted, now_ps));
    }

    /// Records the return of a credit of a core or the IIO.
    fn record_credit_return(&mut self, id: RequestId, request: &Request, group: PoolGroup, part: Part, now_ps: u64) {
        let flight = *self.flight(id);
        let hops = flight.map(|flight| {
            let admitted_ps = request.admitted.ps();
            let tor =
                // C2M-Write ends at the admission, while its line is still at the CHA.
                (flight.left_cha_ps > 0 && group != PoolGroup::C2mWrite).then_some((Hop::Tor, flight.left_cha_ps));
            let queued = Some((Hop::WaitForTor, admitted_ps));
            [Some((Hop::ToCha, flight.at_cha_ps)), queued, tor, Some((Hop::Back, now_ps))]
        });
        self.keep_crossing(flight, hops, crossing(request, group, part, request.since, now_ps));
    }

    fn keep_crossing(
        &mut self,
        flight: Option<LineInFlight>,
        hops: Option<[Option<(Hop, u64)>; 4]>,
        crossing: Crossing,
    ) {
        // A line from before the trace has no number yet and gets one here.
        let line = flight.map_or(self.next_line, |flight| flight.line);
        self.next_line += u64::from(flight.is_none());
        if line % self.trace.one_in > 0 {
            return;
        }
        self.trace.crossings.push(Crossing { line, hops: hops.unwrap_or_default(), ..crossing });
        if self.trace.crossings.len() >= CROSSINGS_MAX {
            // The trace is full: half of the lines are dropped, by their numbers, so that the kept lines stay
            // complete.
            self.trace.one_in *= 2;
            let one_in = self.trace.one_in;
            self.trace.crossings.retain(|crossing| crossing.line % one_in == 0);
        }
    }
}

/// Creates the crossing of a line with unknown hops.
fn crossing(request: &Request, group: PoolGroup, part: Part, start: Time, end_ps: u64) -> Crossing {
    let Request { class, place, .. } = *request;
    Crossing { line: 0, group, part, class, place, start_ps: start.ps(), end_ps, hops: [None; 4] }
}

impl Observer<Machine> for TraceRecorder {
    fn before(&mut self, event: &Event<Payload>, machine: &Machine) {
        let Some(id) = event_request(event.payload) else { return };
        let request = machine.requests().get(id);
        let part = Part::of(machine, event.target);
        let now_ps = event.time.ps();
        match (event.payload, part.kind) {
            // UPI links only forward requests and answers; the CHAs at both ends record them.
            (Payload::Arrive(_), "upi") => {}
            (Payload::Arrive(_), _) => self.start_line(id, now_ps),
            (Payload::Read(_) | Payload::Accepted(_), _) => self.record_cha_end(id, request, now_ps),
            (Payload::Data(_) | Payload::Admitted(_), "upi") => {}
            // The rest goes to devices: data to the IIO ends P2M-Read.
            (Payload::Data(_), "core" | "remote") => {
                self.record_credit_return(id, request, PoolGroup::C2mRead, part, now_ps)
            }
            (Payload::Data(_), _) => self.record_credit_return(id, request, PoolGroup::P2mRead, part, now_ps),
            (Payload::Admitted(_) | Payload::Taken(_), _) => {
                self.record_credit_return(id, request, PoolGroup::C2mWrite, part, now_ps)
            }
            (Payload::Acknowledged(_), _) => self.record_credit_return(id, request, PoolGroup::P2mWrite, part, now_ps),
            _ => {}
        }
    }

    fn after(&mut self, event: &Event<Payload>, machine: &Machine) {
        // Only now is it known when the requests that the CHA has just sent will arrive.
        machine.notices().iter().for_each(|notices| self.record_memory_arrival(notices));
        self.step((event.target.0 - self.first.0) as usize, event.time.ps(), machine);
    }
}

impl TraceRecorder {
    /// Updates the counters of a part until `now_ps`.
    fn step(&mut self, index: usize, now_ps: u64, machine: &Machine) {
        let (first, seen_ps) = (self.first_counter[index], self.seen_ps[index]);
        let counters = &mut self.trace.counters;
        machine.part(index).steps(&mut |at, in_use| {
            // Steps before the last look are in the counters already.
            for (counter, &in_use) in counters[first..].iter_mut().zip(in_use).filter(|_| at.ps() >= seen_ps) {
                counter.set(in_use, at.ps());
            }
        });
        self.seen_ps[index] = now_ps;
        let mut counters = self.trace.counters[self.first_counter[index]..].iter_mut();
        queues(machine.part(index), |pool| {
            if let Some(counter) = counters.next() {
                counter.set(pool.domain.in_use(), now_ps);
            }
        });
    }
}

/// Visits the queues of a part that have counters. Queues that share credits are represented by their pool, and UPI
/// links have no counters because the hops of their lines show them.
fn queues<'a>(part: &'a dyn hostnet_model::Part, mut visit: impl FnMut(Pool<'a>)) {
    if part.kind() != PartKind::Upi {
        part.pools(&mut |pool| {
            if pool.group.pool().is_none() {
                visit(pool);
            }
        });
    }
}
