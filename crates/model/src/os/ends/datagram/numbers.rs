//! Ends of datagram flows by their numbers.

use super::DatagramEnd;
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Ends of datagram flows at a core.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in crate::os) struct DatagramEnds {
    pub(super) ends: Vec<DatagramEnd>,
    /// Number of the first end; the sockets of TCP have the numbers below.
    pub(super) first: usize,
    /// Descriptors that datagrams hold in the send ring of the core, and size of the ring.
    pub(super) descriptors: u64,
    pub(super) ring_descriptors: u64,
}

impl DatagramEnds {
    /// Returns the ends in the order of their numbers.
    pub(in crate::os) fn iter(&self) -> std::slice::Iter<'_, DatagramEnd> {
        self.ends.iter()
    }

    /// Returns the ends in the order of their numbers, to change them.
    pub(in crate::os) fn iter_mut(&mut self) -> std::slice::IterMut<'_, DatagramEnd> {
        self.ends.iter_mut()
    }

    /// Returns the end with a number.
    ///
    /// # Panics
    /// Panics if the number is that of a socket or of no end.
    pub(in crate::os) fn of_index(&self, index: usize) -> &DatagramEnd {
        &self.ends[index - self.first]
    }

    /// Returns the end with a number, if it is one of datagrams.
    pub(in crate::os) fn get_mut(&mut self, index: usize) -> Option<&mut DatagramEnd> {
        let at = index.checked_sub(self.first)?;
        self.ends.get_mut(at)
    }

    /// Begins the flow of an end, or wakes its application by its own timer.
    pub(in crate::os) fn begin(&mut self, index: usize, now: Time, ready: &mut VecDeque<u32>) {
        let Some(end) = self.get_mut(index) else { return };
        // A wake-up of a migrated or answering end may come before its start.
        end.begun |= now.ps() >= end.params.start_ps;
        if end.wake_at.is_some_and(|at| at <= now) {
            end.wake_at = None;
        }
        self.queue_turn(index, ready);
    }

    /// Queues a turn for the application of an end, unless one is queued.
    pub(super) fn queue_turn(&mut self, index: usize, ready: &mut VecDeque<u32>) {
        let Some(end) = self.get_mut(index) else { return };
        // An end that answers has no start: it answers whenever a request arrives.
        if (end.begun || !end.params.initiator) && !end.ready {
            end.ready = true;
            ready.push_back(index as u32);
        }
    }

    /// Returns true if the ring of the send queue has no descriptor for a datagram. Streams are bounded by their
    /// windows instead.
    pub(super) fn is_ring_full(&self) -> bool {
        self.descriptors >= self.ring_descriptors
    }

    /// Returns true if the kernel's packet generator retries because the ring is full.
    pub(in crate::os) fn spins(&self) -> bool {
        self.ends.iter().any(|end| end.blocked && end.generates())
    }
}
