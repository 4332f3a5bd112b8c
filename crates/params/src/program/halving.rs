//! Sums by halves: a reduce-scatter at distances that halve, and an all-gather at distances that double (Rabenseifner's
//! algorithm; Thakur, Rabenseifner, Gropp, IJHPCA 2005, section 4.5).
//!
//! Members beyond a power of two send their vectors to a neighbour before, and get the sum afterwards.

use super::member::{adding, receiving, sending, Member, PlaceStep};

/// Role of a member in a sum among a power of two of members.
#[derive(Clone, Copy)]
enum Role {
    /// It sends its vector to the member at the next place, and gets the sum from there.
    Folded,
    /// It exchanges as the member of this number, and first adds the vector of a folded member if there is one.
    Core { number: u32, has_folded: bool },
}

impl Member {
    /// Returns the number of members that exchange: the largest power of two.
    fn cores(self) -> u32 {
        1 << self.count.ilog2()
    }

    /// Returns the number of members that have no power of two.
    fn folded(self) -> u32 {
        self.count - self.cores()
    }

    fn role(self) -> Role {
        let folded = self.folded();
        match self.place < 2 * folded {
            true if self.place % 2 == 0 => Role::Folded,
            true => Role::Core { number: self.place / 2, has_folded: true },
            false => Role::Core { number: self.place - folded, has_folded: false },
        }
    }

    /// Returns the place of a member that exchanges.
    fn place_of(self, number: u32) -> u32 {
        let folded = self.folded();
        if number < folded {
            2 * number + 1
        } else {
            number + folded
        }
    }

    /// Returns the offset and the bytes of the parts that `count` members from one on hold together. Each has a part,
    /// and parts differ by a byte at most.
    fn parts(self, first: u32, count: u32) -> (u64, u64) {
        let cores = Self { count: self.cores(), ..self };
        let begin = cores.begin_of(first);
        (begin, cores.begin_of(first + count) - begin)
    }

    /// Returns the exchange of a member with the one at a distance: parts from `sent` on for those from `received` on.
    fn swap(self, number: u32, distance: u32, sent: u32, received: u32) -> PlaceStep {
        let other = self.place_of(number ^ distance);
        let ((at, bytes), (_, comes)) = (self.parts(sent, distance), self.parts(received, distance));
        PlaceStep { send: (other, bytes), at, receive: (other, comes), ..PlaceStep::default() }
    }

    /// Returns a step of the reduce-scatter: two that fold, then an exchange and an addition for each distance.
    pub(super) fn halving_reduce(self, index: u32) -> PlaceStep {
        let (number, has_folded) = match self.role() {
            Role::Folded if index == 0 => return sending(self.place + 1, self.bytes),
            Role::Folded => return PlaceStep::default(),
            Role::Core { number, has_folded } => (number, has_folded),
        };
        let distance = self.cores() >> (index / 2);
        // The member keeps the half that its own part is in.
        let kept = number / distance.max(1) * distance;
        match index {
            0 if has_folded => receiving(self.place - 1, self.bytes),
            1 if has_folded => adding(self.bytes),
            0 | 1 => PlaceStep::default(),
            exchange if exchange % 2 == 0 => self.swap(number, distance, kept ^ distance, kept),
            _ => adding(self.parts(kept, distance).1),
        }
    }

    /// Returns a step of the all-gather: an exchange for each distance, then one that returns sums to folded members.
    pub(super) fn parts_allgather(self, index: u32) -> PlaceStep {
        let last = index == self.count.ilog2();
        match self.role() {
            Role::Folded if last => receiving(self.place + 1, self.bytes),
            Role::Core { has_folded: true, .. } if last => sending(self.place - 1, self.bytes),
            Role::Core { number, .. } if !last => {
                let distance = 1 << index;
                let held = number / distance * distance;
                self.swap(number, distance, held, held ^ distance)
            }
            _ => PlaceStep::default(),
        }
    }
}
