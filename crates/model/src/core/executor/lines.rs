//! Lines that a core with caches requests, and lines that leave its L2 for them.

use super::lines_in_flight::LineInFlight;
use super::Executor;
use crate::cache::Victim;
use crate::lfb::{turn, Lfb};
use crate::line::{Request, RequestId};
use crate::part::{Context, Payload};
use hostnet_kernel::Time;

/// Tag of a write-back that holds an LFB entry.
const OF_LFB: u32 = 0;
/// Tag of a write-back that holds a prefetch credit.
const OF_PREFETCH: u32 = 1;

impl Executor {
    /// Requests a line for the prefetchers, unless the core has the line, it is in flight, or no credit is left.
    pub(super) fn ask(&mut self, line: u64, class: u8, lfb: &mut Lfb, context: &mut Context) {
        // Prefetches never wait: without a credit the hint is lost.
        let unwanted = self.lines_in_flight.find(line).is_some() || context.caches().holds(self.index, line);
        if unwanted || self.prefetch.free() == 0 {
            return;
        }
        let taken = self.prefetch.try_acquire(context.now(), class);
        assert!(taken, "a prefetch credit is free");
        self.depart(line, class, LineInFlight { prefetch: true, ..LineInFlight::default() }, lfb, context);
    }

    /// Sends the request for a line. Returns the number of the line in flight.
    pub(super) fn depart(
        &mut self,
        line: u64,
        class: u8,
        flight: LineInFlight,
        lfb: &mut Lfb,
        context: &mut Context,
    ) -> u16 {
        let flight = self.lines_in_flight.add(line, flight);
        let id = lfb.request(line, class, false, u32::from(flight), context);
        context.caches().expect(line);
        // MBA delays every read but no write-back, which is no miss (Intel SDM, volume 3).
        context.send(self.wiring.home, self.params.to_cha_ps + self.throttle_ps, Payload::Arrive(id));
        flight
    }

    /// Handles the data of a line.
    pub(super) fn on_data(&mut self, id: RequestId, lfb: &mut Lfb, context: &mut Context) {
        let now = context.now();
        let Request { class, line, for_store, since, tag, .. } = *context.requests.get(id);
        let number = tag as u16;
        let flight = self.lines_in_flight.take(number);
        let wanted = flight.demand.is_some();
        // The LLC may hand over a dirty line; the core then has the duty to write it back.
        let dirty = for_store || flight.store;
        if dirty {
            context.caches.claim(line);
        }
        // A line that no access wants yet is marked as prefetched.
        let victim = context.caches().fill(self.index, line, class, dirty, !wanted);
        let (mut ended, mut asked) = (0, 0);
        if let Some(load) = flight.load {
            let clients = &mut self.clients;
            self.window.complete(number, load, flight.several, now, |operation| {
                ended += 1;
                asked += u32::from(clients.end(operation, now));
            });
        }
        if let Some(demand) = flight.demand {
            lfb.read.release(now, class, demand);
        }
        let dirty = victim.filter(|victim| victim.dirty);
        // An access that joined the prefetch holds an LFB entry besides the prefetch credit.
        if flight.prefetch && wanted {
            lfb.free(class, flight.demand.unwrap_or(now), &mut self.rng, context);
        }
        match dirty {
            Some(victim) if flight.prefetch => self.write_back(id, victim, OF_PREFETCH, since, context),
            Some(victim) => {
                // The entry of the miss now carries the victim to the CHA (C2M-Write).
                lfb.turn(class, now);
                self.write_back(id, victim, OF_LFB, flight.demand.unwrap_or(now), context);
            }
            None => {
                if flight.prefetch {
                    self.prefetch.release(now, class, since);
                } else {
                    lfb.free(class, flight.demand.unwrap_or(now), &mut self.rng, context);
                }
                match victim {
                    Some(victim) => self.give_up(id, victim, context),
                    None => context.requests.remove(id),
                }
            }
        }
        // Only the end of an operation, or a free entry for storage, gives a starved thread work.
        self.starved &= !(ended > 0 || self.is_storage());
        if ended > 0 {
            self.follow(ended, asked, now, context);
        }
        self.advance(lfb, context);
    }

    /// Continues the request of a line with the dirty line that it displaced, which keeps the credit held since
    /// `entered`.
    fn write_back(&mut self, id: RequestId, victim: Victim, of: u32, entered: Time, context: &mut Context) {
        let request = turn(id, victim, context);
        request.tag = of;
        request.entered = entered;
        context.send(self.wiring.home, self.params.to_cha_ps, Payload::Arrive(id));
    }

    /// Continues the request of a line with the clean line that it displaced, which nothing waits for.
    fn give_up(&mut self, id: RequestId, victim: Victim, context: &mut Context) {
        turn(id, victim, context);
        context.send(self.wiring.home, self.params.to_cha_ps, Payload::Arrive(id));
    }

    /// Handles the admission of a write-back by the CHA, which keeps the request unless that is `over`.
    pub(super) fn on_admitted(&mut self, id: RequestId, over: bool, lfb: &mut Lfb, context: &mut Context) {
        let Request { since, entered, tag, .. } = *context.requests.get(id);
        let class = self.class();
        let now = context.now();
        if over {
            context.requests.remove(id);
        }
        if tag == OF_PREFETCH {
            self.prefetch.release(now, class, entered);
            return;
        }
        lfb.write.release(now, class, since);
        lfb.free(class, entered, &mut self.rng, context);
    }
}
