//! Groups of ranks that take part in a collective.

use serde::{Deserialize, Serialize};

/// Ranks at equal distances, as one group or as several groups that each do the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupParams {
    /// The first rank.
    pub first: u32,
    /// Distance from one rank to the next; at least 1.
    pub stride: u32,
    /// Number of ranks.
    pub count: u32,
    /// Number of ranks of a group; the last group may have fewer.
    pub size: u32,
}

/// Seat of a rank in its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seat {
    /// Ranks before those of the group.
    begin: u32,
    /// Place in the group, and number of ranks of the group.
    pub(super) place: u32,
    pub(super) count: u32,
}

impl GroupParams {
    /// Returns the group of ranks that are listed, if they are at equal distances.
    #[must_use]
    pub fn of(ranks: &[u32]) -> Option<Self> {
        let (&first, rest) = ranks.split_first()?;
        let stride = rest.first().map_or(Some(1), |second| second.checked_sub(first).filter(|&stride| stride > 0))?;
        let count = ranks.len() as u32;
        let is_even = ranks.windows(2).all(|pair| pair[1].checked_sub(pair[0]) == Some(stride));
        is_even.then_some(Self { first, stride, count, size: count })
    }

    /// Returns the ranks of all groups.
    pub fn ranks(&self) -> impl Iterator<Item = u32> {
        let Self { first, stride, count, .. } = *self;
        (0..count).map(move |number| first + number * stride)
    }

    /// Returns the numbers of members of the groups that differ: of all but the last, and of the last.
    pub(super) fn sizes(&self) -> [(u32, u64); 2] {
        let (whole, rest) = (self.count / self.size, self.count % self.size);
        [(self.size, whole.into()), (rest, u64::from(rest > 0))]
    }

    /// Returns true if a rank is in a group.
    pub(super) fn has(&self, rank: u32) -> bool {
        self.seat(rank).is_some()
    }

    pub(super) fn seat(&self, rank: u32) -> Option<Seat> {
        let distance = rank.checked_sub(self.first)?;
        let number = distance / self.stride;
        if distance % self.stride > 0 || number >= self.count {
            return None;
        }
        let begin = number - number % self.size;
        Some(Seat { begin, place: number - begin, count: self.size.min(self.count - begin) })
    }

    /// Returns the rank at a place of the group that a seat belongs to.
    pub(super) fn at(&self, seat: Seat, place: u32) -> u32 {
        self.first + (seat.begin + place) * self.stride
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_at_equal_distances_are_a_group() {
        let group = GroupParams::of(&[2, 5, 8]).expect("they are");
        assert_eq!(group, GroupParams { first: 2, stride: 3, count: 3, size: 3 });
        assert_eq!(group.ranks().collect::<Vec<_>>(), [2, 5, 8]);
        assert_eq!([1, 2, 4, 8, 11].map(|rank| group.has(rank)), [false, true, false, true, false]);
        for uneven in [&[0, 1, 3][..], &[3, 2], &[1, 1], &[]] {
            assert_eq!(GroupParams::of(uneven), None);
        }
    }

    #[test]
    fn the_last_of_several_groups_has_the_rest() {
        let groups = GroupParams { first: 1, stride: 2, count: 5, size: 2 };
        let seats: Vec<_> = groups.ranks().filter_map(|rank| groups.seat(rank)).collect();
        assert_eq!(
            seats.iter().map(|seat| (seat.place, seat.count)).collect::<Vec<_>>(),
            [(0, 2), (1, 2), (0, 2), (1, 2), (0, 1)]
        );
        assert_eq!(groups.at(seats[3], 0), 5);
        assert_eq!(groups.sizes(), [(2, 2), (1, 1)]);
    }
}
