//! Messages that a rank posts one by one. They are kept until they are complete.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct RdmaMessage {
    /// PSN of the first packet of the message.
    pub(crate) first: u64,
    /// Offset of the data of the message in the memory region, and its size, in bytes.
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
}

/// Messages posted by a rank.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PostedMessages {
    /// Maximum number of bytes of a message, and of a packet.
    each: u64,
    mtu: u64,
    /// Maximum number of messages that are posted and not complete.
    most: u64,
    /// Messages that are not complete, and the number of those that are.
    open: VecDeque<RdmaMessage>,
    complete: u64,
    /// Packets and bytes of all messages so far.
    packets: u64,
    bytes: u64,
}

impl PostedMessages {
    pub(crate) fn new(each: u64, mtu: u64, most: u32) -> Self {
        let most = u64::from(most.max(1));
        Self { each, mtu, most, open: VecDeque::new(), complete: 0, packets: 0, bytes: 0 }
    }

    /// Returns the bytes that may be posted now.
    pub(crate) fn room(&self) -> u64 {
        (self.most - self.open.len() as u64).saturating_mul(self.each)
    }

    /// Posts `bytes` bytes in as many messages as they need. There must be room for them.
    pub(crate) fn post(&mut self, bytes: u64) {
        let mut left = bytes;
        while left > 0 {
            let bytes = left.min(self.each);
            self.open.push_back(RdmaMessage { first: self.packets, offset: self.bytes, bytes });
            self.packets += bytes.div_ceil(self.mtu);
            self.bytes += bytes;
            left -= bytes;
        }
    }

    /// Marks the first `messages` messages complete.
    pub(crate) fn complete(&mut self, messages: u64) {
        while self.complete < messages && self.open.pop_front().is_some() {
            self.complete += 1;
        }
    }

    pub(crate) fn packets(&self) -> u64 {
        self.packets
    }

    /// Returns the packets of the first `messages` messages, or of all completed messages if these are more.
    pub(crate) fn packets_of(&self, messages: u64) -> u64 {
        let open = messages.saturating_sub(self.complete) as usize;
        self.open.get(open).map_or(self.packets, |next| next.first)
    }

    /// Returns the message of packet `sequence`, which must not be complete.
    pub(crate) fn message(&self, sequence: u64) -> RdmaMessage {
        let after = self.open.partition_point(|message| message.first <= sequence);
        self.open[after - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_posted_is_cut_and_makes_room_when_it_is_complete() {
        let mut posted = PostedMessages::new(1000, 400, 3);
        assert_eq!((posted.room(), posted.packets_of(5)), (3000, 0));
        posted.post(2001);
        assert_eq!((posted.room(), posted.packets()), (0, 3 + 3 + 1));
        assert_eq!([1, 2, 3, 4].map(|messages| posted.packets_of(messages)), [3, 6, 7, 7]);
        assert_eq!(posted.message(5), RdmaMessage { first: 3, offset: 1000, bytes: 1000 });
        posted.complete(2);
        assert_eq!((posted.room(), posted.packets_of(2), posted.packets_of(3)), (2000, 6, 7));
        posted.post(10);
        assert_eq!(posted.message(7), RdmaMessage { first: 7, offset: 2001, bytes: 10 });
        assert_eq!(posted.message(6).bytes, 1);
    }
}
