//! Memory expander: memory controllers behind a CXL link, as a node of memory without cores.
//!
//! The host has separate credit pools for reads and for writes. A request takes a credit when it gets onto the link,
//! waits for one in the queue of its pool, and returns it when its answer has arrived. Each direction of the link
//! sends one message after the other. The memory controllers behind it are like those of a socket.

use crate::line::{RequestCredits, RequestId};
use crate::link::Lane;
use crate::memory::Channel;
use crate::params::ExpanderParams;
use crate::part::{self, Context, Part, PartKind, Payload, Pool, PoolGroup, StartContext};
use hostnet_kernel::{ComponentId, Time};
use hostnet_measure::Domain;
use serde::{Deserialize, Serialize};

/// Delay from the host's end of the link to the CHA, in ps.
const NEXT_PS: u64 = 1;

/// Memory expander with its link.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Expander {
    cha: ComponentId,
    request_bytes: u64,
    data_bytes: u64,
    device_ps: u64,
    down: Lane,
    up: Lane,
    credits: RequestCredits,
    channels: Vec<Channel>,
}

impl Expander {
    /// Creates an expander, which is component `id`, for the CHAs `cha`.
    ///
    /// # Panics
    /// Panics if there are no credits, or the device has no delay.
    #[must_use]
    pub fn new(params: &ExpanderParams, id: ComponentId, cha: ComponentId, classes: usize) -> Self {
        assert!(params.read_credits.min(params.write_credits) > 0, "an expander has credits");
        assert!(params.device_ps > 0, "a device takes time");
        let memory = &params.memory;
        let channel = |number| {
            let way = params.device_ps;
            Channel::new(&memory.dram, &memory.controller, id, way, way, classes, number)
        };
        let lane = || Lane::at_rate(params.bytes_per_s, params.latency_ps);
        Self {
            cha,
            request_bytes: params.request_bytes.into(),
            data_bytes: params.data_bytes.into(),
            device_ps: params.device_ps,
            down: lane(),
            up: lane(),
            credits: RequestCredits::new([params.read_credits, params.write_credits], classes),
            channels: (0..memory.map.channels * memory.dram.subchannels).map(channel).collect(),
        }
    }

    /// Returns the credits of reads, and those of writes.
    #[must_use]
    pub fn credits(&self) -> [&Domain; 2] {
        self.credits.domains()
    }

    /// Returns the memory controllers.
    #[must_use]
    pub fn channels(&self) -> &[Channel] {
        &self.channels
    }

    /// Handles a request of the CHA that arrives at the host's end of the link.
    fn on_arrival(&mut self, id: RequestId, context: &mut Context) {
        if self.credits.admits(id, context.requests) {
            self.send(id, context);
        }
    }

    /// Takes a credit for a request and sends it down the link.
    ///
    /// # Panics
    /// Panics if no credit is free.
    fn send(&mut self, id: RequestId, context: &mut Context) {
        let now = context.now();
        let request = context.requests.get(id);
        let (read, channel) = (request.kind.is_read(), usize::from(request.place.channel));
        self.credits.begin(id, now, context.requests);
        // Of a read the request goes down and the line up; of a write the line goes down.
        let bytes = if read { self.request_bytes } else { self.data_bytes };
        let delay = self.down.send(now, bytes) + self.device_ps;
        // No event: the channel is told in advance, as by the CHA.
        self.channels[channel].expect(id, now + delay, context);
    }

    /// Sends the answer of a memory controller up the link.
    fn answer(&mut self, bytes: u64, payload: Payload, context: &mut Context) {
        let delay = self.up.send(context.now(), bytes);
        context.send(context.id, delay, payload);
    }

    /// Handles an answer at the host's end of the link: frees the credit of the request, and notifies the CHA.
    fn end(&mut self, id: RequestId, read: bool, context: &mut Context) {
        let next = self.credits.end(id, read, context.now(), context.requests);
        context.send(self.cha, NEXT_PS, if read { Payload::Read(id) } else { Payload::Accepted(id) });
        // The credit is free when the answer has arrived, not when the device is done.
        if let Some(next) = next {
            self.send(next, context);
        }
    }
}

impl Part for Expander {
    fn kind(&self) -> PartKind {
        PartKind::Expander
    }

    /// Schedules the first refreshes of the memory controllers.
    fn start(&mut self, start: &mut StartContext<'_>) {
        self.channels.iter_mut().for_each(|channel| channel.start(start));
    }

    fn on_event(&mut self, payload: Payload, _source: ComponentId, context: &mut Context) {
        match payload {
            Payload::Arrive(id) => self.on_arrival(id, context),
            Payload::Wake => self.channels.iter_mut().for_each(|channel| channel.on_wake(context)),
            // The answer crosses the link as an event to this component, so that the credit is held until then.
            Payload::Read(id) => self.answer(self.data_bytes, Payload::Data(id), context),
            Payload::Accepted(id) => self.answer(self.request_bytes, Payload::Acknowledged(id), context),
            Payload::Data(id) => self.end(id, true, context),
            Payload::Acknowledged(id) => self.end(id, false, context),
            other => unreachable!("an expander was sent {other:?}"),
        }
    }

    fn pools<'a>(&'a self, visit: &mut dyn FnMut(Pool<'a>)) {
        let [reads, writes] = self.credits();
        visit(Pool::new(PoolGroup::ExpanderRead, reads));
        visit(Pool::new(PoolGroup::ExpanderWrite, writes));
    }

    fn settle(&mut self, now: Time) {
        part::settle(self.credits.domains_mut(), now);
        self.channels.iter_mut().for_each(|channel| channel.settle(now));
    }

    fn reset(&mut self, now: Time) {
        part::reset(self.credits.domains_mut(), now);
        self.channels.iter_mut().for_each(|channel| channel.reset(now));
    }
}
