//! Event loop of a memory run.
//!
//! Everything happens at clock edges, so controllers get clocks as times, and their values in ps are in clocks here.

use super::tally::{RequestInFlight, RequestTally};
use hostnet_kernel::Time;
use hostnet_model::memory::{
    CommandRecord, Controller, Decoder, DramAddress, IncomingRequest, OfferResult, ServedRequest,
};
use hostnet_model::params::{DramParams, MapParams, MemoryControllerParams};
use hostnet_traffic::Request;
use std::collections::VecDeque;

/// Maximum number of events per requested request before `advance` returns. Requests take up to about ten events, but
/// the pauses of a trace may have any number of refreshes.
const EVENTS_PER_REQUEST: u64 = 64;

/// Maximum number of clocks that a controller runs ahead alone: a few refreshes.
const CLOCKS_ALONE: u64 = 1 << 16;

/// Configuration of a memory run.
#[derive(Clone, Debug)]
pub struct MemoryParts {
    /// DRAM device on every channel.
    pub dram: DramParams,
    /// Controller of every subchannel.
    pub controller: MemoryControllerParams,
    /// Map from lines to places.
    pub map: MapParams,
    /// Number of request sources that are counted separately.
    pub sources: usize,
    /// Maximum number of outstanding reads; 0 = limited by the queues only.
    pub outstanding: u32,
    /// Number of requests at the start that are not measured.
    pub warm_up: u64,
    /// True to record commands.
    pub record: bool,
}

/// A memory system that serves requests.
pub struct MemoryRun<S> {
    requests: S,
    controllers: Vec<Controller>,
    decoder: Decoder,
    parts: MemoryParts,
    now: u64,
    /// Request at the head of the source.
    head: Option<Request>,
    head_place: DramAddress,
    /// Clock of the next attempt of the source; `u64::MAX` while only an event can unblock it.
    next_try: u64,
    /// True if the head was refused at the last attempt.
    blocked: bool,
    taken: u64,
    flights: Vec<RequestInFlight>,
    free: Vec<u32>,
    /// Outstanding reads, and the clocks at which they will be complete, if outstanding reads are limited.
    outstanding: u32,
    completions: [VecDeque<u64>; 2],
    measuring_since: u64,
    tally: RequestTally,
}

impl<E, S: Iterator<Item = Result<Request, E>>> MemoryRun<S> {
    /// Creates a memory system that will serve `requests`.
    ///
    /// # Errors
    /// Returns an error if the first request is invalid.
    pub fn new(parts: MemoryParts, requests: S) -> Result<Self, E> {
        let count = parts.map.channels * parts.dram.subchannels;
        let controller = |number| {
            let mut controller = Controller::new(&parts.dram, &parts.controller, parts.sources, number);
            controller.record_commands(parts.record);
            controller
        };
        let mut run = Self {
            controllers: (0..count).map(controller).collect(),
            decoder: Decoder::new(&parts.map, &parts.dram),
            now: 0,
            head: None,
            head_place: DramAddress::default(),
            next_try: 0,
            blocked: false,
            taken: 0,
            flights: Vec::new(),
            free: Vec::new(),
            outstanding: 0,
            completions: [VecDeque::new(), VecDeque::new()],
            measuring_since: 0,
            tally: RequestTally::new(parts.sources),
            requests,
            parts,
        };
        run.fetch()?;
        Ok(run)
    }

    /// Runs until `requests` more requests have been accepted, a long pause between them has taken a proportional
    /// number of events, or everything is done. Returns true if there is more to do.
    ///
    /// # Errors
    /// The error of the source of requests.
    pub fn advance(&mut self, requests: u64, mut commands: impl FnMut(CommandRecord)) -> Result<bool, E> {
        let until = self.taken + requests;
        let mut events = requests.saturating_mul(EVENTS_PER_REQUEST);
        while self.taken < until && events > 0 {
            events -= 1;
            let Some(clock) = self.next_event() else { return Ok(false) };
            self.now = clock;
            let now = Time::from_ps(clock);
            // Requests come before commands, so that a request can be served in the clock of its arrival.
            if self.next_try <= clock {
                self.offer(now)?;
            }
            if self.parts.outstanding > 0 {
                self.complete();
            }
            // Controllers run ahead only as far as the source cannot interfere.
            let until = self.run_ahead_limit(clock);
            for index in 0..self.controllers.len() {
                self.issue(index, until);
            }
            if self.parts.record {
                self.controllers.iter_mut().flat_map(Controller::take_commands).for_each(&mut commands);
            }
        }
        Ok(true)
    }

    /// Returns the clock of the next event, or `None` if all requests are served and only refreshes would follow.
    #[inline]
    fn next_event(&self) -> Option<u64> {
        let commands = self.controllers.iter().map(Controller::next_clock).min().unwrap_or(u64::MAX);
        let next = commands.min(self.next_of_source());
        (next < u64::MAX && (self.head.is_some() || self.is_working())).then_some(next)
    }

    /// Returns the clock of the next event of the source: an attempt, or the completion of data that it waits for.
    #[inline]
    fn next_of_source(&self) -> u64 {
        if self.parts.outstanding == 0 {
            return self.next_try;
        }
        let complete = self.completions.iter().filter_map(VecDeque::front).min();
        self.next_try.min(complete.copied().unwrap_or(u64::MAX))
    }

    /// Returns the clock before which a controller may run ahead alone. A single controller may run until the source
    /// has something to do, but not longer than [`CLOCKS_ALONE`], so that the caller gets control in the pauses of a
    /// trace.
    #[inline]
    fn run_ahead_limit(&self, clock: u64) -> u64 {
        // Several controllers share the source, so none may run ahead of an entry that another frees.
        if self.controllers.len() == 1 && self.head.is_some() {
            self.next_of_source().min(clock + CLOCKS_ALONE)
        } else {
            clock + 1
        }
    }

    /// Returns true if requests are in flight that will be served.
    fn is_working(&self) -> bool {
        self.completions.iter().any(|list| !list.is_empty()) || self.controllers.iter().any(Controller::is_working)
    }

    /// Offers requests to the controllers, in order.
    #[inline]
    fn offer(&mut self, now: Time) -> Result<(), E> {
        // The source issues at most one request per clock and controller.
        let mut budget = self.controllers.len();
        // A refused head waits for a freed entry or for completed data, which set the next attempt.
        self.next_try = u64::MAX;
        self.blocked = false;
        while let Some(request) = self.head {
            if request.clock > self.now {
                self.next_try = request.clock;
                break;
            }
            if budget == 0 {
                self.next_try = self.now + 1;
                break;
            }
            budget -= 1;
            if !self.try_request(now, &request) {
                self.blocked = true;
                break;
            }
            self.taken += 1;
            self.fetch()?;
        }
        Ok(())
    }

    /// Fetches the next request to the head of the source.
    #[inline]
    fn fetch(&mut self) -> Result<(), E> {
        self.head = self.requests.next().transpose()?;
        if let Some(request) = &self.head {
            self.head_place = self.decoder.place(request.line);
        }
        Ok(())
    }

    #[inline]
    fn try_request(&mut self, now: Time, request: &Request) -> bool {
        let limit = self.parts.outstanding;
        let place = self.head_place;
        let controller = &mut self.controllers[usize::from(place.channel)];
        // Asked before the offer, as a refused request must not begin the measurement.
        if limit > 0 && !request.write && self.outstanding >= limit || controller.refuses(!request.write, place) {
            return false;
        }
        if self.taken == self.parts.warm_up {
            self.start_measuring(now);
        }
        // The tag is only taken once the controller has queued the request; see `store_in_flight`.
        let tag = self.free.last().copied().unwrap_or(self.flights.len() as u32);
        let incoming = IncomingRequest { tag, place, class: request.source, read: !request.write };
        let offered = self.controllers[usize::from(place.channel)].offer(now, self.now, &incoming);
        debug_assert_ne!(offered, OfferResult::Refused);
        let measured = self.taken >= self.parts.warm_up;
        if measured {
            self.tally.accept(self.now, request.source, request.write);
        }
        let flight = RequestInFlight { arrived: request.clock, accepted: self.now, measured };
        match offered {
            OfferResult::Queued => self.store_in_flight(tag, flight),
            OfferResult::Forwarded => self.tally.read_done(&flight, self.now + 1),
            OfferResult::Merged | OfferResult::Refused => {}
        }
        if limit > 0 && !request.write {
            self.outstanding += 1;
            if offered == OfferResult::Forwarded {
                // Forwarded data are complete after one clock. A separate list keeps each in the order of time.
                self.completions[1].push_back(self.now + 1);
            }
        }
        true
    }

    fn store_in_flight(&mut self, tag: u32, flight: RequestInFlight) {
        if self.free.pop().is_none() {
            self.flights.push(flight);
        } else {
            self.flights[tag as usize] = flight;
        }
    }

    fn start_measuring(&mut self, now: Time) {
        self.measuring_since = self.now;
        for controller in &mut self.controllers {
            controller.reset_counters(now);
            // Requests in the queues stay: only their statistics restart.
            controller.domains_mut().into_iter().for_each(|domain| domain.reset(now));
        }
    }

    /// Handles completed data, for a source with limited outstanding reads.
    #[inline]
    fn complete(&mut self) {
        for list in &mut self.completions {
            while list.front().is_some_and(|&clock| clock <= self.now) {
                list.pop_front();
                self.outstanding -= 1;
                // Data that complete now free their place for the next clock.
                self.next_try = self.next_try.min(self.now + 1);
            }
        }
    }

    /// Issues the commands that a controller has planned before clock `until`, or until the source has something to
    /// do.
    #[inline]
    fn issue(&mut self, index: usize, mut until: u64) {
        let controller = &mut self.controllers[index];
        while controller.next_clock() < until {
            self.now = controller.next_clock();
            let now = Time::from_ps(self.now);
            let issued = controller.issue(now);
            controller.decide(now);
            // A freed entry lets the blocked source try again at the next clock.
            if self.blocked && issued.freed.is_some() {
                self.next_try = self.now + 1;
                until = until.min(self.next_try);
            }
            let Some(ServedRequest { tag, read, done }) = issued.served else { continue };
            // Pushed before its use below, which is safe as no request is accepted in between.
            self.free.push(tag);
            if read {
                self.tally.read_done(&self.flights[tag as usize], done);
                if self.parts.outstanding > 0 {
                    self.completions[0].push_back(done);
                    // The source may go on when these data are complete, so nothing runs beyond.
                    until = until.min(done);
                }
            }
        }
    }

    /// Returns the measurements so far.
    #[must_use]
    pub fn tally(&self) -> &RequestTally {
        &self.tally
    }

    /// Returns the controllers.
    #[must_use]
    pub fn controllers(&self) -> &[Controller] {
        &self.controllers
    }

    /// Returns the requests accepted so far, including those of the warm-up.
    #[must_use]
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// Returns the clock at which the measurement began.
    #[must_use]
    pub fn measuring_since(&self) -> u64 {
        self.measuring_since
    }

    /// Returns the current time, in DRAM clock cycles.
    #[must_use]
    pub fn clock(&self) -> u64 {
        self.now
    }
}
