//! Members of a group, and the steps that they execute.

/// Step of a collective, as one member of its group executes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlaceStep {
    /// Place of the receiver, and bytes sent; nothing is sent if there are no bytes.
    pub send: (u32, u64),
    /// Offset of the sent data in the vector of the collective, in bytes.
    pub at: u64,
    /// Place of the sender, and bytes received; nothing is received if there are no bytes.
    pub receive: (u32, u64),
    /// Bytes of a received vector that the member adds to its own.
    pub added: u64,
    /// True if the member goes on before all that it sends is written to the connection.
    pub posts: bool,
}

impl PlaceStep {
    /// Returns the first or the second half (0 or 1) of a step whose messages follow each other. An addition is in the
    /// first half.
    pub(super) fn half(self, half: u32, sends_first: bool) -> Self {
        let Self { send, at, receive, added, .. } = self;
        let added = if half == 0 { added } else { 0 };
        if (half == 0) == sends_first {
            Self { send, at, added, ..Self::default() }
        } else {
            Self { receive, added, ..Self::default() }
        }
    }
}

/// A member of a group of `count`, and the bytes of the collective: of the vector, or of a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub(super) place: u32,
    pub(super) count: u32,
    pub(super) bytes: u64,
}

pub(super) fn sending(to: u32, bytes: u64) -> PlaceStep {
    PlaceStep { send: (to, bytes), ..PlaceStep::default() }
}

pub(super) fn receiving(from: u32, bytes: u64) -> PlaceStep {
    PlaceStep { receive: (from, bytes), ..PlaceStep::default() }
}

pub(super) fn adding(added: u64) -> PlaceStep {
    PlaceStep { added, ..PlaceStep::default() }
}

impl Member {
    /// Returns the place `distance` further around the group.
    pub(super) fn after(self, distance: u32) -> u32 {
        (self.place + distance) % self.count
    }

    /// Returns the place `distance` back around the group; at most the number of members.
    pub(super) fn before(self, distance: u32) -> u32 {
        (self.place + self.count - distance) % self.count
    }

    /// Returns the offset of a part of the vector. Parts differ by a byte at most.
    pub(super) fn begin_of(self, part: u32) -> u64 {
        let count = u64::from(self.count);
        let (whole, rest) = (self.bytes / count, self.bytes % count);
        whole * u64::from(part) + rest * u64::from(part) / count
    }

    pub(super) fn part_bytes(self, part: u32) -> u64 {
        self.begin_of(part + 1) - self.begin_of(part)
    }
}
