//! Flits and credits on the wires, by the cycle of their arrival.

use serde::{Deserialize, Serialize};

/// Flits (target, word) and credits (target) that arrive in one cycle.
pub(super) type Slot = (Vec<(u32, u32)>, Vec<u32>);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Wheel {
    slots: Vec<Slot>,
    in_flight: usize,
}

impl Wheel {
    /// Creates a wheel for delays of up to `longest` cycles.
    pub(super) fn new(longest: u32) -> Self {
        assert!(longest <= 1 << 16, "a wire of {longest} cycles");
        // One slot more than the longest delay: credits are sent while the slot of this cycle is taken out.
        Self { slots: vec![Slot::default(); (longest as usize + 1).next_power_of_two()], in_flight: 0 }
    }

    /// Returns all flits and credits in flight, in no particular order.
    #[cfg(test)]
    pub(super) fn slots(&self) -> &[Slot] {
        &self.slots
    }

    pub(super) fn is_empty(&self) -> bool {
        self.in_flight == 0
    }

    #[inline]
    fn slot(&mut self, cycle: u64) -> &mut Slot {
        let mask = self.slots.len() as u64 - 1;
        &mut self.slots[(cycle & mask) as usize]
    }

    #[inline]
    pub(super) fn flit(&mut self, cycle: u64, target: u32, flit: u32) {
        self.in_flight += 1;
        self.slot(cycle).0.push((target, flit));
    }

    #[inline]
    pub(super) fn credit(&mut self, cycle: u64, target: u32) {
        self.in_flight += 1;
        self.slot(cycle).1.push(target);
    }

    /// Removes the arrivals of this cycle; the caller returns the vectors by [`Wheel::recycle`] for reuse.
    #[inline]
    pub(super) fn take(&mut self, cycle: u64) -> Slot {
        let slot = std::mem::take(self.slot(cycle));
        self.in_flight -= slot.0.len() + slot.1.len();
        slot
    }

    #[inline]
    pub(super) fn recycle(&mut self, cycle: u64, mut flits: Vec<(u32, u32)>, mut credits: Vec<u32>) {
        flits.clear();
        credits.clear();
        // Vectors keep their capacity, so that the steady state allocates nothing.
        *self.slot(cycle) = (flits, credits);
    }
}
