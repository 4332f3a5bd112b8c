//! Credits of a link to memory, and the requests that wait for one.

use super::{Fifo, Request, RequestId, Requests};
use hostnet_kernel::Time;
use hostnet_measure::Domain;
use serde::{Deserialize, Serialize};

/// Credits of reads or of writes, and the requests that wait for one, in order of arrival.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CreditQueue {
    credits: Domain,
    waiting: Fifo<Request>,
}

impl CreditQueue {
    /// Creates a queue with free credits.
    pub(crate) fn new(credits: u32, classes: usize) -> Self {
        Self { credits: Domain::new(credits, credits, classes), waiting: Fifo::default() }
    }

    /// Returns the credits.
    pub(crate) fn credits(&self) -> &Domain {
        &self.credits
    }

    /// Returns the credits, to settle or reset them.
    pub(crate) fn credits_mut(&mut self) -> &mut Domain {
        &mut self.credits
    }

    /// Returns true if a request waits for a credit.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Returns true if a request may take a credit now; otherwise queues it behind those that wait.
    pub(crate) fn admits(&mut self, id: RequestId, requests: &mut Requests) -> bool {
        // A request behind others waits even if a credit is free, so that none is overtaken.
        let admitted = self.waiting.is_empty() && self.credits.free() > 0;
        if !admitted {
            self.waiting.push(requests, id);
        }
        admitted
    }

    /// Takes a credit.
    ///
    /// # Panics
    /// Panics if no credit is free.
    pub(crate) fn take(&mut self, now: Time, class: u8) {
        let taken = self.credits.try_acquire(now, class);
        assert!(taken, "a credit is free");
    }

    /// Frees a credit that was taken at `since`. Returns the request that may take it.
    pub(crate) fn release(&mut self, now: Time, class: u8, since: Time, requests: &mut Requests) -> Option<RequestId> {
        self.credits.release(now, class, since);
        self.waiting.pop(requests)
    }
}

/// Credit queues of reads and of writes, for requests that take one credit each.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RequestCredits {
    /// Queue of reads, and queue of writes.
    queues: [CreditQueue; 2],
    /// By request number: time at which the request took its credit, and its class.
    taken: Vec<(Time, u8)>,
}

impl RequestCredits {
    /// Creates queues with these credits for reads and for writes.
    pub(crate) fn new(credits: [u32; 2], classes: usize) -> Self {
        Self { queues: credits.map(|credits| CreditQueue::new(credits, classes)), taken: Vec::new() }
    }

    /// Returns the credits of reads, and those of writes.
    pub(crate) fn domains(&self) -> [&Domain; 2] {
        let [reads, writes] = &self.queues;
        [reads.credits(), writes.credits()]
    }

    /// Returns the credits of reads and those of writes, to settle or reset them.
    pub(crate) fn domains_mut(&mut self) -> [&mut Domain; 2] {
        let [reads, writes] = &mut self.queues;
        [reads.credits_mut(), writes.credits_mut()]
    }

    /// Returns true if a request may begin now; otherwise queues it.
    pub(crate) fn admits(&mut self, id: RequestId, requests: &mut Requests) -> bool {
        let read = requests.get(id).kind.is_read();
        self.queues[usize::from(!read)].admits(id, requests)
    }

    /// Takes a credit for a request that was admitted or was returned by [`Self::end`].
    ///
    /// # Panics
    /// Panics if no credit is free.
    pub(crate) fn begin(&mut self, id: RequestId, now: Time, requests: &Requests) {
        let Request { kind, class, .. } = *requests.get(id);
        self.queues[usize::from(!kind.is_read())].take(now, class);
        let index = id.0 as usize;
        // Grows to the largest request number once, and then no longer allocates.
        self.taken.resize(self.taken.len().max(index + 1), (Time::ZERO, 0));
        self.taken[index] = (now, class);
    }

    /// Frees the credit of a request. Returns the request that may begin next.
    pub(crate) fn end(&mut self, id: RequestId, read: bool, now: Time, requests: &mut Requests) -> Option<RequestId> {
        let (since, class) = self.taken[id.0 as usize];
        self.queues[usize::from(!read)].release(now, class, since, requests)
    }
}
