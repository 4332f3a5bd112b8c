//! Ring in the SRAM of a buffer device, represented by its pointers.

use crate::params::RING_LINE_BYTES;
use serde::{Deserialize, Serialize};

/// Circular buffer of lines with a start and an end pointer. One line stays free, so that an empty ring differs from
/// a full one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ring {
    lines: u32,
    start: u32,
    end: u32,
}

impl Ring {
    /// Creates an empty ring of `bytes` bytes.
    ///
    /// # Panics
    /// Panics if the ring has no room for a line.
    #[must_use]
    pub fn new(bytes: u32) -> Self {
        let lines = bytes / RING_LINE_BYTES;
        assert!(lines >= 2, "a ring holds a line");
        Self { lines, start: 0, end: 0 }
    }

    /// Returns the number of valid lines.
    #[must_use]
    pub fn used(&self) -> u32 {
        // The end may have wrapped around while the start has not.
        (self.end + self.lines - self.start) % self.lines
    }

    /// Returns the number of lines available for a message.
    #[must_use]
    pub fn free(&self) -> u32 {
        self.lines - 1 - self.used()
    }

    /// Reserves the lines of a message. Returns its first line, or `None` without any change if there is no room.
    pub fn push(&mut self, lines: u32) -> Option<u32> {
        if lines > self.free() {
            return None;
        }
        let at = self.end;
        self.end = (self.end + lines) % self.lines;
        Some(at)
    }

    /// Frees the lines of the oldest message. Returns its first line.
    ///
    /// # Panics
    /// Panics if fewer lines are valid.
    pub fn pop(&mut self, lines: u32) -> u32 {
        assert!(lines <= self.used(), "what is read was written");
        let at = self.start;
        self.start = (self.start + lines) % self.lines;
        at
    }

    /// Returns the position of line `line` of a message that begins at `first`.
    #[must_use]
    pub fn place(&self, first: u32, line: u32) -> u32 {
        (first + line) % self.lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::{largest_ring_packet, ring_lines};
    use proptest::prelude::*;
    use std::collections::VecDeque;

    #[test]
    fn the_largest_packet_fits_and_one_byte_more_does_not() {
        for bytes in [128, 192, 4096, 47 << 10] {
            let most = largest_ring_packet(bytes);
            assert!(Ring::new(bytes).push(ring_lines(most)).is_some());
            assert!(Ring::new(bytes).push(ring_lines(most + 1)).is_none());
        }
    }

    /// Returns a ring with `used` lines in use from `start` on.
    fn at(lines: u32, start: u32, used: u32) -> Ring {
        let mut ring = Ring::new(lines * RING_LINE_BYTES);
        for count in [start, used] {
            ring.start = ring.end;
            ring.push(count).expect("it has room");
        }
        assert_eq!((ring.start, ring.used()), (start % lines, used));
        ring
    }

    #[test]
    fn at_every_offset_a_message_is_taken_whole_or_not_at_all() {
        for lines in 2..24 {
            for (start, used) in (0..lines).flat_map(|start| (0..lines).map(move |used| (start, used))) {
                for bytes in (0..lines * RING_LINE_BYTES).filter(|bytes| (bytes + 18) % RING_LINE_BYTES < 2) {
                    let (before, count) = (at(lines, start, used), ring_lines(bytes));
                    let mut ring = before;
                    if used + count >= lines {
                        assert_eq!((ring.push(count), ring), (None, before));
                        continue;
                    }
                    assert_eq!(ring.push(count), Some((start + used) % lines));
                    assert_eq!((ring.pop(used), ring.used()), (start % lines, count));
                    assert_eq!((ring.pop(count), ring.used()), ((start + used) % lines, 0));
                }
            }
        }
    }

    proptest! {
        #[test]
        fn messages_come_out_as_they_went_in_and_a_full_ring_does_not_change(
            lines in 2_u32..800,
            steps in prop::collection::vec((any::<bool>(), 1_u32..52_000), 1..300),
        ) {
            let mut ring = Ring::new(lines * RING_LINE_BYTES);
            let mut inside: VecDeque<(u32, u32)> = VecDeque::new();
            let mut owner = vec![None; lines as usize];
            for (number, (push, ip_bytes)) in steps.into_iter().enumerate() {
                let (before, count) = (ring, ring_lines(ip_bytes));
                if push {
                    let used: u32 = inside.iter().map(|message| message.1).sum();
                    match ring.push(count) {
                        Some(at) => {
                            prop_assert!(used + count < lines);
                            for line in 0..count {
                                let place = &mut owner[ring.place(at, line) as usize];
                                prop_assert_eq!(*place, None);
                                *place = Some(number);
                            }
                            inside.push_back((at, count));
                        }
                        None => {
                            prop_assert!(used + count >= lines);
                            prop_assert_eq!(ring, before);
                        }
                    }
                } else if let Some((at, count)) = inside.pop_front() {
                    prop_assert_eq!(ring.pop(count), at);
                    (0..count).for_each(|line| owner[ring.place(at, line) as usize] = None);
                }
                prop_assert_eq!(ring.used(), inside.iter().map(|message| message.1).sum::<u32>());
                prop_assert_eq!(ring.free(), lines - 1 - ring.used());
            }
        }
    }
}
