//! Collectives whose messages are all in flight at once: every member sends to all others, and then receives.

use super::member::{adding, receiving, Member, PlaceStep};

impl Member {
    /// Returns the number of other members.
    fn others(self) -> u32 {
        self.count.saturating_sub(1)
    }

    /// Sends data to the member at a distance without waiting until it is written.
    fn posting(self, distance: u32, (at, bytes): (u64, u64)) -> PlaceStep {
        PlaceStep { send: (self.after(distance), bytes), at, posts: true, ..PlaceStep::default() }
    }

    /// Returns the offset and the bytes of the part of a member.
    fn part(self, place: u32) -> (u64, u64) {
        (self.begin_of(place), self.part_bytes(place))
    }

    /// Returns a step of the reduce-scatter: a message to each other member, then a message of each other one and its
    /// addition. The nearest comes first.
    pub(super) fn direct_reduce(self, index: u32) -> PlaceStep {
        let Some(after) = index.checked_sub(self.others()) else {
            return self.posting(index + 1, self.part(self.after(index + 1)));
        };
        let own = self.part_bytes(self.place);
        match after % 2 {
            0 => receiving(self.before(after / 2 + 1), own),
            _ => adding(own),
        }
    }

    /// Returns a step of the all-gather of the parts that the members have.
    pub(super) fn direct_parts(self, index: u32) -> PlaceStep {
        let Some(after) = index.checked_sub(self.others()) else {
            return self.posting(index + 1, self.part(self.place));
        };
        let from = self.before(after + 1);
        receiving(from, self.part_bytes(from))
    }

    /// Returns a step of the all-gather of a vector of each member.
    pub(super) fn direct_whole(self, index: u32) -> PlaceStep {
        match index.checked_sub(self.others()) {
            None => self.posting(index + 1, (self.bytes * u64::from(self.place), self.bytes)),
            Some(after) => receiving(self.before(after + 1), self.bytes),
        }
    }
}
